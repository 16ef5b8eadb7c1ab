import type { Migration } from '../../database.ts';

// Sign-ins of agents, which tokens name: listed, made longer while they are used, ended one by one. A token of before
// names none, and ends as it did. Beside them where an agent signed in from before, so that strangers who try its
// password do not keep it out, and what it was mailed lately, so that it is not flooded.
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
