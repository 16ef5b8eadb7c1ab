import type { Migration } from '../../database.ts';

// The newest event from before an agent joined: late deliveries to it begin after that, whatever the clock said. For
// agents who joined before all kept events, any lower number will do.
export const joinedSeq: Migration = {
  version: 44,
  name: 'joined-seq',
  sql: `
ALTER TABLE agent ADD COLUMN joinedSeq INTEGER NOT NULL DEFAULT 0;
UPDATE agent SET joinedSeq = coalesce((SELECT seq FROM event WHERE at < agent.joinedAt ORDER BY seq DESC LIMIT 1), 0)
  WHERE joinedAt > (SELECT at FROM event ORDER BY seq LIMIT 1);
`,
};
