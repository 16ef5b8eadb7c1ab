// A flag that turns on or off after a delay and reports each change.

import { later } from './guard.ts';

export class DelayedFlag {
  readonly #onChange: () => void;
  #isOn = false;
  #timer: { cancel(): void } | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Turns on now and off after `ms`; restarts the time if it is on already. */
  turnOnFor(ms: number): void {
    this.#set(true);
    this.#timer = later(ms, () => this.#set(false));
  }

  /** Turns on after `ms`, unless it is turned off before. */
  turnOnAfter(ms: number): void {
    if (this.#isOn || this.#timer !== undefined) return;
    this.#timer = later(ms, () => this.#set(true));
  }

  turnOff(): void {
    this.#set(false);
  }

  #set(isOn: boolean): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    this.#onChange();
  }
}
