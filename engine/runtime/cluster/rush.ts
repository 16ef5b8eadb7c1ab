// While many workspaces are taken at once, as when a node has died, and for a moment after: whoever uses them comes first,
// and what else this node would do waits.

import type { Clock, Timer } from '../clock.ts';

/** A thousand take a few seconds. Where many cannot be taken, the other work goes on after this. */
const longestMs = 15_000;
/** Those who waited for the last ones write to them. */
const restMs = 2000;

export class Rush {
  readonly #clock: Clock;
  #isOn = false;
  /** It lasted for as long as it may, and more is to be taken still. */
  #isSpent = false;
  #longest: Timer | undefined;
  #rest: Timer | undefined;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when there is none. */
  async whenOver(): Promise<void> {
    if (this.#isOn) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Some have to wait until others are taken. */
  begin(): void {
    this.#rest?.cancel();
    if (this.#isOn || this.#isSpent) return;
    this.#isOn = true;
    this.#longest = this.#clock.after(longestMs, () => {
      this.#isSpent = true;
      this.end();
    });
  }

  /** The last one is taken. */
  endSoon(): void {
    this.#rest?.cancel();
    if (!this.#isOn && !this.#isSpent) return;
    this.#rest = this.#clock.after(restMs, () => {
      this.#isSpent = false;
      this.end();
    });
  }

  end(): void {
    this.#isOn = false;
    this.#longest?.cancel();
    this.#rest?.cancel();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
