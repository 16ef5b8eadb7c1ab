import type { Migration } from '../../database.ts';

// Mails that agents write: to third parties (side mails, apart from the customer's thread), drafts, which may be due to
// be sent, signatures of agents and of sender addresses, and how each agent sends. All earlier mails are of the
// customer's thread.
export const mailWriting: Migration = {
  version: 61,
  name: 'mail-writing',
  sql: `
ALTER TABLE mail ADD COLUMN isSide INTEGER NOT NULL DEFAULT 0 CHECK (isSide IN (0, 1));

CREATE TABLE draft (
  id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  agentId TEXT NOT NULL REFERENCES agent (id),
  conversationId TEXT REFERENCES conversation (id) ON DELETE CASCADE,
  state TEXT NOT NULL CHECK (state IN ('draft', 'scheduled')),
  mail TEXT NOT NULL,
  content TEXT,
  sendAt TEXT,
  unlessAnswered INTEGER NOT NULL DEFAULT 0 CHECK (unlessAnswered IN (0, 1)),
  failure TEXT,
  createdAt TEXT NOT NULL,
  updatedAt TEXT NOT NULL
) STRICT;
CREATE INDEX draftOfAgent ON draft (agentId, createdAt, id);
CREATE INDEX draftOfConversation ON draft (conversationId, createdAt, id) WHERE conversationId IS NOT NULL;

CREATE TABLE mailHabit (
  agentId TEXT PRIMARY KEY REFERENCES agent (id),
  undoSeconds INTEGER NOT NULL CHECK (undoSeconds BETWEEN 0 AND 30),
  sendKey TEXT NOT NULL CHECK (sendKey IN ('mod_enter', 'enter')),
  content TEXT
) STRICT;

CREATE TABLE senderSignature (
  address TEXT PRIMARY KEY,
  content TEXT NOT NULL
) STRICT;
`,
};
