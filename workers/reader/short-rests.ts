// For a thread that shares its core with others and whose work is not the most urgent: the reader thread, in reports,
// lists of contacts and pages of exports. Linux lets a thread that runs go on until its next tick (4 ms at 250 Hz) when
// another wakes on the same core, whatever the priorities of both, so a write may wait that long for a report. Whoever
// sleeps for a moment lets the other go first. Never for the main thread, nor while something is being written.

import { performance } from 'node:perf_hooks';

/**
 * Of work, before the next pause between two statements is a rest. With less, eight reports at once take longer than
 * they may.
 */
const workMs = 0.3;
/**
 * With what the kernel adds, 0.1 ms. V8 looks at its clock, in whole microseconds, before it sleeps: a rest of one
 * might be over by then.
 */
const restMs = 0.004;

export interface Rests {
  /** To be called when a question is begun: a thread that waited for it has rested. */
  begin(): void;
  /** Sleeps if so much was worked since the last rest. */
  restIfDue(): void;
}

/** What a thread knows of itself. */
export interface ThreadTime {
  nowMs(): number;
  /** For how long it has waited for questions in all. */
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
