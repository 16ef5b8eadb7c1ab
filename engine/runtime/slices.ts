// Shares the event loop out among all workspaces. What their lanes and files have to do runs in the order in which it
// was asked for, so much of it in each turn of the loop, and between two turns sockets are read and timers run. Who
// always has more to do asks again each time, and so waits behind everybody else.

/** For all of them together, in one turn. One piece may take it further over this: a command is not cut in two. */
const turnMs = 8;
/** For one batch of one lane: then it asks again for the rest. */
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

  /** A simulation gives lengths without an end, so that nothing in it depends on how quick the machine is. */
  constructor(lengths: SliceLengths = { turnMs, batchMs }) {
    this.#turnMs = lengths.turnMs;
    this.batchMs = lengths.batchMs;
  }

  /** Runs it at the end of this turn of the loop, or of one of the next. It must not throw. */
  add(work: () => void): void {
    this.#waiting.push(work);
    this.#set();
  }

  #set(): void {
    if (this.#isSet) return;
    this.#isSet = true;
    setImmediate(() => this.#run());
  }

  /** What is asked for meanwhile has its turn after the next look at the sockets. */
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
