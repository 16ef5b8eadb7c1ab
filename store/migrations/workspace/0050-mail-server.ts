import type { Migration } from '../../database.ts';

export const mailServer: Migration = {
  version: 50,
  name: 'mail server',
  sql: `
CREATE TABLE mailServer (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  host TEXT NOT NULL,
  port INTEGER NOT NULL CHECK (port BETWEEN 1 AND 65535),
  security TEXT NOT NULL CHECK (security IN ('starttls', 'tls', 'none')),
  username TEXT,
  sealedPassword TEXT,
  fromAddress TEXT NOT NULL,
  mayBePrivate INTEGER NOT NULL CHECK (mayBePrivate IN (0, 1)),
  updatedAt TEXT NOT NULL
) STRICT;
`,
};
