import type { Migration } from '../../database.ts';

// Events no longer repeat their message and their conversation (engine/event-forms.ts). A deadline shortens those that
// are kept, in steps, newest first, through engine/workspace/short-events.ts. Its subject is the number of the oldest
// event done.
export const shortEvents: Migration = {
  version: 74,
  name: 'short-events',
  sql: `
INSERT INTO deadline (kind, subjectId, dueAt) SELECT 'events.shorten', (SELECT max(seq) + 1 FROM event), createdAt FROM workspace WHERE EXISTS (SELECT 1 FROM event);
`,
};
