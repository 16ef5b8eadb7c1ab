import type { Migration } from '../../database.ts';

// The workspace of each verified domain: it receives mail for every address there, so the domain must be unique.
export const emailDomains: Migration = {
  version: 3,
  name: 'email domains',
  sql: `
CREATE TABLE emailDomain (
  name TEXT PRIMARY KEY COLLATE NOCASE,
  workspaceId TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX emailDomainByWorkspace ON emailDomain (workspaceId);
`,
};
