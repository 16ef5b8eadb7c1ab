import type { Migration } from '../../database.ts';

// The newest event from before an agent joined: what it is told late begins after it, whatever the clock said. Of those
// who joined before all events that are kept, any number below those will do.
export const joinedSeq: Migration = {
  version: 44,
  name: 'joined-seq',
  sql: `
ALTER TABLE agent ADD COLUMN joinedSeq INTEGER NOT NULL DEFAULT 0;
UPDATE agent SET joinedSeq = coalesce((SELECT seq FROM event WHERE at < agent.joinedAt ORDER BY seq DESC LIMIT 1), 0)
  WHERE joinedAt > (SELECT at FROM event ORDER BY seq LIMIT 1);
`,
};
