import type { Migration } from '../../database.ts';

// How often the reported figures of a day (UTC, since 1970) have changed, for a cache of reports. Dropped by 0045.
export const rollupChanges: Migration = {
  version: 26,
  name: 'rollup-changes',
  sql: `
CREATE TABLE rollupChange (
  day INTEGER PRIMARY KEY,
  conversations INTEGER NOT NULL DEFAULT 0,
  completions INTEGER NOT NULL DEFAULT 0
) STRICT;
`,
};
