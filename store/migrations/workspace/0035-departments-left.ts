import type { Migration } from '../../database.ts';

// Deactivated agents stayed in their departments, and could be given a role and rights afterwards.
export const departmentsLeft: Migration = {
  version: 35,
  name: 'departments-left',
  sql: `
DELETE FROM departmentMember WHERE agentId IN (SELECT id FROM agent WHERE deactivatedAt IS NOT NULL);
UPDATE agent SET role = 'agent', canTransfer = 0 WHERE deactivatedAt IS NOT NULL;
`,
};
