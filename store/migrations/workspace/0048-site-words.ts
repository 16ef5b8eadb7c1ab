import type { Migration } from '../../database.ts';

// The widget's own words and colours: a site may say what it likes about when it answers, and choose light or dark.
export const siteWords: Migration = {
  version: 48,
  name: 'site-words',
  sql: `
ALTER TABLE site ADD COLUMN onlineMessage TEXT NOT NULL DEFAULT '';
ALTER TABLE site ADD COLUMN awayMessage TEXT NOT NULL DEFAULT '';
ALTER TABLE site ADD COLUMN closedMessage TEXT NOT NULL DEFAULT '';
ALTER TABLE site ADD COLUMN theme TEXT NOT NULL DEFAULT 'auto' CHECK (theme IN ('auto', 'light', 'dark'));
`,
};
