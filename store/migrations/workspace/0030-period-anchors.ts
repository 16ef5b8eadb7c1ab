import type { Migration } from '../../database.ts';

// Periods were counted from the end of the one before: one that began on a 31st ended on a 30th and stayed there.
// Articles named pages that were deleted.
export const periodAnchors: Migration = {
  version: 30,
  name: 'period-anchors',
  sql: `
ALTER TABLE subscription ADD COLUMN periodAnchorAt TEXT;
UPDATE subscription SET periodAnchorAt = currentPeriodStart WHERE billingSource = 'local';
UPDATE kbArticle SET sourceDocumentId = NULL WHERE sourceDocumentId NOT IN (SELECT id FROM kbDocument WHERE state <> 'removed');
`,
};
