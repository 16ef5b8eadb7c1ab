// Whose turn it is. As long as a turn of the event loop is short, whatever comes is done at once, and nobody is asked
// who it is. When it has become long, what comes waits, and is done in the next turns, one by one of each network:
// whoever sends the most waits the longest, and nobody else longer than for the dearest single piece. Called by
// exchange.ts.

/** Of one turn of the loop. */
const sliceMs = 10;

export interface FairTurnsOptions {
  readonly now: () => number;
  /** Calls back once the loop has looked for what else has come. */
  readonly nextTurn: (call: () => void) => void;
}

export class FairTurns {
  readonly #options: FairTurnsOptions;
  /** By network, in the order in which they are next. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #startedMs: number | undefined;
  #isTurnComing = false;

  constructor(
    options: FairTurnsOptions = { now: () => performance.now(), nextTurn: (call) => void setImmediate(call) },
  ) {
    this.#options = options;
  }

  /** Whether what came at this time may be done at once. */
  isFree(nowMs: number): boolean {
    this.#startedMs ??= nowMs;
    this.#askForTurn();
    return this.#waiting.size === 0 && nowMs - this.#startedMs < sliceMs;
  }

  /** Does it when it is the network's turn, after what waits for that already. */
  wait(network: string, work: () => void): void {
    const queue = this.#waiting.get(network);
    if (queue === undefined) this.#waiting.set(network, [work]);
    else queue.push(work);
    this.#askForTurn();
  }

  #askForTurn(): void {
    if (this.#isTurnComing) return;
    this.#isTurnComing = true;
    this.#options.nextTurn(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnComing = false;
    this.#startedMs = undefined;
    const untilMs = this.#options.now() + sliceMs;
    while (this.#waiting.size > 0 && this.#options.now() < untilMs) this.#doNext();
    if (this.#waiting.size > 0) this.#askForTurn();
  }

  #doNext(): void {
    for (const [network, queue] of this.#waiting) {
      const work = queue.shift();
      // The others are next.
      this.#waiting.delete(network);
      if (queue.length > 0) this.#waiting.set(network, queue);
      work?.();
      return;
    }
  }
}
