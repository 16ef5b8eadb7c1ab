// Fair scheduling between networks. While turns of the event loop are short, requests run at once and are not sorted by
// network. When a turn gets long, requests queue and run in the next turns, one per network in round-robin. The network
// that sends most waits longest, and others wait at most for the most expensive single request. Called by exchange.ts.

/** The length of one turn of the loop. */
const sliceMs = 10;

export interface FairTurnsOptions {
  readonly now: () => number;
  /** Calls back after the loop has polled for more input. */
  readonly nextTurn: (call: () => void) => void;
}

export class FairTurns {
  readonly #options: FairTurnsOptions;
  /** Queues by network, in round-robin order. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #startedMs: number | undefined;
  #isTurnComing = false;

  constructor(
    options: FairTurnsOptions = { now: () => performance.now(), nextTurn: (call) => void setImmediate(call) },
  ) {
    this.#options = options;
  }

  /** Whether a request that arrived at this time may run at once. */
  isFree(nowMs: number): boolean {
    this.#startedMs ??= nowMs;
    this.#askForTurn();
    return this.#waiting.size === 0 && nowMs - this.#startedMs < sliceMs;
  }

  /** Queues the job behind the network's earlier ones. */
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
