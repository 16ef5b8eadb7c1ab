// Limits how fast a network sends and receives files, so that a fast one leaves the loop, the disk and the bus to
// others. Called by exchange.ts for every part of a streamed body.

import { setTimeout as delay } from 'node:timers/promises';

/** Half a gigabit a second. Without a limit, 200 downloads by one network made turns of the loop take 40 to 90 ms. */
const bytesPerSecond = 64 * 1024 * 1024;
/** A network may be ahead by this much, so that a small file never waits. */
const aheadMs = 50;
/** Networks that are no longer ahead are forgotten once this many are kept. */
const sweepAt = 1024;

export interface PaceOptions {
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}

export class Pace {
  readonly #options: PaceOptions;
  /** By network: when the bytes that it has moved are paid for, in milliseconds. */
  readonly #paidMs = new Map<string, number>();

  constructor(options: PaceOptions = { now: () => performance.now(), wait: (ms) => delay(ms) }) {
    this.#options = options;
  }

  /** Resolves when the network may move this many bytes more. */
  async take(network: string, bytes: number): Promise<void> {
    const nowMs = this.#options.now();
    const paidMs = Math.max(this.#paidMs.get(network) ?? 0, nowMs);
    if (this.#paidMs.size >= sweepAt) this.#sweep(nowMs);
    this.#paidMs.set(network, paidMs + (bytes / bytesPerSecond) * 1000);
    const waitMs = paidMs - aheadMs - nowMs;
    if (waitMs > 0) await this.#options.wait(waitMs);
  }

  #sweep(nowMs: number): void {
    for (const [network, paidMs] of this.#paidMs) if (paidMs <= nowMs) this.#paidMs.delete(network);
  }
}
