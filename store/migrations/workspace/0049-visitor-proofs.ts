import type { Migration } from '../../database.ts';

// Which address a visitor has proved to be its own.
export const visitorProofs: Migration = {
  version: 49,
  name: 'visitor-proofs',
  sql: `
CREATE TABLE visitorProof (
  visitorId TEXT PRIMARY KEY REFERENCES visitor (id),
  email TEXT NOT NULL,
  provedAt TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
