// One alarm per workspace, for its earliest deadline or outbox item. Those are rows, so losing every alarm loses
// nothing: the engine sets them again from the rows.

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

  /** Keys, the one that rings first in front. */
  inOrder(): string[] {
    return [...this.#alarms].sort(([, a], [, b]) => a.dueMs - b.dueMs).map(([key]) => key);
  }

  delete(key: string): void {
    this.#alarms.get(key)?.timer.cancel();
    this.#alarms.delete(key);
  }

  clear(): void {
    for (const { timer } of this.#alarms.values()) timer.cancel();
    this.#alarms.clear();
  }

  /** A time that has passed already needs no clock; it rings at the end of this turn of the loop. */
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
