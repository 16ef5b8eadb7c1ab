import type { Migration } from '../../database.ts';

// By which keys the data folder was last served, as fingerprints, from which no key can be had: a key that is gone or
// another one is noticed before anything is signed or sealed with it.
export const folderKeys: Migration = {
  version: 8,
  name: 'folder-keys',
  sql: `
CREATE TABLE folderKey (
  name TEXT PRIMARY KEY CHECK (name IN ('jwt', 'secrets')),
  fingerprint TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
