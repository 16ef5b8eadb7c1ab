import type { Migration } from '../../database.ts';

// Documents know their language, chunks their place in the document, and words are searched beside vectors. Chunks from
// before are made again in the background, because their model has another name since.
export const hybridRetrieval: Migration = {
  version: 59,
  name: 'hybrid-retrieval',
  sql: `
-- ISO 639-1; null if it is not known.
ALTER TABLE kbDocument ADD COLUMN language TEXT;
-- Of an uploaded file, whose document has no address.
ALTER TABLE kbDocument ADD COLUMN fileName TEXT;

-- The path of headings above it, as a JSON list, and the anchor of the last one that has one.
ALTER TABLE kbChunk ADD COLUMN headings TEXT NOT NULL DEFAULT '[]';
ALTER TABLE kbChunk ADD COLUMN anchor TEXT;

-- A chunk's terms, stemmed and separated by spaces, under its rowid. workers/knowledge/terms.ts makes them.
CREATE VIRTUAL TABLE kbTerms USING fts5(
  title, headings, body, content = '', contentless_delete = 1, tokenize = 'ascii'
);
CREATE VIRTUAL TABLE kbTermCounts USING fts5vocab(kbTerms, row);
CREATE TRIGGER kbChunkTermsDeleted AFTER DELETE ON kbChunk BEGIN
  DELETE FROM kbTerms WHERE rowid = old.rowid;
END;

-- Of an uploaded file: its name and its key in the storage.
ALTER TABLE kbJob ADD COLUMN fileName TEXT;
ALTER TABLE kbJob ADD COLUMN objectKey TEXT;

-- What each step of an unfinished crawl learned, as JSON: enough to go on from there.
CREATE TABLE kbCrawlStep (
  jobId TEXT NOT NULL REFERENCES kbJob (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  trail TEXT NOT NULL,
  PRIMARY KEY (jobId, step)
) STRICT, WITHOUT ROWID;
`,
};
