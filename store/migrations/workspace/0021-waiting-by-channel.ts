import type { Migration } from '../../database.ts';

// Waiting conversations are found by channel for routing, and counted over all channels for reports.
export const waitingByChannel: Migration = {
  version: 21,
  name: 'waiting-by-channel',
  sql: `
DROP INDEX conversationWaiting;
CREATE INDEX conversationWaiting ON conversation (channel, createdAt, id) WHERE status = 'open' AND assignedAgentId IS NULL AND handshake IS NULL;
DROP INDEX conversationWaitingInDepartment;
CREATE INDEX conversationWaitingInDepartment ON conversation (channel, departmentId, createdAt, id) WHERE status = 'open' AND assignedAgentId IS NULL AND handshake IS NULL;
`,
};
