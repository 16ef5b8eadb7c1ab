// What sockets were told and may ask for again: rows with a gap-free sequence per workspace, kept for seven days.

import type { Database } from '../database.ts';

export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly conversationId: string | null;
  /** Who may see it, as JSON; the engine's to read. */
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

/** Events after `afterSeq` up to and with `upToSeq`, in order. */
export function eventsBetween(db: Database, range: { afterSeq: number; upToSeq: number; limit: number }): EventRow[] {
  return db.all<EventRow>('SELECT * FROM event WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?', [
    range.afterSeq,
    range.upToSeq,
    range.limit,
  ]);
}

/** The same of a visitor's own conversations alone, by their index: the rest of the workspace is not read. */
export function eventsOfVisitorBetween(
  db: Database,
  range: { visitorId: string; afterSeq: number; upToSeq: number; limit: number },
): EventRow[] {
  return db.all<EventRow>(
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

/** Forgets events from before `at`, but never the newest one, which holds the sequence. Returns how many. */
export function deleteEventsBefore(db: Database, at: string, limit: number): number {
  // The oldest alone are looked at, since they stand in the order of their times: a search for old ones would read all
  // that are kept.
  return db.run(
    'DELETE FROM event WHERE seq IN (SELECT seq FROM (SELECT seq, at FROM event WHERE seq < (SELECT max(seq) FROM event) ORDER BY seq LIMIT ?) WHERE at < ?)',
    [limit, at],
  );
}

/** In order, one by one: those after `afterSeq` up to and with `upToSeq`. */
export function* eventsOfConversation(
  db: Database,
  range: { conversationId: string; afterSeq: number; upToSeq: number },
): Generator<EventRow> {
  // Named, since without figures of its own SQLite reads a range of the table as gladly as the index.
  yield* db.iterate<EventRow>(
    'SELECT * FROM event INDEXED BY eventByConversation WHERE conversationId = ? AND seq > ? AND seq <= ? ORDER BY seq',
    [range.conversationId, range.afterSeq, range.upToSeq],
  );
}
