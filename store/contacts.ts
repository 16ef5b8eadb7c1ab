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

type Row = Omit<ContactRecord, 'tags' | 'customFields'> & { tags: string; customFields: string };

const fromRow = (row: Row): ContactRecord => ({ ...row, tags: fromJson(row.tags), customFields: fromJson(row.customFields) });
const toRow = (contact: ContactRecord): Row => ({ ...contact, tags: toJson(contact.tags), customFields: toJson(contact.customFields) });

export function insertContact(db: Database, contact: ContactRecord): void {
  db.run(
    `INSERT INTO contact (id, name, email, phone, company, tags, customFields, lifetimeValueCents, note, firstSeenAt, lastSeenAt, createdAt)
     VALUES (@id, @name, @email, @phone, @company, @tags, @customFields, @lifetimeValueCents, @note, @firstSeenAt, @lastSeenAt, @createdAt)`,
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
