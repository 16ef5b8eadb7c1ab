// Outside work, queued or kept as a record of its outcome. Of each target only the first queued row is offered, in
// insertion order; `isFirst` marks it and is maintained only here.

import type { Database } from '../database.ts';

export interface OutboxRow {
  readonly id: string;
  readonly kind: string;
  /** The ordering key: one row of a target is under way at a time. */
  readonly target: string;
  /** The record that the outcome is for, such as a message. */
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

/** Due rows of these kinds, or of all others, that are the first of their target. The longest due come first. */
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

/** When the next row is due; with `after`, the next one not due by then. */
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
 * Records the outcome of an attempt. A settled row makes way for the next of its target; one put back queues behind the
 * first.
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

/** Makes queued rows of a target due at `at`. */
export function retryOutboxNow(db: Database, { target, at }: { target: string; at: string }): void {
  db.run(`UPDATE outbox SET nextAt = @at WHERE target = @target AND state = 'queued' AND nextAt > @at`, { target, at });
}

/** Deletes queued rows whose target has this prefix. */
export function deleteQueuedOutbox(db: Database, targetPrefix: string): void {
  db.run(`DELETE FROM outbox WHERE state = 'queued' AND target >= ? AND target < ?`, [
    targetPrefix,
    `${targetPrefix}\u{10ffff}`,
  ]);
}

/** Deletes rows settled before `at`. Returns their number. */
export function deleteSettledOutbox(db: Database, at: string, limit: number): number {
  return db.run(
    `DELETE FROM outbox WHERE rowid IN (SELECT rowid FROM outbox WHERE settledAt < ? ORDER BY settledAt LIMIT ?)`,
    [at, limit],
  );
}
