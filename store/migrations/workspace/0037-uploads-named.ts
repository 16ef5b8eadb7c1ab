import type { Migration } from '../../database.ts';

// What an upload is called, what its bytes are, which message named it, and where it came from: of one from before this
// all are unknown, and it stays. What came lately from a visitor, a network, or all of a workspace's people is added up
// from the indexes alone.
export const uploadsNamed: Migration = {
  version: 37,
  name: 'uploads-named',
  sql: `
ALTER TABLE upload ADD COLUMN filename TEXT;
ALTER TABLE upload ADD COLUMN network TEXT;
ALTER TABLE upload ADD COLUMN sha256 TEXT;
ALTER TABLE upload ADD COLUMN messageId TEXT;
CREATE INDEX uploadByVisitor ON upload (visitorId, createdAt, size) WHERE visitorId IS NOT NULL;
CREATE INDEX uploadByNetwork ON upload (network, createdAt, size) WHERE network IS NOT NULL;
CREATE INDEX uploadOfPeople ON upload (createdAt, size) WHERE agentId IS NOT NULL OR visitorId IS NOT NULL;
`,
};
