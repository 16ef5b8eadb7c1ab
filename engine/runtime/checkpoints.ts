// Keeps write-ahead logs short without holding up the loop. A helper thread copies a file's log back in two passes: the long
// one while writers go on, then a short one over the few frames that came meanwhile, for which alone the lane is held. After
// it the log starts over from its beginning.

import type { Database } from '../../store/database.ts';
import type { Lane } from './lane.ts';
import type { Log } from './log.ts';

/** Copies what it can of the log of the file at `path`, in another thread. */
export type Checkpoint = (path: string) => Promise<{ logFrames: number; copiedFrames: number }>;

/** Frames of 4 KiB in a log before it is copied back: 16 MiB. */
const frameLimit = 4000;
/** What a command is taken to write until its file has been measured once. */
const framesPerJobAtFirst = 2;

/** A file whose log grows, and the lane that writes to it. */
export interface Growing {
  readonly workspaceId: string;
  readonly db: Pick<Database, 'path'>;
  readonly lane: Pick<Lane, 'hold' | 'release'>;
}

interface Progress {
  jobs: number;
  framesPerJob: number;
  /** Differs per file, so that files that fill together are not copied together. */
  limit: number;
  running: boolean;
}

export class Checkpoints {
  readonly #checkpoint: Checkpoint;
  readonly #log: Log;
  readonly #random: () => number;
  readonly #progress = new WeakMap<Growing, Progress>();

  constructor(options: { checkpoint: Checkpoint; log: Log; random: () => number }) {
    this.#checkpoint = options.checkpoint;
    this.#log = options.log;
    this.#random = options.random;
  }

  /** Counts a batch, and starts a checkpoint when the log has grown long. */
  count(workspace: Growing, jobs: number): void {
    let progress = this.#progress.get(workspace);
    if (progress === undefined) {
      progress = { jobs: 0, framesPerJob: framesPerJobAtFirst, limit: frameLimit * (0.5 + this.#random() / 2), running: false };
      this.#progress.set(workspace, progress);
    }
    progress.jobs += jobs;
    if (progress.jobs * progress.framesPerJob >= progress.limit && !progress.running) void this.run(workspace, progress);
  }

  async run(workspace: Growing, progress: Progress): Promise<void> {
    progress.running = true;
    const jobs = progress.jobs;
    try {
      const { logFrames } = await this.#checkpoint(workspace.db.path);
      await workspace.lane.hold();
      try {
        await this.#checkpoint(workspace.db.path);
      } finally {
        workspace.lane.release();
      }
      progress.framesPerJob = Math.max(0.01, logFrames / Math.max(jobs, 1));
    } catch (error) {
      this.#log.error({ workspaceId: workspace.workspaceId, err: error }, 'a checkpoint failed; the log grows on and is tried again');
    }
    progress.jobs = 0;
    progress.limit = frameLimit;
    progress.running = false;
  }
}
