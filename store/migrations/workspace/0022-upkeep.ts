import type { Migration } from '../../database.ts';

// Workspaces of the first version have no daily maintenance and so never deleted anything.
export const upkeep: Migration = {
  version: 22,
  name: 'upkeep',
  sql: `
INSERT OR IGNORE INTO deadline (kind, subjectId, dueAt) SELECT 'workspace.maintain', id, createdAt FROM workspace;
`,
};
