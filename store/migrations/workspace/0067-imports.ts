import type { Migration } from '../../database.ts';

// Conversations that were moved in from another system, each once by its id there, and the jobs that move them.
export const imports: Migration = {
  version: 67,
  name: 'imports',
  sql: `
CREATE TABLE importedConversation (
  source TEXT NOT NULL,
  externalId TEXT NOT NULL,
  conversationId TEXT NOT NULL UNIQUE REFERENCES conversation (id),
  PRIMARY KEY (source, externalId)
) STRICT, WITHOUT ROWID;

CREATE TABLE importJob (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('mbox', 'chatwoot', 'zendesk', 'intercom', 'helpscout')),
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('receiving', 'queued', 'running', 'stopped', 'failed', 'done')),
  isPreview INTEGER NOT NULL CHECK (isPreview IN (0, 1)),
  url TEXT,
  account TEXT,
  sealedToken TEXT,
  addresses TEXT NOT NULL DEFAULT '[]',
  departmentId TEXT,
  bytes INTEGER,
  receivedBytes INTEGER,
  cursor TEXT,
  outboxId TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  stats TEXT NOT NULL,
  error TEXT,
  createdByAgentId TEXT NOT NULL REFERENCES agent (id),
  startedAt TEXT,
  finishedAt TEXT,
  createdAt TEXT NOT NULL,
  updatedAt TEXT NOT NULL
) STRICT;
CREATE INDEX importJobByCreated ON importJob (createdAt, id);
`,
};
