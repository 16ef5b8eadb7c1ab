// Starts queued calls one per turn of the event loop. A page that requests eight reports at once then delays another
// agent's message by one or two of them, not by all.

/** The longest queue, over all workspaces. When it is full, the oldest call starts at once. */
const maxWaiting = 200;

export class Pacer {
  readonly #waiting: (() => void)[] = [];
  /** A call started in this turn, or calls are queued. */
  #isTaken = false;

  /**
   * Starts the call now, or queues it behind earlier ones. A queued call must not throw: there is no one to catch it.
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
