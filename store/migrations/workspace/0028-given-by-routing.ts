import type { Migration } from '../../database.ts';

// How a conversation was assigned, and whom it must skip: what routing assigned and no agent answered returns to the
// queue with its agent; what was given back or moved on does not return directly to that agent. The index of waiting
// conversations includes this, so that it is checked without reading a row.
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
