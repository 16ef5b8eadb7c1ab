// Whether a customer's browser is there: it has a socket or, where its network lets none through, asked over HTTP a
// moment ago. Decisions "Presence of customers".

import type { Database } from '../database.ts';

export interface VisitorPresence {
  readonly isOnline: boolean;
  /** When its last socket closed; null while it has one, or if it never had any. */
  readonly goneAt: string | null;
  /** When it last asked for messages over HTTP without a socket. */
  readonly askedAt: string | null;
}

/** Asking over HTTP counts as being there for this long. */
const askedMs = 30_000;

/** Nobody, if there is no such visitor. */
export function findVisitorPresence(db: Database, visitorId: string): VisitorPresence {
  const row = db.get<Omit<VisitorPresence, 'isOnline'> & { isOnline: number }>(
    'SELECT isOnline, goneAt, askedAt FROM visitor WHERE id = ?',
    [visitorId],
  );
  return row === undefined
    ? { isOnline: false, goneAt: null, askedAt: null }
    : { ...row, isOnline: row.isOnline === 1 };
}

/** Whether it would see a message that is sent now. */
export function isThere({ isOnline, askedAt }: VisitorPresence, nowMs: number): boolean {
  return isOnline || (askedAt !== null && nowMs - Date.parse(askedAt) < askedMs);
}

/** Until when it would see one: Infinity while it has a socket, 0 if it never did. */
export function thereUntilMs({ isOnline, askedAt }: VisitorPresence): number {
  return isOnline ? Number.POSITIVE_INFINITY : askedAt === null ? 0 : Date.parse(askedAt) + askedMs;
}

export function setVisitorGone(db: Database, visitorId: string, goneAt: string | null): void {
  db.run('UPDATE visitor SET goneAt = ? WHERE id = ?', [goneAt, visitorId]);
}

export function setVisitorAsked(db: Database, visitorId: string, askedAt: string): void {
  db.run('UPDATE visitor SET askedAt = ? WHERE id = ?', [askedAt, visitorId]);
}

/** Undefined before its first page. */
export function findVisitorViewedAt(db: Database, visitorId: string): string | undefined {
  return (
    db.get<{ viewedAt: string | null }>('SELECT viewedAt FROM visitor WHERE id = ?', [visitorId])?.viewedAt ?? undefined
  );
}

export function setVisitorViewed(db: Database, visitorId: string, viewedAt: string): void {
  db.run('UPDATE visitor SET viewedAt = ? WHERE id = ?', [viewedAt, visitorId]);
}

/** The ids of those recorded as online, in order, from just above `after`. */
export function onlineVisitorIds(db: Database, { after, limit }: { after: string; limit: number }): string[] {
  return db
    .all<{ id: string }>('SELECT id FROM visitor WHERE isOnline = 1 AND id > ? ORDER BY id LIMIT ?', [after, limit])
    .map(({ id }) => id);
}
