import type { Migration } from '../../database.ts';

// The workspace of each phone number, and its former ones, which late events of a carrier still name. `reservedAt` is
// set while a number is being claimed or released; leftovers are swept at start.
export const phoneNumbers: Migration = {
  version: 2,
  name: 'phone numbers',
  sql: `
CREATE TABLE phoneNumber (
  numberId TEXT PRIMARY KEY,
  e164 TEXT NOT NULL,
  workspaceId TEXT NOT NULL,
  reservedAt TEXT,
  releasedAt TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX phoneNumberInUse ON phoneNumber (e164) WHERE releasedAt IS NULL;
CREATE INDEX phoneNumberByE164 ON phoneNumber (e164, releasedAt);
CREATE INDEX phoneNumberReserved ON phoneNumber (reservedAt) WHERE reservedAt IS NOT NULL;
`,
};
