// Work on many workspaces, a few at a time, each once.

export class Limited {
  readonly #max: number;
  readonly #work: (workspaceId: string) => Promise<void>;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #isHeld: () => boolean;
  #first: string[] = [];

  /** `work` must not reject. `isHeld`: nothing more begins now; call goOn() when that is over. */
  constructor(max: number, work: (workspaceId: string) => Promise<void>, isHeld: () => boolean = () => false) {
    this.#max = max;
    this.#work = work;
    this.#isHeld = isHeld;
  }

  /** More than are under way at a time. */
  get isFull(): boolean {
    return this.#waiting.size > 0;
  }

  /** Does nothing if it waits or runs already. */
  add(workspaceId: string): void {
    if (this.#running.has(workspaceId)) return;
    this.#waiting.add(workspaceId);
    this.#next();
  }

  /** If it waits, it is next. */
  hurry(workspaceId: string): void {
    if (this.#waiting.has(workspaceId)) this.#first.push(workspaceId);
  }

  goOn(): void {
    this.#next();
  }

  clear(): void {
    this.#waiting.clear();
    this.#first = [];
  }

  #next(): void {
    while (this.#running.size < this.#max && this.#waiting.size > 0 && !this.#isHeld()) {
      const workspaceId = this.#first.shift() ?? this.#waiting.values().next().value;
      if (workspaceId === undefined || !this.#waiting.delete(workspaceId)) continue;
      this.#running.add(workspaceId);
      void this.#work(workspaceId).finally(() => {
        this.#running.delete(workspaceId);
        this.#next();
      });
    }
  }
}
