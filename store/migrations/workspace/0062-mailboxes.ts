import type { Migration } from '../../database.ts';

// Mailboxes elsewhere, whose mail is brought in by IMAP and which send by their own SMTP.
export const mailboxes: Migration = {
  version: 62,
  name: 'mailboxes',
  sql: `
CREATE TABLE mailbox (
  id TEXT PRIMARY KEY,
  address TEXT NOT NULL UNIQUE COLLATE NOCASE,
  departmentId TEXT,
  imap TEXT NOT NULL,
  smtp TEXT,
  username TEXT NOT NULL,
  signIn TEXT NOT NULL CHECK (signIn IN ('password', 'google', 'microsoft')),
  sealedSecret TEXT NOT NULL,
  folder TEXT NOT NULL,
  afterwards TEXT NOT NULL CHECK (afterwards IN ('nothing', 'seen', 'move')),
  moveTo TEXT,
  mayBePrivate INTEGER NOT NULL CHECK (mayBePrivate IN (0, 1)),
  isPaused INTEGER NOT NULL CHECK (isPaused IN (0, 1)),
  failure TEXT,
  failures INTEGER NOT NULL,
  checkedAt TEXT,
  uidValidity TEXT,
  lastUid INTEGER NOT NULL,
  startedAt TEXT NOT NULL,
  createdAt TEXT NOT NULL,
  updatedAt TEXT NOT NULL
) STRICT;
`,
};
