import type { Migration } from '../../database.ts';

// The workspace whose help centre each host shows: one host has one, and a workspace has one host at most.
export const helpHosts: Migration = {
  version: 10,
  name: 'help-hosts',
  sql: `
CREATE TABLE helpHost (
  host TEXT PRIMARY KEY COLLATE NOCASE,
  workspaceId TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
`,
};
