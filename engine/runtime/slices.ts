// Shares the event loop among all workspaces. Work of their lanes and files runs in the order requested, a bounded time
// per turn of the loop; between two turns sockets are read and timers run. A workspace with more to do requests again
// each time and so queues behind all others.

/** For all work in one turn of the loop. One piece may exceed it: a command is not split. */
const turnMs = 8;
/** For one batch of one lane, which then requests another slice for the rest. */
const batchMs = 4;

export interface SliceLengths {
  readonly turnMs: number;
  readonly batchMs: number;
}

export class Slices {
  readonly batchMs: number;
  readonly #turnMs: number;
  #waiting: (() => void)[] = [];
  #isSet = false;

  /** A simulation passes infinite lengths, so that it does not depend on the machine's speed. */
  constructor(lengths: SliceLengths = { turnMs, batchMs }) {
    this.#turnMs = lengths.turnMs;
    this.batchMs = lengths.batchMs;
  }

  /** Runs `work` at the end of this turn of the loop or of a later one. It must not throw. */
  add(work: () => void): void {
    this.#waiting.push(work);
    this.#set();
  }

  #set(): void {
    if (this.#isSet) return;
    this.#isSet = true;
    setImmediate(() => this.#run());
  }

  /** Work added meanwhile runs after sockets have been read again. */
  #run(): void {
    this.#isSet = false;
    const due = this.#waiting;
    this.#waiting = [];
    const untilMs = performance.now() + this.#turnMs;
    let done = 0;
    for (const work of due) {
      work();
      done += 1;
      if (performance.now() >= untilMs) break;
    }
    if (done < due.length) this.#waiting = [...due.slice(done), ...this.#waiting];
    if (this.#waiting.length > 0) this.#set();
  }
}
