import type { Migration } from '../../database.ts';

// The language that a customer is written to in. Null as long as neither its browser nor its mail has said it.
export const visitorLocale: Migration = {
  version: 70,
  name: 'visitor locale',
  sql: 'ALTER TABLE visitor ADD COLUMN locale TEXT;',
};
