// Vector search over chunks, on a read-only connection. The index is a table of sign bits in the connection's own
// memory, built from the chunks in the file and updated whenever the base's revision has changed. A search takes the
// nearest by their bits and ranks those by the full vectors; bench/retrieval.ts measures its cost and its misses.

import type { Database } from '../database.ts';

export interface KbMatch {
  readonly chunkId: string;
  readonly documentId: string;
  readonly chunkIndex: number;
  readonly sourceUrl: string | null;
  readonly title: string;
  readonly text: string;
  /** Cosine similarity, -1 to 1. */
  readonly score: number;
}

/**
 * Minimum number of candidates ranked by the full vector. With 128 of 100,000, 98 of the best hundred are among them.
 */
const minCandidates = 128;
/** Candidates per result, for longer answers. */
const candidatesPerResult = 4;

const served = `SELECT c.rowid FROM kbDocument AS d JOIN kbChunk AS c ON c.documentId = d.id AND c.model = @model WHERE d.state = 'served'`;

/** Prepares a connection, once. `dimensions` is the length of the model's vectors, a multiple of 8. */
export function openKbIndex(db: Database, dimensions: number): void {
  db.loadVectors();
  db.run(`CREATE VIRTUAL TABLE temp.kbBits USING vec0(bits bit[${dimensions}])`);
  db.run('CREATE TABLE temp.kbIndexed (rowid INTEGER PRIMARY KEY)');
}

/** Makes the index contain exactly what is served. */
export function refreshKbIndex(db: Database, model: string): void {
  db.run(`DELETE FROM temp.kbBits WHERE rowid IN (SELECT rowid FROM temp.kbIndexed EXCEPT ${served})`, { model });
  db.run(
    `INSERT INTO temp.kbBits (rowid, bits)
     SELECT rowid, vec_quantize_binary(vec_int8(vector)) FROM main.kbChunk WHERE rowid IN (${served} EXCEPT SELECT rowid FROM temp.kbIndexed)`,
    { model },
  );
  db.run('DELETE FROM temp.kbIndexed');
  db.run(`INSERT INTO temp.kbIndexed ${served}`, { model });
}

/** Best first, ties by chunkId. A question without words has no direction and no results. */
export function nearestChunks(db: Database, query: { vector: Uint8Array; topK: number }): KbMatch[] {
  const { vector, topK } = query;
  if (vector.every((byte) => byte === 0)) return [];
  return db.all<KbMatch>(
    `SELECT c.id AS chunkId, c.documentId, c.chunkIndex, d.sourceUrl, d.title, c.text, 1 - vec_distance_cosine(vec_int8(c.vector), vec_int8(@vector)) AS score
     FROM kbChunk AS c JOIN kbDocument AS d ON d.id = c.documentId
     WHERE c.rowid IN (SELECT rowid FROM temp.kbBits WHERE bits MATCH vec_quantize_binary(vec_int8(@vector)) AND k = @candidates)
     ORDER BY score DESC, chunkId LIMIT @topK`,
    { vector, topK, candidates: Math.max(minCandidates, topK * candidatesPerResult) },
  );
}
