import type { Migration } from '../../database.ts';

// Presence: whether an agent or the service set the status, whether the agent has a socket, and when its last one
// closed. Existing statuses count as set by the agent.
export const presence: Migration = {
  version: 34,
  name: 'presence',
  sql: `
ALTER TABLE agent ADD COLUMN statusSource TEXT NOT NULL DEFAULT 'chosen' CHECK (statusSource IN ('chosen', 'automatic'));
ALTER TABLE agent ADD COLUMN isOnline INTEGER NOT NULL DEFAULT 0 CHECK (isOnline IN (0, 1));
ALTER TABLE agent ADD COLUMN goneAt TEXT;
`,
};
