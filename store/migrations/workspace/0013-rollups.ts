import type { Migration } from '../../database.ts';

// Rollups for reports. A conversation counts in its current state, at its start time, in up to four cells: its
// department or all ('*'; '' is no department) by its agent or all. rollupQuarter holds series by quarter-hours, which
// fit the days of any time zone; rollupPeriod holds totals and response times by UTC day and month. They are written in
// the transaction of the change itself (store/reports/rollups.ts) and can be rebuilt from the conversations.
export const rollups: Migration = {
  version: 13,
  name: 'rollups',
  sql: `
CREATE TABLE rollupQuarter (
  departmentId TEXT NOT NULL,
  agentId TEXT NOT NULL,
  channel TEXT NOT NULL,
  -- Quarters of an hour since 1970.
  quarter INTEGER NOT NULL,
  conversations INTEGER NOT NULL,
  rated INTEGER NOT NULL,
  ratingSum INTEGER NOT NULL,
  PRIMARY KEY (departmentId, agentId, channel, quarter)
) STRICT, WITHOUT ROWID;

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
  -- store/reports/histogram.ts
  firstResponses BLOB NOT NULL DEFAULT x'',
  resolutions BLOB NOT NULL DEFAULT x'',
  PRIMARY KEY (departmentId, agentId, channel, grain, period)
) STRICT, WITHOUT ROWID;

-- The ends of a range, and lists of its conversations, are read from this index alone.
CREATE INDEX conversationInReports ON conversation (createdAt, id, channel, status, departmentId, assignedAgentId, rating, firstResponseAt, solvedAt);

-- What was there before is counted by the deadline that runs engine/rollups.ts.
INSERT INTO deadline (kind, subjectId, dueAt) SELECT 'reports.rebuild', workspace.id, workspace.createdAt FROM workspace WHERE EXISTS (SELECT 1 FROM conversation);
`,
};
