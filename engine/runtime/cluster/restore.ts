// Brings this node's copy of a workspace to the newest entry of its log: the copy as it is, or the newest snapshot, and
// the log behind it. Every entry names the one before, so a gap is noticed and never read over.

import { Turns } from '../turns.ts';
import { inBatches } from './batches.ts';
import {
  CopyBusy,
  type Files,
  type LogEntry,
  LogUnreachable,
  type Snapshots,
  SnapshotsUnreachable,
  type WorkspaceLogs,
} from './ports.ts';

/** An entry is missing between the copy and the log. */
export class LogHole extends Error {
  override readonly name = 'LogHole';
}

/** While it reads, a newer snapshot may replace the one that it has, and its log may be purged. */
const attempts = 3;
/** Whole files, which the network and the disk share. */
const loadsAtOnce = 4;
/** Applied together, so that the disk is waited for once. */
const entriesAtOnce = 200;
/** Fewer than these are read in no time. */
const fewEntries = 20;
const maxReads = 20;

export class Restorer {
  readonly #logs: WorkspaceLogs;
  readonly #snapshots: Snapshots;
  readonly #files: Pick<Files, 'sequence' | 'load' | 'apply'>;
  /** By workspace: the log since the snapshot, as far as this node has seen it. */
  readonly #logBytes = new Map<string, number>();
  readonly #loading = new Turns();
  #loads = 0;

  constructor(ports: { logs: WorkspaceLogs; snapshots: Snapshots; files: Pick<Files, 'sequence' | 'load' | 'apply'> }) {
    this.#logs = ports.logs;
    this.#snapshots = ports.snapshots;
    this.#files = ports.files;
  }

  /** Resolves to the sequence of the newest entry, which the copy then equals. Rejects with LogHole. */
  async restore(workspaceId: string): Promise<number> {
    // The log behind a copy is mostly short, and whole.
    let isCopyEnough = this.#files.sequence(workspaceId) > 0;
    for (let attempt = isCopyEnough ? 0 : 1; ; attempt += 1) {
      try {
        if (!isCopyEnough) await this.#load(workspaceId);
        await this.#catchUp(workspaceId);
        return this.#files.sequence(workspaceId);
      } catch (error) {
        if (attempt === attempts || isVain(error)) throw error;
        isCopyEnough = false;
      }
    }
  }

  /** If the newest snapshot is newer than the copy. */
  async #load(workspaceId: string): Promise<void> {
    const snapshot = await this.#snapshots.newest(workspaceId);
    if (snapshot === undefined || this.#files.sequence(workspaceId) >= snapshot.sequence) return;
    await this.#loading.take(String(this.#loads++ % loadsAtOnce), () => this.#files.load(workspaceId, snapshot));
    this.#logBytes.set(workspaceId, 0);
  }

  /** A busy owner appends while its log is read: the last few entries are what a take-over waits for. */
  async #catchUp(workspaceId: string): Promise<void> {
    for (let reads = 0; reads < maxReads; reads += 1) {
      let count = 0;
      for await (const entries of this.batches(this.#logs.read(workspaceId, this.#files.sequence(workspaceId)))) {
        await this.apply(workspaceId, entries);
        count += entries.length;
      }
      if (count < fewEntries) return;
    }
  }

  batches(entries: AsyncIterable<LogEntry>): AsyncIterable<LogEntry[]> {
    return inBatches(entries, entriesAtOnce);
  }

  /** Applies the next entries to the copy. Rejects with LogHole. */
  async apply(workspaceId: string, entries: readonly LogEntry[]): Promise<void> {
    let sequence = this.#files.sequence(workspaceId);
    for (const entry of entries) {
      if (!this.isNext(entry, sequence))
        throw new LogHole(`entry ${entry.sequence} follows ${entry.previous}, and the copy is at ${sequence}`);
      ({ sequence } = entry);
    }
    await this.#files.apply(workspaceId, entries);
    for (const { bytes } of entries) this.noteEntry(workspaceId, bytes.length);
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

/** At once, it would be no better. */
function isVain(error: unknown): boolean {
  return error instanceof LogUnreachable || error instanceof SnapshotsUnreachable || error instanceof CopyBusy;
}
