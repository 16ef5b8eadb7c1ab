// Crawl jobs of the knowledge base.

import type { Database } from '../database.ts';
import { fromJsonOrNull, toJsonOrNull } from '../json.ts';

export interface KbJobStats {
  readonly pagesFetched: number;
  readonly pagesSkipped: number;
  readonly documents: number;
  readonly chunks: number;
  readonly bytes: number;
  /** Absent in jobs from before it was counted. */
  readonly pagesLeft?: number;
  /** The first skipped pages; absent in older jobs. */
  readonly skipped?: readonly { readonly url: string; readonly reason: string }[];
}

export interface KbJobRecord {
  readonly id: string;
  readonly status: 'queued' | 'running' | 'done' | 'failed';
  readonly url: string;
  readonly maxPages: number;
  readonly maxDepth: number;
  readonly stats: KbJobStats | null;
  readonly error: string | null;
  readonly createdByAgentId: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly createdAt: string;
  /** Of an upload: the file's name, and its key in the storage. */
  readonly fileName: string | null;
  readonly objectKey: string | null;
}

type Row = Omit<KbJobRecord, 'stats'> & { stats: string | null };

const fromRow = (row: Row): KbJobRecord => ({ ...row, stats: fromJsonOrNull(row.stats) });

export function insertKbJob(db: Database, job: KbJobRecord): void {
  db.run(
    `INSERT INTO kbJob (id, status, url, maxPages, maxDepth, stats, error, createdByAgentId, startedAt, finishedAt, createdAt, fileName, objectKey)
     VALUES (@id, @status, @url, @maxPages, @maxDepth, @stats, @error, @createdByAgentId, @startedAt, @finishedAt, @createdAt, @fileName, @objectKey)`,
    { ...job, stats: toJsonOrNull(job.stats) },
  );
}

export function updateKbJob(db: Database, job: KbJobRecord): void {
  db.run(
    'UPDATE kbJob SET status = @status, stats = @stats, error = @error, startedAt = @startedAt, finishedAt = @finishedAt WHERE id = @id',
    { ...job, stats: toJsonOrNull(job.stats) },
  );
}

export function findKbJob(db: Database, jobId: string): KbJobRecord | undefined {
  const row = db.get<Row>('SELECT * FROM kbJob WHERE id = ?', [jobId]);
  return row && fromRow(row);
}

/** Newest first. */
export function recentKbJobs(db: Database, limit: number): KbJobRecord[] {
  return db.all<Row>('SELECT * FROM kbJob ORDER BY createdAt DESC, id DESC LIMIT ?', [limit]).map(fromRow);
}

/** Queued or running. */
export function countUnfinishedKbJobs(db: Database): number {
  return (
    db.get<{ count: number }>(`SELECT count(*) AS count FROM kbJob WHERE status IN ('queued', 'running')`)?.count ?? 0
  );
}

/** What a step of a crawl learned; `trail` is JSON. */
export function insertKbCrawlStep(db: Database, step: { jobId: string; step: number; trail: string }): void {
  db.run('INSERT INTO kbCrawlStep (jobId, step, trail) VALUES (@jobId, @step, @trail)', step);
}

/** In order. */
export function kbCrawlTrail(db: Database, jobId: string): string[] {
  return db
    .all<{ trail: string }>('SELECT trail FROM kbCrawlStep WHERE jobId = ? ORDER BY step', [jobId])
    .map(({ trail }) => trail);
}

export function deleteKbCrawlSteps(db: Database, jobId: string): void {
  db.run('DELETE FROM kbCrawlStep WHERE jobId = ?', [jobId]);
}

/** Failed jobs that keep their pages to go on later, oldest first. */
export function kbJobsKept(db: Database): Pick<KbJobRecord, 'id' | 'url'>[] {
  return db.all(
    `SELECT id, url FROM kbJob AS j WHERE status = 'failed' AND EXISTS (SELECT 1 FROM kbCrawlStep AS s WHERE s.jobId = j.id) ORDER BY createdAt, id`,
  );
}
