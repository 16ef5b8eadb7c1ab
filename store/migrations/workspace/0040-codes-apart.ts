import type { Migration } from '../../database.ts';

// Requests by test keys are counted separately from those by live keys, so every index begins with the mode. Also the
// destination of codes, to detect many unchecked ones: by country, and by range, which is a number without its last
// four digits.
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
