// Something that holds for a while: told when it begins to, and when it no longer does.

import { later } from './guard.ts';

export class Lamp {
  readonly #onChange: () => void;
  #isLit = false;
  #timer: { cancel(): void } | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get isLit(): boolean {
    return this.#isLit;
  }

  /** Lit from now on, for so long; again from the beginning when it was. */
  lightFor(ms: number): void {
    this.#set(true);
    this.#timer = later(ms, () => this.#set(false));
  }

  /** Lit after so long, unless it is put out before. */
  lightIn(ms: number): void {
    if (this.#isLit || this.#timer !== undefined) return;
    this.#timer = later(ms, () => this.#set(true));
  }

  putOut(): void {
    this.#set(false);
  }

  #set(isLit: boolean): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (isLit === this.#isLit) return;
    this.#isLit = isLit;
    this.#onChange();
  }
}
