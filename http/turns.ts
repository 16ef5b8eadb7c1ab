// Calls that nobody waits for by the millisecond: one in each turn of the event loop. A page that asks for eight reports at one
// moment then holds up who writes a message for as long as one of them takes, not for all.

/** Who comes after so many is called at once, and refused by what they ask if that is full as well. */
const maxWaiting = 200;

export class Turns {
  readonly #waiting: (() => void)[] = [];
  /** Somebody was called in this turn, or somebody waits. */
  #isTaken = false;

  /** Calls now, or in a turn of its own after those who came before. */
  take(call: () => void): void {
    if (this.#isTaken && this.#waiting.length < maxWaiting) {
      this.#waiting.push(call);
      return;
    }
    if (!this.#isTaken) {
      this.#isTaken = true;
      setImmediate(() => this.#next());
    }
    call();
  }

  #next(): void {
    const call = this.#waiting.shift();
    this.#isTaken = call !== undefined;
    if (call === undefined) return;
    // Before the call: what it throws is its own.
    setImmediate(() => this.#next());
    call();
  }
}
