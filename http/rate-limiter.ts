// Budgets per minute, in memory: a window opens with the first call and holds so many. Bounded; what is forgotten starts anew.

import type { Clock } from '../engine/runtime/clock.ts';

export interface Budget {
  readonly limit: number;
  readonly remaining: number;
  /** Until the window ends. */
  readonly resetSeconds: number;
  readonly allowed: boolean;
}

/** What a caller is told of its own budget; an app is told of its share as well. */
export interface ToldBudget extends Budget {
  readonly ofApp?: Budget;
}

interface Window {
  endsMs: number;
  used: number;
}

const windowMs = 60_000;
/** Keys held at the most; beyond that all are forgotten. */
const maxKeys = 100_000;
/** Fewer than this are not worth a look at which windows are over. */
const leastSwept = 1000;

export class RateLimiter {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #windows = new Map<string, Window>();
  /** Twice what the last sweep left: each key is looked at about once, and what is held follows who calls now, not who ever called. */
  #sweepAt = leastSwept;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Counts one call against `key`. */
  take(key: string, limit: number): Budget {
    const now = this.#clock.now();
    let window = this.#windows.get(key);
    if (window === undefined || window.endsMs <= now) {
      if (this.#windows.size >= this.#sweepAt) this.#sweep(now);
      window = { endsMs: now + windowMs, used: 0 };
      this.#windows.set(key, window);
    }
    const allowed = window.used < limit;
    if (allowed) window.used += 1;
    return { limit, remaining: limit - window.used, resetSeconds: Math.max(1, Math.ceil((window.endsMs - now) / 1000)), allowed };
  }

  /** Keys that are held. */
  get size(): number {
    return this.#windows.size;
  }

  #sweep(now: number): void {
    for (const [key, window] of this.#windows) if (window.endsMs <= now) this.#windows.delete(key);
    if (this.#windows.size >= maxKeys) this.#windows.clear();
    this.#sweepAt = Math.min(maxKeys, Math.max(leastSwept, 2 * this.#windows.size));
  }
}
