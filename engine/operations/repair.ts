// Rebuilds directory.db from the workspaces' files: from scratch if it is missing or damaged, corrected if it differs
// from them. The files are authoritative and change only by migration. The caller holds the data folder's lock.

import { existsSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  Database,
  DatabaseUnusable,
  isDuplicate,
  isStorageFailure,
  removeDatabase,
  syncFolder,
} from '../../store/database.ts';
import { directoryWorkspaces } from '../../store/directory/directory.ts';
import { insertOperatorAudit } from '../../store/directory/operator-audit.ts';
import { placeKinds } from '../../store/directory/places.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import type { Ids } from '../runtime/ids.ts';
import { bringIntoAgreement, settle } from './backup.ts';
import {
  directoryPath,
  type Finding,
  madeWorkspaceIdsIn,
  verifyAgreement,
  verifyDirectory,
  workspaceIdsIn,
  workspacePath,
} from './integrity.ts';

export interface RepairOptions {
  readonly dataDir: string;
  readonly at: string;
  readonly ids: Ids;
  /** Releases the names and addresses of workspaces that have no file. */
  readonly forgetMissing: boolean;
}

export interface Repaired {
  /** It was missing, or was damaged and moved to `setAside`. */
  readonly isNew: boolean;
  readonly setAside: string | undefined;
  /** The number of workspaces it lists now. */
  readonly known: number;
  readonly corrected: readonly string[];
  /** Workspaces without a file: forgotten, or kept unless that was requested. */
  readonly missing: readonly string[];
  /** What could not be included. */
  readonly findings: readonly Finding[];
}

/** All or nothing: directory.db is unchanged or repaired. Throws DatabaseUnusable if a newer version wrote it. */
export function repairDirectory(options: RepairOptions): Repaired {
  const { dataDir } = options;
  const path = directoryPath(dataDir);
  const isThere = existsSync(path);
  const isSound =
    isThere &&
    verifyDirectory(path).every(({ rule }) => rule !== 'the file is sound' && rule !== 'the file can be read');
  const work = isSound ? path : `${path}.part`;
  if (!isSound) removeDatabase(work);
  const findings: Finding[] = [];
  const directory = Database.openWriter(work, directoryMigrations);
  let result: Omit<Repaired, 'findings' | 'setAside' | 'isNew'>;
  try {
    directory.begin();
    result = takeAll(directory, options, findings);
    directory.commit();
  } finally {
    directory.rollback();
    directory.close();
  }
  settle(work);
  let setAside: string | undefined;
  if (!isSound) {
    if (isThere) {
      setAside = `${path}.damaged`;
      for (const suffix of ['', '-wal', '-shm'])
        if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${setAside}${suffix}`);
    }
    renameSync(work, path);
    syncFolder(dirname(path));
  }
  // Workspaces without a file are reported already.
  findings.push(...verifyAgreement(dataDir).filter(({ rule }) => rule !== 'every workspace has its file'));
  return { ...result, isNew: !isSound, setAside, findings };
}

function takeAll(
  directory: Database,
  { dataDir, at, ids, forgetMissing }: RepairOptions,
  findings: Finding[],
): { known: number; corrected: string[]; missing: string[] } {
  const corrected: string[] = [];
  for (const workspaceId of madeWorkspaceIdsIn(dataDir)) {
    directory.savepoint();
    try {
      // It may be from an older version.
      Database.openWriter(workspacePath(dataDir, workspaceId), workspaceMigrations).close();
      const before = placesOf(directory, workspaceId);
      bringIntoAgreement(directory, dataDir, workspaceId);
      if (placesOf(directory, workspaceId) !== before) {
        corrected.push(workspaceId);
        insertOperatorAudit(directory, {
          id: ids.uuid(),
          action: 'workspace.repaired',
          targetKind: 'workspace',
          targetId: workspaceId,
          context: null,
          createdAt: at,
        });
      }
      directory.release();
    } catch (error) {
      directory.rollbackToSavepoint();
      findings.push({ where: `workspaces/${workspaceId}.db`, rule: 'directory.db can know it', fault: faultOf(error) });
    }
  }
  const files = new Set(workspaceIdsIn(dataDir));
  const missing = directoryWorkspaces(directory)
    .filter(({ id, reservedAt }) => reservedAt === null && !files.has(id))
    .map(({ id }) => id);
  if (forgetMissing)
    for (const workspaceId of missing) for (const kind of placeKinds) kind.giveUp(directory, workspaceId);
  return { known: directoryWorkspaces(directory).length, corrected, missing };
}

/** Everything the directory holds for it, as text. */
function placesOf(directory: Database, workspaceId: string): string {
  return placeKinds
    .flatMap((kind) =>
      kind
        .ofDirectory(directory, workspaceId)
        .map(({ text }) => text)
        .sort(),
    )
    .join('\n');
}

/** Any other error is a bug. */
function faultOf(error: unknown): string {
  if (isDuplicate(error))
    return 'another workspace has its subdomain, a domain, a number, or the address of one of its agents: is it a copy of that one? switchboard restore --as makes copies with names of their own';
  if (error instanceof DatabaseUnusable || isStorageFailure(error))
    return error instanceof Error ? error.message : String(error);
  throw error;
}
