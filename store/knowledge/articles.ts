// Articles, written by hand or adopted.

import type { Database } from '../database.ts';

export interface KbArticleRecord {
  readonly id: string;
  readonly version: number;
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  readonly status: 'draft' | 'published';
  /** Its address in the help centre. The translations of an article share one. */
  readonly slug: string;
  /** Null for the workspace's. */
  readonly language: string | null;
  /** The articles that it stands among in the help centre. */
  readonly collection: string | null;
  readonly sourceDocumentId: string | null;
  /** Readers who said that it helped. */
  readonly helpfulCount: number;
  readonly unhelpfulCount: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export function insertKbArticle(db: Database, article: KbArticleRecord): void {
  db.run(
    `INSERT INTO kbArticle (id, version, title, body, status, slug, language, collection, sourceDocumentId, createdAt, updatedAt)
     VALUES (@id, @version, @title, @body, @status, @slug, @language, @collection, @sourceDocumentId, @createdAt, @updatedAt)`,
    { ...article },
  );
}

export function updateKbArticle(db: Database, article: KbArticleRecord): void {
  db.run(
    `UPDATE kbArticle SET version = @version, title = @title, body = @body, status = @status, slug = @slug, language = @language,
       collection = @collection, sourceDocumentId = @sourceDocumentId, updatedAt = @updatedAt WHERE id = @id`,
    { ...article },
  );
}

/** The page that an article was adopted from is gone. */
export function forgetSourceDocument(db: Database, documentId: string): void {
  db.run('UPDATE kbArticle SET sourceDocumentId = NULL WHERE sourceDocumentId = ?', [documentId]);
}

export function deleteKbArticle(db: Database, articleId: string): void {
  db.run('DELETE FROM kbArticle WHERE id = ?', [articleId]);
}

export function findKbArticle(db: Database, articleId: string): KbArticleRecord | undefined {
  return db.get<KbArticleRecord>('SELECT * FROM kbArticle WHERE id = ?', [articleId]);
}

/** Newest first. */
export function allKbArticles(db: Database): KbArticleRecord[] {
  return db.all<KbArticleRecord>('SELECT * FROM kbArticle ORDER BY createdAt DESC, id DESC');
}

/** The published translations of an article. */
export function publishedWithSlug(db: Database, slug: string): KbArticleRecord[] {
  return db.all<KbArticleRecord>(`SELECT * FROM kbArticle WHERE slug = ? AND status = 'published' ORDER BY language`, [
    slug,
  ]);
}

export type ListedArticle = Omit<KbArticleRecord, 'body'>;

/** Without their texts, by title. */
export function publishedKbArticles(db: Database): ListedArticle[] {
  return db.all<ListedArticle>(
    `SELECT id, version, title, status, slug, language, collection, sourceDocumentId, helpfulCount, unhelpfulCount, createdAt, updatedAt
     FROM kbArticle WHERE status = 'published' ORDER BY title, id`,
  );
}

export function hasPublishedKbArticle(db: Database): boolean {
  return db.get("SELECT 1 FROM kbArticle WHERE status = 'published' LIMIT 1") !== undefined;
}

/** Whether another article has the slug in this language. */
export function kbSlugTaken(
  db: Database,
  { slug, language, exceptId }: { slug: string; language: string | null; exceptId: string },
): boolean {
  const taken = `SELECT 1 FROM kbArticle WHERE slug = @slug AND coalesce(language, '') = coalesce(@language, '') AND id <> @exceptId`;
  return db.get(taken, { slug, language, exceptId }) !== undefined;
}

export function countKbVote(db: Database, articleId: string, helped: boolean): void {
  const column = helped ? 'helpfulCount' : 'unhelpfulCount';
  db.run(`UPDATE kbArticle SET ${column} = ${column} + 1 WHERE id = ?`, [articleId]);
}

export function countKbArticles(db: Database): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM kbArticle')?.count ?? 0;
}

/** Words that were searched in the help centre and found nothing. */
export interface FruitlessSearch {
  readonly words: string;
  readonly count: number;
  readonly lastAt: string;
}

/** Counts one. Of more than `atMost`, the one that was searched longest ago is forgotten. */
export function countFruitlessSearch(
  db: Database,
  { words, at, atMost }: { words: string; at: string; atMost: number },
): void {
  db.run(
    `INSERT INTO kbFruitlessSearch (words, count, lastAt) VALUES (@words, 1, @at)
     ON CONFLICT (words) DO UPDATE SET count = count + 1, lastAt = @at`,
    { words, at },
  );
  db.run(
    `DELETE FROM kbFruitlessSearch WHERE (SELECT count(*) FROM kbFruitlessSearch) > @atMost
       AND words = (SELECT words FROM kbFruitlessSearch ORDER BY lastAt, words LIMIT 1)`,
    { atMost },
  );
}

/** Most often searched first. */
export function fruitlessSearches(db: Database, limit: number): FruitlessSearch[] {
  return db.all<FruitlessSearch>('SELECT * FROM kbFruitlessSearch ORDER BY count DESC, lastAt DESC, words LIMIT ?', [
    limit,
  ]);
}

export function forgetFruitlessSearches(db: Database): void {
  db.run('DELETE FROM kbFruitlessSearch');
}
