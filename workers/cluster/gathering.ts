// A file as the cluster has it now: the newest snapshot and the log behind it, without any node. For backups.

import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogEntry, Snapshots, WorkspaceLogs } from '../../engine/runtime/cluster/ports.ts';
import { applyPieces } from '../../store/page-log/apply.ts';
import { piecesTogether } from '../../store/page-log/entries.ts';
import { firstLink, type Link } from '../../store/page-log/pieces.ts';
import type { Packing } from './packing.ts';

/** While it reads, a newer snapshot may replace the one that it has, and the log behind the old one be purged. */
const attempts = 3;
/** Applied together, so that the disk is waited for once. */
const entriesAtOnce = 200;

export interface GatherOptions {
  readonly store: { readonly logs: WorkspaceLogs; readonly snapshots: Snapshots };
  readonly packing: Packing;
  /** A folder for what is under way, on the disk of the files. */
  readonly work: string;
}

/** The newest entry of its log, which a file equals, and what the next change of the file names. */
export interface Gathered {
  readonly sequence: number;
  readonly link: Link;
}

/**
 * Writes the file of a workspace or of the directory to `path`, which must not exist. Undefined: the cluster has none.
 * Rejects with LogUnreachable, among others, and leaves no file then.
 */
export async function gather(options: GatherOptions, workspaceId: string, path: string): Promise<Gathered | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await gatherOnce(options, workspaceId, path);
    } catch (error) {
      await rm(path, { force: true });
      if (attempt === attempts) throw error;
    }
  }
}

async function gatherOnce(
  { store, packing, work }: GatherOptions,
  workspaceId: string,
  path: string,
): Promise<Gathered | undefined> {
  const { logs, snapshots } = store;
  const snapshot = await snapshots.newest(workspaceId);
  let { sequence, link } = snapshot ?? { sequence: 0, link: firstLink };
  if (snapshot === undefined) await writeFile(path, '', { mode: 0o600 });
  else {
    const packed = join(work, `${randomUUID()}.packed`);
    try {
      await snapshots.get(workspaceId, snapshot, packed);
      await packing.unpack({ from: packed, to: path, sha256: snapshot.sha256, bytes: snapshot.bytes });
    } finally {
      await rm(packed, { force: true });
    }
  }
  let entries: LogEntry[] = [];
  const applyAll = async (): Promise<void> => {
    for (const { pieces } of piecesTogether(entries))
      if (pieces.length > 0) ({ link } = await applyPieces({ path, link }, pieces));
    entries = [];
  };
  for await (const entry of logs.read(workspaceId, sequence)) {
    if (entry.previous !== sequence)
      throw new Error(`the log of ${workspaceId} has a gap between ${sequence} and ${entry.sequence}`);
    ({ sequence } = entry);
    if (entries.push(entry) === entriesAtOnce) await applyAll();
  }
  await applyAll();
  if (sequence > 0) return { sequence, link };
  await rm(path);
  return undefined;
}
