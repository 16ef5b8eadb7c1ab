import type { Migration } from '../database.ts';

/**
 * The schema of a workspace's search index, which holds only what never changes: words of messages, of visitors under
 * the number of their latest change, of subjects under the ticket's number. There are no migrations: an index of
 * another version, of its schema or of text folding (store/folding.ts), is deleted and rebuilt.
 */
export const searchSchema: Migration = {
  version: 2,
  name: 'search-index',
  sql: `
-- Runs of documents of a field, written once. By the id of the last one a file is known that is not this one's source. Of a
-- segment of messages, the number of each message's conversation, four bytes each.
CREATE TABLE segment (
  field INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  firstDoc INTEGER NOT NULL,
  lastDoc INTEGER NOT NULL,
  lastId TEXT NOT NULL,
  owners BLOB,
  PRIMARY KEY (field, segment)
) STRICT;

-- In which documents of a segment a word stands, as workers/search/postings.ts packs them.
CREATE TABLE posting (
  field INTEGER NOT NULL,
  word TEXT NOT NULL,
  segment INTEGER NOT NULL,
  docs BLOB NOT NULL,
  PRIMARY KEY (field, word, segment)
) STRICT, WITHOUT ROWID;

-- Every word that may be misspelt, under the hash of itself and of itself less each of its letters.
CREATE TABLE spelling (
  hash INTEGER NOT NULL,
  word TEXT NOT NULL,
  PRIMARY KEY (hash, word)
) STRICT, WITHOUT ROWID;

-- Conversations by a small number.
CREATE TABLE conversation (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE
) STRICT;
`,
};
