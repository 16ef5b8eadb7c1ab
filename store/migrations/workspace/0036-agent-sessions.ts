import type { Migration } from '../../database.ts';

// Sessions of agents, named by tokens: listed, renewed by use, ended one by one. An earlier token names none and ends
// as before. Also known sign-in origins, so that attacks on a password do not lock its agent out, and recent notices,
// so that the agent's mailbox is not flooded.
export const agentSessions: Migration = {
  version: 36,
  name: 'agent-sessions',
  sql: `
CREATE TABLE agentSession (
  id TEXT PRIMARY KEY,
  agentId TEXT NOT NULL REFERENCES agent (id),
  address TEXT NOT NULL,
  userAgent TEXT,
  browserHash TEXT,
  createdAt TEXT NOT NULL,
  lastUsedAt TEXT NOT NULL,
  confirmedAt TEXT NOT NULL,
  expiresAt TEXT NOT NULL
) STRICT;
CREATE INDEX agentSessionOfAgent ON agentSession (agentId);
CREATE INDEX agentSessionByExpiry ON agentSession (expiresAt);

CREATE TABLE knownOrigin (
  agentId TEXT NOT NULL REFERENCES agent (id),
  kind TEXT NOT NULL CHECK (kind IN ('browser', 'network')),
  value TEXT NOT NULL,
  lastSeenAt TEXT NOT NULL,
  PRIMARY KEY (agentId, kind, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX knownOriginBySeen ON knownOrigin (lastSeenAt);

CREATE TABLE accountNotice (
  agentId TEXT NOT NULL REFERENCES agent (id),
  kind TEXT NOT NULL,
  sentAt TEXT NOT NULL
) STRICT;
CREATE INDEX accountNoticeOfAgent ON accountNotice (agentId, kind, sentAt);
`,
};
