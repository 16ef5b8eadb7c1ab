// Work for the world outside, waiting to be done or kept as a record of what became of it.

import type { Database } from './database.ts';

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

export function insertOutbox(db: Database, row: OutboxRow): void {
  db.run(
    `INSERT INTO outbox (id, kind, target, subjectId, payload, state, attempts, nextAt, lastAnswer, createdAt, settledAt)
     VALUES (@id, @kind, @target, @subjectId, @payload, @state, @attempts, @nextAt, @lastAnswer, @createdAt, @settledAt)`,
    { ...row },
  );
}

export function findOutbox(db: Database, id: string): OutboxRow | undefined {
  return db.get<OutboxRow>('SELECT * FROM outbox WHERE id = ?', [id]);
}

/** What may be tried now: due, and the first of its target. */
export function dueOutbox(db: Database, at: string, limit: number): OutboxRow[] {
  return db.all<OutboxRow>(
    `SELECT * FROM outbox AS item WHERE state = 'queued' AND nextAt <= ?
       AND NOT EXISTS (SELECT 1 FROM outbox AS earlier WHERE earlier.target = item.target AND earlier.state = 'queued' AND earlier.id < item.id)
     ORDER BY nextAt, id LIMIT ?`,
    [at, limit],
  );
}

export function earliestOutboxAt(db: Database): string | undefined {
  return db.get<{ nextAt: string | null }>(`SELECT min(nextAt) AS nextAt FROM outbox WHERE state = 'queued'`)?.nextAt ?? undefined;
}

export function oldestQueuedOutboxAt(db: Database): string | undefined {
  return db.get<{ createdAt: string | null }>(`SELECT min(createdAt) AS createdAt FROM outbox WHERE state = 'queued'`)?.createdAt ?? undefined;
}

export function updateOutbox(db: Database, row: Pick<OutboxRow, 'id' | 'state' | 'attempts' | 'nextAt' | 'lastAnswer' | 'settledAt'>): void {
  db.run('UPDATE outbox SET state = @state, attempts = @attempts, nextAt = @nextAt, lastAnswer = @lastAnswer, settledAt = @settledAt WHERE id = @id', { ...row });
}

/** Forgets what was settled before `at`. Returns how many rows that were. */
export function deleteSettledOutbox(db: Database, at: string, limit: number): number {
  return db.run(`DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE state <> 'queued' AND settledAt < ? LIMIT ?)`, [at, limit]);
}
