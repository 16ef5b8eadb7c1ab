import type { Migration } from '../../database.ts';

export const siteSightings: Migration = {
  version: 53,
  name: 'site sightings',
  sql: `
ALTER TABLE site ADD COLUMN lastSeenAt TEXT;
ALTER TABLE site ADD COLUMN lastSeenHost TEXT;
ALTER TABLE site ADD COLUMN refusedHosts TEXT NOT NULL DEFAULT '[]';
`,
};
