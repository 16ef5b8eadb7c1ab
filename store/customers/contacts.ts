// Contacts: the customer directory. Not unique by email or phone; a visitor is linked to the oldest one with its
// address or number.

import { contactQuestion } from '../contact-text.ts';
import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';
import { deadlineSubjects } from '../runtime/deadlines.ts';
import type { RowOf } from '../table.ts';
import type { ContactRecord } from './records.ts';

export type { ContactRecord } from './records.ts';

/** The number, in order of creation, is internal to this table. */
type Row = RowOf<ContactRecord> & { readonly number: number };

const fromRow = ({ number: _, ...row }: Row): ContactRecord => ({
  ...row,
  emails: fromJson(row.emails),
  tags: fromJson(row.tags),
  customFields: fromJson(row.customFields),
});

export function findContact(db: Database, contactId: string): ContactRecord | undefined {
  const row = db.get<Row>('SELECT * FROM contact WHERE id = ?', [contactId]);
  return row && fromRow(row);
}

/** The one that has it by a merge or an agent's word, among its further addresses; else the oldest that began with it. */
export function findOldestContactByEmail(db: Database, email: string): ContactRecord | undefined {
  const row = db.get<Row>(
    'SELECT * FROM contact WHERE email = ? AND mergedInto IS NULL ORDER BY createdAt, id LIMIT 1',
    [email],
  );
  return findContactByFurtherEmail(db, email) ?? (row && fromRow(row));
}

export function findContactByFurtherEmail(db: Database, email: string): ContactRecord | undefined {
  const row = db.get<Row>(
    `SELECT contact.* FROM contactEmail JOIN contact ON contact.id = contactId
     WHERE address = ? AND mergedInto IS NULL ORDER BY contact.createdAt, contact.id LIMIT 1`,
    [email],
  );
  return row && fromRow(row);
}

/** The oldest with this number; of a merged one, the contact that it was merged into. */
export function findOldestContactByPhone(db: Database, phone: string): ContactRecord | undefined {
  const row = db.get<Row>(
    'SELECT * FROM contact WHERE phone = ? ORDER BY mergedInto IS NOT NULL, createdAt, id LIMIT 1',
    [phone],
  );
  return row && presentContact(db, fromRow(row));
}

/** The contact that has its visitors and conversations. A merged contact is never merged into, so this comes to an end. */
export function presentContact(db: Database, contact: ContactRecord): ContactRecord {
  const next = contact.mergedInto === null ? undefined : findContact(db, contact.mergedInto);
  return next === undefined ? contact : presentContact(db, next);
}

/** Newest first. */
export function contactPage(db: Database, page: { limit: number; offset: number }): ContactRecord[] {
  return db
    .all<Row>('SELECT * FROM contact WHERE mergedInto IS NULL ORDER BY number DESC LIMIT @limit OFFSET @offset', {
      ...page,
    })
    .map(fromRow);
}

/** What a contact is found by, as arguments of textOfContact() and wordsOfContact(), and as the triggers have it. */
export const soughtFields = 'name, (SELECT group_concat(value, char(10)) FROM json_each(emails)), phone, company';

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
      `INSERT OR REPLACE INTO ${index} (rowid, text) SELECT number, ${text}(${soughtFields}) FROM contact WHERE number BETWEEN ? AND ? ORDER BY number`,
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
  const isMet = `meetsContact(textOfContact(${soughtFields}), @search)`;
  const andIsMet = parts.length > 0 && beginnings.length > 0 ? `AND ${isMet}` : '';
  const found = `SELECT contact.* FROM ${match.index} JOIN contact ON number = ${match.index}.rowid WHERE ${match.index} MATCH @match AND mergedInto IS NULL ${andIsMet}`;
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
      `SELECT * FROM (${found} AND number > @notYet UNION ALL SELECT * FROM contact WHERE number <= @notYet AND mergedInto IS NULL AND ${isMet}) ORDER BY number DESC LIMIT @limit OFFSET @offset`,
      { ...asked, search, notYet },
    )
    .map(fromRow);
}

/** Of another contact than `contactId`. */
export function findOtherWithEmail(db: Database, email: string, contactId: string): ContactRecord | undefined {
  const row = db.get<Row>(
    `SELECT * FROM contact WHERE id <> @contactId AND mergedInto IS NULL
       AND (email = @email OR id IN (SELECT contactId FROM contactEmail WHERE address = @email)) ORDER BY createdAt, id LIMIT 1`,
    { email, contactId },
  );
  return row && fromRow(row);
}

export function visitorIdsOfContact(db: Database, contactId: string, limit: number): string[] {
  return db
    .all<{ id: string }>('SELECT id FROM visitor WHERE contactId = ? ORDER BY id LIMIT ?', [contactId, limit])
    .map(({ id }) => id);
}

/** Visitors of the contact who gave one of these addresses. */
export function visitorIdsWithAddress(db: Database, contactId: string, addresses: readonly string[]): string[] {
  return db
    .all<{ id: string }>(
      'SELECT id FROM visitor WHERE contactId = ? AND lower(email) IN (SELECT lower(value) FROM json_each(?)) ORDER BY id',
      [contactId, toJson(addresses)],
    )
    .map(({ id }) => id);
}

export function conversationIdsOfContact(db: Database, contactId: string, limit: number): string[] {
  return db
    .all<{ id: string }>('SELECT id FROM conversation WHERE contactId = ? ORDER BY createdAt LIMIT ?', [
      contactId,
      limit,
    ])
    .map(({ id }) => id);
}

/** How a contact was in what a merge changes. */
export type MergedFields = Omit<ContactRecord, 'id' | 'email' | 'mergedInto' | 'createdAt'>;

export interface ContactMerge {
  readonly id: string;
  readonly fromId: string;
  readonly toId: string;
  readonly agentId: string;
  readonly detail: {
    readonly visitorIds: readonly string[];
    readonly conversationIds: readonly string[];
    readonly before: MergedFields;
    readonly after: MergedFields;
  };
  readonly createdAt: string;
}

export function insertContactMerge(db: Database, merge: ContactMerge): void {
  db.run(
    'INSERT INTO contactMerge (id, fromId, toId, agentId, detail, createdAt) VALUES (@id, @fromId, @toId, @agentId, @detail, @createdAt)',
    { ...merge, detail: toJson(merge.detail) },
  );
}

/** It was undone: it holds addresses that one of the two may lose since. */
export function deleteContactMerge(db: Database, mergeId: string): void {
  db.run('DELETE FROM contactMerge WHERE id = ?', [mergeId]);
}

/** The latest merge of the contact into another. */
export function findContactMerge(db: Database, fromId: string): ContactMerge | undefined {
  const row = db.get<Omit<ContactMerge, 'detail'> & { readonly detail: string }>(
    'SELECT * FROM contactMerge WHERE fromId = ? ORDER BY createdAt DESC, id DESC LIMIT 1',
    [fromId],
  );
  return row && { ...row, detail: fromJson(row.detail) };
}
