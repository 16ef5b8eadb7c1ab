import type { Migration } from '../../database.ts';

// Calls by number or assignee, and voicemails, are listed from index ranges within an agent's reach, like other lists.
// A call's number and its voicemail never change; triggers copy them beside the columns of reach, so that no writer can
// forget to.
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

ALTER TABLE conversation ADD COLUMN voicemailAt TEXT;
ALTER TABLE conversation ADD COLUMN voicemailId TEXT;
UPDATE conversation SET (voicemailAt, voicemailId) = (SELECT createdAt, id FROM voicemail WHERE conversationId = conversation.id) WHERE channel = 'call';
CREATE TRIGGER voicemailAdded AFTER INSERT ON voicemail
BEGIN
  UPDATE conversation SET voicemailAt = new.createdAt, voicemailId = new.id WHERE id = new.conversationId;
END;

CREATE INDEX conversationCallsOfNumber ON conversation (phoneNumberId, departmentId, createdAt, id) WHERE channel = 'call';
CREATE INDEX conversationCallsOfAssignee ON conversation (assignedAgentId, departmentId, createdAt, id) WHERE channel = 'call';
CREATE INDEX conversationVoicemails ON conversation (departmentId, voicemailAt, voicemailId) WHERE voicemailAt IS NOT NULL;
CREATE INDEX conversationVoicemailsOfAssignee ON conversation (assignedAgentId, voicemailAt, voicemailId) WHERE voicemailAt IS NOT NULL;
`,
};
