// TOTP factors: a sealed secret each, and the newest time step used.

import type { Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';

export interface VerifyFactorRecord {
  readonly id: string;
  readonly serviceId: string;
  /** The owner, as the caller names it. */
  readonly identity: string;
  readonly isTest: boolean;
  readonly sealedSecret: string;
  readonly lastStep: number | null;
  /** Wrong codes in a row. */
  readonly failures: number;
  readonly lockedUntil: string | null;
  readonly createdAt: string;
}

type Row = Omit<VerifyFactorRecord, 'isTest'> & { isTest: 0 | 1 };

export function insertVerifyFactor(db: Database, factor: VerifyFactorRecord): void {
  db.run(
    `INSERT INTO verifyFactor (id, serviceId, identity, isTest, sealedSecret, lastStep, failures, lockedUntil, createdAt)
     VALUES (@id, @serviceId, @identity, @isTest, @sealedSecret, @lastStep, @failures, @lockedUntil, @createdAt)`,
    { ...factor, isTest: factor.isTest ? 1 : 0 },
  );
}

export function updateVerifyFactor(db: Database, factor: VerifyFactorRecord): void {
  const { id, lastStep, failures, lockedUntil } = factor;
  db.run(
    'UPDATE verifyFactor SET lastStep = @lastStep, failures = @failures, lockedUntil = @lockedUntil WHERE id = @id',
    { id, lastStep, failures, lockedUntil },
  );
}

export function deleteVerifyFactor(db: Database, factorId: string): void {
  db.run('DELETE FROM verifyFactor WHERE id = ?', [factorId]);
}

export function deleteVerifyFactorsOf(db: Database, serviceId: string): void {
  db.run('DELETE FROM verifyFactor WHERE serviceId = ?', [serviceId]);
}

export interface FactorFilter {
  readonly isTest: boolean;
  readonly serviceId: string | undefined;
  /** Ignores case. */
  readonly identity: string | undefined;
}

/** Newest first. */
export function verifyFactorPage(
  db: Database,
  { filter, cursor, limit }: { filter: FactorFilter; cursor: Cursor | undefined; limit: number },
): VerifyFactorRecord[] {
  const { isTest, serviceId = null, identity = null } = filter;
  return db
    .all<Row>(
      `SELECT * FROM verifyFactor WHERE isTest = @isTest AND (@serviceId IS NULL OR serviceId = @serviceId) AND (@identity IS NULL OR lower(identity) = lower(@identity))
         AND (@at IS NULL OR (createdAt, id) < (@at, @id)) ORDER BY createdAt DESC, id DESC LIMIT @limit`,
      { isTest: isTest ? 1 : 0, serviceId, identity, at: cursor?.at ?? null, id: cursor?.id ?? null, limit },
    )
    .map(fromRow);
}

const fromRow = (row: Row): VerifyFactorRecord => ({ ...row, isTest: row.isTest === 1 });

/** By a key of one mode. */
export function findVerifyFactor(db: Database, key: { id: string; isTest: boolean }): VerifyFactorRecord | undefined {
  const row = db.get<Row>('SELECT * FROM verifyFactor WHERE id = ? AND isTest = ?', [key.id, key.isTest ? 1 : 0]);
  return row && fromRow(row);
}
