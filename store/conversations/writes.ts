// Writes conversations. Apart from conversations.ts, because the threads that read it need no schema at run time.

import type { Database } from '../database.ts';
import { table } from '../table.ts';
import { ConversationRecord } from './records.ts';

const conversations = table('conversation', ConversationRecord, {
  fixed: ['id', 'channel', 'ticketNumber', 'siteId', 'visitorId', 'createdAt'],
});

/** What a new conversation is without. */
export const unsetConversation = conversations.unset;

export function insertConversation(db: Database, conversation: ConversationRecord): void {
  conversations.insert(db, conversation);
}

/** Writes every field that can change. */
export function updateConversation(db: Database, conversation: ConversationRecord): void {
  conversations.update(db, conversation);
}
