import type { Migration } from '../../database.ts';

// When a preview ended was not recorded. Only its end wrote how much it read.
export const endedPreviews: Migration = {
  version: 73,
  name: 'ended previews',
  sql: `
UPDATE importJob SET finishedAt = updatedAt
WHERE isPreview = 1 AND status = 'stopped' AND finishedAt IS NULL AND stats ->> '$.read' > 0;
`,
};
