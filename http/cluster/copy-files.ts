// Copies of a cluster's files in a folder: each follows the log of its workspace entry by entry, from a snapshot or from
// nothing. What a copy equals is kept beside it, and removed before the file is written to by anything else: from then on
// it counts for nothing, also after a crash.

import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CopyBusy,
  directoryId,
  type LogEntry,
  type Snapshot,
  type Snapshots,
} from '../../engine/runtime/cluster/ports.ts';
import { makeFolder, removeDatabase, syncFolder } from '../../store/database.ts';
import { firstLink } from '../../store/page-log/pieces.ts';
import { type Copy, copyOf, noteOf } from '../../workers/cluster/copy-note.ts';
import type { CopyWriter } from '../../workers/cluster/copy-writer.ts';
import type { Packing } from '../../workers/cluster/packing.ts';
import { clusterFolder } from '../process/folder-owner.ts';

export interface CopyFilesOptions {
  readonly dataDir: string;
  readonly snapshots: Snapshots;
  readonly packing: Packing;
  readonly copyWriter: CopyWriter;
}

export class CopyFiles {
  readonly #dataDir: string;
  /** What this keeps beside the files. */
  readonly #folder: string;
  readonly #snapshots: Snapshots;
  readonly #packing: Packing;
  readonly #writer: CopyWriter;
  /** Undefined: the file counts for nothing. */
  readonly #copies = new Map<string, Copy | undefined>();

  constructor({ dataDir, snapshots, packing, copyWriter }: CopyFilesOptions) {
    this.#dataDir = dataDir;
    this.#folder = clusterFolder(dataDir);
    this.#snapshots = snapshots;
    this.#packing = packing;
    this.#writer = copyWriter;
    // First: it says that what comes into the folder is a copy.
    makeFolder(this.#folder);
    makeFolder(join(dataDir, 'workspaces'));
    // Files that an ended process left half made.
    rmSync(this.workPath(''), { recursive: true, force: true });
    makeFolder(this.workPath(''));
    // A process that was killed may have removed a note, and not made that durable.
    syncFolder(this.#folder);
  }

  of(workspaceId: string): Copy | undefined {
    if (!this.#copies.has(workspaceId)) this.#copies.set(workspaceId, this.#read(workspaceId));
    return this.#copies.get(workspaceId);
  }

  sequence(workspaceId: string): number {
    return this.of(workspaceId)?.sequence ?? 0;
  }

  /** Those that count. */
  *all(): Generator<[workspaceId: string, Copy]> {
    for (const [workspaceId, copy] of this.#copies) if (copy !== undefined) yield [workspaceId, copy];
  }

  /** Replaces the copy, which is open nowhere, by the snapshot. Rejects if that is gone or damaged. */
  async load(workspaceId: string, snapshot: Snapshot): Promise<void> {
    const packed = this.workPath(`${workspaceId}.packed`);
    const unpacked = this.workPath(`${workspaceId}.unpacked`);
    await this.#snapshots.get(workspaceId, snapshot, packed);
    try {
      const { sha256, bytes } = snapshot;
      await this.#packing.unpack({ from: packed, to: unpacked, sha256, bytes });
      this.remove(workspaceId);
      await rename(unpacked, this.pathOf(workspaceId));
    } finally {
      await rm(packed, { force: true });
    }
    await this.#keep(workspaceId, snapshot);
  }

  /** Applies the entries behind the one that the copy, which is open nowhere, equals. */
  async apply(workspaceId: string, entries: readonly LogEntry[]): Promise<void> {
    const path = this.pathOf(workspaceId);
    let copy: Copy | undefined = this.of(workspaceId);
    if (copy === undefined) {
      this.remove(workspaceId);
      await writeFile(path, '', { mode: 0o600 });
      copy = { sequence: 0, link: firstLink };
    }
    try {
      const notePath = this.#notePath(workspaceId);
      this.#copies.set(workspaceId, await this.#writer.apply({ path, notePath, copy, entries }));
    } catch (error) {
      // Otherwise it is read from the last snapshot again.
      if (!(error instanceof CopyBusy)) await this.doubtSoon(workspaceId);
      throw error;
    }
  }

  /** The file, which is open nowhere and has no log, equals this. */
  keep(workspaceId: string, { sequence, link }: Copy): void {
    writeFileSync(this.#notePath(workspaceId), noteOf({ sequence, link }), { mode: 0o600 });
    this.#copies.set(workspaceId, { sequence, link });
  }

  /** From here on, also after a crash, the file counts for nothing. */
  doubt(workspaceId: string): void {
    this.#copies.set(workspaceId, undefined);
    if (!existsSync(this.#notePath(workspaceId))) return;
    rmSync(this.#notePath(workspaceId));
    syncFolder(this.#folder);
  }

  /** As `doubt`, off the loop: from when it resolves, also after a crash. */
  async doubtSoon(workspaceId: string): Promise<void> {
    this.#copies.set(workspaceId, undefined);
    try {
      await unlink(this.#notePath(workspaceId));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    const folder = await open(this.#folder);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  remove(workspaceId: string): void {
    this.doubt(workspaceId);
    removeDatabase(this.pathOf(workspaceId));
  }

  pathOf(workspaceId: string): string {
    if (workspaceId === directoryId) return join(this.#dataDir, 'directory.db');
    return join(this.#dataDir, 'workspaces', `${workspaceId}.db`);
  }

  /** For files that a process makes and removes. */
  workPath(name: string): string {
    return join(this.#folder, 'work', name);
  }

  async #keep(workspaceId: string, { sequence, link }: Copy): Promise<void> {
    await writeFile(this.#notePath(workspaceId), noteOf({ sequence, link }), { mode: 0o600 });
    this.#copies.set(workspaceId, { sequence, link });
  }

  #read(workspaceId: string): Copy | undefined {
    const path = this.pathOf(workspaceId);
    if (!existsSync(path) || hasLog(path)) return undefined;
    try {
      return copyOf(readFileSync(this.#notePath(workspaceId), 'utf8'));
    } catch {
      // There is no note.
      return undefined;
    }
  }

  #notePath(workspaceId: string): string {
    return join(this.#folder, `${workspaceId}.copy`);
  }
}

export function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
