// Work of which a few pieces are under way at a time, and whose outcome somebody waits for.

export class Turns {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Does the work when it is its turn. Settles as it does. */
  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#max) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      // Whoever is next has this turn.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
