// Writes conversations and messages. Apart from their queries, because the threads that read need no schema at run time.

import { table } from '../table.ts';
import { ConversationRecord, MessageRecord } from './records.ts';

export const {
  unset: unsetConversation,
  insert: insertConversation,
  update: updateConversation,
} = table('conversation', ConversationRecord, {
  key: 'id',
  fixed: ['channel', 'ticketNumber', 'siteId', 'visitorId', 'createdAt'],
});

export const { unset: unsetMessage, insert: insertMessage } = table('message', MessageRecord, { key: 'id' });
