import type { Migration } from '../../database.ts';

// How often something was done in a time that is not over, as store/workspace/tallies.ts counts it.
export const tallies: Migration = {
  version: 33,
  name: 'tallies',
  sql: `
CREATE TABLE tally (
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  endsAt TEXT NOT NULL,
  count INTEGER NOT NULL CHECK (count > 0),
  PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX tallyByEnd ON tally (endsAt);
`,
};
