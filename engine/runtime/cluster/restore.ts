// Brings this node's copy of a workspace to the newest entry of its log: the copy as it is, or the newest snapshot, and
// the log behind it. Every entry names the one before, so a gap is noticed and never read over.

import type { Files, LogEntry, Snapshots, WorkspaceLogs } from './ports.ts';

/** An entry is missing between the copy and the log. */
export class LogHole extends Error {
  override readonly name = 'LogHole';
}

/** While it reads, a newer snapshot may replace the one that it has, and its log may be purged. */
const attempts = 3;

export class Restorer {
  readonly #logs: WorkspaceLogs;
  readonly #snapshots: Snapshots;
  readonly #files: Pick<Files, 'sequence' | 'load' | 'apply'>;
  /** By workspace: the log since the snapshot, as far as this node has seen it. */
  readonly #logBytes = new Map<string, number>();

  constructor(ports: { logs: WorkspaceLogs; snapshots: Snapshots; files: Pick<Files, 'sequence' | 'load' | 'apply'> }) {
    this.#logs = ports.logs;
    this.#snapshots = ports.snapshots;
    this.#files = ports.files;
  }

  /** Resolves to the sequence of the newest entry, which the copy then equals. Rejects with LogHole. */
  async restore(workspaceId: string): Promise<number> {
    for (let attempt = 1; ; attempt += 1) {
      const snapshot = await this.#snapshots.newest(workspaceId);
      try {
        if (snapshot !== undefined && this.#files.sequence(workspaceId) < snapshot.sequence) {
          await this.#files.load(workspaceId, snapshot);
          this.#logBytes.set(workspaceId, 0);
        }
        for await (const entry of this.#logs.read(workspaceId, this.#files.sequence(workspaceId)))
          await this.apply(workspaceId, entry);
        return this.#files.sequence(workspaceId);
      } catch (error) {
        if (attempt === attempts) throw error;
      }
    }
  }

  /** Applies the next entry to the copy. Rejects with LogHole. */
  async apply(workspaceId: string, entry: LogEntry): Promise<void> {
    const sequence = this.#files.sequence(workspaceId);
    if (!this.isNext(entry, sequence))
      throw new LogHole(`entry ${entry.sequence} follows ${entry.previous}, and the copy is at ${sequence}`);
    await this.#files.apply(workspaceId, entry);
    this.noteEntry(workspaceId, entry.bytes.length);
  }

  isNext(entry: LogEntry, sequence: number): boolean {
    return entry.previous === sequence;
  }

  noteEntry(workspaceId: string, bytes: number): void {
    this.#logBytes.set(workspaceId, this.logBytes(workspaceId) + bytes);
  }

  /** The log since the last snapshot. */
  logBytes(workspaceId: string): number {
    return this.#logBytes.get(workspaceId) ?? 0;
  }

  noteSnapshot(workspaceId: string, logBytesCovered: number): void {
    this.#logBytes.set(workspaceId, Math.max(0, this.logBytes(workspaceId) - logBytesCovered));
  }

  forget(workspaceId: string): void {
    this.#logBytes.delete(workspaceId);
  }
}
