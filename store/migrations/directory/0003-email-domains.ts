import type { Migration } from '../../database.ts';

// Which workspace a verified domain belongs to: it takes mail for every address there, so no second one may have it.
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
