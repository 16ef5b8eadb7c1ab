import type { Migration } from '../../database.ts';

// An agent's own conversations and the unassigned ones by their last message, and indexes from which the lists of open
// and pending conversations are counted. Only the first changes with every message; it replaces the one by assignee.
export const queueCounts: Migration = {
  version: 71,
  name: 'queue-counts',
  sql: `
DROP INDEX conversationByAssignee;
CREATE INDEX conversationOfAssignee ON conversation (assignedAgentId, channel, coalesce(lastMessageAt, createdAt), id, departmentId, status, siteId, tags) WHERE status IN ('open', 'pending');
CREATE INDEX conversationUnassigned ON conversation (channel, departmentId, assignedAgentId, status, siteId, tags) WHERE status IN ('open', 'pending') AND assignedAgentId IS NULL;
CREATE INDEX conversationTagged ON conversation (channel, departmentId, assignedAgentId, status, siteId, tags) WHERE status IN ('open', 'pending') AND tags <> '[]';
CREATE INDEX conversationUnread ON conversation (assignedAgentId, channel, lastCustomerMessageAt > coalesce(agentsReadUpTo, ''), departmentId, status) WHERE status IN ('open', 'pending') AND assignedAgentId IS NOT NULL;
CREATE INDEX conversationForAnyone ON conversation (channel, departmentId, status, assignedAgentId, assistant, waitingSince) WHERE status = 'open' AND assignedAgentId IS NULL AND assistant IS NOT 'answering' AND (channel = 'call' OR waitingSince IS NOT NULL);
`,
};
