import type { Migration } from '../../database.ts';

export const sealedSecrets: Migration = {
  version: 5,
  name: 'sealed secrets',
  sql: `
-- What must be used again and may not lie about readable: sealed by workers/secrets/secret-box.ts.
CREATE TABLE sealedSecret (
  name TEXT PRIMARY KEY,
  sealed TEXT NOT NULL,
  createdAt TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
