import type { Migration } from '../../database.ts';

// A kind of uploads for agents' pictures. SQLite cannot change a CHECK, so the table is made again with its indexes.
export const avatars: Migration = {
  version: 56,
  name: 'avatars',
  sql: `
CREATE TABLE newUpload (
  id TEXT PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('attachment', 'logo', 'team_attachment', 'picture')),
  contentType TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  state TEXT NOT NULL CHECK (state IN ('reserved', 'receiving', 'stored')),
  agentId TEXT REFERENCES agent (id),
  visitorId TEXT REFERENCES visitor (id),
  expiresAt TEXT NOT NULL,
  createdAt TEXT NOT NULL,
  filename TEXT,
  network TEXT,
  sha256 TEXT,
  messageId TEXT
) STRICT;
INSERT INTO newUpload (id, key, kind, contentType, size, state, agentId, visitorId, expiresAt, createdAt, filename, network, sha256, messageId) SELECT id, key, kind, contentType, size, state, agentId, visitorId, expiresAt, createdAt, filename, network, sha256, messageId FROM upload;
DROP TABLE upload;
ALTER TABLE newUpload RENAME TO upload;
CREATE INDEX uploadByVisitor ON upload (visitorId, createdAt, size) WHERE visitorId IS NOT NULL;
CREATE INDEX uploadByNetwork ON upload (network, createdAt, size) WHERE network IS NOT NULL;
CREATE INDEX uploadOfPeople ON upload (createdAt, size) WHERE agentId IS NOT NULL OR visitorId IS NOT NULL;
`,
};
