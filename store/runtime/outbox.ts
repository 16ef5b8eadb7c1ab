// Work for the world outside, waiting to be done or kept as a record of what became of it. Of each target only the
// first row that waits is offered, in the order of asking; `isFirst` marks it and is kept right here alone.

import type { Database } from '../database.ts';

export interface OutboxRow {
  readonly id: string;
  readonly kind: string;
  /** What must be served in order: one row of a target is under way at a time. */
  readonly target: string;
  /** The record that wants to know the outcome, such as a message. */
  readonly subjectId: string | null;
  readonly payload: string;
  readonly state: 'queued' | 'sent' | 'failed';
  readonly attempts: number;
  readonly nextAt: string;
  readonly lastAnswer: string | null;
  readonly createdAt: string;
  readonly settledAt: string | null;
}

const columns = 'id, kind, target, subjectId, payload, state, attempts, nextAt, lastAnswer, createdAt, settledAt';

export function insertOutbox(db: Database, row: OutboxRow): void {
  db.run(
    `INSERT INTO outbox (${columns}, isFirst)
     VALUES (@id, @kind, @target, @subjectId, @payload, @state, @attempts, @nextAt, @lastAnswer, @createdAt, @settledAt,
       @state = 'queued' AND NOT EXISTS (SELECT 1 FROM outbox WHERE target = @target AND state = 'queued'))`,
    { ...row },
  );
}

export function findOutbox(db: Database, id: string): OutboxRow | undefined {
  return db.get<OutboxRow>(`SELECT ${columns} FROM outbox WHERE id = ?`, [id]);
}

/**
 * What may be tried now of these kinds, or of all others: due, and the first of its target. The longest due come first.
 */
export function dueOutbox(
  db: Database,
  due: { at: string; kinds: readonly string[]; isOthers: boolean; limit: number },
): OutboxRow[] {
  return db.all<OutboxRow>(
    `SELECT ${columns} FROM outbox WHERE isFirst = 1 AND nextAt <= @at AND (kind IN (SELECT value FROM json_each(@kinds))) <> @isOthers ORDER BY nextAt LIMIT @limit`,
    {
      at: due.at,
      kinds: JSON.stringify(due.kinds),
      isOthers: due.isOthers ? 1 : 0,
      limit: due.limit,
    },
  );
}

/** When the next row may be tried; with `after`, the next that is not due by then. */
export function earliestOutboxAt(db: Database, after = ''): string | undefined {
  return (
    db.get<{ nextAt: string | null }>('SELECT min(nextAt) AS nextAt FROM outbox WHERE isFirst = 1 AND nextAt > ?', [
      after,
    ])?.nextAt ?? undefined
  );
}

export function oldestQueuedOutboxAt(db: Database): string | undefined {
  return (
    db.get<{ createdAt: string | null }>(`SELECT min(createdAt) AS createdAt FROM outbox WHERE state = 'queued'`)
      ?.createdAt ?? undefined
  );
}

export type OutboxChange = Pick<
  OutboxRow,
  'id' | 'payload' | 'state' | 'attempts' | 'nextAt' | 'lastAnswer' | 'settledAt'
>;

/**
 * Writes what became of an attempt. A row that is settled makes way for the next of its target; one put back waits
 * behind who is first.
 */
export function updateOutbox(db: Database, change: OutboxChange): void {
  const target = db.get<{ target: string }>('SELECT target FROM outbox WHERE id = ?', [change.id])?.target;
  if (target === undefined) return;
  db.run(
    `UPDATE outbox SET payload = @payload, state = @state, attempts = @attempts, nextAt = @nextAt, lastAnswer = @lastAnswer, settledAt = @settledAt,
       isFirst = @state = 'queued' AND NOT EXISTS (SELECT 1 FROM outbox AS other WHERE other.isFirst = 1 AND other.target = outbox.target AND other.id <> @id) WHERE id = @id`,
    { ...change },
  );
  db.run(
    `UPDATE outbox SET isFirst = 1 WHERE rowid = (SELECT min(rowid) FROM outbox WHERE target = @target AND state = 'queued')
       AND NOT EXISTS (SELECT 1 FROM outbox WHERE isFirst = 1 AND target = @target)`,
    { target },
  );
}

/** Makes what waits for a target due at `at`. */
export function retryOutboxNow(db: Database, { target, at }: { target: string; at: string }): void {
  db.run(`UPDATE outbox SET nextAt = @at WHERE target = @target AND state = 'queued' AND nextAt > @at`, { target, at });
}

/** Takes back what waits at targets that begin so. */
export function deleteQueuedOutbox(db: Database, targetPrefix: string): void {
  db.run(`DELETE FROM outbox WHERE state = 'queued' AND target >= ? AND target < ?`, [
    targetPrefix,
    `${targetPrefix}\u{10ffff}`,
  ]);
}

/** Forgets what was settled before `at`. Returns how many rows that were. */
export function deleteSettledOutbox(db: Database, at: string, limit: number): number {
  return db.run(
    `DELETE FROM outbox WHERE rowid IN (SELECT rowid FROM outbox WHERE settledAt < ? ORDER BY settledAt LIMIT ?)`,
    [at, limit],
  );
}
