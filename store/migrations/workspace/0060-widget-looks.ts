import type { Migration } from '../../database.ts';

export const widgetLooks: Migration = {
  version: 60,
  name: 'widget-looks',
  sql: `
ALTER TABLE site ADD COLUMN logoUrl TEXT;
ALTER TABLE site ADD COLUMN launcherSidePx INTEGER NOT NULL DEFAULT 20;
ALTER TABLE site ADD COLUMN launcherBottomPx INTEGER NOT NULL DEFAULT 20;
ALTER TABLE site ADD COLUMN hiddenOnPhones INTEGER NOT NULL DEFAULT 0 CHECK (hiddenOnPhones IN (0, 1));
`,
};
