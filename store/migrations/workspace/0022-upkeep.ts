import type { Migration } from '../../database.ts';

// A workspace of the first version was made before there was a daily upkeep, and nothing since had given it one: it
// forgot nothing.
export const upkeep: Migration = {
  version: 22,
  name: 'upkeep',
  sql: `
INSERT OR IGNORE INTO deadline (kind, subjectId, dueAt) SELECT 'workspace.maintain', id, createdAt FROM workspace;
`,
};
