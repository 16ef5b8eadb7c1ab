import type { Migration } from '../../database.ts';

// campaignEvent records what was shown to whom, append-only; campaignDay counts the same per UTC day, so that a list of
// campaigns reads thirty rows each instead of a month of events. A visit is the session for campaigns shown once per
// session.
export const campaigns: Migration = {
  version: 10,
  name: 'campaigns',
  sql: `
CREATE TABLE campaign (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('draft', 'live', 'paused', 'archived')),
  triggerRules TEXT NOT NULL,
  content TEXT NOT NULL,
  createdAt TEXT NOT NULL,
  updatedAt TEXT NOT NULL
) STRICT;
CREATE INDEX campaignByCreated ON campaign (createdAt, id);
CREATE INDEX campaignLive ON campaign (createdAt, id) WHERE status = 'live';

CREATE TABLE campaignEvent (
  rowid INTEGER PRIMARY KEY,
  campaignId TEXT NOT NULL REFERENCES campaign (id),
  visitorId TEXT NOT NULL REFERENCES visitor (id),
  type TEXT NOT NULL CHECK (type IN ('impression', 'click', 'dismiss', 'start-chat')),
  conversationId TEXT REFERENCES conversation (id),
  createdAt TEXT NOT NULL,
  CHECK ((type = 'start-chat') = (conversationId IS NOT NULL))
) STRICT;
CREATE INDEX campaignEventByVisitor ON campaignEvent (visitorId, campaignId, createdAt) WHERE type = 'impression';

CREATE TABLE campaignDay (
  campaignId TEXT NOT NULL REFERENCES campaign (id),
  -- YYYY-MM-DD, UTC.
  day TEXT NOT NULL,
  impressions INTEGER NOT NULL,
  clicks INTEGER NOT NULL,
  startedChats INTEGER NOT NULL,
  PRIMARY KEY (campaignId, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE visit (
  visitorId TEXT PRIMARY KEY REFERENCES visitor (id),
  startedAt TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
