// Phone numbers in directory.db: at most one workspace holds a number; former holders are kept, because events about
// their calls may still arrive.

import type { Database } from '../database.ts';

export interface DirectoryNumber {
  readonly numberId: string;
  readonly e164: string;
  readonly workspaceId: string;
  /** Set while it is being claimed or released. */
  readonly reservedAt: string | null;
  readonly releasedAt: string | null;
}

/** The number's current holder. */
export function findDirectoryNumber(db: Database, e164: string): DirectoryNumber | undefined {
  return db.get<DirectoryNumber>('SELECT * FROM phoneNumber WHERE e164 = ? AND releasedAt IS NULL', [e164]);
}

/** The number's holder, then former holders, latest first. */
export function directoryNumberHolders(db: Database, e164: string, limit: number): DirectoryNumber[] {
  return db.all<DirectoryNumber>(
    'SELECT * FROM phoneNumber WHERE e164 = ? ORDER BY releasedAt IS NOT NULL, releasedAt DESC LIMIT ?',
    [e164, limit],
  );
}

/** Numbers that the workspace holds, is claiming, or released after `at`. */
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

/** Marks the number as being released. */
export function reserveDirectoryNumber(db: Database, numberId: string, at: string): void {
  db.run('UPDATE phoneNumber SET reservedAt = ? WHERE numberId = ?', [at, numberId]);
}

/** Settles the reservation of that time. `releasedAt` is null if the number was not released by it. */
export function settleDirectoryNumber(
  db: Database,
  number: { numberId: string; reservedAt: string; releasedAt: string | null },
): void {
  db.run(
    `UPDATE phoneNumber SET reservedAt = NULL, releasedAt = coalesce(@releasedAt, releasedAt)
     WHERE numberId = @numberId AND reservedAt = @reservedAt`,
    number,
  );
}

export function deleteDirectoryNumber(db: Database, numberId: string): void {
  db.run('DELETE FROM phoneNumber WHERE numberId = ?', [numberId]);
}

export function reservedNumbers(db: Database): (DirectoryNumber & { readonly reservedAt: string })[] {
  return db.all<DirectoryNumber & { readonly reservedAt: string }>(
    'SELECT * FROM phoneNumber WHERE reservedAt IS NOT NULL',
  );
}
