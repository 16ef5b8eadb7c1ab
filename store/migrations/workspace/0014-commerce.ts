import type { Migration } from '../../database.ts';

// The commerce connector for customers' orders: one per workspace, its secret sealed by workers/secrets/secret-box.ts.
export const commerce: Migration = {
  version: 14,
  name: 'commerce',
  sql: `
CREATE TABLE commerce (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  url TEXT NOT NULL,
  source TEXT NOT NULL,
  sealedSecret TEXT NOT NULL,
  updatedAt TEXT NOT NULL
) STRICT;
`,
};
