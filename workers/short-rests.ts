// A thread that works for milliseconds keeps another waiting that has woken on the same core: the kernel lets who runs go on, up to its
// next tick (4 ms at 250 Hz), whatever the priorities of both. Whoever sleeps for a moment now and then lets the other go first.

import { performance } from 'node:perf_hooks';

/** Of work between two rests, at least. */
const workMs = 0.25;
/** As short as a sleep can be: about 0.1 ms with what the kernel adds to it. */
const restMs = 0.001;

const neverNotified = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
let sinceMs = -Infinity;
let idleMs = 0;

/** Sleeps if the last rest is a while ago; a thread that waited for its work has had one. To be called wherever work can stand still. */
export function restIfDue(): void {
  if (performance.now() - sinceMs < workMs) return;
  const { idle } = performance.eventLoopUtilization();
  if (idle === idleMs) Atomics.wait(neverNotified, 0, 0, restMs);
  idleMs = idle;
  sinceMs = performance.now();
}
