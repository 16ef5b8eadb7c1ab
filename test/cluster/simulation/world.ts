// Time and chance of a simulated cluster: events in the order of their time, each followed by all that it leads to
// before the next. Nothing here waits for real time.

import type { Clock, Timer } from '../../../engine/runtime/clock.ts';
import { type Random, randomFrom } from '../../support/seeded.ts';

interface Event {
  readonly dueMs: number;
  readonly order: number;
  call: (() => void) | undefined;
}

export class World {
  readonly random: Random;
  readonly trace: string[] = [];
  /** What was found to be wrong first. */
  wrong: string | undefined;
  #nowMs = 0;
  #order = 0;
  /** A heap, the next event first. */
  readonly #events: Event[] = [];

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  isWrong(text: string): void {
    this.wrong ??= text;
  }

  note(text: string): void {
    this.trace.push(`${(this.#nowMs / 1000).toFixed(3)} ${text}`);
  }

  between(least: number, most: number): number {
    return least + this.random.next() * (most - least);
  }

  after(delayMs: number, call: () => void): Timer {
    this.#order += 1;
    const event: Event = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, call };
    this.#events.push(event);
    this.#rise(this.#events.length - 1);
    return { cancel: () => void (event.call = undefined) };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Until that much time has passed, or something is wrong. */
  async run(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (let next = this.#events[0]; next !== undefined && next.dueMs <= endMs; next = this.#events[0]) {
      this.#shift();
      if (next.call === undefined) continue;
      this.#nowMs = next.dueMs;
      next.call();
      await new Promise((resolve) => setImmediate(resolve));
      if (this.wrong !== undefined) return;
    }
    this.#nowMs = endMs;
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#events[a], this.#events[b]];
    if (one === undefined || other === undefined) return false;
    return one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order);
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#events[a], this.#events[b]];
    if (one !== undefined && other !== undefined) [this.#events[a], this.#events[b]] = [other, one];
  }

  #rise(from: number): void {
    for (let at = from, above = (at - 1) >> 1; at > 0 && this.#isBefore(at, above); at = above, above = (at - 1) >> 1)
      this.#swap(at, above);
  }

  #shift(): void {
    const last = this.#events.pop();
    if (last === undefined || this.#events.length === 0) return;
    this.#events[0] = last;
    for (let at = 0; ; ) {
      let least = at;
      for (const below of [2 * at + 1, 2 * at + 2]) if (this.#isBefore(below, least)) least = below;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }
}

/** One process: it can be paused, which it does not notice, and killed. Its clock has a pace of its own. */
export class Life {
  readonly world: World;
  readonly clock: Clock;
  isOver = false;
  #isPaused = false;
  #missed: { readonly kind: 'timer' | 'message'; readonly call: () => void }[] = [];
  #aheadMs: number;
  readonly #onEnd: (() => void)[] = [];

  /** `pace`: its milliseconds per real one. `aheadMs`: by how much its clock differs. */
  constructor(world: World, { pace, aheadMs }: { pace: number; aheadMs: number }) {
    this.world = world;
    this.#aheadMs = aheadMs;
    this.clock = {
      now: () => Math.floor(this.world.nowMs * pace + this.#aheadMs),
      after: (delayMs, call) => world.after(delayMs / pace, () => this.deliver(call, 'timer')),
    };
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Its clock is set forward. */
  jump(ms: number): void {
    this.#aheadMs += ms;
  }

  /** Something happens in this process: now, when it goes on, or never. */
  deliver(call: () => void, kind: 'timer' | 'message' = 'message'): void {
    if (this.isOver) return;
    if (this.#isPaused) this.#missed.push({ kind, call });
    else call();
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Timers first, as the event loop has it, or what came in the meantime first. */
  resume(): void {
    this.#isPaused = false;
    const missed = this.#missed;
    this.#missed = [];
    const first = this.world.random.pick(['timer', 'message']);
    for (const isFirst of [true, false])
      for (const { kind, call } of missed)
        if ((kind === first) === isFirst) this.world.after(0, () => this.deliver(call, kind));
  }

  onEnd(call: () => void): void {
    this.#onEnd.push(call);
  }

  end(): void {
    this.isOver = true;
    this.#missed = [];
    for (const call of this.#onEnd) call();
  }
}
