// What happens often under a flood and is worth a line once in a while.

import type { Clock } from '../../engine/runtime/clock.ts';

interface Told {
  readonly atMs: number;
  passedOver: number;
}

export class Seldom {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #everyMs: number;
  /** A key for each kind of thing: as many as the code names. */
  readonly #told = new Map<string, Told>();

  constructor(clock: Pick<Clock, 'now'>, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** How often it happened since it was last told of, this time included; undefined when that was only just now. */
  take(key: string): number | undefined {
    const now = this.#clock.now();
    const told = this.#told.get(key);
    if (told !== undefined && now - told.atMs < this.#everyMs) {
      told.passedOver += 1;
      return undefined;
    }
    this.#told.set(key, { atMs: now, passedOver: 0 });
    return 1 + (told?.passedOver ?? 0);
  }
}
