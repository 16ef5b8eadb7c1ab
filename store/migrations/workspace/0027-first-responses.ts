import type { Migration } from '../../database.ts';

// A ticket opened by an agent counted as abandoned when it was solved, and the agent's next message as a response to no
// one; messages about an unanswered call counted as its answer. Now such tickets have their first response at their
// start, and calls when they are answered. Reports are recounted, as after rollups-by-day.
export const firstResponses: Migration = {
  version: 27,
  name: 'first-responses',
  sql: `
UPDATE conversation SET firstResponseAt = createdAt WHERE channel = 'ticket'
  AND (SELECT senderType FROM message WHERE conversationId = conversation.id AND senderType <> 'system' ORDER BY createdAt LIMIT 1) = 'agent';
UPDATE conversation SET firstResponseAt = (SELECT min(createdAt) FROM callEvent WHERE conversationId = conversation.id AND eventType = 'answered')
  WHERE channel = 'call' AND firstResponseAt IS NOT NULL;

DELETE FROM rollupPeriod;
DELETE FROM rollupGoal;
DELETE FROM deadline WHERE kind = 'reports.rebuild';
INSERT INTO deadline (kind, subjectId, dueAt) SELECT 'reports.rebuild', workspace.id, workspace.createdAt FROM workspace
  WHERE EXISTS (SELECT 1 FROM conversation) OR EXISTS (SELECT 1 FROM goalCompletion);
`,
};
