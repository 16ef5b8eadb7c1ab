import type { Migration } from '../../database.ts';

// Tickets and mail. A message made from mail keeps its safe HTML and how it was matched; the mail itself is kept as
// received.
export const mail: Migration = {
  version: 7,
  name: 'mail',
  sql: `
ALTER TABLE message ADD COLUMN bodyHtml TEXT;
ALTER TABLE message ADD COLUMN threading TEXT;

-- Who a ticket is answered to and from which of our addresses. subjectKey is the subject without Re: and Fwd:, in lower case.
CREATE TABLE mailThread (
  conversationId TEXT PRIMARY KEY REFERENCES conversation (id),
  customerAddress TEXT NOT NULL COLLATE NOCASE,
  ourAddress TEXT NOT NULL COLLATE NOCASE,
  subjectKey TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mailThreadBySubject ON mailThread (customerAddress, subjectKey);

-- Who may write into a thread: its customer and everybody it was addressed to.
CREATE TABLE mailParticipant (
  conversationId TEXT NOT NULL REFERENCES conversation (id),
  address TEXT NOT NULL COLLATE NOCASE,
  PRIMARY KEY (conversationId, address)
) STRICT, WITHOUT ROWID;

-- Every mail that came or went, once: mailId is its Message-ID without brackets, or what stands in for a missing one. A mail
-- that was dropped is remembered too, so that its second delivery is as silent as the first was not.
CREATE TABLE mail (
  rowid INTEGER PRIMARY KEY,
  mailId TEXT NOT NULL UNIQUE,
  direction TEXT NOT NULL CHECK (direction IN ('in', 'out')),
  conversationId TEXT REFERENCES conversation (id),
  messageId TEXT REFERENCES message (id),
  fromAddress TEXT NOT NULL COLLATE NOCASE,
  fromName TEXT,
  toAddresses TEXT NOT NULL DEFAULT '[]',
  subject TEXT NOT NULL,
  text TEXT,
  html TEXT,
  authentication TEXT,
  droppedFor TEXT,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX mailByMessage ON mail (messageId) WHERE messageId IS NOT NULL;
CREATE INDEX mailByConversation ON mail (conversationId, rowid) WHERE conversationId IS NOT NULL;
CREATE INDEX mailBySender ON mail (fromAddress, createdAt) WHERE direction = 'in';

-- Message-IDs that a mail of the thread named: one that comes later than its answer finds the thread by them.
CREATE TABLE mailReference (
  mailId TEXT NOT NULL,
  conversationId TEXT NOT NULL REFERENCES conversation (id),
  messageId TEXT NOT NULL REFERENCES message (id),
  PRIMARY KEY (mailId, conversationId)
) STRICT, WITHOUT ROWID;

-- Local parts of <local>@<subdomain>.<mail host>, and of the verified domain.
CREATE TABLE inboundAddress (
  localPart TEXT PRIMARY KEY COLLATE NOCASE,
  departmentId TEXT REFERENCES department (id) ON DELETE SET NULL
) STRICT, WITHOUT ROWID;

-- Addresses that mail is not sent to any more.
CREATE TABLE suppression (
  id TEXT NOT NULL UNIQUE,
  email TEXT PRIMARY KEY COLLATE NOCASE,
  reason TEXT NOT NULL CHECK (reason IN ('bounce', 'rejected')),
  createdAt TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX suppressionByCreated ON suppression (createdAt, id);

-- The one domain that mail is sent from and taken for. The private key is sealed.
CREATE TABLE emailDomain (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'verified')),
  records TEXT NOT NULL,
  selector TEXT NOT NULL,
  sealedPrivateKey TEXT NOT NULL,
  pollIntervalMs INTEGER NOT NULL,
  pollUntil TEXT NOT NULL,
  lastCheckedAt TEXT,
  verifiedAt TEXT,
  createdAt TEXT NOT NULL
) STRICT;
`,
};
