// Pauses that grow with what fails in a row: the first twenty cost nothing, each further one twice the time of the one
// before, up to an hour. In memory, and bounded: when there are too many keys those go first that failed little.

import type { Clock } from '../../engine/runtime/clock.ts';

interface Failures {
  readonly count: number;
  readonly lastMs: number;
  /** Nothing may be tried before. */
  readonly untilMs: number;
}

/**
 * A person who tries all passwords that it ever had is below it. In the first hour about 25 can be tried, one in each
 * further: ASVS 2.2.1 allows a hundred.
 */
const free = 20;
const firstPauseMs = 60_000;
const longestPauseMs = 3600_000;
const rememberedMs = 24 * 3600_000;
const maxKeys = 50_000;
/** Keys that are forgotten by time, or looked at for one that may go early, at once. */
const lookedAtOnce = 32;

export class Pauses {
  readonly #clock: Pick<Clock, 'now'>;
  /** Who failed longest ago stands first. */
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Until the key may be tried again; 0 for now. */
  restMs(key: string): number {
    return Math.max(0, (this.#failures.get(key)?.untilMs ?? 0) - this.#clock.now());
  }

  /** Answers how many that were in a row, where that is enough for a pause. */
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
