// Gives memory back to the system when it is not needed: what reading and compiling the program left, once it has
// started, and what a busy hour left, once it is over. V8 itself returns little of a heap that nobody allocates in.
// Called by main.ts alone: a process's memory is no part's business.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

const sampleMs = 60_000;
/** So many samples in a row with less than a hundredth of a core each are an idle time. */
const idleSamples = 5;
const idleShare = 0.01;
/** Less work than this leaves nothing worth 30 ms of a pause. */
const minWorkMs = 5000;

/** Collects everything, compiled code that nobody runs included. Holds the loop for about 30 ms. */
export function releaseMemory(): void {
  // The function exists only behind a flag, which may be set at any time before its context is made.
  setFlagsFromString('--expose-gc');
  // V8 documents these options for `gc`; nothing types them.
  const collect = runInNewContext('gc') as Collect;
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Decides from samples of the work done when it is time: after an idle stretch that follows some work. */
export function idleWatch(): (sample: { workMs: number; spanMs: number }) => boolean {
  let quiet = 0;
  let workMs = 0;
  return (sample) => {
    const isQuiet = sample.workMs <= sample.spanMs * idleShare;
    quiet = isQuiet ? quiet + 1 : 0;
    workMs += isQuiet ? 0 : sample.workMs;
    if (quiet < idleSamples || workMs < minWorkMs) return false;
    quiet = 0;
    workMs = 0;
    return true;
  };
}

/** Releases now, and after every busy time. */
export function keepMemoryLow(): void {
  releaseMemory();
  const isTime = idleWatch();
  let before = process.cpuUsage();
  setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    if (isTime({ workMs: (user + system) / 1000, spanMs: sampleMs })) releaseMemory();
  }, sampleMs).unref();
}
