// The names of the customers of conversations, as lists show them.

import type { Database } from '../database.ts';
import { toJson } from '../json.ts';
import type { ConversationRecord } from './records.ts';

/** A row of a list that can be shown without another read. */
export interface NamedRow {
  readonly record: ConversationRecord;
  readonly customerName: string | null;
}

export function withCustomerNames(db: Database, records: readonly ConversationRecord[]): NamedRow[] {
  const names = customerNames(
    db,
    records.map(({ id }) => id),
  );
  return records.map((record) => ({ record, customerName: names.get(record.id) ?? null }));
}

/**
 * By conversation: the visitor's name, else its contact's, else an address or a number. Without any of them, such as a
 * withheld number, it is missing.
 */
export function customerNames(db: Database, conversationIds: readonly string[]): Map<string, string> {
  const rows = db.all<{ id: string; customerName: string | null }>(
    `SELECT conversation.id, coalesce(nullif(trim(visitor.name), ''), nullif(trim(contact.name), ''),
         nullif(visitor.email, ''), nullif(contact.email, ''), visitor.phoneE164, nullif(contact.phone, '')) AS customerName
     FROM conversation LEFT JOIN visitor ON visitor.id = conversation.visitorId
       LEFT JOIN contact ON contact.id = coalesce(conversation.contactId, visitor.contactId)
     WHERE conversation.id IN (SELECT value FROM json_each(?))`,
    [toJson(conversationIds)],
  );
  return new Map(rows.flatMap(({ id, customerName }) => (customerName === null ? [] : [[id, customerName] as const])));
}
