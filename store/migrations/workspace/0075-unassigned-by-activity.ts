import type { Migration } from '../../database.ts';

// The unassigned conversations of a department by their last message. They leave the index by assignee, so a message
// still changes one of the two.
export const unassignedByActivity: Migration = {
  version: 75,
  name: 'unassigned-by-activity',
  sql: `
DROP INDEX conversationOfAssignee;
CREATE INDEX conversationOfAssignee ON conversation (assignedAgentId, channel, coalesce(lastMessageAt, createdAt), id, departmentId, status, siteId, tags) WHERE status IN ('open', 'pending') AND assignedAgentId IS NOT NULL;
DROP INDEX conversationUnassigned;
CREATE INDEX conversationUnassigned ON conversation (channel, departmentId, coalesce(lastMessageAt, createdAt), id, assignedAgentId, status, siteId, tags) WHERE status IN ('open', 'pending') AND assignedAgentId IS NULL;
`,
};
