import type { Migration } from '../../database.ts';

// When what an agent allowed an app was last used, and what each allows, for their list.
export const grantUses: Migration = {
  version: 42,
  name: 'grant-uses',
  sql: `
ALTER TABLE oauthGrant ADD COLUMN lastUsedAt TEXT;
CREATE INDEX oauthGrantByAgent ON oauthGrant (agentId) WHERE revokedAt IS NULL;
`,
};
