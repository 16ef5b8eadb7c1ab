// Events for sockets, which may request them again: rows with a gap-free sequence per workspace, kept for seven days.
// They are read again by store/conversations/kept-events.ts.

import type { Database } from '../database.ts';

export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly conversationId: string | null;
  /** Who may see it, as JSON in a form of engine/event-forms.ts. */
  readonly audience: string;
  /** The record it is about, as JSON in a form of engine/event-forms.ts. */
  readonly data: string;
}

/** In SQL: the rowid of the message that an event's data refers to; 0 if it refers to none. */
export const messageRowid = 'CAST(substr(event.data, 2, 16) AS INTEGER)';

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

export function newestSeq(db: Database): number {
  return db.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM event')?.seq ?? 0;
}

export function oldestSeq(db: Database): number | undefined {
  return db.get<{ seq: number | null }>('SELECT min(seq) AS seq FROM event')?.seq ?? undefined;
}

/** Stores the event in another form. */
export function setEventForm(db: Database, { seq, audience, data }: Pick<EventRow, 'seq' | 'audience' | 'data'>): void {
  db.run('UPDATE event SET audience = ?, data = ? WHERE seq = ?', [audience, data, seq]);
}

/** Deletes events from before `at`, but never the newest one, which holds the sequence. Returns the count. */
export function deleteEventsBefore(db: Database, at: string, limit: number): number {
  // Scans only the oldest rows, which are in order of time: a search for old ones would read all.
  return db.run(
    'DELETE FROM event WHERE seq IN (SELECT seq FROM (SELECT seq, at FROM event WHERE seq < (SELECT max(seq) FROM event) ORDER BY seq LIMIT ?) WHERE at < ?)',
    [limit, at],
  );
}
