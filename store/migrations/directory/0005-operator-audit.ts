import type { Migration } from '../../database.ts';

// Operators' command-line actions, which no workspace's own log can hold: the workspace may be gone.
export const operatorAudit: Migration = {
  version: 5,
  name: 'operator audit',
  sql: `
CREATE TABLE operatorAudit (
  id TEXT PRIMARY KEY,
  action TEXT NOT NULL,
  targetKind TEXT NOT NULL,
  targetId TEXT NOT NULL,
  context TEXT,
  createdAt TEXT NOT NULL
) STRICT;
`,
};
