import type { Migration } from '../../database.ts';

// Who was deactivated stayed in its departments, and could be given a role and rights afterwards.
export const departmentsLeft: Migration = {
  version: 35,
  name: 'departments-left',
  sql: `
DELETE FROM departmentMember WHERE agentId IN (SELECT id FROM agent WHERE deactivatedAt IS NOT NULL);
UPDATE agent SET role = 'agent', canTransfer = 0 WHERE deactivatedAt IS NOT NULL;
`,
};
