import type { Migration } from '../../database.ts';

export const uploads: Migration = {
  version: 9,
  name: 'uploads',
  sql: `
-- reserved: a link was given out. receiving: bytes are on their way. stored: it is there, with this size. A link that was not used leaves no row.
CREATE TABLE upload (
  id TEXT PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('attachment', 'logo', 'team_attachment')),
  contentType TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  state TEXT NOT NULL CHECK (state IN ('reserved', 'receiving', 'stored')),
  agentId TEXT REFERENCES agent (id),
  visitorId TEXT REFERENCES visitor (id),
  expiresAt TEXT NOT NULL,
  createdAt TEXT NOT NULL
) STRICT;

-- What the rows above of a kind add up to, reserved ones included.
CREATE TABLE storageUse (
  kind TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT, WITHOUT ROWID;
`,
};
