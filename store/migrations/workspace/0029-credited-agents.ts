import type { Migration } from '../../database.ts';

// Agents' figures counted for the last assignee. Now the first answer is credited to its author, and a rating to the
// last agent who wrote before it. Reports are recounted, as after rollups-by-day.
export const creditedAgents: Migration = {
  version: 29,
  name: 'credited-agents',
  sql: `
ALTER TABLE conversation ADD COLUMN firstResponderId TEXT;
ALTER TABLE conversation ADD COLUMN ratedAgentId TEXT;
UPDATE conversation SET firstResponderId = (SELECT senderId FROM message WHERE conversationId = conversation.id AND senderType = 'agent' ORDER BY createdAt LIMIT 1)
  WHERE channel <> 'call' AND firstResponseAt IS NOT NULL;
UPDATE conversation SET firstResponderId = (SELECT detail ->> 'agentId' FROM callEvent WHERE conversationId = conversation.id AND eventType = 'answered' ORDER BY position LIMIT 1)
  WHERE channel = 'call' AND firstResponseAt IS NOT NULL;
UPDATE conversation SET ratedAgentId = coalesce((SELECT senderId FROM message WHERE conversationId = conversation.id AND senderType = 'agent' ORDER BY createdAt DESC LIMIT 1), assignedAgentId)
  WHERE rating IS NOT NULL;

DROP INDEX conversationInReports;
CREATE INDEX conversationInReports ON conversation (createdAt, id, channel, status, departmentId, assignedAgentId, rating, ratedAgentId, firstResponseAt, firstResponderId, solvedAt);
DELETE FROM rollupPeriod;
DELETE FROM rollupGoal;
DELETE FROM deadline WHERE kind = 'reports.rebuild';
INSERT INTO deadline (kind, subjectId, dueAt) SELECT 'reports.rebuild', workspace.id, workspace.createdAt FROM workspace
  WHERE EXISTS (SELECT 1 FROM conversation) OR EXISTS (SELECT 1 FROM goalCompletion);
`,
};
