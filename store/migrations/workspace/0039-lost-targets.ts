import type { Migration } from '../../database.ts';

// A number whose department was deleted, or whose agent left or no longer takes calls, rang everyone but still named
// its target. It now stores what it lost, as JSON, until it is routed again; existing ones are corrected.
export const lostTargets: Migration = {
  version: 39,
  name: 'lost-targets',
  sql: `
ALTER TABLE phoneNumber ADD COLUMN lostTarget TEXT;
UPDATE phoneNumber SET routingStrategy = 'all_agents', routingTargetId = NULL,
  lostTarget = json_object('strategy', 'department', 'name', NULL, 'at', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
  WHERE status = 'active' AND routingStrategy = 'department' AND routingTargetId NOT IN (SELECT id FROM department);
UPDATE phoneNumber SET
  lostTarget = json_object('strategy', 'specific_agent', 'name', (SELECT name FROM agent WHERE agent.id = routingTargetId), 'at', strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  routingStrategy = 'all_agents', routingTargetId = NULL
  WHERE status = 'active' AND routingStrategy = 'specific_agent'
    AND routingTargetId NOT IN (SELECT id FROM agent WHERE joinedAt IS NOT NULL AND deactivatedAt IS NULL AND (role = 'admin' OR channels LIKE '%"calls"%'));
`,
};
