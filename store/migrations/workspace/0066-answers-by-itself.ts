import type { Migration } from '../../database.ts';

// Which sites' chats the assistant answers by itself and how often, which conversations it is answering, and its
// requests, which no agent asks for. Chats that it answers do not wait for an agent.
export const answersByItself: Migration = {
  version: 66,
  name: 'answers-by-itself',
  sql: `
ALTER TABLE site ADD COLUMN assistantTurns INTEGER NOT NULL DEFAULT 0 CHECK (assistantTurns BETWEEN 0 AND 20);

ALTER TABLE conversation ADD COLUMN assistant TEXT CHECK (assistant IN ('answering', 'handed_over'));
DROP INDEX conversationWaitingInDepartment;
CREATE INDEX conversationWaitingInDepartment ON conversation (channel, departmentId, createdAt, id, notToAgentIds) WHERE status = 'open' AND assignedAgentId IS NULL AND handshake IS NULL AND assistant IS NOT 'answering';

CREATE TABLE newAiRequest (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('draft', 'summary', 'rewrite', 'test', 'answer')),
  conversationId TEXT,
  agentId TEXT,
  model TEXT NOT NULL,
  prompt TEXT NOT NULL,
  sources TEXT NOT NULL,
  answer TEXT,
  problem TEXT,
  tokensIn INTEGER NOT NULL,
  tokensOut INTEGER NOT NULL,
  createdAt TEXT NOT NULL
) STRICT;
INSERT INTO newAiRequest SELECT * FROM aiRequest;
DROP TABLE aiRequest;
ALTER TABLE newAiRequest RENAME TO aiRequest;
CREATE INDEX aiRequestByTime ON aiRequest (createdAt, id);
CREATE INDEX aiRequestOfConversation ON aiRequest (conversationId, createdAt, id) WHERE conversationId IS NOT NULL;
`,
};
