import type { Migration } from '../../database.ts';

// Everything listed, counted or deleted is found by a dedicated index, so that its time depends on the result and not
// on the workspace's history.
export const listsByIndex: Migration = {
  version: 20,
  name: 'lists-by-index',
  sql: `
-- Lists of what an agent may see are put together from one run for each channel and department, and of its own. The columns at
-- the end are those that are asked about, so that no row is looked at for a place in a list.
DROP INDEX conversationInQueue;
CREATE INDEX conversationInQueue ON conversation (channel, createdAt, id, assignedAgentId, status) WHERE status IN ('open', 'pending');
CREATE INDEX conversationInQueueOfDepartment ON conversation (channel, departmentId, createdAt, id, assignedAgentId, status) WHERE status IN ('open', 'pending');
DROP INDEX conversationBySolved;
CREATE INDEX conversationBySolved ON conversation (channel, solvedAt, id, status) WHERE status IN ('solved', 'closed');
CREATE INDEX conversationBySolvedOfDepartment ON conversation (channel, departmentId, solvedAt, id, status) WHERE status IN ('solved', 'closed');
CREATE INDEX conversationBySolvedOfAssignee ON conversation (assignedAgentId, solvedAt, id, channel, status) WHERE status IN ('solved', 'closed');
CREATE INDEX conversationOffered ON conversation (handshake ->> 'toAgentId') WHERE handshake IS NOT NULL;

-- Routing asks these for every chat that comes in or ends.
CREATE INDEX conversationOpenChats ON conversation (assignedAgentId, channel, status) WHERE channel = 'chat' AND status = 'open' AND assignedAgentId IS NOT NULL;
DROP INDEX conversationWaiting;
CREATE INDEX conversationWaiting ON conversation (createdAt, id) WHERE channel = 'chat' AND status = 'open' AND assignedAgentId IS NULL AND handshake IS NULL;
CREATE INDEX conversationWaitingInDepartment ON conversation (departmentId, createdAt, id) WHERE channel = 'chat' AND status = 'open' AND assignedAgentId IS NULL AND handshake IS NULL;

CREATE INDEX departmentMemberByAgent ON departmentMember (agentId);

-- What is forgotten once a day.
CREATE INDEX outboxSettled ON outbox (settledAt) WHERE settledAt IS NOT NULL;
CREATE INDEX oneTimeTokenByExpiry ON oneTimeToken (expiresAt);
DROP INDEX auditByCreated;
CREATE INDEX auditShown ON audit (createdAt, id) WHERE deletedAt IS NULL;
CREATE INDEX auditHidden ON audit (deletedAt) WHERE deletedAt IS NOT NULL;
`,
};
