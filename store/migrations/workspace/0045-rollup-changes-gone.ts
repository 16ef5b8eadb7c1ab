import type { Migration } from '../../database.ts';

// Reports are no longer cached, so nothing reads how often a day has changed.
export const rollupChangesGone: Migration = {
  version: 45,
  name: 'rollup-changes-gone',
  sql: 'DROP TABLE rollupChange;',
};
