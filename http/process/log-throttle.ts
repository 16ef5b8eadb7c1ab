// Limits log lines for events that are frequent during a flood.

import type { Clock } from '../../engine/runtime/clock.ts';

interface Logged {
  readonly atMs: number;
  skipped: number;
}

export class LogThrottle {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #everyMs: number;
  /** A key per kind of event; the code names all of them. */
  readonly #logged = new Map<string, Logged>();

  constructor(clock: Pick<Clock, 'now'>, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** How often it happened since it was last logged, this time included; undefined if that was recently. */
  count(key: string): number | undefined {
    const now = this.#clock.now();
    const logged = this.#logged.get(key);
    if (logged !== undefined && now - logged.atMs < this.#everyMs) {
      logged.skipped += 1;
      return undefined;
    }
    this.#logged.set(key, { atMs: now, skipped: 0 });
    return 1 + (logged?.skipped ?? 0);
  }
}
