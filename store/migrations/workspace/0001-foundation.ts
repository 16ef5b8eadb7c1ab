import type { Migration } from '../../database.ts';

// Times are ISO 8601 UTC with milliseconds, so that text order is time order. Lists and objects are JSON text.
export const foundation: Migration = {
  version: 1,
  name: 'foundation',
  sql: `
CREATE TABLE workspace (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  timezone TEXT NOT NULL,
  locale TEXT NOT NULL,
  subdomain TEXT NOT NULL,
  plan TEXT NOT NULL,
  settings TEXT NOT NULL,
  lastTicketNumber INTEGER NOT NULL DEFAULT 0,
  createdAt TEXT NOT NULL
) STRICT;

CREATE TABLE agent (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('admin', 'supervisor', 'agent')),
  status TEXT NOT NULL CHECK (status IN ('available', 'away', 'offline')),
  channels TEXT NOT NULL,
  avatarUrl TEXT,
  canTransfer INTEGER NOT NULL DEFAULT 0 CHECK (canTransfer IN (0, 1)),
  passwordHash TEXT,
  tokenVersion INTEGER NOT NULL DEFAULT 0,
  lastAssignedAt TEXT,
  joinedAt TEXT,
  deactivatedAt TEXT,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX agentByCreated ON agent (createdAt, id);

CREATE TABLE department (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  createdAt TEXT NOT NULL
) STRICT;

CREATE TABLE departmentMember (
  departmentId TEXT NOT NULL REFERENCES department (id) ON DELETE CASCADE,
  agentId TEXT NOT NULL REFERENCES agent (id) ON DELETE CASCADE,
  PRIMARY KEY (departmentId, agentId)
) STRICT, WITHOUT ROWID;

-- Join codes and reset tokens. Only hashes; an ended one stays, so that it is told from one that never was.
CREATE TABLE oneTimeToken (
  hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('join', 'reset')),
  agentId TEXT NOT NULL REFERENCES agent (id),
  expiresAt TEXT NOT NULL,
  endedAt TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX oneTimeTokenByAgent ON oneTimeToken (agentId, kind) WHERE endedAt IS NULL;

CREATE TABLE site (
  id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  domain TEXT NOT NULL UNIQUE COLLATE NOCASE,
  embedId TEXT NOT NULL UNIQUE,
  primaryColor TEXT NOT NULL,
  launcherPosition TEXT NOT NULL CHECK (launcherPosition IN ('right', 'left')),
  welcomeMessage TEXT NOT NULL,
  businessHoursOverride TEXT,
  allowedOrigins TEXT NOT NULL,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX siteByCreated ON site (createdAt, id);

CREATE TABLE businessHours (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  days TEXT NOT NULL,
  holidays TEXT NOT NULL,
  siteId TEXT REFERENCES site (id),
  departmentId TEXT REFERENCES department (id) ON DELETE CASCADE,
  createdAt TEXT NOT NULL
) STRICT;

CREATE TABLE savedReply (
  id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  shortcut TEXT NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  channels TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('workspace', 'personal')),
  createdByAgentId TEXT NOT NULL REFERENCES agent (id),
  createdAt TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX savedReplyWorkspaceShortcut ON savedReply (shortcut COLLATE NOCASE) WHERE scope = 'workspace';
CREATE UNIQUE INDEX savedReplyPersonalShortcut ON savedReply (createdByAgentId, shortcut COLLATE NOCASE) WHERE scope = 'personal';
CREATE INDEX savedReplyByCreated ON savedReply (createdAt, id);

CREATE TABLE contact (
  id TEXT PRIMARY KEY,
  name TEXT,
  email TEXT COLLATE NOCASE,
  phone TEXT,
  company TEXT,
  tags TEXT NOT NULL DEFAULT '[]',
  customFields TEXT NOT NULL DEFAULT '{}',
  lifetimeValueCents INTEGER NOT NULL DEFAULT 0,
  note TEXT,
  firstSeenAt TEXT NOT NULL,
  lastSeenAt TEXT NOT NULL,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX contactByEmail ON contact (email, createdAt, id);
CREATE INDEX contactByCreated ON contact (createdAt, id);

CREATE TABLE visitor (
  id TEXT PRIMARY KEY,
  siteId TEXT NOT NULL REFERENCES site (id),
  email TEXT COLLATE NOCASE,
  name TEXT,
  phoneE164 TEXT,
  ip TEXT,
  country TEXT,
  userAgent TEXT,
  geo TEXT,
  wcEnrichment TEXT,
  contactId TEXT REFERENCES contact (id),
  currentPageUrl TEXT,
  blockedAt TEXT,
  firstSeenAt TEXT NOT NULL,
  lastSeenAt TEXT NOT NULL,
  visitCount INTEGER NOT NULL
) STRICT;
CREATE INDEX visitorByEmail ON visitor (email);
CREATE INDEX visitorByContact ON visitor (contactId);

CREATE TABLE conversation (
  id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  channel TEXT NOT NULL CHECK (channel IN ('chat', 'ticket', 'call')),
  status TEXT NOT NULL CHECK (status IN ('open', 'pending', 'solved', 'spam', 'closed')),
  subject TEXT,
  ticketNumber INTEGER UNIQUE,
  siteId TEXT REFERENCES site (id),
  visitorId TEXT REFERENCES visitor (id),
  contactId TEXT REFERENCES contact (id),
  departmentId TEXT,
  assignedAgentId TEXT REFERENCES agent (id),
  tags TEXT NOT NULL DEFAULT '[]',
  handshake TEXT,
  rating INTEGER CHECK (rating BETWEEN 1 AND 5),
  ratingComment TEXT,
  preview TEXT,
  lastMessageAt TEXT,
  firstResponseAt TEXT,
  solvedAt TEXT,
  closedAt TEXT,
  -- The createdAt of its newest message of any kind, which the next one's must pass.
  lastLineAt TEXT,
  -- How far the other side's messages were read, so that a mark looks only at what came since.
  agentsReadUpTo TEXT,
  customerReadUpTo TEXT,
  createdAt TEXT NOT NULL,
  updatedAt TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- The queue and routing: what is open or pending, newest first, and who carries what.
CREATE INDEX conversationInQueue ON conversation (createdAt, id) WHERE status IN ('open', 'pending');
CREATE INDEX conversationByAssignee ON conversation (assignedAgentId, channel, status) WHERE status IN ('open', 'pending');
CREATE INDEX conversationWaiting ON conversation (channel, createdAt) WHERE status = 'open' AND assignedAgentId IS NULL;
CREATE INDEX conversationBySolved ON conversation (solvedAt, id) WHERE status IN ('solved', 'closed');
CREATE INDEX conversationByDepartment ON conversation (departmentId, status) WHERE departmentId IS NOT NULL;
CREATE INDEX conversationByVisitor ON conversation (visitorId, createdAt);
CREATE INDEX conversationByContact ON conversation (contactId, createdAt);

-- Append-only. The rowid is the order of writing, which the search index follows.
CREATE TABLE message (
  rowid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  conversationId TEXT NOT NULL REFERENCES conversation (id),
  senderType TEXT NOT NULL CHECK (senderType IN ('visitor', 'agent', 'ai', 'system')),
  senderId TEXT,
  body TEXT NOT NULL,
  attachments TEXT NOT NULL DEFAULT '[]',
  deliveryStatus TEXT CHECK (deliveryStatus IN ('queued', 'sent', 'failed')),
  readAt TEXT,
  createdAt TEXT NOT NULL,
  UNIQUE (conversationId, createdAt)
) STRICT;

CREATE TABLE note (
  id TEXT PRIMARY KEY,
  conversationId TEXT NOT NULL REFERENCES conversation (id),
  visitorId TEXT,
  authorAgentId TEXT NOT NULL REFERENCES agent (id),
  body TEXT NOT NULL,
  createdAt TEXT NOT NULL,
  updatedAt TEXT NOT NULL
) STRICT;
CREATE INDEX noteByConversation ON note (conversationId, createdAt, id);

-- What sockets are told, in the order they are told it. A gap in seq is a lost event.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  at TEXT NOT NULL,
  conversationId TEXT,
  audience TEXT NOT NULL,
  data TEXT NOT NULL
) STRICT;

CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  actorAgentId TEXT,
  action TEXT NOT NULL,
  targetKind TEXT NOT NULL,
  targetId TEXT,
  before TEXT,
  after TEXT,
  context TEXT,
  deletedAt TEXT,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX auditByCreated ON audit (createdAt, id);

CREATE TABLE deadline (
  kind TEXT NOT NULL,
  subjectId TEXT NOT NULL,
  dueAt TEXT NOT NULL,
  PRIMARY KEY (kind, subjectId)
) STRICT, WITHOUT ROWID;
CREATE INDEX deadlineByDue ON deadline (dueAt);

-- Work for the world outside, done after the commit that asked for it. Per target in order, once per id at the least.
CREATE TABLE outbox (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  subjectId TEXT,
  payload TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  nextAt TEXT NOT NULL,
  lastAnswer TEXT,
  createdAt TEXT NOT NULL,
  settledAt TEXT
) STRICT;
CREATE INDEX outboxDue ON outbox (nextAt, id) WHERE state = 'queued';
CREATE INDEX outboxByTarget ON outbox (target, id) WHERE state = 'queued';
`,
};
