import type { Migration } from '../../database.ts';

// Counters for store/workspace/tallies.ts.
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
