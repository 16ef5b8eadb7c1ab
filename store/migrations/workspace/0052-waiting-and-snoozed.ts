import type { Migration } from '../../database.ts';

// Who spoke last in a conversation, since when its customer has waited for an answer, and until when it is snoozed. The
// longest waiting come first in a list of their own order; those that do not wait follow, oldest first: their key is the
// time of creation with a year after all others.
export const waitingAndSnoozed: Migration = {
  version: 52,
  name: 'waiting-and-snoozed',
  sql: `
ALTER TABLE conversation ADD COLUMN lastSenderType TEXT;
ALTER TABLE conversation ADD COLUMN lastSenderId TEXT;
ALTER TABLE conversation ADD COLUMN waitingSince TEXT;
ALTER TABLE conversation ADD COLUMN snoozedUntil TEXT;

UPDATE conversation SET (lastSenderType, lastSenderId) = (
  SELECT senderType, senderId FROM message WHERE conversationId = conversation.id AND senderType <> 'system' ORDER BY createdAt DESC LIMIT 1);
UPDATE conversation SET waitingSince = (
  SELECT min(createdAt) FROM message WHERE conversationId = conversation.id AND senderType = 'visitor' AND createdAt > coalesce(
    (SELECT max(createdAt) FROM message WHERE conversationId = conversation.id AND senderType IN ('agent', 'ai')), ''))
  WHERE lastSenderType = 'visitor';

CREATE INDEX conversationInWait ON conversation (channel, coalesce(waitingSince, '9' || substr(createdAt, 2)), id, assignedAgentId, status) WHERE status IN ('open', 'pending');
CREATE INDEX conversationInWaitOfDepartment ON conversation (channel, departmentId, coalesce(waitingSince, '9' || substr(createdAt, 2)), id, assignedAgentId, status) WHERE status IN ('open', 'pending');
`,
};
