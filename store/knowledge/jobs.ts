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
}

type Row = Omit<KbJobRecord, 'stats'> & { stats: string | null };

const fromRow = (row: Row): KbJobRecord => ({ ...row, stats: fromJsonOrNull(row.stats) });

export function insertKbJob(db: Database, job: KbJobRecord): void {
  db.run(
    `INSERT INTO kbJob (id, status, url, maxPages, maxDepth, stats, error, createdByAgentId, startedAt, finishedAt, createdAt)
     VALUES (@id, @status, @url, @maxPages, @maxDepth, @stats, @error, @createdByAgentId, @startedAt, @finishedAt, @createdAt)`,
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
