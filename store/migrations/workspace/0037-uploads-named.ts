import type { Migration } from '../../database.ts';

// An upload's name, content hash, message and source; unknown for earlier uploads, which are kept. Recent uploads of a
// visitor, a network or all agents are summed from indexes only.
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
