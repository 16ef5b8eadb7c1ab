import type { Migration } from '../../database.ts';

// Where a customer's orders are asked for: one connector per workspace, its secret sealed by
// workers/secrets/secret-box.ts.
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
