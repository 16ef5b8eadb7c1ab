// One-time codes that were sent, by hash. Caps and throttles are counted over these rows.

import type { Database } from './database.ts';

export type VerificationStatus = 'pending' | 'verified' | 'expired' | 'failed';

export interface VerificationRecord {
  readonly id: string;
  readonly serviceId: string;
  readonly channel: 'email' | 'sms' | 'voice';
  /** An email or an E.164 number; emails compare without case. */
  readonly destination: string;
  readonly sourceIp: string;
  readonly isTest: boolean;
  readonly codeHash: string;
  readonly status: VerificationStatus;
  /** Wrong codes so far. */
  readonly attempts: number;
  readonly chargedCents: number;
  readonly consumedAt: string | null;
  readonly expiresAt: string;
  readonly createdAt: string;
}

type Row = Omit<VerificationRecord, 'isTest'> & { isTest: 0 | 1 };

const fromRow = (row: Row): VerificationRecord => ({ ...row, isTest: row.isTest === 1 });

export function insertVerification(db: Database, verification: VerificationRecord): void {
  db.run(
    `INSERT INTO verification (id, serviceId, channel, destination, sourceIp, isTest, codeHash, status, attempts, chargedCents, consumedAt, expiresAt, createdAt)
     VALUES (@id, @serviceId, @channel, @destination, @sourceIp, @isTest, @codeHash, @status, @attempts, @chargedCents, @consumedAt, @expiresAt, @createdAt)`,
    { ...verification, isTest: verification.isTest ? 1 : 0 },
  );
}

export function updateVerification(db: Database, verification: VerificationRecord): void {
  const { id, status, attempts, consumedAt } = verification;
  db.run('UPDATE verification SET status = @status, attempts = @attempts, consumedAt = @consumedAt WHERE id = @id', { id, status, attempts, consumedAt });
}

export function setChargedCents(db: Database, verificationId: string, chargedCents: number): void {
  db.run('UPDATE verification SET chargedCents = ? WHERE id = ?', [chargedCents, verificationId]);
}

/** By a key of one mode: live keys and test keys do not see each other's. */
export function findVerification(db: Database, key: { id: string; isTest: boolean }): VerificationRecord | undefined {
  const row = db.get<Row>('SELECT * FROM verification WHERE id = ? AND isTest = ?', [key.id, key.isTest ? 1 : 0]);
  return row && fromRow(row);
}

/** Newest first. */
export function verificationPage(db: Database, page: { isTest: boolean; serviceId: string | undefined; limit: number }): VerificationRecord[] {
  const { serviceId = null, limit } = page;
  const isTest = page.isTest ? 1 : 0;
  const rows =
    serviceId === null
      ? db.all<Row>('SELECT * FROM verification WHERE isTest = ? ORDER BY createdAt DESC, id DESC LIMIT ?', [isTest, limit])
      : db.all<Row>('SELECT * FROM verification WHERE serviceId = ? AND isTest = ? ORDER BY createdAt DESC, id DESC LIMIT ?', [serviceId, isTest, limit]);
  return rows.map(fromRow);
}

/** What sends are counted by. */
export type SendsOf = { readonly serviceId: string } | { readonly destination: string } | { readonly sourceIp: string } | 'workspace';

/** When the `nth` newest send of these was made (1 is the newest); undefined when there were fewer. */
export function nthNewestSendAt(db: Database, of: SendsOf, nth: number): string | undefined {
  return nthNewest(db, of, nth - 1)?.createdAt;
}

function nthNewest(db: Database, of: SendsOf, offset: number): { createdAt: string } | undefined {
  if (of === 'workspace') return db.get('SELECT createdAt FROM verification ORDER BY createdAt DESC, id DESC LIMIT 1 OFFSET ?', [offset]);
  if ('serviceId' in of) return db.get('SELECT createdAt FROM verification WHERE serviceId = ? ORDER BY createdAt DESC, id DESC LIMIT 1 OFFSET ?', [of.serviceId, offset]);
  if ('destination' in of) return db.get('SELECT createdAt FROM verification WHERE destination = ? ORDER BY createdAt DESC LIMIT 1 OFFSET ?', [of.destination, offset]);
  return db.get('SELECT createdAt FROM verification WHERE sourceIp = ? ORDER BY createdAt DESC LIMIT 1 OFFSET ?', [of.sourceIp, offset]);
}

/** Ends those of a service that could still be checked. */
export function expireVerificationsOf(db: Database, serviceId: string, at: string): void {
  db.run(`UPDATE verification SET status = 'expired', expiresAt = @at WHERE serviceId = @serviceId AND status = 'pending' AND expiresAt > @at`, { serviceId, at });
}

/** Forgets those made before `at`. Returns how many that were. */
export function deleteVerificationsBefore(db: Database, at: string, limit: number): number {
  return db.run('DELETE FROM verification WHERE id IN (SELECT id FROM verification WHERE createdAt < ? LIMIT ?)', [at, limit]);
}
