import type { Migration } from '../../database.ts';

// Which workspace a phone number leads to, and which ones it led to before: late deliveries of a carrier still name it.
// `reservedAt` is set while a number is being claimed or released; what is left so at start is swept.
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
