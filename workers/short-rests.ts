// For a thread that shares its cores with others and whose work is not the most urgent: the reader thread, in reports, lists of contacts
// and pages of exports. Linux lets a thread that runs go on until its next tick (4 ms at 250 Hz) when another wakes on the same core,
// whatever the priorities of both, and a write wakes several threads one after another. So this thread stops between two statements while
// a workspace is being written to; and since a write that has just come can tell nobody before it has a core, it rests now and then
// as well. Never for the main thread, nor while it writes.

import { performance } from 'node:perf_hooks';

/** Of work, before the next pause between two statements is a rest. With less, eight reports at once take longer than they may. */
const workMs = 0.3;
/** With what the kernel adds, 0.1 ms. V8 looks at its clock, in whole microseconds, before it sleeps: a rest of one might be over by then. */
const restMs = 0.004;
/** While others write, between two looks whether they still do. With what the kernel adds, 0.1 ms. */
const lookMs = 0.05;
/** In all of one question; longer than a good disk takes for a sync. Beyond it, it goes on beside those who write: somebody may always be writing somewhere. */
const maxYieldMs = 2;

export interface Rests {
  /** To be called when a question is begun: a thread that waited for it has rested. Sleeps while others write. */
  begin(): void;
  /** To be called between statements. Sleeps while others write, or if so much was worked since the last rest. */
  pause(): void;
}

export interface RestsOptions {
  /** A workspace is being written to at this moment: who does goes first. */
  readonly isWriting: () => boolean;
  readonly time?: ThreadTime;
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

export function createRests({ isWriting, time = ownTime }: RestsOptions): Rests {
  let restedMs = -Infinity;
  let idleAtBeginMs = 0;
  let leftMs = 0;

  /** False when there was nobody to wait for, or no time left to. */
  function yieldToWrites(): boolean {
    if (leftMs <= 0 || !isWriting()) return false;
    const toMs = time.nowMs() + leftMs;
    do {
      time.sleep(lookMs);
      restedMs = time.nowMs();
    } while (restedMs < toMs && isWriting());
    leftMs = toMs - restedMs;
    return true;
  }

  return {
    begin() {
      leftMs = maxYieldMs;
      const idleMs = time.idleMs();
      if (idleMs !== idleAtBeginMs) restedMs = time.nowMs();
      idleAtBeginMs = idleMs;
      yieldToWrites();
    },
    pause() {
      if (yieldToWrites() || time.nowMs() - restedMs < workMs) return;
      time.sleep(restMs);
      restedMs = time.nowMs();
    },
  };
}
