import type { Migration } from '../../database.ts';

// The address of somebody who was invited and did not join, or was deactivated, is nobody's but its owner's. Until now
// it stood here like those of agents who sign in: the next start settles each by what its workspace says.
export const signIns: Migration = {
  version: 6,
  name: 'sign-ins',
  sql: `UPDATE agentEmail SET reservedAt = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE reservedAt IS NULL;`,
};
