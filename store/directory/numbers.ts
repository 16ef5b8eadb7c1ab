// Phone numbers in directory.db: at most one workspace holds one at a time; those that held it before are kept, since
// their calls may still have news.

import type { Database } from '../database.ts';

export interface DirectoryNumber {
  readonly numberId: string;
  readonly e164: string;
  readonly workspaceId: string;
  /** Set while it is being claimed or released. */
  readonly reservedAt: string | null;
  readonly releasedAt: string | null;
}

/** Who holds the number now. */
export function findDirectoryNumber(db: Database, e164: string): DirectoryNumber | undefined {
  return db.get<DirectoryNumber>('SELECT * FROM phoneNumber WHERE e164 = ? AND releasedAt IS NULL', [e164]);
}

/** Who holds the number, then who held it before, the last one first. */
export function directoryNumberHolders(db: Database, e164: string, limit: number): DirectoryNumber[] {
  return db.all<DirectoryNumber>(
    'SELECT * FROM phoneNumber WHERE e164 = ? ORDER BY releasedAt IS NOT NULL, releasedAt DESC LIMIT ?',
    [e164, limit],
  );
}

/** How many the workspace holds, is claiming, or released after `at`. */
export function countDirectoryNumbers(db: Database, { workspaceId, at }: { workspaceId: string; at: string }): number {
  return (
    db.get<{ count: number }>(
      'SELECT count(*) AS count FROM phoneNumber WHERE workspaceId = ? AND (releasedAt IS NULL OR releasedAt > ?)',
      [workspaceId, at],
    )?.count ?? 0
  );
}

export function insertDirectoryNumber(db: Database, row: DirectoryNumber): void {
  db.run(
    'INSERT INTO phoneNumber (numberId, e164, workspaceId, reservedAt, releasedAt) VALUES (@numberId, @e164, @workspaceId, @reservedAt, @releasedAt)',
    { ...row },
  );
}

/** Says that the number is being claimed or released; null: that this is settled. */
export function setDirectoryNumberReserved(db: Database, numberId: string, at: string | null): void {
  db.run('UPDATE phoneNumber SET reservedAt = ? WHERE numberId = ?', [at, numberId]);
}

/** Settles a release. */
export function setDirectoryNumberReleased(db: Database, numberId: string, at: string): void {
  db.run('UPDATE phoneNumber SET reservedAt = NULL, releasedAt = ? WHERE numberId = ?', [at, numberId]);
}

export function deleteDirectoryNumber(db: Database, numberId: string): void {
  db.run('DELETE FROM phoneNumber WHERE numberId = ?', [numberId]);
}

export function reservedNumbers(db: Database): DirectoryNumber[] {
  return db.all<DirectoryNumber>('SELECT * FROM phoneNumber WHERE reservedAt IS NOT NULL');
}
