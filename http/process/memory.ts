// Returns memory to the system when it is not needed: after the start, which reads and compiles the program, and after
// a busy period. V8 by itself returns little of an idle heap. Used only by `switchboard serve`.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const sampleMs = 60_000;
/** The process is idle after this many consecutive samples that each used less than a hundredth of a core. */
const idleSamples = 5;
const idleShare = 0.01;
/** Less work than this leaves too little garbage to be worth a pause of 30 ms. */
const minWorkMs = 5000;

/** V8 documents these options for `gc`; nothing types them. */
type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Collects all garbage, unused compiled code included. Blocks the event loop for about 30 ms. The flag is set here,
 * because V8 rejects the executable's code cache if its flags differ from those that it was compiled with.
 */
export function releaseMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * Threads have limits of their own (workers/thread.ts), over which the option for the main thread's new objects
 * (packaging/node-arguments.js) would go. A heap reads it once, when it is made, so threads of before keep that of the
 * main thread. Call it after the announcement, as releaseMemory().
 */
export function sizeThreadsByThemselves(): void {
  setFlagsFromString('--max-semi-space-size=0');
}

/** Decides from samples of the work done when to release memory: once idle after some work. */
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

/** Releases memory now, and after every busy period. */
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
