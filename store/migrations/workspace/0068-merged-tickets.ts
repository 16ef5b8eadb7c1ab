import type { Migration } from '../../database.ts';

// Tickets that were merged into others, messages that moved from one ticket to another, and agents who follow a
// conversation. A merged ticket counts in no report. The search index follows moved messages by their number.
export const mergedTickets: Migration = {
  version: 68,
  name: 'merged-tickets',
  sql: `
ALTER TABLE conversation ADD COLUMN mergedInto TEXT REFERENCES conversation (id);
ALTER TABLE conversation ADD COLUMN followerIds TEXT NOT NULL DEFAULT '[]';
DROP INDEX conversationInReports;
CREATE INDEX conversationInReports ON conversation (createdAt, id, channel, status, departmentId, assignedAgentId, rating, ratedAgentId, firstResponseAt, firstResponderId, solvedAt) WHERE mergedInto IS NULL;

-- What moved besides messages, and what to restore, in detail.
CREATE TABLE ticketMove (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('merge', 'unmerge', 'split')),
  fromId TEXT NOT NULL REFERENCES conversation (id),
  toId TEXT NOT NULL REFERENCES conversation (id),
  agentId TEXT NOT NULL REFERENCES agent (id),
  detail TEXT NOT NULL,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX ticketMoveFrom ON ticketMove (fromId, createdAt, id);

-- Each move of a message, with the time that it had before.
CREATE TABLE messageMove (
  seq INTEGER PRIMARY KEY,
  moveId TEXT NOT NULL REFERENCES ticketMove (id),
  messageId TEXT NOT NULL REFERENCES message (id),
  writtenAt TEXT NOT NULL
) STRICT;
CREATE INDEX messageMoveOfMove ON messageMove (moveId, seq);
CREATE INDEX messageMoveOfMessage ON messageMove (messageId);
CREATE INDEX mailReferenceOfMessage ON mailReference (messageId);
`,
};
