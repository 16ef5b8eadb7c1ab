import type { Migration } from '../../database.ts';

// A document's text never changes: a new document is prepared beside it and replaces it in one transaction. The vectors
// here are authoritative; readers build the search index from them in memory.
export const knowledge: Migration = {
  version: 8,
  name: 'knowledge',
  sql: `
-- One row: which model's chunks are searched, and a number that grows whenever what is searched has changed.
CREATE TABLE kbBase (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  model TEXT NOT NULL,
  revision INTEGER NOT NULL
) STRICT;

CREATE TABLE kbJob (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed')),
  url TEXT NOT NULL,
  maxPages INTEGER NOT NULL,
  maxDepth INTEGER NOT NULL,
  stats TEXT,
  error TEXT,
  createdByAgentId TEXT NOT NULL REFERENCES agent (id),
  startedAt TEXT,
  finishedAt TEXT,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX kbJobByCreated ON kbJob (createdAt, id);
CREATE INDEX kbJobUnfinished ON kbJob (status) WHERE status IN ('queued', 'running');

CREATE TABLE kbArticle (
  id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('draft', 'published')),
  sourceDocumentId TEXT,
  createdAt TEXT NOT NULL,
  updatedAt TEXT NOT NULL
) STRICT;
CREATE INDEX kbArticleByCreated ON kbArticle (createdAt, id);

-- staged: being made ready. served: retrieved. shadowed: adopted into an article that is published in its stead. removed: waits to be swept.
CREATE TABLE kbDocument (
  id TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('staged', 'served', 'shadowed', 'removed')),
  sourceType TEXT NOT NULL CHECK (sourceType IN ('url', 'article')),
  sourceUrl TEXT,
  -- The address that was asked for, of whose crawl it came.
  rootUrl TEXT,
  jobId TEXT REFERENCES kbJob (id),
  articleId TEXT,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  byteSize INTEGER NOT NULL,
  ingestedAt TEXT NOT NULL
) STRICT;
CREATE INDEX kbDocumentByState ON kbDocument (state, ingestedAt, id);
CREATE INDEX kbDocumentByRoot ON kbDocument (rootUrl) WHERE rootUrl IS NOT NULL;
CREATE INDEX kbDocumentBySource ON kbDocument (sourceUrl) WHERE sourceUrl IS NOT NULL;
CREATE INDEX kbDocumentByJob ON kbDocument (jobId) WHERE jobId IS NOT NULL;
CREATE INDEX kbDocumentByArticle ON kbDocument (articleId) WHERE articleId IS NOT NULL;

-- A document that is wholly embedded by a model.
CREATE TABLE kbEmbedding (
  documentId TEXT NOT NULL REFERENCES kbDocument (id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  chunkCount INTEGER NOT NULL,
  PRIMARY KEY (documentId, model)
) STRICT, WITHOUT ROWID;

-- vector: signed bytes, one per dimension; only its direction counts.
CREATE TABLE kbChunk (
  rowid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  documentId TEXT NOT NULL REFERENCES kbDocument (id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  chunkIndex INTEGER NOT NULL,
  text TEXT NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (documentId, model, chunkIndex)
) STRICT;
`,
};
