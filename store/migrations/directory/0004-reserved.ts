import type { Migration } from '../../database.ts';

// Indexes for starts and sweeps, which look for a few rows among all workspaces and agents.
export const reserved: Migration = {
  version: 4,
  name: 'reserved',
  sql: `
CREATE INDEX workspaceReserved ON workspace (reservedAt) WHERE reservedAt IS NOT NULL;
CREATE INDEX agentEmailReserved ON agentEmail (reservedAt) WHERE reservedAt IS NOT NULL;
`,
};
