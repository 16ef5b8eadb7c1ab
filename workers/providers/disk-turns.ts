// Large files on the disk that the databases are on: their bytes are written one piece at a time, whoever sends them,
// and after each the disk has three times as long for others as it took. Twenty-five megabytes that are made durable at
// once keep every commit waiting until they are. Used by objects-disk.ts.

import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Of the disk's time a quarter is for large files, while somebody sends them. */
const restsPerWork = 3;
/** A disk that took so long is busy with something else. */
const maxRestMs = 100;

export interface DiskTime {
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

const ownTime: DiskTime = { nowMs: () => performance.now(), sleep };

export class DiskTurns {
  readonly #time: DiskTime;
  /** Until the disk is free for the next; never rejects. */
  #taken: Promise<void> = Promise.resolve();

  constructor(time: DiskTime = ownTime) {
    this.#time = time;
  }

  /** Resolves, or rejects, as the work does, when those who came before are done and it is. */
  take(work: () => Promise<void>): Promise<void> {
    let beganMs = 0;
    const done = this.#taken.then(() => {
      beganMs = this.#time.nowMs();
      return work();
    });
    const rest = (): Promise<void> =>
      this.#time.sleep(Math.min(restsPerWork * (this.#time.nowMs() - beganMs), maxRestMs));
    this.#taken = done.then(rest, rest);
    return done;
  }
}
