import type { Migration } from '../../database.ts';

// How often what reports read of a day (UTC, since 1970) has changed. Whoever keeps what it read knows by it whether
// that still holds. Days without a row have not changed since this table is there. store/reports/changes.ts
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
