// Short sleeps for the reader thread, which shares its core with more urgent threads, in reports, contact lists and
// exports. Linux lets a running thread continue until its next tick (4 ms at 250 Hz) when another wakes on the same
// core, whatever their priorities, so a write may wait that long for a report. A thread that sleeps for a moment lets
// the other go first. Never for the main thread, nor while something is being written.

import { performance } from 'node:perf_hooks';

/** Work before a pause between two statements becomes a sleep. With less, eight concurrent reports take too long. */
const workMs = 0.3;
/**
 * With the kernel's overhead, 0.1 ms. V8 reads its clock in whole microseconds before it sleeps: a sleep of one might
 * be over by then.
 */
const restMs = 0.004;

export interface Rests {
  /** Call when a call begins: a thread that waited for it has rested. */
  begin(): void;
  /** Sleeps if enough work was done since the last sleep. */
  restIfDue(): void;
}

/** A thread's own measurements. */
export interface ThreadTime {
  nowMs(): number;
  /** Total time it has waited for calls. */
  idleMs(): number;
  sleep(ms: number): void;
}

const neverNotified = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

export const ownTime: ThreadTime = {
  nowMs: () => performance.now(),
  idleMs: () => performance.eventLoopUtilization().idle,
  sleep: (ms) => void Atomics.wait(neverNotified, 0, 0, ms),
};

export function createRests(time: ThreadTime = ownTime): Rests {
  let restedMs = -Infinity;
  let idleAtBeginMs = 0;
  return {
    begin() {
      const idleMs = time.idleMs();
      if (idleMs !== idleAtBeginMs) restedMs = time.nowMs();
      idleAtBeginMs = idleMs;
    },
    restIfDue() {
      if (time.nowMs() - restedMs < workMs) return;
      time.sleep(restMs);
      restedMs = time.nowMs();
    },
  };
}
