import type { Migration } from '../../database.ts';

// A customer that comes back asks for the events of its own conversations, and an export for those of one: neither may
// read through all that the workspace was told in a week. The index ends in seq, which is the table's key.
export const eventsByConversation: Migration = {
  version: 2,
  name: 'events-by-conversation',
  sql: `
CREATE INDEX eventByConversation ON event (conversationId) WHERE conversationId IS NOT NULL;
`,
};
