import type { Migration } from '../../database.ts';

// Who is there: whether an agent chose its status or the service did, whether it has a socket, and when its last one
// ended. What was set before was chosen.
export const presence: Migration = {
  version: 34,
  name: 'presence',
  sql: `
ALTER TABLE agent ADD COLUMN statusSource TEXT NOT NULL DEFAULT 'chosen' CHECK (statusSource IN ('chosen', 'automatic'));
ALTER TABLE agent ADD COLUMN isOnline INTEGER NOT NULL DEFAULT 0 CHECK (isOnline IN (0, 1));
ALTER TABLE agent ADD COLUMN goneAt TEXT;
`,
};
