import type { Migration } from '../../database.ts';

// The language model that a workspace named, what it was asked lately, and how much of it a day used.
export const assistant: Migration = {
  version: 65,
  name: 'assistant',
  sql: `
CREATE TABLE aiModel (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  url TEXT NOT NULL,
  model TEXT NOT NULL,
  sealedKey TEXT,
  tokensPerDay INTEGER NOT NULL CHECK (tokensPerDay > 0),
  mayBePrivate INTEGER NOT NULL CHECK (mayBePrivate IN (0, 1)),
  updatedAt TEXT NOT NULL
) STRICT;

CREATE TABLE aiRequest (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('draft', 'summary', 'rewrite', 'test')),
  conversationId TEXT,
  agentId TEXT NOT NULL,
  model TEXT NOT NULL,
  prompt TEXT NOT NULL,
  sources TEXT NOT NULL,
  answer TEXT,
  problem TEXT,
  tokensIn INTEGER NOT NULL,
  tokensOut INTEGER NOT NULL,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX aiRequestByTime ON aiRequest (createdAt, id);
CREATE INDEX aiRequestOfConversation ON aiRequest (conversationId, createdAt, id) WHERE conversationId IS NOT NULL;

CREATE TABLE aiUsage (
  day TEXT PRIMARY KEY,
  requests INTEGER NOT NULL,
  tokensIn INTEGER NOT NULL,
  tokensOut INTEGER NOT NULL
) STRICT;
`,
};
