// Calls that nobody waits for by the millisecond, one after another instead of at once: one now, then one in each turn
// of the event loop. A page that asks for eight reports at one moment then holds up who writes a message while one is
// asked, or two, and not all.

/** Of all workspaces together. Who comes after so many has the oldest called at once. */
const maxWaiting = 200;

export class Pacer {
  readonly #waiting: (() => void)[] = [];
  /** Somebody was called in this turn, or somebody waits. */
  #isTaken = false;

  /**
   * Calls now, or in a turn of its own after those who came before. What is called then must not throw: nobody is there
   * to catch it.
   */
  take(call: () => void): void {
    if (this.#isTaken) {
      this.#waiting.push(call);
      if (this.#waiting.length > maxWaiting) this.#waiting.shift()?.();
      return;
    }
    this.#isTaken = true;
    setImmediate(() => this.#next());
    call();
  }

  #next(): void {
    const call = this.#waiting.shift();
    this.#isTaken = call !== undefined;
    if (call === undefined) return;
    setImmediate(() => this.#next());
    call();
  }
}
