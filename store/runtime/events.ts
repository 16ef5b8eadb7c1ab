// Events for sockets, which may request them again: rows with a gap-free sequence per workspace, kept for seven days.

import type { Database } from '../database.ts';

export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly conversationId: string | null;
  /** Who may see it, as JSON, read only by the engine. */
  readonly audience: string;
  /** The record it is about, as JSON. */
  readonly data: string;
}

export function insertEvent(db: Database, row: EventRow): void {
  db.run('INSERT INTO event (seq, type, at, conversationId, audience, data) VALUES (?, ?, ?, ?, ?, ?)', [
    row.seq,
    row.type,
    row.at,
    row.conversationId,
    row.audience,
    row.data,
  ]);
}

/** Events after `afterSeq`, up to and including `upToSeq`, in order. Read one by one, since they may be long. */
export function* eventsBetween(
  db: Database,
  range: { afterSeq: number; upToSeq: number; limit: number },
): Generator<EventRow> {
  yield* db.iterate<EventRow>('SELECT * FROM event WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?', [
    range.afterSeq,
    range.upToSeq,
    range.limit,
  ]);
}

/** The same, only for a visitor's own conversations, by their index, without reading the rest. */
export function* eventsOfVisitorBetween(
  db: Database,
  range: { visitorId: string; afterSeq: number; upToSeq: number; limit: number },
): Generator<EventRow> {
  yield* db.iterate<EventRow>(
    `SELECT event.* FROM event INDEXED BY eventByConversation
     WHERE conversationId IN (SELECT id FROM conversation WHERE visitorId = ?) AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
    [range.visitorId, range.afterSeq, range.upToSeq, range.limit],
  );
}

export function newestSeq(db: Database): number {
  return db.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM event')?.seq ?? 0;
}

export function oldestSeq(db: Database): number | undefined {
  return db.get<{ seq: number | null }>('SELECT min(seq) AS seq FROM event')?.seq ?? undefined;
}

/** Deletes events from before `at`, but never the newest one, which holds the sequence. Returns the count. */
export function deleteEventsBefore(db: Database, at: string, limit: number): number {
  // Scans only the oldest rows, which are in order of time: a search for old ones would read all.
  return db.run(
    'DELETE FROM event WHERE seq IN (SELECT seq FROM (SELECT seq, at FROM event WHERE seq < (SELECT max(seq) FROM event) ORDER BY seq LIMIT ?) WHERE at < ?)',
    [limit, at],
  );
}

/** In order, one by one: after `afterSeq`, up to and including `upToSeq`. */
export function* eventsOfConversation(
  db: Database,
  range: { conversationId: string; afterSeq: number; upToSeq: number },
): Generator<EventRow> {
  // Names the index, because without statistics SQLite may scan the table instead.
  yield* db.iterate<EventRow>(
    'SELECT * FROM event INDEXED BY eventByConversation WHERE conversationId = ? AND seq > ? AND seq <= ? ORDER BY seq',
    [range.conversationId, range.afterSeq, range.upToSeq],
  );
}
