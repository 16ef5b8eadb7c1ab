// Search over chunks, on a read-only connection: by vector and by terms. The vectors' index is a table of sign bits in the
// connection's own memory, built from the chunks in the file and updated whenever the base's revision has changed; the
// terms' index is in the file. bench/retrieval.ts measures their cost and their misses.

import type { Database } from '../database.ts';
import { fromJson } from '../json.ts';

export interface KbChunkRow {
  readonly rowid: number;
  readonly chunkId: string;
  readonly documentId: string;
  readonly chunkIndex: number;
  readonly sourceUrl: string | null;
  readonly articleId: string | null;
  readonly title: string;
  readonly language: string | null;
  readonly text: string;
  readonly headings: readonly string[];
  readonly anchor: string | null;
  /** Cosine similarity to the question, -1 to 1. */
  readonly similarity: number;
}

/**
 * Minimum number of candidates ranked by the full vector. With 128 of 100,000, 98 of the best hundred are among them.
 */
const minCandidates = 128;
/** Candidates per result, for longer answers. */
const candidatesPerResult = 4;

/** Chunks that show how similar an ordinary one is to a question. */
const sampleSize = 400;

const served = `SELECT c.rowid FROM kbDocument AS d JOIN kbChunk AS c ON c.documentId = d.id AND c.model = @model WHERE d.state = 'served'`;

/** Prepares a connection, once. `dimensions` is the length of the model's vectors, a multiple of 8. */
export function openKbIndex(db: Database, dimensions: number): void {
  db.loadVectors();
  db.run(`CREATE VIRTUAL TABLE temp.kbBits USING vec0(bits bit[${dimensions}])`);
  db.run('CREATE TABLE temp.kbIndexed (rowid INTEGER PRIMARY KEY)');
  db.run('CREATE TABLE temp.kbSample (rowid INTEGER PRIMARY KEY)');
}

/** What a search needs to know about the whole index. */
export interface KbIndexFacts {
  readonly chunks: number;
  /** Of the documents that are served. */
  readonly languages: readonly (string | null)[];
}

/** Makes the index contain exactly what is served. */
export function refreshKbIndex(db: Database, model: string): KbIndexFacts {
  db.run(`DELETE FROM temp.kbBits WHERE rowid IN (SELECT rowid FROM temp.kbIndexed EXCEPT ${served})`, { model });
  db.run(
    `INSERT INTO temp.kbBits (rowid, bits)
     SELECT rowid, vec_quantize_binary(vec_int8(vector)) FROM main.kbChunk WHERE rowid IN (${served} EXCEPT SELECT rowid FROM temp.kbIndexed)`,
    { model },
  );
  db.run('DELETE FROM temp.kbIndexed');
  db.run(`INSERT INTO temp.kbIndexed ${served}`, { model });
  const chunks = db.get<{ count: number }>('SELECT count(*) AS count FROM temp.kbIndexed')?.count ?? 0;
  db.run('DELETE FROM temp.kbSample');
  db.run('INSERT INTO temp.kbSample SELECT rowid FROM temp.kbIndexed WHERE rowid % ? = 0', [
    Math.max(1, Math.floor(chunks / sampleSize)),
  ]);
  const languages = db
    .all<{ language: string | null }>(`SELECT DISTINCT language FROM kbDocument WHERE state = 'served'`)
    .map(({ language }) => language);
  return { chunks, languages };
}

/** Best first. A question without words has no direction and no results. */
export function nearestChunks(db: Database, query: { vector: Uint8Array; limit: number }): number[] {
  const { vector, limit } = query;
  if (vector.every((byte) => byte === 0)) return [];
  return db
    .all<{ rowid: number }>(
      `SELECT c.rowid FROM kbChunk AS c
       WHERE c.rowid IN (SELECT rowid FROM temp.kbBits WHERE bits MATCH vec_quantize_binary(vec_int8(@vector)) AND k = @candidates)
       ORDER BY vec_distance_cosine(vec_int8(c.vector), vec_int8(@vector)), c.id LIMIT @limit`,
      { vector, limit, candidates: Math.max(minCandidates, limit * candidatesPerResult) },
    )
    .map(({ rowid }) => rowid);
}

/** The same among published articles, of which there are few. */
export function nearestOfArticles(db: Database, query: { vector: Uint8Array; limit: number }): number[] {
  if (query.vector.every((byte) => byte === 0)) return [];
  return db
    .all<{ rowid: number }>(
      `SELECT c.rowid FROM kbDocument AS d JOIN kbChunk AS c ON c.documentId = d.id JOIN temp.kbIndexed AS i ON i.rowid = c.rowid
       WHERE d.sourceType = 'article' ORDER BY vec_distance_cosine(vec_int8(c.vector), vec_int8(@vector)), c.id LIMIT @limit`,
      query,
    )
    .map(({ rowid }) => rowid);
}

/** How much a term in the title or the headings counts, beside one in the text. */
export interface TermWeights {
  readonly title: number;
  readonly headings: number;
}

/** Best first by BM25, among those that are served. `match` is an FTS5 expression. */
export function chunksWithTerms(
  db: Database,
  query: { match: string; limit: number; articlesOnly: boolean; weights: TermWeights },
): { readonly rowid: number; readonly bm25: number }[] {
  const { match, limit, articlesOnly, weights } = query;
  const isArticle = `AND EXISTS (SELECT 1 FROM kbChunk AS c JOIN kbDocument AS d ON d.id = c.documentId WHERE c.rowid = t.rowid AND d.sourceType = 'article')`;
  return db.all(
    `SELECT t.rowid, -bm25(kbTerms, @title, @headings, 1.0) AS bm25 FROM kbTerms AS t JOIN temp.kbIndexed AS i ON i.rowid = t.rowid
     WHERE kbTerms MATCH @match ${articlesOnly ? isArticle : ''} ORDER BY bm25 DESC, t.rowid LIMIT @limit`,
    { match, limit, ...weights },
  );
}

/** In how many chunks each of these terms is; those in none are missing. */
export function countsOfTerms(db: Database, terms: readonly string[]): Map<string, number> {
  const rows = db.all<{ term: string; doc: number }>(
    'SELECT term, doc FROM kbTermCounts WHERE term IN (SELECT value FROM json_each(?))',
    [JSON.stringify(terms)],
  );
  return new Map(rows.map(({ term, doc }) => [term, doc]));
}

type Row = Omit<KbChunkRow, 'headings'> & { readonly headings: string };

/** In no particular order. Similarity is 0 to a question without words. */
export function chunksByRowid(db: Database, query: { rowids: readonly number[]; vector: Uint8Array }): KbChunkRow[] {
  return db
    .all<Row>(
      `SELECT c.rowid, c.id AS chunkId, c.documentId, c.chunkIndex, d.sourceUrl, d.title, d.language, c.text, c.headings, c.anchor,
         CASE d.sourceType WHEN 'article' THEN d.articleId END AS articleId,
         coalesce(1 - vec_distance_cosine(vec_int8(c.vector), vec_int8(@vector)), 0) AS similarity
       FROM kbChunk AS c JOIN kbDocument AS d ON d.id = c.documentId WHERE c.rowid IN (SELECT value FROM json_each(@rowids))`,
      { rowids: JSON.stringify(query.rowids), vector: query.vector },
    )
    .map((row) => ({ ...row, headings: fromJson(row.headings) }));
}

/** Similarities of a question to chunks spread over the whole base, to see what is ordinary. */
export function similaritiesOfSample(db: Database, vector: Uint8Array): number[] {
  return db
    .all<{ similarity: number | null }>(
      `SELECT 1 - vec_distance_cosine(vec_int8(vector), vec_int8(?)) AS similarity
       FROM kbChunk WHERE rowid IN (SELECT rowid FROM temp.kbSample)`,
      [vector],
    )
    .map(({ similarity }) => similarity ?? 0);
}

export interface KbNeighbour {
  readonly chunkId: string;
  readonly chunkIndex: number;
  readonly headings: readonly string[];
  readonly anchor: string | null;
  readonly text: string;
}

/** The chunks of the same document up to `distance` before and after one, in order, without itself. */
export function neighboursOf(
  db: Database,
  chunk: { documentId: string; model: string; chunkIndex: number; distance: number },
): KbNeighbour[] {
  return db
    .all<Omit<KbNeighbour, 'headings'> & { readonly headings: string }>(
      `SELECT id AS chunkId, chunkIndex, headings, anchor, text FROM kbChunk
       WHERE documentId = @documentId AND model = @model AND chunkIndex BETWEEN @chunkIndex - @distance AND @chunkIndex + @distance
         AND chunkIndex <> @chunkIndex ORDER BY chunkIndex`,
      chunk,
    )
    .map((row) => ({ ...row, headings: fromJson(row.headings) }));
}
