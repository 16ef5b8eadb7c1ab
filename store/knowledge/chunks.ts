// Chunks of documents with their vectors, and the base with the model in use.

import type { Database } from '../database.ts';
import { toJson } from '../json.ts';

export interface KbChunkRecord {
  readonly id: string;
  readonly documentId: string;
  readonly model: string;
  readonly chunkIndex: number;
  /** Markdown. */
  readonly text: string;
  /** The path of headings above it. */
  readonly headings: readonly string[];
  /** Of the nearest heading that has one. */
  readonly anchor: string | null;
  /** Signed bytes. */
  readonly vector: Uint8Array;
  /** Stemmed and separated by spaces. */
  readonly terms: { readonly title: string; readonly headings: string; readonly body: string };
}

export interface KbBaseRecord {
  /** The model whose chunks are searched. */
  readonly model: string;
  /** Increases with every change of the searchable content. */
  readonly revision: number;
}

export function findKbBase(db: Database): KbBaseRecord | undefined {
  return db.get<KbBaseRecord>('SELECT model, revision FROM kbBase');
}

export function putKbBase(db: Database, base: KbBaseRecord): void {
  db.run(
    'INSERT INTO kbBase (id, model, revision) VALUES (1, @model, @revision) ON CONFLICT (id) DO UPDATE SET model = @model, revision = @revision',
    { ...base },
  );
}

export function insertKbChunk(db: Database, { terms, headings, ...chunk }: KbChunkRecord): void {
  const inserted = db.get<{ rowid: number }>(
    `INSERT INTO kbChunk (id, documentId, model, chunkIndex, text, headings, anchor, vector)
     VALUES (@id, @documentId, @model, @chunkIndex, @text, @headings, @anchor, @vector) RETURNING rowid`,
    { ...chunk, headings: toJson(headings) },
  );
  db.run('INSERT INTO kbTerms (rowid, title, headings, body) VALUES (@rowid, @title, @headings, @body)', {
    ...terms,
    rowid: inserted?.rowid ?? null,
  });
}

/** Chunks left by an earlier attempt. */
export function deleteChunksOf(db: Database, documentId: string, model: string): void {
  db.run('DELETE FROM kbChunk WHERE documentId = ? AND model = ?', [documentId, model]);
}

/** Chunks of removed documents. Returns the number of rows. */
export function deleteChunksOfRemoved(db: Database, limit: number): number {
  return db.run(
    `DELETE FROM kbChunk WHERE rowid IN (SELECT c.rowid FROM kbDocument AS d JOIN kbChunk AS c ON c.documentId = d.id WHERE d.state = 'removed' LIMIT ?)`,
    [limit],
  );
}

/** Embeddings and chunks by models that are not kept. Returns the number of chunks. */
export function deleteChunksOfOtherModels(db: Database, kept: readonly string[], limit: number): number {
  const models = JSON.stringify(kept);
  db.run('DELETE FROM kbEmbedding WHERE model NOT IN (SELECT value FROM json_each(?))', [models]);
  return db.run(
    'DELETE FROM kbChunk WHERE rowid IN (SELECT rowid FROM kbChunk WHERE model NOT IN (SELECT value FROM json_each(?)) LIMIT ?)',
    [models, limit],
  );
}
