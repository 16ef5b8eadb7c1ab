// Conversations with the names of their customers, as lists show them.

import type { Database } from '../database.ts';
import { toJson } from '../json.ts';
import { type ConversationRow, conversationFromRow } from './conversations.ts';
import type { ConversationRecord } from './records.ts';

/** A row of a list that can be shown without another read. */
export type ListedRow = ConversationRecord & {
  /**
   * The visitor's name, else its contact's, else an address or a number. Null without any of them, such as for a withheld
   * number.
   */
  readonly customerName: string | null;
};

/** In no particular order. */
export function findListed(db: Database, conversationIds: readonly string[]): ListedRow[] {
  if (conversationIds.length === 0) return [];
  return db
    .all<ConversationRow & Pick<ListedRow, 'customerName'>>(
      `SELECT conversation.*, coalesce(nullif(trim(visitor.name), ''), nullif(trim(contact.name), ''),
         nullif(visitor.email, ''), nullif(contact.email, ''), visitor.phoneE164, nullif(contact.phone, '')) AS customerName
       FROM conversation LEFT JOIN visitor ON visitor.id = conversation.visitorId
         LEFT JOIN contact ON contact.id = coalesce(conversation.contactId, visitor.contactId)
       WHERE conversation.id IN (SELECT value FROM json_each(?))`,
      [toJson(conversationIds)],
    )
    .map((row) => ({ ...conversationFromRow(row), customerName: row.customerName }));
}
