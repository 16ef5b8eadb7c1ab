import type { Migration } from '../../database.ts';

// Who was blocked comes back as a new visitor from where it was: found by its network and browser, among the few that
// are blocked.
export const visitorNetworks: Migration = {
  version: 41,
  name: 'visitor-networks',
  sql: `
ALTER TABLE visitor ADD COLUMN network TEXT;
CREATE INDEX visitorBlocked ON visitor (blockedAt) WHERE blockedAt IS NOT NULL;
`,
};
