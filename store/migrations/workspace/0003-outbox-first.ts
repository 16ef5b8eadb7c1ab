import type { Migration } from '../../database.ts';

// Marks the outbox rows that may be tried: the first of each target. A column, so that a target that is down costs
// nothing however much is queued behind it.
export const outboxFirst: Migration = {
  version: 3,
  name: 'outbox-first',
  sql: `
ALTER TABLE outbox ADD COLUMN isFirst INTEGER NOT NULL DEFAULT 0 CHECK (isFirst IN (0, 1));
UPDATE outbox SET isFirst = 1
  WHERE state = 'queued' AND NOT EXISTS (SELECT 1 FROM outbox AS earlier WHERE earlier.target = outbox.target AND earlier.state = 'queued' AND earlier.rowid < outbox.rowid);
DROP INDEX outboxDue;
DROP INDEX outboxByTarget;
CREATE INDEX outboxDue ON outbox (nextAt) WHERE isFirst = 1;
CREATE UNIQUE INDEX outboxFirst ON outbox (target) WHERE isFirst = 1;
-- In the order of their rowids, which is the order of asking, whatever the clock did between.
CREATE INDEX outboxByTarget ON outbox (target) WHERE state = 'queued';
CREATE INDEX outboxWaiting ON outbox (createdAt) WHERE state = 'queued';
`,
};
