// Visitors: one row per customer's browser and site.

import type { Database } from '../database.ts';
import { fromJsonOrNull, toJson } from '../json.ts';
import type { RowOf } from '../table.ts';
import type { VisitorRecord } from './records.ts';

export type { VisitorRecord } from './records.ts';

/** The network is only compared here and never leaves the store; visitor-presence.ts has the times of presence. */
type Row = RowOf<VisitorRecord> & {
  readonly network: string | null;
  readonly goneAt: string | null;
  readonly askedAt: string | null;
  readonly viewedAt: string | null;
};

const fromRow = ({ network: _, goneAt: _gone, askedAt: _asked, viewedAt: _viewed, ...row }: Row): VisitorRecord => ({
  ...row,
  isOnline: row.isOnline === 1,
  geo: fromJsonOrNull(row.geo),
  wcEnrichment: fromJsonOrNull(row.wcEnrichment),
});

export function findVisitor(db: Database, visitorId: string): VisitorRecord | undefined {
  const row = db.get<Row>('SELECT * FROM visitor WHERE id = ?', [visitorId]);
  return row && fromRow(row);
}

/** In no particular order; missing ones are left out. */
export function findVisitors(db: Database, visitorIds: readonly string[]): VisitorRecord[] {
  return db
    .all<Row>('SELECT * FROM visitor WHERE id IN (SELECT value FROM json_each(?))', [toJson(visitorIds)])
    .map(fromRow);
}

/** The visitor with this phone number that was seen last. */
export function findVisitorByPhone(db: Database, phoneE164: string): VisitorRecord | undefined {
  const row = db.get<Row>('SELECT * FROM visitor WHERE phoneE164 = ? ORDER BY lastSeenAt DESC, id DESC LIMIT 1', [
    phoneE164,
  ]);
  return row && fromRow(row);
}

/** The visitor with this address that was seen last; a blocked one only if all are. */
export function findVisitorByEmail(db: Database, email: string): VisitorRecord | undefined {
  const row = db.get<{ id: string }>(
    'SELECT id FROM visitor WHERE email = ? ORDER BY blockedAt IS NOT NULL, lastSeenAt DESC, id LIMIT 1',
    [email],
  );
  return row && findVisitor(db, row.id);
}

/**
 * Like findVisitorByEmail, but only one to whom the address surely belongs: it proved it, or no browser is behind it, as
 * with those that a mail or an import made.
 */
export function findOwnerOfEmail(db: Database, email: string): VisitorRecord | undefined {
  const row = db.get<{ id: string }>(
    `SELECT id FROM visitor LEFT JOIN visitorProof AS proof ON proof.visitorId = visitor.id
     WHERE visitor.email = ? AND (visitor.visitCount = 0 OR proof.email = visitor.email)
     ORDER BY blockedAt IS NOT NULL, lastSeenAt DESC, id LIMIT 1`,
    [email],
  );
  return row && findVisitor(db, row.id);
}

/** Records the visitor's network, such as `192.0.2.1` or `2001:db8:0:1::/64`. */
export function setVisitorNetwork(db: Database, visitorId: string, network: string): void {
  db.run('UPDATE visitor SET network = ? WHERE id = ?', [network, visitorId]);
}

/** The visitor blocked last, after `after`, with this network and browser. */
export function findBlockedFrom(
  db: Database,
  { network, userAgent, after }: { network: string; userAgent: string; after: string },
): VisitorRecord | undefined {
  const row = db.get<Row>(
    'SELECT * FROM visitor WHERE network = ? AND userAgent = ? AND blockedAt > ? ORDER BY blockedAt DESC LIMIT 1',
    [network, userAgent, after],
  );
  return row && fromRow(row);
}

export function findBlockedByEmail(db: Database, email: string): VisitorRecord | undefined {
  const row = db.get<Row>(
    'SELECT * FROM visitor WHERE email = ? AND blockedAt IS NOT NULL ORDER BY blockedAt DESC LIMIT 1',
    [email],
  );
  return row && fromRow(row);
}

/** Other visitors blocked at the same moment with the same network and browser, or the same email. */
export function visitorsBlockedWith(
  db: Database,
  { visitorId, blockedAt, limit }: { visitorId: string; blockedAt: string; limit: number },
): VisitorRecord[] {
  return db
    .all<Row>(
      `SELECT other.* FROM visitor one JOIN visitor other ON other.blockedAt = @blockedAt AND other.id <> one.id
         AND (other.network = one.network AND other.userAgent = one.userAgent OR other.email = one.email)
       WHERE one.id = @visitorId LIMIT @limit`,
      { visitorId, blockedAt, limit },
    )
    .map(fromRow);
}

/** A visitor that was named or renamed; only its latest such change has a row. */
export interface NamedVisitor {
  readonly seq: number;
  readonly visitorId: string;
  readonly name: string | null;
  readonly email: string | null;
}

/** In the order of the changes. */
export function visitorsNamedAfter(db: Database, seq: number, limit: number): NamedVisitor[] {
  return db.all<NamedVisitor>(
    'SELECT seq, visitorId, name, email FROM visitorChange JOIN visitor ON visitor.id = visitorId WHERE seq > ? ORDER BY seq LIMIT ?',
    [seq, limit],
  );
}

/** 0 before the first. */
export function newestVisitorChange(db: Database): number {
  return db.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM visitorChange')?.seq ?? 0;
}

/** Undefined if that visitor was renamed since. */
export function findVisitorNamed(db: Database, seq: number): string | undefined {
  return db.get<{ visitorId: string }>('SELECT visitorId FROM visitorChange WHERE seq = ?', [seq])?.visitorId;
}
