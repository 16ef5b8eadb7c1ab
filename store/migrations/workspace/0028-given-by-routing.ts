import type { Migration } from '../../database.ts';

// How somebody came to a conversation, and to whom it must not go: what routing gave and no agent has answered goes
// back when its agent does; what was given back or moved on does not come straight to who did so. The index of what
// waits holds that, too, so that who may have none of it is told without reading a row.
export const givenByRouting: Migration = {
  version: 28,
  name: 'given-by-routing',
  sql: `
ALTER TABLE conversation ADD COLUMN routedAt TEXT;
ALTER TABLE conversation ADD COLUMN notToAgentIds TEXT NOT NULL DEFAULT '[]';

DROP INDEX conversationWaitingInDepartment;
CREATE INDEX conversationWaitingInDepartment ON conversation (channel, departmentId, createdAt, id, notToAgentIds) WHERE status = 'open' AND assignedAgentId IS NULL AND handshake IS NULL;
`,
};
