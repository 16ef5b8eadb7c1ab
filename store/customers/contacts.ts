// Contacts: the customer directory. Not unique by email or phone; a visitor is linked to the oldest one with its
// address or number.

import { contactQuestion } from '../contact-text.ts';
import type { Database } from '../database.ts';
import { fromJson } from '../json.ts';
import { deadlineSubjects } from '../runtime/deadlines.ts';
import type { RowOf } from '../table.ts';
import type { ContactRecord } from './records.ts';

export type { ContactRecord } from './records.ts';

/** The number, in order of creation, is internal to this table. */
type Row = RowOf<ContactRecord> & { readonly number: number };

const fromRow = ({ number: _, ...row }: Row): ContactRecord => ({
  ...row,
  tags: fromJson(row.tags),
  customFields: fromJson(row.customFields),
});

export function findContact(db: Database, contactId: string): ContactRecord | undefined {
  const row = db.get<Row>('SELECT * FROM contact WHERE id = ?', [contactId]);
  return row && fromRow(row);
}

export function findOldestContactByEmail(db: Database, email: string): ContactRecord | undefined {
  const row = db.get<Row>('SELECT * FROM contact WHERE email = ? ORDER BY createdAt, id LIMIT 1', [email]);
  return row && fromRow(row);
}

export function findOldestContactByPhone(db: Database, phone: string): ContactRecord | undefined {
  const row = db.get<Row>('SELECT * FROM contact WHERE phone = ? ORDER BY createdAt, id LIMIT 1', [phone]);
  return row && fromRow(row);
}

/** Newest first. */
export function contactPage(db: Database, page: { limit: number; offset: number }): ContactRecord[] {
  return db
    .all<Row>('SELECT * FROM contact ORDER BY number DESC LIMIT @limit OFFSET @offset', { ...page })
    .map(fromRow);
}

/**
 * The deadline that adds contacts to the indexes in steps; its subject is the next number. It stays set until the last
 * one is indexed.
 */
export const indexDeadline = 'contacts.index';

/** Indexes `count` contacts from `number` down and returns the next number; undefined when all are indexed. */
export function indexContacts(db: Database, { number, count }: { number: number; count: number }): number | undefined {
  const first =
    db.get<{ number: number | null }>(
      'SELECT min(number) AS number FROM (SELECT number FROM contact WHERE number <= ? ORDER BY number DESC LIMIT ?)',
      [number, count],
    )?.number ?? 0;
  // By number, which is how the indexes store them.
  for (const [index, text] of [
    ['contactPart', 'textOfContact'],
    ['contactStart', 'wordsOfContact'],
  ]) {
    db.run(
      `INSERT OR REPLACE INTO ${index} (rowid, text) SELECT number, ${text}(name, email, phone, company) FROM contact WHERE number BETWEEN ? AND ? ORDER BY number`,
      [first, number],
    );
  }
  return (
    db.get<{ number: number | null }>('SELECT max(number) AS number FROM contact WHERE number < ?', [first])?.number ??
    undefined
  );
}

/**
 * Contacts that match every word of the search, newest first: anywhere in a field, or, for short words, at the start of
 * a word.
 */
export function contactsWith(
  db: Database,
  { search, ...page }: { search: string; limit: number; offset: number },
): ContactRecord[] {
  const { parts, beginnings } = contactQuestion(search);
  const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`;
  const match =
    parts.length === 0
      ? { index: 'contactStart', words: beginnings.map((word) => `${quoted(word)}*`) }
      : { index: 'contactPart', words: parts.map((alternatives) => `(${alternatives.map(quoted).join(' OR ')})`) };
  if (match.words.length === 0) return [];
  // Conditions that no index covers are checked on the remaining rows, and on every row not indexed yet.
  const isMet = 'meetsContact(textOfContact(name, email, phone, company), @search)';
  const andIsMet = parts.length > 0 && beginnings.length > 0 ? `AND ${isMet}` : '';
  const found = `SELECT contact.* FROM ${match.index} JOIN contact ON number = ${match.index}.rowid WHERE ${match.index} MATCH @match ${andIsMet}`;
  const asked = { ...page, match: match.words.join(' AND ') };
  const notYet = Math.max(0, ...deadlineSubjects(db, indexDeadline).map(Number));
  if (notYet === 0)
    return db
      .all<Row>(
        `${found} ORDER BY ${match.index}.rowid DESC LIMIT @limit OFFSET @offset`,
        andIsMet === '' ? asked : { ...asked, search },
      )
      .map(fromRow);
  return db
    .all<Row>(
      `SELECT * FROM (${found} AND number > @notYet UNION ALL SELECT * FROM contact WHERE number <= @notYet AND ${isMet}) ORDER BY number DESC LIMIT @limit OFFSET @offset`,
      { ...asked, search, notYet },
    )
    .map(fromRow);
}
