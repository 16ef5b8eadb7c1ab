// A clock that only moves when a test moves it. Timers fire in the order of their time, inside advance().

import type { Clock } from '../../engine/runtime/clock.ts';

interface Waiting {
  dueMs: number;
  readonly order: number;
  readonly call: () => void;
}

export class ManualClock implements Clock {
  #nowMs: number;
  #order = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(start = '2026-11-20T12:00:00.000Z') {
    this.#nowMs = Date.parse(start);
  }

  now(): number {
    return this.#nowMs;
  }

  after(delayMs: number, call: () => void): { cancel(): void } {
    this.#order += 1;
    const waiting: Waiting = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, call };
    this.#waiting.add(waiting);
    return { cancel: () => void this.#waiting.delete(waiting) };
  }

  /** Advances the time and fires what becomes due, each at its own moment. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#waiting.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.call();
    }
    this.#nowMs = endMs;
  }

  /** Sets the wall clock: timers keep their pace, so none comes nearer. */
  jump(ms: number): void {
    this.#nowMs += ms;
    for (const one of this.#waiting) one.dueMs += ms;
  }

  #next(endMs: number): Waiting | undefined {
    let next: Waiting | undefined;
    for (const one of this.#waiting) {
      if (one.dueMs > endMs) continue;
      if (next === undefined || one.dueMs < next.dueMs || (one.dueMs === next.dueMs && one.order < next.order))
        next = one;
    }
    return next;
  }
}
