import type { Migration } from '../../database.ts';

// The beginning of a received mail as its bytes came, compressed, and how long the whole mail and that beginning are.
// Null for mails of before, of the webhook, of imports, and for our own. The bytes come last: SQLite reads a column after
// them only through all of their pages.
export const mailSource: Migration = {
  version: 72,
  name: 'mail source',
  sql: `
ALTER TABLE mail ADD COLUMN sourceBytes INTEGER;
ALTER TABLE mail ADD COLUMN sourceKeptBytes INTEGER;
ALTER TABLE mail ADD COLUMN source BLOB;
`,
};
