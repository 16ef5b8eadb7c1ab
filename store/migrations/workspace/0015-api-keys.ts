import type { Migration } from '../../database.ts';

// Keys that act as the admin who created them. Only the hash of a key's text is stored.
export const apiKeys: Migration = {
  version: 15,
  name: 'api-keys',
  sql: `
CREATE TABLE apiKey (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  createdByAgentId TEXT NOT NULL REFERENCES agent (id),
  createdAt TEXT NOT NULL,
  lastUsedAt TEXT,
  revokedAt TEXT
) STRICT;
CREATE INDEX apiKeyLive ON apiKey (createdAt, id) WHERE revokedAt IS NULL;
`,
};
