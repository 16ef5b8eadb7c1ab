import type { Migration } from '../../database.ts';

export const oauth: Migration = {
  version: 19,
  name: 'oauth',
  sql: `
-- Apps that this workspace's admins registered. No secret: a public client.
CREATE TABLE oauthApp (
  id TEXT PRIMARY KEY,
  clientId TEXT NOT NULL UNIQUE,
  sealedSecret TEXT,
  name TEXT NOT NULL,
  redirectUris TEXT NOT NULL,
  scopes TEXT NOT NULL,
  createdByAgentId TEXT NOT NULL REFERENCES agent (id),
  createdAt TEXT NOT NULL
) STRICT;

-- What agents of this workspace allowed an app, this workspace's or another's, to do in their name. All tokens of one consent
-- are one family: they end together.
CREATE TABLE oauthGrant (
  id TEXT PRIMARY KEY,
  clientId TEXT NOT NULL,
  agentId TEXT NOT NULL REFERENCES agent (id),
  scopes TEXT NOT NULL,
  createdAt TEXT NOT NULL,
  revokedAt TEXT
) STRICT;

CREATE INDEX oauthGrantByClient ON oauthGrant (clientId, agentId) WHERE revokedAt IS NULL;

-- Authorization codes and tokens, by hash. A used one stays until it would have expired, so that a second use is noticed.
CREATE TABLE oauthCode (
  hash TEXT PRIMARY KEY,
  clientId TEXT NOT NULL,
  agentId TEXT NOT NULL REFERENCES agent (id),
  redirectUri TEXT NOT NULL,
  scopes TEXT NOT NULL,
  codeChallenge TEXT,
  expiresAt TEXT NOT NULL,
  grantId TEXT REFERENCES oauthGrant (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX oauthCodeByExpiry ON oauthCode (expiresAt);
CREATE INDEX oauthCodeByGrant ON oauthCode (grantId) WHERE grantId IS NOT NULL;

CREATE TABLE oauthToken (
  hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
  grantId TEXT NOT NULL REFERENCES oauthGrant (id) ON DELETE CASCADE,
  scopes TEXT NOT NULL,
  expiresAt TEXT NOT NULL,
  usedAt TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX oauthTokenByExpiry ON oauthToken (expiresAt);
CREATE INDEX oauthTokenByGrant ON oauthToken (grantId);
`,
};
