import type { Migration } from '../../database.ts';

// The list of open and pending conversations is filtered by site and tag, too. Its indexes hold both, so that a filter
// looks at no row that it leaves out.
export const queueFilters: Migration = {
  version: 57,
  name: 'queue-filters',
  sql: `
DROP INDEX conversationInQueue;
DROP INDEX conversationInQueueOfDepartment;
DROP INDEX conversationInWait;
DROP INDEX conversationInWaitOfDepartment;
CREATE INDEX conversationInQueue ON conversation (channel, createdAt, id, assignedAgentId, status, siteId, tags) WHERE status IN ('open', 'pending');
CREATE INDEX conversationInQueueOfDepartment ON conversation (channel, departmentId, createdAt, id, assignedAgentId, status, siteId, tags) WHERE status IN ('open', 'pending');
CREATE INDEX conversationInWait ON conversation (channel, coalesce(waitingSince, '9' || substr(createdAt, 2)), id, assignedAgentId, status, siteId, tags) WHERE status IN ('open', 'pending');
CREATE INDEX conversationInWaitOfDepartment ON conversation (channel, departmentId, coalesce(waitingSince, '9' || substr(createdAt, 2)), id, assignedAgentId, status, siteId, tags) WHERE status IN ('open', 'pending');
`,
};
