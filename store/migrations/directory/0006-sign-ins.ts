import type { Migration } from '../../database.ts';

// The address of an agent who is only invited, or was deactivated, is no longer reserved. The next start settles
// existing rows by what their workspaces say.
export const signIns: Migration = {
  version: 6,
  name: 'sign-ins',
  sql: `UPDATE agentEmail SET reservedAt = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE reservedAt IS NULL;`,
};
