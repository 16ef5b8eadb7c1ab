// Documents of the knowledge base and their embeddings: crawled pages and published articles. A text never changes; a
// new document replaces it.

import type { Database } from '../database.ts';
import { toJson } from '../json.ts';

export type KbDocumentState = 'staged' | 'served' | 'shadowed' | 'removed';

export interface KbDocumentRecord {
  readonly id: string;
  readonly state: KbDocumentState;
  readonly sourceType: 'url' | 'article';
  readonly sourceUrl: string | null;
  readonly rootUrl: string | null;
  readonly jobId: string | null;
  readonly articleId: string | null;
  readonly title: string;
  /** Markdown. */
  readonly text: string;
  readonly byteSize: number;
  /** ISO 639-1; null if it is not known. */
  readonly language: string | null;
  /** Of an uploaded file, whose sourceType is `url` without an address. */
  readonly fileName: string | null;
  readonly ingestedAt: string;
}

/** For lists: without its text, with its embedding by the model in use, if complete. */
export type KbDocumentRow = Pick<
  KbDocumentRecord,
  'id' | 'sourceType' | 'sourceUrl' | 'title' | 'byteSize' | 'language' | 'fileName' | 'articleId' | 'ingestedAt'
> & { readonly chunkCount: number | null; readonly embeddingModel: string | null };

export function insertKbDocument(db: Database, document: KbDocumentRecord): void {
  db.run(
    `INSERT INTO kbDocument (id, state, sourceType, sourceUrl, rootUrl, jobId, articleId, title, text, byteSize, language, fileName, ingestedAt)
     VALUES (@id, @state, @sourceType, @sourceUrl, @rootUrl, @jobId, @articleId, @title, @text, @byteSize, @language, @fileName, @ingestedAt)`,
    { ...document },
  );
}

export function findKbDocument(db: Database, documentId: string): KbDocumentRecord | undefined {
  return db.get<KbDocumentRecord>('SELECT * FROM kbDocument WHERE id = ?', [documentId]);
}

/** Visible documents, served and shadowed, newest first. */
export function listedKbDocuments(db: Database): KbDocumentRow[] {
  return db.all<KbDocumentRow>(
    `SELECT d.id, d.sourceType, d.sourceUrl, d.title, d.byteSize, d.language, d.fileName, d.articleId, d.ingestedAt, e.chunkCount, e.model AS embeddingModel
     FROM kbDocument AS d LEFT JOIN kbEmbedding AS e ON e.documentId = d.id AND e.model = (SELECT model FROM kbBase)
     WHERE d.state IN ('served', 'shadowed') ORDER BY d.ingestedAt DESC, d.id DESC`,
  );
}

export function countListedKbDocuments(db: Database): number {
  return (
    db.get<{ count: number }>(`SELECT count(*) AS count FROM kbDocument WHERE state IN ('served', 'shadowed')`)
      ?.count ?? 0
  );
}

export function setKbDocumentState(db: Database, documentId: string, state: KbDocumentState): void {
  db.run('UPDATE kbDocument SET state = ? WHERE id = ?', [state, documentId]);
}

export function setKbDocumentArticle(db: Database, documentId: string, articleId: string | null): void {
  db.run('UPDATE kbDocument SET articleId = ? WHERE id = ?', [articleId, documentId]);
}

/** A crawl's staged pages. */
export function stagedOfJob(db: Database, jobId: string): Pick<KbDocumentRecord, 'id' | 'sourceUrl'>[] {
  return db.all(`SELECT id, sourceUrl FROM kbDocument WHERE jobId = ? AND state = 'staged' ORDER BY id`, [jobId]);
}

/** One of them that `model` has not fully embedded. */
export function withoutEmbeddingOfJob(db: Database, jobId: string, model: string): string | undefined {
  return db.get<{ id: string }>(
    `SELECT d.id FROM kbDocument AS d WHERE d.jobId = ? AND d.state = 'staged' AND NOT EXISTS (SELECT 1 FROM kbEmbedding AS e WHERE e.documentId = d.id AND e.model = ?) LIMIT 1`,
    [jobId, model],
  )?.id;
}

/** The start addresses of the current pages' crawls, as given then. */
export function servedRootUrls(db: Database): string[] {
  return db
    .all<{ rootUrl: string }>(
      `SELECT DISTINCT rootUrl FROM kbDocument WHERE state IN ('served', 'shadowed') AND rootUrl IS NOT NULL`,
    )
    .map(({ rootUrl }) => rootUrl);
}

/**
 * Pages, served or shadowed, that a crawl replaces when it is done: those of earlier crawls of `rootUrls`, and any with
 * the address of one of its own.
 */
export function replacedByJob(
  db: Database,
  job: { jobId: string; rootUrls: readonly string[] },
): Pick<KbDocumentRecord, 'id' | 'sourceUrl' | 'articleId'>[] {
  return db.all(
    `SELECT id, sourceUrl, articleId FROM kbDocument AS d WHERE d.state IN ('served', 'shadowed') AND d.sourceType = 'url'
       AND (d.rootUrl IN (SELECT value FROM json_each(@rootUrls)) OR EXISTS (SELECT 1 FROM kbDocument AS n WHERE n.sourceUrl = d.sourceUrl AND n.jobId = @jobId AND n.state = 'staged'))`,
    { jobId: job.jobId, rootUrls: toJson(job.rootUrls) },
  );
}

/** The documents with an article's text, in these states. */
export function documentsOfArticle(
  db: Database,
  articleId: string,
  states: readonly KbDocumentState[],
): Pick<KbDocumentRecord, 'id' | 'state'>[] {
  return db.all(
    `SELECT id, state FROM kbDocument WHERE articleId = ? AND sourceType = 'article' AND state IN (SELECT value FROM json_each(?)) ORDER BY id`,
    [articleId, JSON.stringify(states)],
  );
}

/** The page that was adopted into the article, if it still exists. */
export function adoptedInto(db: Database, articleId: string): Pick<KbDocumentRecord, 'id' | 'state'> | undefined {
  return db.get(
    `SELECT id, state FROM kbDocument WHERE articleId = ? AND sourceType = 'url' AND state IN ('served', 'shadowed')`,
    [articleId],
  );
}

/**
 * The next document after `after` that is or will be served and that `model` has not fully embedded. A crawl embeds its
 * own staged pages.
 */
export function nextWithoutEmbedding(
  db: Database,
  options: { model: string; after: string },
): KbDocumentRecord | undefined {
  return db.get<KbDocumentRecord>(
    `SELECT * FROM kbDocument AS d WHERE d.id > @after AND (d.state IN ('served', 'shadowed') OR (d.state = 'staged' AND d.sourceType = 'article'))
       AND NOT EXISTS (SELECT 1 FROM kbEmbedding AS e WHERE e.documentId = d.id AND e.model = @model) ORDER BY d.id LIMIT 1`,
    options,
  );
}

/** The next article's document that is staged and embedded by `model`, and so ready to be served. */
export function nextReadyArticle(db: Database, model: string): Pick<KbDocumentRecord, 'id'> | undefined {
  return db.get(
    `SELECT d.id FROM kbDocument AS d JOIN kbEmbedding AS e ON e.documentId = d.id AND e.model = ? WHERE d.state = 'staged' AND d.sourceType = 'article' ORDER BY d.id LIMIT 1`,
    [model],
  );
}

export function insertKbEmbedding(
  db: Database,
  embedding: { documentId: string; model: string; chunkCount: number },
): void {
  db.run(
    'INSERT OR REPLACE INTO kbEmbedding (documentId, model, chunkCount) VALUES (@documentId, @model, @chunkCount)',
    embedding,
  );
}

/** Removed documents without chunks. Returns the number of rows. */
export function deleteEmptyRemoved(db: Database, limit: number): number {
  return db.run(
    `DELETE FROM kbDocument WHERE id IN (
       SELECT d.id FROM kbDocument AS d WHERE d.state = 'removed' AND NOT EXISTS (SELECT 1 FROM kbChunk AS c WHERE c.documentId = d.id) LIMIT ?)`,
    [limit],
  );
}

/** Of a document whose text was read again. */
export function setKbDocumentLanguage(db: Database, documentId: string, language: string | null): void {
  db.run('UPDATE kbDocument SET language = ? WHERE id = ?', [language, documentId]);
}

/** Of the documents that are or will be served: how many there are, and how many `model` has fully embedded. */
export function countEmbeddedBy(db: Database, model: string): { readonly total: number; readonly embedded: number } {
  const counts = db.get<{ total: number; embedded: number }>(
    `SELECT count(*) AS total, count(e.documentId) AS embedded FROM kbDocument AS d
     LEFT JOIN kbEmbedding AS e ON e.documentId = d.id AND e.model = ? WHERE d.state IN ('served', 'shadowed')`,
    [model],
  );
  return counts ?? { total: 0, embedded: 0 };
}
