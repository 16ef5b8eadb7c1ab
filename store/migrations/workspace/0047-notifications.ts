import type { Migration } from '../../database.ts';

// Notifications of agents: the browsers that push reaches, each belonging to a sign-in and ending with it; the agents'
// choices; and the conversations that an agent is mailed about if no one looks at them.
export const notifications: Migration = {
  version: 47,
  name: 'notifications',
  sql: `
CREATE TABLE pushSubscription (
  id TEXT PRIMARY KEY,
  agentId TEXT NOT NULL REFERENCES agent (id),
  sessionId TEXT NOT NULL REFERENCES agentSession (id) ON DELETE CASCADE,
  endpoint TEXT NOT NULL UNIQUE,
  publicKey TEXT NOT NULL,
  authSecret TEXT NOT NULL,
  userAgent TEXT,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX pushSubscriptionOfAgent ON pushSubscription (agentId, createdAt);
CREATE INDEX pushSubscriptionOfSession ON pushSubscription (sessionId);

CREATE TABLE notificationChoice (
  agentId TEXT PRIMARY KEY REFERENCES agent (id),
  settings TEXT NOT NULL
) STRICT;

CREATE TABLE unseenNotice (
  agentId TEXT NOT NULL REFERENCES agent (id),
  reason TEXT NOT NULL CHECK (reason IN ('own_messages', 'queue', 'offers', 'calls')),
  conversationId TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  createdAt TEXT NOT NULL,
  PRIMARY KEY (agentId, reason, conversationId)
) STRICT, WITHOUT ROWID;
CREATE INDEX unseenNoticeOfConversation ON unseenNotice (conversationId);
`,
};
