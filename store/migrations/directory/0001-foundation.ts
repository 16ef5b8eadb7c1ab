import type { Migration } from '../../database.ts';

// What must be unique across the service, and how a request finds its workspace. `reservedAt` is set from the
// reservation until the workspace's own file is written; leftover reservations are swept at start.
export const foundation: Migration = {
  version: 1,
  name: 'foundation',
  sql: `
CREATE TABLE workspace (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  subdomain TEXT NOT NULL UNIQUE,
  reservedAt TEXT,
  createdAt TEXT NOT NULL
) STRICT;

CREATE TABLE agentEmail (
  email TEXT PRIMARY KEY COLLATE NOCASE,
  workspaceId TEXT NOT NULL,
  agentId TEXT NOT NULL,
  reservedAt TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX agentEmailByAgent ON agentEmail (agentId);
`,
};
