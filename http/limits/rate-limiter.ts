// Rate limits per minute or another span, in memory. A window opens with the first call and allows a fixed number.
// Bounded: when there are too many keys, those that were hardly used are evicted first, so that a flood of made-up keys
// does not reset a used-up budget.

import type { Clock } from '../../engine/runtime/clock.ts';

export interface Budget {
  readonly limit: number;
  readonly remaining: number;
  /** Until the window ends. */
  readonly resetSeconds: number;
  readonly allowed: boolean;
}

/** A budget as the caller sees it; an app sees its own share as well. */
export interface CallerBudget extends Budget {
  readonly ofApp?: Budget;
}

interface Window {
  readonly endsMs: number;
  readonly limit: number;
  used: number;
}

const minuteMs = 60_000;
/** At most this many keys are kept, about 15 MB. */
const maxKeys = 100_000;
/** Expired windows removed for each new one. More than one, so that the number kept follows the current callers. */
const sweptAtOnce = 4;
/** Windows examined for early eviction. */
const lookedAtOnce = 32;

export class RateLimiter {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #windowMs: number;
  /** The oldest first. All windows have the same length, so expired ones are at the beginning. */
  readonly #windows = new Map<string, Window>();

  constructor(clock: Pick<Clock, 'now'>, windowMs = minuteMs) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /**
   * Counts one call against `key`, or an amount that is known only afterwards, which counts in full if anything is
   * left.
   */
  take(key: string, limit: number, amount = 1): Budget {
    const now = this.#clock.now();
    let window = this.#windows.get(key);
    if (window === undefined || window.endsMs <= now) {
      this.#windows.delete(key);
      this.#sweep(now);
      window = { endsMs: now + this.#windowMs, limit, used: 0 };
      this.#windows.set(key, window);
    }
    const allowed = window.used < limit;
    if (allowed) window.used += amount;
    return { limit, remaining: Math.max(0, limit - window.used), resetSeconds: secondsUntil(window, now), allowed };
  }

  /** The budget of `key` as it is now. Counts nothing. */
  look(key: string, limit: number): Budget {
    const now = this.#clock.now();
    const window = this.#windows.get(key);
    const { used, endsMs } =
      window === undefined || window.endsMs <= now ? { used: 0, endsMs: now + this.#windowMs } : window;
    return {
      limit,
      remaining: Math.max(0, limit - used),
      resetSeconds: secondsUntil({ endsMs }, now),
      allowed: used < limit,
    };
  }

  /** The number of keys kept. */
  get size(): number {
    return this.#windows.size;
  }

  #sweep(now: number): void {
    let looked = 0;
    for (const [key, { endsMs }] of this.#windows) {
      if (endsMs > now || looked === sweptAtOnce) break;
      this.#windows.delete(key);
      looked += 1;
    }
    if (this.#windows.size >= maxKeys) this.#evict();
  }

  /** The oldest window that is less than half used. Those before it are moved to the end. */
  #evict(): void {
    let looked = 0;
    for (const [key, window] of this.#windows) {
      looked += 1;
      this.#windows.delete(key);
      if (2 * window.used < window.limit || looked === lookedAtOnce) return;
      this.#windows.set(key, window);
    }
  }
}

function secondsUntil({ endsMs }: Pick<Window, 'endsMs'>, now: number): number {
  return Math.max(1, Math.ceil((endsMs - now) / 1000));
}
