// Answers of other nodes, for a few seconds: a burst of requests asks once.

import type { Clock } from '../../engine/runtime/clock.ts';

const keptMs = 5000;
const maxKept = 1000;

export class BriefMemory<Value> {
  readonly #clock: Pick<Clock, 'now'>;
  /** The oldest first. */
  readonly #kept = new Map<string, { readonly value: Value; readonly untilMs: number }>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  get(key: string): { readonly value: Value } | undefined {
    const found = this.#kept.get(key);
    return found === undefined || found.untilMs <= this.#clock.now() ? undefined : found;
  }

  set(key: string, value: Value): void {
    this.#kept.delete(key);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= maxKept && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(key, { value, untilMs: this.#clock.now() + keptMs });
  }
}
