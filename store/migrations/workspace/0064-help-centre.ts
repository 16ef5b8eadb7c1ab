import type { Migration } from '../../database.ts';

// Where an article stands in the public help centre, what its readers say of it, and what they searched for in vain.
export const helpCentre: Migration = {
  version: 64,
  name: 'help-centre',
  sql: `
ALTER TABLE kbArticle ADD COLUMN slug TEXT NOT NULL DEFAULT '';
ALTER TABLE kbArticle ADD COLUMN language TEXT;
ALTER TABLE kbArticle ADD COLUMN collection TEXT;
ALTER TABLE kbArticle ADD COLUMN helpfulCount INTEGER NOT NULL DEFAULT 0;
ALTER TABLE kbArticle ADD COLUMN unhelpfulCount INTEGER NOT NULL DEFAULT 0;
UPDATE kbArticle SET slug = id;
CREATE UNIQUE INDEX kbArticleBySlug ON kbArticle (slug, coalesce(language, ''));
CREATE TABLE kbFruitlessSearch (
  words TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  lastAt TEXT NOT NULL
) WITHOUT ROWID;
`,
};
