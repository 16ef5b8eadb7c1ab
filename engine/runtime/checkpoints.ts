// Keeps write-ahead logs short without blocking the event loop. A helper thread copies a file's log back in two passes:
// a long one while writers go on, then a short one over the few frames that were added meanwhile. Only the short pass
// holds the lane; after it the log restarts from its beginning. One file at a time, so that no held lane waits for
// another file's long pass.

import type { Database, LogLength } from '../../store/database.ts';
import type { Lane } from './lane.ts';
import type { Log } from './log.ts';

/**
 * Copies back as much as it can of the log of the file at `path`, in another thread. `isOpen`: here, so that its log
 * stays.
 */
export type Checkpoint = (path: string, isOpen: boolean) => Promise<LogLength>;

/** A file and the lane that writes to it. */
export interface LoggedFile {
  readonly db: Database;
  readonly lane: Lane;
}

/** Log frames of 4 KiB before a copy: 16 MiB. */
const defaultFrameLimit = 4000;

interface Progress {
  /** Differs per file at first, so that files that fill together are not copied together. */
  limit: number;
  /** Frames that the last copy left in the log because a reader still needed them. */
  left: number;
  isQueued: boolean;
}

export class Checkpoints {
  readonly #checkpoint: Checkpoint;
  readonly #log: Log;
  readonly #random: () => number;
  readonly #frameLimit: number;
  readonly #progress = new WeakMap<LoggedFile, Progress>();
  /** Resolves with the last copy requested. */
  #last: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: { checkpoint: Checkpoint; log: Log; random: () => number; frameLimit?: number }) {
    this.#checkpoint = options.checkpoint;
    this.#log = options.log;
    this.#random = options.random;
    this.#frameLimit = options.frameLimit ?? defaultFrameLimit;
  }

  /** Called after each batch. Copies the log back when it has grown long. */
  watch(file: LoggedFile): void {
    const progress = this.#progressOf(file);
    if (progress.isQueued) return;
    const { logFrames } = file.db.logLength();
    if (logFrames < progress.left) progress.left = 0;
    if (logFrames - progress.left >= progress.limit) void this.copyBack(file);
  }

  /** Resolves when the log has been copied back, or could not be. */
  copyBack(file: LoggedFile): Promise<void> {
    this.#progressOf(file).isQueued = true;
    this.#last = this.#last.then(() => this.#copy(file));
    return this.#last;
  }

  /**
   * Copies back the log that an ended process left beside a file that is not open here, which makes it durable. For a
   * caller that waits: goes before tidy().
   */
  async recover(path: string): Promise<void> {
    await this.#checkpoint(path, false);
  }

  /** Like recover(), when no caller waits: queued behind the copies requested before. */
  tidy(path: string): Promise<void> {
    const tidied = this.#last.then(async () => {
      if (!this.#stopped) await this.#checkpoint(path, false);
    });
    this.#last = tidied.catch(() => undefined);
    return tidied;
  }

  /** Starts no more copies. */
  stop(): void {
    this.#stopped = true;
  }

  async #copy(file: LoggedFile): Promise<void> {
    const progress = this.#progressOf(file);
    try {
      // A closed file may be another's by now.
      if (this.#stopped || file.db.isClosed) return;
      await this.#checkpoint(file.db.path, true);
      await file.lane.hold();
      try {
        progress.left = (await this.#checkpoint(file.db.path, true)).logFrames;
      } finally {
        file.lane.release();
      }
    } catch (error) {
      if (!this.#stopped)
        this.#log.error(
          { path: file.db.path, err: error },
          'a log could not be checkpointed; it keeps growing and is tried again',
        );
      // Try again only after as many frames more.
      progress.left += progress.limit;
    } finally {
      progress.limit = this.#frameLimit;
      progress.isQueued = false;
    }
  }

  #progressOf(file: LoggedFile): Progress {
    let progress = this.#progress.get(file);
    if (progress === undefined) {
      progress = { limit: this.#frameLimit * (0.5 + this.#random() / 2), left: 0, isQueued: false };
      this.#progress.set(file, progress);
    }
    return progress;
  }
}
