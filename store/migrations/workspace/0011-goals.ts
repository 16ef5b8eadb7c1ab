import type { Migration } from '../../database.ts';

// A deleted goal keeps its row, because its completions stay in past reports. A completion stores its attribution at
// that moment: the visitor's conversation, and its department and agent.
export const goals: Migration = {
  version: 11,
  name: 'goals',
  sql: `
CREATE TABLE goal (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  condition TEXT NOT NULL,
  valueCents INTEGER,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
  createdAt TEXT NOT NULL,
  deletedAt TEXT
) STRICT;
CREATE INDEX goalByCreated ON goal (createdAt, id);

CREATE TABLE goalCompletion (
  id TEXT PRIMARY KEY,
  goalId TEXT NOT NULL REFERENCES goal (id),
  url TEXT NOT NULL,
  valueCents INTEGER,
  visitorId TEXT NOT NULL REFERENCES visitor (id),
  conversationId TEXT REFERENCES conversation (id),
  departmentId TEXT,
  attributedAgentId TEXT REFERENCES agent (id),
  completedAt TEXT NOT NULL
) STRICT;
-- Totals of a goal's range are read from the index alone.
CREATE INDEX goalCompletionByGoal ON goalCompletion (goalId, completedAt, id, valueCents, departmentId, attributedAgentId);
CREATE INDEX goalCompletionByVisitor ON goalCompletion (visitorId, goalId, completedAt);
-- Reports of a range are read from the index alone.
CREATE INDEX goalCompletionByTime ON goalCompletion (completedAt, goalId, departmentId, attributedAgentId, valueCents);
`,
};
