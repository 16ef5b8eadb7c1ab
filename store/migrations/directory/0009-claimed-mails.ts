import type { Migration } from '../../database.ts';

// Mails of the last day to addresses that someone only claimed: limited over all workspaces.
export const claimedMails: Migration = {
  version: 9,
  name: 'claimed-mails',
  sql: `
CREATE TABLE claimedMail (
  address TEXT NOT NULL,
  mailId TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (address, mailId)
) STRICT, WITHOUT ROWID;
CREATE INDEX claimedMailByTime ON claimedMail (at);
`,
};
