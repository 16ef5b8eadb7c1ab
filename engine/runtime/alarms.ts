// One alarm per workspace, for the earliest thing it waits for. Deadlines and the outbox are rows; this is how their
// time is noticed. Losing every alarm loses nothing: the engine sets them again from the rows.

import { type Clock, longestWaitMs, type Timer } from './clock.ts';

interface Alarm {
  readonly dueMs: number;
  readonly timer: Timer;
}

export class Alarms {
  readonly #clock: Clock;
  readonly #onDue: (key: string) => void;
  readonly #alarms = new Map<string, Alarm>();

  constructor(clock: Clock, onDue: (key: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Rings at `dueMs`, or earlier if an earlier alarm is set already. Infinity sets none. */
  set(key: string, dueMs: number): void {
    const present = this.#alarms.get(key);
    if (dueMs === Number.POSITIVE_INFINITY || (present !== undefined && present.dueMs <= dueMs)) return;
    present?.timer.cancel();
    if (dueMs > this.#clock.now()) this.#arm(key, dueMs);
    else this.#ringSoon(key, dueMs);
  }

  isSet(key: string): boolean {
    return this.#alarms.has(key);
  }

  /** Keys of those that ring before `ms`, in that order. */
  before(ms: number): string[] {
    const near = [...this.#alarms].filter(([, { dueMs }]) => dueMs < ms);
    return near.sort(([, a], [, b]) => a.dueMs - b.dueMs).map(([key]) => key);
  }

  clear(): void {
    for (const { timer } of this.#alarms.values()) timer.cancel();
    this.#alarms.clear();
  }

  /** What is due already needs no clock, only the end of this turn. */
  #ringSoon(key: string, dueMs: number): void {
    const handle = setImmediate(() => {
      this.#alarms.delete(key);
      this.#onDue(key);
    });
    this.#alarms.set(key, { dueMs, timer: { cancel: () => clearImmediate(handle) } });
  }

  #arm(key: string, dueMs: number): void {
    const waitMs = Math.min(dueMs - this.#clock.now(), longestWaitMs);
    const timer = this.#clock.after(waitMs, () => {
      this.#alarms.delete(key);
      if (this.#clock.now() >= dueMs) this.#onDue(key);
      else this.#arm(key, dueMs);
    });
    this.#alarms.set(key, { dueMs, timer });
  }
}
