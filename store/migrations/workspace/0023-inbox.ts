import type { Migration } from '../../database.ts';

// An inbox shows unread messages, those its customer wrote after agents last read; and it lists spam like the rest.
export const inbox: Migration = {
  version: 23,
  name: 'inbox',
  sql: `
ALTER TABLE conversation ADD COLUMN lastCustomerMessageAt TEXT;
UPDATE conversation SET lastCustomerMessageAt = (SELECT max(createdAt) FROM message WHERE conversationId = conversation.id AND senderType = 'visitor');

CREATE INDEX conversationSpam ON conversation (channel, createdAt, id) WHERE status = 'spam';
CREATE INDEX conversationSpamOfDepartment ON conversation (channel, departmentId, createdAt, id) WHERE status = 'spam';
CREATE INDEX conversationSpamOfAssignee ON conversation (assignedAgentId, createdAt, id, channel) WHERE status = 'spam';
`,
};
