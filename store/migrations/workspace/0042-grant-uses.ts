import type { Migration } from '../../database.ts';

// When each grant was last used, and its scopes, for the list of grants.
export const grantUses: Migration = {
  version: 42,
  name: 'grant-uses',
  sql: `
ALTER TABLE oauthGrant ADD COLUMN lastUsedAt TEXT;
CREATE INDEX oauthGrantByAgent ON oauthGrant (agentId) WHERE revokedAt IS NULL;
`,
};
