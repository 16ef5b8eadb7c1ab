// Articles, written by hand or adopted.

import type { Database } from '../database.ts';

export interface KbArticleRecord {
  readonly id: string;
  readonly version: number;
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  readonly status: 'draft' | 'published';
  readonly sourceDocumentId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export function insertKbArticle(db: Database, article: KbArticleRecord): void {
  db.run(
    `INSERT INTO kbArticle (id, version, title, body, status, sourceDocumentId, createdAt, updatedAt)
     VALUES (@id, @version, @title, @body, @status, @sourceDocumentId, @createdAt, @updatedAt)`,
    { ...article },
  );
}

export function updateKbArticle(db: Database, article: KbArticleRecord): void {
  db.run(
    'UPDATE kbArticle SET version = @version, title = @title, body = @body, status = @status, sourceDocumentId = @sourceDocumentId, updatedAt = @updatedAt WHERE id = @id',
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

export function countKbArticles(db: Database): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM kbArticle')?.count ?? 0;
}
