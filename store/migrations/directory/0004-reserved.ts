import type { Migration } from '../../database.ts';

// What a start and a sweep look for is next to nothing among all the workspaces and agents of the service.
export const reserved: Migration = {
  version: 4,
  name: 'reserved',
  sql: `
CREATE INDEX workspaceReserved ON workspace (reservedAt) WHERE reservedAt IS NOT NULL;
CREATE INDEX agentEmailReserved ON agentEmail (reservedAt) WHERE reservedAt IS NOT NULL;
`,
};
