// Limits log lines for events that are frequent during a flood.

import type { Clock } from '../../engine/runtime/clock.ts';

interface Told {
  readonly atMs: number;
  passedOver: number;
}

export class Seldom {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #everyMs: number;
  /** A key per kind of event; the code names all of them. */
  readonly #told = new Map<string, Told>();

  constructor(clock: Pick<Clock, 'now'>, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** The number of times since it was last logged, this time included; undefined if that was recently. */
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
