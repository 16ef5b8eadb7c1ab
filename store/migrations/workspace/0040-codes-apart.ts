import type { Migration } from '../../database.ts';

// What test keys ask for is counted apart from what live keys send, so every count begins with which of the two. And
// where codes went, to see where many are sent that nobody checks: by country, and by range, which is a number without
// its last four digits.
export const codesApart: Migration = {
  version: 40,
  name: 'codes-apart',
  sql: `
ALTER TABLE verification ADD COLUMN country TEXT;
DROP INDEX verificationByCreated;
DROP INDEX verificationByService;
DROP INDEX verificationByDestination;
DROP INDEX verificationBySource;
CREATE INDEX verificationByCreated ON verification (isTest, createdAt, id);
CREATE INDEX verificationByService ON verification (serviceId, isTest, createdAt, id);
CREATE INDEX verificationByDestination ON verification (destination, isTest, createdAt);
CREATE INDEX verificationBySource ON verification (sourceIp, isTest, createdAt);
CREATE INDEX verificationByRange ON verification (substr(destination, 1, length(destination) - 4), createdAt) WHERE channel <> 'email' AND isTest = 0;
CREATE INDEX verificationByCountry ON verification (country, createdAt) WHERE country IS NOT NULL AND isTest = 0;
`,
};
