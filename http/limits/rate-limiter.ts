// Budgets per minute or another span, in memory: a window opens with the first call and holds so many. Bounded: when
// there are too many keys those go first that were hardly used, so that a flood of made-up ones gives nobody its spent
// budget back.

import type { Clock } from '../../engine/runtime/clock.ts';

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
  readonly endsMs: number;
  readonly limit: number;
  used: number;
}

const minuteMs = 60_000;
/** Keys held at the most, some 15 MB. */
const maxKeys = 100_000;
/** Windows that are over and go when another begins: more than one, so that what is held follows who calls now. */
const sweptAtOnce = 4;
/** Windows looked at for one that may go before its end. */
const lookedAtOnce = 32;

export class RateLimiter {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #windowMs: number;
  /** The oldest first: all windows are equally long, so those that are over stand at the beginning. */
  readonly #windows = new Map<string, Window>();

  constructor(clock: Pick<Clock, 'now'>, windowMs = minuteMs) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /**
   * Counts one call against `key`, or so much of something whose size is known when it is over: it counts whole if
   * anything is left.
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

  /**
   * Seconds until the window of a key with nothing left ends; undefined when there is something left. Counts nothing.
   */
  spentSeconds(key: string, limit: number): number | undefined {
    const now = this.#clock.now();
    const window = this.#windows.get(key);
    return window === undefined || window.endsMs <= now || window.used < limit ? undefined : secondsUntil(window, now);
  }

  /** Keys that are held. */
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

  /** The oldest that is less than half used; those before it get in line again. */
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

function secondsUntil({ endsMs }: Window, now: number): number {
  return Math.max(1, Math.ceil((endsMs - now) / 1000));
}
