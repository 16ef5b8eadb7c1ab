import type { Migration } from '../../database.ts';

// A year of a report is read from one row per day instead of one per quarter-hour, and goals have rollups, too. A
// deadline rebuilds everything through engine/rollups.ts, a day at a time, newest first.
export const rollupsByDay: Migration = {
  version: 24,
  name: 'rollups-by-day',
  sql: `
DROP TABLE rollupQuarter;
DROP TABLE rollupPeriod;
CREATE TABLE rollupPeriod (
  departmentId TEXT NOT NULL,
  agentId TEXT NOT NULL,
  channel TEXT NOT NULL,
  grain TEXT NOT NULL CHECK (grain IN ('day', 'month')),
  -- Days or months since 1970.
  period INTEGER NOT NULL,
  conversations INTEGER NOT NULL,
  open INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  solved INTEGER NOT NULL,
  closed INTEGER NOT NULL,
  missed INTEGER NOT NULL,
  rated INTEGER NOT NULL,
  ratingSum INTEGER NOT NULL,
  -- Of a day, by quarters of an hour, so that series fold into the days of any time zone. store/reports/quarters.ts
  quarters TEXT NOT NULL,
  -- store/reports/histogram.ts
  firstResponses TEXT NOT NULL,
  resolutions TEXT NOT NULL,
  PRIMARY KEY (departmentId, agentId, channel, grain, period)
) STRICT, WITHOUT ROWID;

-- Completions by the department that they were attributed to, or all ('*'): a goal's by day and month, those of all goals ('*') by
-- day with its quarters.
CREATE TABLE rollupGoal (
  departmentId TEXT NOT NULL,
  goalId TEXT NOT NULL,
  grain TEXT NOT NULL CHECK (grain IN ('day', 'month')),
  period INTEGER NOT NULL,
  completions INTEGER NOT NULL,
  valueCents INTEGER NOT NULL,
  quarters TEXT NOT NULL,
  PRIMARY KEY (departmentId, goalId, grain, period)
) STRICT, WITHOUT ROWID;
-- Those of an agent are read themselves.
CREATE INDEX goalCompletionByAgent ON goalCompletion (attributedAgentId, completedAt, goalId, departmentId, valueCents) WHERE attributedAgentId IS NOT NULL;

-- Lists of what was given up and rated all the same, which no rollup counts.
CREATE INDEX conversationRatedUnanswered ON conversation (createdAt, id, channel, status, departmentId, assignedAgentId, rating, firstResponseAt) WHERE rating IS NOT NULL AND firstResponseAt IS NULL;

DELETE FROM deadline WHERE kind = 'reports.rebuild';
INSERT INTO deadline (kind, subjectId, dueAt) SELECT 'reports.rebuild', workspace.id, workspace.createdAt FROM workspace
  WHERE EXISTS (SELECT 1 FROM conversation) OR EXISTS (SELECT 1 FROM goalCompletion);
`,
};
