import type { Migration } from '../../database.ts';

// Fingerprints of the keys that the data folder was last served with, so that a missing or different key is noticed
// before anything is signed or sealed with it.
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
