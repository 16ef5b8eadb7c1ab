import type { Migration } from '../../database.ts';

// A blocked visitor may return as a new one from the same place: found by network and browser, among the few that are
// blocked.
export const visitorNetworks: Migration = {
  version: 41,
  name: 'visitor-networks',
  sql: `
ALTER TABLE visitor ADD COLUMN network TEXT;
CREATE INDEX visitorBlocked ON visitor (blockedAt) WHERE blockedAt IS NOT NULL;
`,
};
