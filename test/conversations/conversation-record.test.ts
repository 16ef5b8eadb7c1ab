// The declarations of conversations and messages against their tables and views.

import { join } from 'node:path';
import t from 'tap';
import { conversationView } from '../../engine/conversations/conversation.ts';
import { customerConversation } from '../../engine/conversations/customer-view.ts';
import { messageView } from '../../engine/conversations/messages.ts';
import { type ConversationRecord, findConversation } from '../../store/conversations/conversations.ts';
import { findMessage, type MessageRecord } from '../../store/conversations/messages.ts';
import * as declared from '../../store/conversations/records.ts';
import {
  insertConversation,
  insertMessage,
  unsetConversation,
  unsetMessage,
  updateConversation,
} from '../../store/conversations/writes.ts';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { tempFolder } from '../support/folder.ts';

const at = '2026-11-01T00:00:00.000Z';
const id = '00000000-0000-4000-8000-000000000001';
const bare: ConversationRecord = {
  ...unsetConversation,
  unreachable: false,
  assistant: null,
  followerIds: [],
  mergedInto: null,
  id,
  version: 1,
  channel: 'ticket',
  status: 'open',
  createdAt: at,
  updatedAt: at,
};
const full: ConversationRecord = {
  ...bare,
  version: 2,
  status: 'solved',
  subject: 'Lost parcel',
  departmentId: 'd',
  tags: ['urgent', 'vip'],
  handshake: { toAgentId: 'a', initiatedByAgentId: 'b', previousAgentId: null, note: 'Please', expiresAt: at },
  copiedTo: ['a@example.com'],
  rating: 5,
  ratingComment: 'Thanks',
  preview: 'Hello',
  lastMessageAt: at,
  lastSenderType: 'visitor',
  lastSenderId: 'v',
  waitingSince: at,
  snoozedUntil: at,
  lastCustomerMessageAt: at,
  agentsReadUpTo: at,
  firstResponseAt: at,
  solvedAt: at,
  closedAt: at,
  routedAt: at,
  notToAgentIds: ['a', 'b'],
  ratedAgentId: 'a',
  firstResponderId: 'b',
  lastLineAt: at,
  customerReadUpTo: at,
  updatedAt: '2026-11-02T00:00:00.000Z',
};

t.test('a record is read as it was written', async (t) => {
  const db = Database.openWriter(join(tempFolder(t), 'x.db'), workspaceMigrations);
  t.teardown(() => db.close());
  insertConversation(db, bare);
  t.match(findConversation(db, id), bare);
  updateConversation(db, full);
  t.match(findConversation(db, id), full);
  updateConversation(db, { ...full, channel: 'chat', ticketNumber: 7, createdAt: full.updatedAt });
  t.match(findConversation(db, id), full, 'what is fixed is not written');
  updateConversation(db, bare);
  t.match(findConversation(db, id), bare);
});

t.test('a new record is complete', async (t) => {
  t.same(Object.keys(full).sort(), Object.keys(declared.ConversationRecord.properties).sort());
});

t.test('a view has its own members, in its order', async (t) => {
  const view = conversationView(full);
  t.strictSame(Object.keys(view), Object.keys(declared.ConversationView.properties));
  t.match(full, view);
  t.notOk('routedAt' in view || 'notToAgentIds' in view || 'lastLineAt' in view);
  t.strictSame(conversationView(bare), conversationView(conversationView(bare) as ConversationRecord));

  const seen = customerConversation(full);
  t.strictSame(
    Object.keys(seen),
    'id channel status subject rating preview lastMessageAt createdAt updatedAt'.split(' '),
  );
  t.equal(customerConversation({ ...full, status: 'spam' }).status, 'open');
});

t.test('a message is read as it was written, and has its own view', async (t) => {
  const db = Database.openWriter(join(tempFolder(t), 'x.db'), workspaceMigrations);
  t.teardown(() => db.close());
  insertConversation(db, bare);
  const written: MessageRecord = {
    ...unsetMessage,
    id,
    conversationId: id,
    senderType: 'agent',
    body: 'A < B',
    createdAt: at,
  };
  const mailed: MessageRecord = {
    ...written,
    id: '00000000-0000-4000-8000-000000000002',
    senderType: 'visitor',
    senderId: 'v',
    bodyHtml: '<p>Hello</p>',
    attachments: [{ url: 'https://example.com/a.png', name: 'a.png', size: null }],
    threading: { rule: 'new', matchedMessageId: null, reason: 'unknown_reference' },
    mail: {
      from: { address: 'a@example.com', name: null },
      copiedTo: ['b@example.com'],
      authentication: { spf: 'pass', dkim: 'none', dmarc: 'pass' },
    },
    deliveryStatus: 'sent',
    readAt: full.updatedAt,
    createdAt: full.updatedAt,
  };
  t.same(Object.keys(mailed).sort(), Object.keys(declared.MessageRecord.properties).sort(), 'it is complete');
  for (const message of [written, mailed]) {
    insertMessage(db, message);
    const found = findMessage(db, message.id);
    t.same(found, message);
    t.same(Object.keys(found ?? {}).sort(), Object.keys(message).sort(), 'and nothing else');
  }
  t.strictSame(Object.keys(messageView(mailed)), Object.keys(declared.MessageView.properties));
  t.same(messageView(mailed), mailed);
  t.same(messageView(written), { ...written, bodyHtml: '<p>A &lt; B</p>' });
});
