// Paces writes of large files to the disk that also holds the databases: one piece at a time over all files, and after
// each the disk is left to others for three times as long. Syncing 25 MB at once would block every commit meanwhile.
// Used by objects-disk.ts.

import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Large files get a quarter of the disk's time. */
const restsPerWork = 3;
/** A longer write means that the disk is busy with other work. */
const maxRestMs = 100;

export interface DiskTime {
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

const ownTime: DiskTime = { nowMs: () => performance.now(), sleep };

export class DiskTurns {
  readonly #time: DiskTime;
  /** Resolves when the disk is free for the next; never rejects. */
  #taken: Promise<void> = Promise.resolve();

  constructor(time: DiskTime = ownTime) {
    this.#time = time;
  }

  /** Settles as the work does, which runs after earlier work and its rest. */
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
