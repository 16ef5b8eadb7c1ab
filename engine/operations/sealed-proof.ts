// Checks whether a key opens the secrets sealed in a data folder. Each seal authenticates its key, so no other record
// of the key is needed.

import { type Database, DatabaseUnusable, isStorageFailure } from '../../store/database.ts';
import { openToLook } from '../../store/glance.ts';
import { everySealedSecret, type SealedRow } from '../../store/workspace/sealed-secrets.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';
import { workspaceIdsIn, workspacePath } from './integrity.ts';

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

/** The number of sealed secrets in the workspace's file, and how many of them this key cannot open. */
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

/** Whether this key opens any secret in the folder; undefined if there is none. Skips unreadable files. */
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

/** Undefined if the file cannot be read. */
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
