import type { Migration } from '../../database.ts';

// The list of open and pending conversations by their last message, newest first.
export const queueByActivity: Migration = {
  version: 63,
  name: 'queue-by-activity',
  sql: `
CREATE INDEX conversationByActivity ON conversation (channel, coalesce(lastMessageAt, createdAt), id, assignedAgentId, status, siteId, tags) WHERE status IN ('open', 'pending');
CREATE INDEX conversationByActivityOfDepartment ON conversation (channel, departmentId, coalesce(lastMessageAt, createdAt), id, assignedAgentId, status, siteId, tags) WHERE status IN ('open', 'pending');
`,
};
