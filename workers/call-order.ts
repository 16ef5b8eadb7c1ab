// The calls that a thread has received and not begun. Those that go first are begun before the others, and each kind in
// the order in which it came; but the others are never left waiting for good.

/** One of the others is begun after so many that went first, so that their time limit still says that a thread is stuck. */
const maxFirstInARow = 4;

export class CallOrder<Call extends { readonly goesFirst: boolean }> {
  readonly #first: Call[] = [];
  readonly #others: Call[] = [];
  /** Calls that went first since one of the others was begun. */
  #inARow = 0;

  get size(): number {
    return this.#first.length + this.#others.length;
  }

  add(call: Call): void {
    (call.goesFirst ? this.#first : this.#others).push(call);
  }

  /** Removes the one to begin next. */
  take(): Call | undefined {
    const isFirst = this.#first.length > 0 && (this.#inARow < maxFirstInARow || this.#others.length === 0);
    this.#inARow = isFirst ? this.#inARow + 1 : 0;
    return (isFirst ? this.#first : this.#others).shift();
  }
}
