import type { Migration } from '../../database.ts';

// Second factors: an authenticator app's sealed secret; passkeys, by their public keys; recovery codes, by their
// hashes.
export const secondFactors: Migration = {
  version: 43,
  name: 'second-factors',
  sql: `
CREATE TABLE agentTotp (
  agentId TEXT PRIMARY KEY REFERENCES agent (id),
  sealedSecret TEXT NOT NULL,
  lastStep INTEGER,
  confirmedAt TEXT,
  createdAt TEXT NOT NULL
) STRICT;

CREATE TABLE passkey (
  id TEXT PRIMARY KEY,
  agentId TEXT NOT NULL REFERENCES agent (id),
  credentialId TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  publicKey BLOB NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  createdAt TEXT NOT NULL,
  lastUsedAt TEXT
) STRICT;
CREATE INDEX passkeyOfAgent ON passkey (agentId);

CREATE TABLE recoveryCode (
  hash TEXT PRIMARY KEY,
  agentId TEXT NOT NULL REFERENCES agent (id),
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX recoveryCodeOfAgent ON recoveryCode (agentId);
`,
};
