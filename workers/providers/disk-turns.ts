// Paces large files on the disk that also holds the databases: one piece is made durable at a time over all files, and
// after each the disk is left to others for three times as long. Syncing 25 MB at once would block every commit
// meanwhile. Senders take turns, so that a sender with many files delays only its own. Used by objects-disk.ts.

import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Large files get a quarter of the disk's time. */
const restsPerWork = 3;
/** A longer sync means that the disk is busy with other work. */
const maxRestMs = 100;

export interface DiskTime {
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

const ownTime: DiskTime = { nowMs: () => performance.now(), sleep };

export class DiskTurns {
  readonly #time: DiskTime;
  /** By sender, in the order in which they are next. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  #isRunning = false;

  constructor(time: DiskTime = ownTime) {
    this.#time = time;
  }

  /** Does the work when it is the sender's turn, and settles as the work does. */
  take(sender: string, work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const settled = (): Promise<void> => work().then(resolve, reject);
      const queue = this.#waiting.get(sender);
      if (queue === undefined) this.#waiting.set(sender, [settled]);
      else queue.push(settled);
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let work = this.#next(); work !== undefined; work = this.#next()) {
      const beganMs = this.#time.nowMs();
      await work();
      await this.#time.sleep(Math.min(restsPerWork * (this.#time.nowMs() - beganMs), maxRestMs));
    }
    this.#isRunning = false;
  }

  #next(): (() => Promise<void>) | undefined {
    for (const [sender, queue] of this.#waiting) {
      const work = queue.shift();
      // The other senders are next.
      this.#waiting.delete(sender);
      if (queue.length > 0) this.#waiting.set(sender, queue);
      return work;
    }
    return undefined;
  }
}
