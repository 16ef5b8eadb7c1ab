// Pauses that grow with consecutive failures: the first twenty are free, then each pause is twice the one before, up to
// an hour. In memory and bounded: when there are too many keys, those with few failures are evicted first.

import type { Clock } from '../../engine/runtime/clock.ts';

interface Failures {
  readonly count: number;
  readonly lastMs: number;
  /** No attempt is allowed before this time. */
  readonly untilMs: number;
}

/**
 * More than a person with many passwords needs. It allows about 25 attempts in the first hour and one in each further
 * hour; ASVS 2.2.1 allows a hundred.
 */
const free = 20;
const firstPauseMs = 60_000;
const longestPauseMs = 3600_000;
const rememberedMs = 24 * 3600_000;
const maxKeys = 50_000;
/** At most this many keys are expired, or examined for early eviction, per call. */
const lookedAtOnce = 32;

export class Pauses {
  readonly #clock: Pick<Clock, 'now'>;
  /** Ordered by last failure, the oldest first. */
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Milliseconds until the key may be tried again; 0 for now. */
  restMs(key: string): number {
    return Math.max(0, (this.#failures.get(key)?.untilMs ?? 0) - this.#clock.now());
  }

  /** Returns the number of consecutive failures if it is enough for a pause. */
  fail(key: string): number | undefined {
    const now = this.#clock.now();
    const before = this.#failures.get(key);
    const count = before === undefined || now - before.lastMs >= rememberedMs ? 1 : before.count + 1;
    const isPaused = count >= free;
    this.#failures.delete(key);
    this.#makeRoom(now);
    this.#failures.set(key, {
      count,
      lastMs: now,
      untilMs: isPaused ? now + Math.min(longestPauseMs, firstPauseMs * 2 ** (count - free)) : now,
    });
    return isPaused ? count : undefined;
  }

  succeed(key: string): void {
    this.#failures.delete(key);
  }

  get size(): number {
    return this.#failures.size;
  }

  #makeRoom(now: number): void {
    let looked = 0;
    for (const [key, failures] of this.#failures) {
      const isOver = now - failures.lastMs >= rememberedMs;
      const isFull = this.#failures.size >= maxKeys;
      if (!isOver && !isFull) return;
      looked += 1;
      this.#failures.delete(key);
      if (!isOver && failures.count >= free / 2 && looked < lookedAtOnce) this.#failures.set(key, failures);
      if (looked === lookedAtOnce) return;
    }
  }
}
