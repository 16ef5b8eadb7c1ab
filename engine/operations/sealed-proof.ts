// Whether a key opens what was sealed in a data folder. Each seal proves the key that made it, so nothing else has to
// be kept of that.

import { type Database, DatabaseUnusable, isStorageFailure } from '../../store/database.ts';
import { openToLook } from '../../store/glance.ts';
import { everySealedSecret, type SealedRow } from '../../store/workspace/sealed-secrets.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';
import { workspaceIdsIn, workspacePath } from './soundness.ts';

export type Opener = Pick<SecretBox, 'open'>;

export function opens(
  box: Opener,
  workspaceId: string,
  { sealed, about }: Pick<SealedRow, 'sealed' | 'about'>,
): boolean {
  try {
    box.open(sealed, about.replace('*', workspaceId));
    return true;
  } catch {
    return false;
  }
}

/** How many secrets the workspace's file holds, and how many of them this key does not open. */
export function countSealed(
  db: Database,
  workspaceId: string,
  box: Opener | undefined,
): { sealed: number; unopened: number } {
  let sealed = 0;
  let unopened = 0;
  for (const row of everySealedSecret(db)) {
    sealed += 1;
    if (box === undefined || !opens(box, workspaceId, row)) unopened += 1;
  }
  return { sealed, unopened };
}

/**
 * Whether this key opens any secret in the folder; undefined when there is none. Files that cannot be read are left to
 * others.
 */
export function provesKey(dataDir: string, box: Opener | undefined): boolean | undefined {
  let isAny = false;
  for (const workspaceId of workspaceIdsIn(dataDir)) {
    const isProved = withFile(workspacePath(dataDir, workspaceId), (db) => {
      for (const row of everySealedSecret(db)) {
        isAny = true;
        if (box !== undefined && opens(box, workspaceId, row)) return true;
      }
      return false;
    });
    if (isProved === true) return true;
  }
  return isAny ? false : undefined;
}

/** Undefined when the file cannot be read. */
export function withFile<Result>(path: string, read: (db: Database) => Result): Result | undefined {
  let db: Database | undefined;
  try {
    db = openToLook(path);
    return read(db);
  } catch (error) {
    if (error instanceof DatabaseUnusable || isStorageFailure(error)) return undefined;
    throw error;
  } finally {
    db?.close();
  }
}
