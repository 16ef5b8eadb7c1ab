// The delay of the event loop: how late a timer rings. Sampled often while the loop works and rarely while it rests, so
// that an idle service does not wake a hundred times a second.

import { createHistogram, performance } from 'node:perf_hooks';

const busyEveryMs = 10;
const idleEveryMs = 1000;
/** The loop works if it was active for more than this share of the time. The samples themselves take up to 0.005. */
const busyShare = 0.02;
/** Samples between two looks at that share. */
const samplesPerLook = 100;

/** Replaced in tests. */
export interface LoopClock {
  nowMs(): number;
  after(ms: number, call: () => void): { cancel(): void };
  /** The share of time that the loop was active since the last call. */
  activeShare(): number;
}

function loopClock(): LoopClock {
  let before = performance.eventLoopUtilization();
  return {
    nowMs: () => performance.now(),
    after(ms, call) {
      const timer = setTimeout(call, ms).unref();
      return { cancel: () => clearTimeout(timer) };
    },
    activeShare() {
      const { utilization } = performance.eventLoopUtilization(before);
      before = performance.eventLoopUtilization();
      return utilization;
    },
  };
}

export class LoopDelay {
  readonly #clock: LoopClock;
  readonly #histogram = createHistogram();
  #everyMs = idleEveryMs;
  #samples = 0;
  #timer: { cancel(): void };

  constructor(clock: LoopClock = loopClock()) {
    this.#clock = clock;
    this.#timer = this.#next();
  }

  /** In seconds, since the last reset(). */
  get figures(): { p50: number; p99: number; max: number } {
    const { count, max } = this.#histogram;
    const at = (percentile: number): number => this.#histogram.percentile(percentile) / 1e9;
    return count === 0 ? { p50: 0, p99: 0, max: 0 } : { p50: at(50), p99: at(99), max: max / 1e9 };
  }

  reset(): void {
    this.#histogram.reset();
  }

  stop(): void {
    this.#timer.cancel();
  }

  #next(): { cancel(): void } {
    const dueMs = this.#clock.nowMs() + this.#everyMs;
    return this.#clock.after(this.#everyMs, () => {
      // At least the histogram's least value.
      this.#histogram.record(Math.max(1, Math.round((this.#clock.nowMs() - dueMs) * 1e6)));
      this.#samples += 1;
      if (this.#everyMs === idleEveryMs || this.#samples % samplesPerLook === 0)
        this.#everyMs = this.#clock.activeShare() > busyShare ? busyEveryMs : idleEveryMs;
      this.#timer = this.#next();
    });
  }
}
