import type { Migration } from '../../database.ts';

// Calls are listed by their number or by who has them from runs of what an agent may see, too, as other lists are. Which number a call
// came in on never changes; a trigger writes it beside what an agent's reach goes by, so that no writer can forget to.
export const callsWithinReach: Migration = {
  version: 25,
  name: 'calls-within-reach',
  sql: `
ALTER TABLE conversation ADD COLUMN phoneNumberId TEXT;
UPDATE conversation SET phoneNumberId = (SELECT phoneNumberId FROM call WHERE conversationId = conversation.id) WHERE channel = 'call';
CREATE TRIGGER callAdded AFTER INSERT ON call
BEGIN
  UPDATE conversation SET phoneNumberId = new.phoneNumberId WHERE id = new.conversationId;
END;

CREATE INDEX conversationCallsOfNumber ON conversation (phoneNumberId, departmentId, createdAt, id) WHERE channel = 'call';
CREATE INDEX conversationCallsOfAssignee ON conversation (assignedAgentId, departmentId, createdAt, id) WHERE channel = 'call';
`,
};
