import type { Migration } from '../../database.ts';

// The name by which customers know an agent. Null: the first name.
export const publicNames: Migration = {
  version: 54,
  name: 'public-names',
  sql: 'ALTER TABLE agent ADD COLUMN publicName TEXT;',
};
