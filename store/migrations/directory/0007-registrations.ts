import type { Migration } from '../../database.ts';

// Registrations: counters as in a workspace's file, and which of the operator's codes created which workspace.
export const registrations: Migration = {
  version: 7,
  name: 'registrations',
  sql: `
CREATE TABLE tally (
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  endsAt TEXT NOT NULL,
  count INTEGER NOT NULL CHECK (count > 0),
  PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX tallyByEnd ON tally (endsAt);

CREATE TABLE registrationCode (
  id TEXT PRIMARY KEY,
  workspaceId TEXT NOT NULL,
  usedAt TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
