import type { Migration } from '../../database.ts';

// A returning customer requests the events of its own conversations, and an export those of one: neither should read a
// week of the workspace's events. The index ends in seq, the table's key.
export const eventsByConversation: Migration = {
  version: 2,
  name: 'events-by-conversation',
  sql: `
CREATE INDEX eventByConversation ON event (conversationId) WHERE conversationId IS NOT NULL;
`,
};
