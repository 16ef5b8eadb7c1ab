import type { Migration } from '../../database.ts';

export const verification: Migration = {
  version: 18,
  name: 'verification',
  sql: `
CREATE TABLE verifyService (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  enabledChannels TEXT NOT NULL,
  allowedCountries TEXT NOT NULL,
  perMinuteCap INTEGER NOT NULL CHECK (perMinuteCap > 0),
  perDayCap INTEGER NOT NULL CHECK (perDayCap > 0),
  codeLength INTEGER NOT NULL CHECK (codeLength BETWEEN 4 AND 8),
  ttlSeconds INTEGER NOT NULL CHECK (ttlSeconds > 0),
  isDefault INTEGER NOT NULL CHECK (isDefault IN (0, 1)),
  createdAt TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX verifyServiceDefault ON verifyService (isDefault) WHERE isDefault = 1;

-- One-time codes. Rows stay when their service goes; caps and throttles are counted over them, so that a restart forgets nothing.
CREATE TABLE verification (
  id TEXT PRIMARY KEY,
  serviceId TEXT NOT NULL,
  channel TEXT NOT NULL CHECK (channel IN ('email', 'sms', 'voice')),
  destination TEXT NOT NULL COLLATE NOCASE,
  sourceIp TEXT NOT NULL,
  isTest INTEGER NOT NULL CHECK (isTest IN (0, 1)),
  codeHash TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'verified', 'expired', 'failed')),
  attempts INTEGER NOT NULL CHECK (attempts BETWEEN 0 AND 5),
  chargedCents INTEGER NOT NULL CHECK (chargedCents >= 0),
  consumedAt TEXT,
  expiresAt TEXT NOT NULL,
  createdAt TEXT NOT NULL,
  CHECK ((status = 'verified') = (consumedAt IS NOT NULL)),
  CHECK ((status = 'failed') = (attempts = 5))
) STRICT;
CREATE INDEX verificationByCreated ON verification (createdAt, id);
CREATE INDEX verificationByService ON verification (serviceId, createdAt, id);
CREATE INDEX verificationByDestination ON verification (destination, createdAt);
CREATE INDEX verificationBySource ON verification (sourceIp, createdAt);

-- TOTP. lastStep is the newest time step whose code was taken.
CREATE TABLE verifyFactor (
  id TEXT PRIMARY KEY,
  serviceId TEXT NOT NULL,
  identity TEXT NOT NULL,
  isTest INTEGER NOT NULL CHECK (isTest IN (0, 1)),
  sealedSecret TEXT NOT NULL,
  lastStep INTEGER,
  failures INTEGER NOT NULL,
  lockedUntil TEXT,
  createdAt TEXT NOT NULL
) STRICT;

-- One row once anything was charged or set. spentCents is of spentMonth (YYYY-MM, UTC).
CREATE TABLE verifyCredits (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  balanceCents INTEGER,
  spendCapCents INTEGER CHECK (spendCapCents >= 0),
  spentCents INTEGER NOT NULL,
  spentMonth TEXT NOT NULL
) STRICT;
`,
};
