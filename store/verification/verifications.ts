// One-time codes, by hash. Caps and throttles count these rows.

import type { Database } from '../database.ts';

export type VerificationStatus = 'pending' | 'verified' | 'expired' | 'failed';

export interface VerificationRecord {
  readonly id: string;
  readonly serviceId: string;
  readonly channel: 'email' | 'sms' | 'voice';
  /** An email or an E.164 number; emails compare without case. */
  readonly destination: string;
  /** ISO 3166 alpha-2 of a phone number; null for an email and for an unassigned prefix. */
  readonly country: string | null;
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
    `INSERT INTO verification (id, serviceId, channel, destination, country, sourceIp, isTest, codeHash, status, attempts, chargedCents, consumedAt, expiresAt, createdAt)
     VALUES (@id, @serviceId, @channel, @destination, @country, @sourceIp, @isTest, @codeHash, @status, @attempts, @chargedCents, @consumedAt, @expiresAt, @createdAt)`,
    { ...verification, isTest: verification.isTest ? 1 : 0 },
  );
}

export function updateVerification(db: Database, verification: VerificationRecord): void {
  const { id, status, attempts, consumedAt } = verification;
  db.run('UPDATE verification SET status = @status, attempts = @attempts, consumedAt = @consumedAt WHERE id = @id', {
    id,
    status,
    attempts,
    consumedAt,
  });
}

export function setChargedCents(db: Database, verificationId: string, chargedCents: number): void {
  db.run('UPDATE verification SET chargedCents = ? WHERE id = ?', [chargedCents, verificationId]);
}

/** By a key of one mode: live and test keys do not see each other's. */
export function findVerification(db: Database, key: { id: string; isTest: boolean }): VerificationRecord | undefined {
  const row = db.get<Row>('SELECT * FROM verification WHERE id = ? AND isTest = ?', [key.id, key.isTest ? 1 : 0]);
  return row && fromRow(row);
}

/** Newest first. */
export function verificationPage(
  db: Database,
  page: { isTest: boolean; serviceId: string | undefined; limit: number },
): VerificationRecord[] {
  const { serviceId = null, limit } = page;
  const isTest = page.isTest ? 1 : 0;
  const rows =
    serviceId === null
      ? db.all<Row>('SELECT * FROM verification WHERE isTest = ? ORDER BY createdAt DESC, id DESC LIMIT ?', [
          isTest,
          limit,
        ])
      : db.all<Row>(
          'SELECT * FROM verification WHERE serviceId = ? AND isTest = ? ORDER BY createdAt DESC, id DESC LIMIT ?',
          [serviceId, isTest, limit],
        );
  return rows.map(fromRow);
}

/** What sends are counted by. */
export type SendsOf =
  | { readonly serviceId: string }
  | { readonly destination: string }
  | { readonly sourceIp: string }
  | 'workspace';

/** When the `nth` newest send (1 is the newest) was created, by keys of one mode; undefined if there were fewer. */
export function nthNewestSendAt(
  db: Database,
  of: SendsOf,
  { isTest, nth }: { isTest: boolean; nth: number },
): string | undefined {
  return nthNewest(db, of, [isTest ? 1 : 0, nth - 1])?.createdAt;
}

function nthNewest(
  db: Database,
  of: SendsOf,
  rest: readonly [isTest: number, offset: number],
): { createdAt: string } | undefined {
  if (of === 'workspace')
    return db.get(
      'SELECT createdAt FROM verification WHERE isTest = ? ORDER BY createdAt DESC, id DESC LIMIT 1 OFFSET ?',
      rest,
    );
  if ('serviceId' in of)
    return db.get(
      'SELECT createdAt FROM verification WHERE serviceId = ? AND isTest = ? ORDER BY createdAt DESC, id DESC LIMIT 1 OFFSET ?',
      [of.serviceId, ...rest],
    );
  if ('destination' in of)
    return db.get(
      'SELECT createdAt FROM verification WHERE destination = ? AND isTest = ? ORDER BY createdAt DESC LIMIT 1 OFFSET ?',
      [of.destination, ...rest],
    );
  return db.get(
    'SELECT createdAt FROM verification WHERE sourceIp = ? AND isTest = ? ORDER BY createdAt DESC LIMIT 1 OFFSET ?',
    [of.sourceIp, ...rest],
  );
}

/** Expires a service's codes that could still be checked. */
export function expireVerificationsOf(db: Database, serviceId: string, at: string): void {
  db.run(
    `UPDATE verification SET status = 'expired', expiresAt = @at WHERE serviceId = @serviceId AND status = 'pending' AND expiresAt > @at`,
    { serviceId, at },
  );
}

/** Expires a service's codes to one destination, by keys of one mode, that could still be checked. */
export function retireVerifications(
  db: Database,
  { destination, serviceId, isTest }: Pick<VerificationRecord, 'destination' | 'serviceId' | 'isTest'>,
  at: string,
): void {
  db.run(
    `UPDATE verification SET status = 'expired', expiresAt = @at WHERE destination = @destination AND isTest = @isTest AND serviceId = @serviceId AND status = 'pending' AND expiresAt > @at`,
    { destination, serviceId, isTest: isTest ? 1 : 0, at },
  );
}

/** Destinations of live codes by phone: a country, or all numbers that differ only in their last four digits. */
export type Reach = { readonly country: string } | { readonly likeNumber: string };

/** Outcomes of the newest live codes by phone to these destinations. */
export interface ReachedCodes {
  readonly sent: number;
  readonly verified: number;
  /** The number of distinct numbers. */
  readonly numbers: number;
  readonly oldestAt: string | null;
}

/** Of the newest `limit` created after `after` and, unless verified already, before `before`. */
export function newestReached(
  db: Database,
  reach: Reach,
  time: { after: string; before: string; limit: number },
): ReachedCodes {
  const where =
    'country' in reach
      ? 'country = @reached'
      : 'substr(destination, 1, length(destination) - 4) = substr(@reached, 1, length(@reached) - 4)';
  const row = db.get<ReachedCodes>(
    `SELECT count(*) AS sent, count(*) FILTER (WHERE status = 'verified') AS verified, count(DISTINCT destination) AS numbers, min(createdAt) AS oldestAt FROM (
       SELECT status, destination, createdAt FROM verification
       WHERE ${where} AND channel <> 'email' AND isTest = 0 AND createdAt > @after AND (createdAt <= @before OR status = 'verified')
       ORDER BY createdAt DESC LIMIT @limit)`,
    { reached: 'country' in reach ? reach.country : reach.likeNumber, ...time },
  );
  return row ?? { sent: 0, verified: 0, numbers: 0, oldestAt: null };
}

/** Deletes those created before `at`. Returns their number. */
export function deleteVerificationsBefore(db: Database, at: string, limit: number): number {
  return db.run(
    'DELETE FROM verification WHERE id IN (SELECT id FROM verification WHERE isTest IN (0, 1) AND createdAt < ? LIMIT ?)',
    [at, limit],
  );
}
