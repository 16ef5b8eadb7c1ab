// When the owner of a workspace stores a snapshot, and what of the log may go afterwards. The log is never longer than
// the file, so a cold take-over reads at most twice the file, and snapshots cost at most what the log does.

import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { Limited } from './limited.ts';
import type { Ownerships } from './ownership.ts';
import { type Files, type Snapshots, SnapshotsUnreachable, type WorkspaceLogs } from './ports.ts';
import type { Restorer } from './restore.ts';

/** A log up to here is read in less time than it takes to notice that its owner is gone. */
const leastLogBytes = 8 * 1024 * 1024;
/** Where content cannot be stored, nothing is packed for it so long: packing takes a core. */
const restMs = 30_000;

export function isSnapshotDue({
  logBytes,
  fileBytes,
  leastBytes = leastLogBytes,
}: {
  logBytes: number;
  fileBytes: number;
  leastBytes?: number;
}): boolean {
  return logBytes > Math.max(fileBytes, leastBytes);
}

export interface SnapshotMakerOptions {
  readonly clock: Clock;
  readonly ownerships: Ownerships;
  readonly files: Files;
  readonly logs: WorkspaceLogs;
  readonly snapshots: Snapshots;
  readonly restorer: Restorer;
  readonly log: Log;
  readonly leastBytes?: number;
}

export class SnapshotMaker {
  readonly #options: SnapshotMakerOptions;
  /** One at a time, since packing takes a core. */
  readonly #making = new Limited(1, (workspaceId) => this.#make(workspaceId));

  #restUntilMs = 0;
  #failed: ReadonlySet<string> = new Set();

  constructor(options: SnapshotMakerOptions) {
    this.#options = options;
  }

  /** Call now and then: makes what is due. */
  look(): void {
    const { ownerships, files, restorer, leastBytes = leastLogBytes } = this.#options;
    if (this.#isResting) return;
    const due: string[] = [];
    for (const [workspaceId, { state }] of ownerships.held()) {
      if (state !== 'serving') continue;
      const logBytes = restorer.logBytes(workspaceId);
      if (isSnapshotDue({ logBytes, fileBytes: files.bytes(workspaceId), leastBytes })) due.push(workspaceId);
    }
    this.#failed = new Set(due.filter((workspaceId) => this.#failed.has(workspaceId)));
    // One that always fails, as a large file on a slow line, must not keep the others waiting.
    for (const workspaceId of due) if (!this.#failed.has(workspaceId)) this.#making.add(workspaceId);
    for (const workspaceId of this.#failed) this.#making.add(workspaceId);
  }

  /** Up to here a stored snapshot covers the log. Its own last entry stays, so the newest always does. */
  purgeableUpTo(stored: { readonly sequence: number }): number {
    return stored.sequence - 1;
  }

  async #make(workspaceId: string): Promise<void> {
    const { ownerships, files, logs, snapshots, restorer, log } = this.#options;
    const gate = ownerships.holding(workspaceId)?.gate;
    if (gate === undefined || this.#isResting) return;
    const isStillServed = (): boolean => ownerships.holding(workspaceId)?.gate === gate;
    try {
      const logBytes = restorer.logBytes(workspaceId);
      const { snapshot, path, discard } = await files.pack(workspaceId, () => gate.sequence);
      try {
        if (!isStillServed()) return;
        await snapshots.put(workspaceId, snapshot, path);
      } finally {
        discard();
      }
      if (!isStillServed()) return;
      restorer.noteSnapshot(workspaceId, logBytes);
      await logs.purge(workspaceId, this.purgeableUpTo(snapshot));
    } catch (error) {
      log.warn({ workspaceId, err: error }, 'a snapshot could not be stored; it is tried again');
      this.#failed = new Set([...this.#failed, workspaceId]);
      if (error instanceof SnapshotsUnreachable) this.#restUntilMs = this.#options.clock.now() + restMs;
    }
  }

  get #isResting(): boolean {
    return this.#options.clock.now() < this.#restUntilMs;
  }
}
