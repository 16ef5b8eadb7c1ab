// Contacts: the customer directory. Not unique by email or phone; a visitor is linked to the oldest one with its address or number.

import type { Database } from './database.ts';
import { fromJson, toJson } from './json.ts';

export interface ContactRecord {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly company: string | null;
  readonly tags: readonly string[];
  readonly customFields: Readonly<Record<string, unknown>>;
  readonly lifetimeValueCents: number;
  readonly note: string | null;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly createdAt: string;
}

/** Its number, the order of writing, is the table's own. */
const columns = 'id, name, email, phone, company, tags, customFields, lifetimeValueCents, note, firstSeenAt, lastSeenAt, createdAt';

type Row = Omit<ContactRecord, 'tags' | 'customFields'> & { tags: string; customFields: string };

const fromRow = (row: Row): ContactRecord => ({ ...row, tags: fromJson(row.tags), customFields: fromJson(row.customFields) });
const toRow = (contact: ContactRecord): Row => ({ ...contact, tags: toJson(contact.tags), customFields: toJson(contact.customFields) });

export function insertContact(db: Database, contact: ContactRecord): void {
  db.run(
    `INSERT INTO contact (number, ${columns})
     VALUES ((SELECT coalesce(max(number), 0) + 1 FROM contact), @id, @name, @email, @phone, @company, @tags, @customFields, @lifetimeValueCents, @note, @firstSeenAt, @lastSeenAt, @createdAt)`,
    { ...toRow(contact) },
  );
}

export function updateContact(db: Database, contact: ContactRecord): void {
  db.run(
    `UPDATE contact SET name = @name, email = @email, phone = @phone, company = @company, tags = @tags, customFields = @customFields,
       lifetimeValueCents = @lifetimeValueCents, note = @note, firstSeenAt = @firstSeenAt, lastSeenAt = @lastSeenAt WHERE id = @id`,
    { ...toRow(contact) },
  );
}

export function findContact(db: Database, contactId: string): ContactRecord | undefined {
  const row = db.get<Row>(`SELECT ${columns} FROM contact WHERE id = ?`, [contactId]);
  return row && fromRow(row);
}

export function findOldestContactByEmail(db: Database, email: string): ContactRecord | undefined {
  const row = db.get<Row>(`SELECT ${columns} FROM contact WHERE email = ? ORDER BY createdAt, id LIMIT 1`, [email]);
  return row && fromRow(row);
}

export function findOldestContactByPhone(db: Database, phone: string): ContactRecord | undefined {
  const row = db.get<Row>(`SELECT ${columns} FROM contact WHERE phone = ? ORDER BY createdAt, id LIMIT 1`, [phone]);
  return row && fromRow(row);
}

/** Newest first. */
export function contactPage(db: Database, page: { limit: number; offset: number }): ContactRecord[] {
  return db.all<Row>(`SELECT ${columns} FROM contact ORDER BY number DESC LIMIT @limit OFFSET @offset`, { ...page }).map(fromRow);
}

/** The shortest piece of text that the index of parts knows. */
const partChars = 3;

/** Newest first, those that have every word: as any part of a field, or, of words that are shorter, at the beginning of one. */
export function contactsWith(db: Database, search: { words: readonly string[]; limit: number; offset: number }): ContactRecord[] {
  const long = search.words.filter((word) => Array.from(word).length >= partChars);
  const short = search.words.filter((word) => Array.from(word).length < partChars);
  const page = { limit: search.limit, offset: search.offset };
  const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`;
  if (long.length === 0) {
    return db
      .all<Row>(
        `SELECT ${columns} FROM contact JOIN (SELECT rowid AS found FROM contactWord WHERE contactWord MATCH @match ORDER BY rowid DESC LIMIT @limit OFFSET @offset) ON number = found ORDER BY number DESC`,
        { ...page, match: short.map((word) => `${quoted(word)}*`).join(' AND ') },
      )
      .map(fromRow);
  }
  // Short words beside long ones are looked for in the rows that the long ones leave.
  const alsoShort = short.map((_, index) => `AND (' ' || coalesce(name, '') || ' ' || coalesce(email, '') || ' ' || coalesce(phone, '') || ' ' || coalesce(company, '')) LIKE @short${index} ESCAPE '\\'`).join(' ');
  const patterns = Object.fromEntries(short.map((word, index) => [`short${index}`, `% ${word.replace(/[\\%_]/g, '\\$&')}%`]));
  return db
    .all<Row>(
      `SELECT ${columns.split(', ').map((column) => `contact.${column}`).join(', ')} FROM contactText JOIN contact ON contact.number = contactText.rowid
       WHERE contactText MATCH @match ${alsoShort.replaceAll('coalesce(', 'coalesce(contact.')} ORDER BY contactText.rowid DESC LIMIT @limit OFFSET @offset`,
      { ...page, ...patterns, match: long.map(quoted).join(' AND ') },
    )
    .map(fromRow);
}
