// Crawl jobs: queued, running, done or failed, and the pages they fetched. Pages are stored beside those that are
// served and replace them in one command when the crawl is done. Specification 3, 4.3.

import { findKbArticle, updateKbArticle } from '../../store/knowledge/articles.ts';
import { findKbBase } from '../../store/knowledge/chunks.ts';
import {
  insertKbDocument,
  replacedByJob,
  servedRootUrls,
  setKbDocumentArticle,
  setKbDocumentState,
  stagedOfJob,
  withoutEmbeddingOfJob,
} from '../../store/knowledge/documents.ts';
import {
  countUnfinishedKbJobs,
  findKbJob,
  insertKbJob,
  type KbJobRecord,
  type KbJobStats,
  recentKbJobs,
  updateKbJob,
} from '../../store/knowledge/jobs.ts';
import type { CrawledPage, SkippedPage } from '../../workers/knowledge/crawler.ts';
import { crawlMaxDepth, crawlMaxPages, kbJobsListed, maxUnfinishedCrawls } from '../constants.ts';
import { refuse } from '../errors.ts';
import { emit } from '../events.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { type NoPayload, outboxKind } from '../runtime/kinds.ts';
import { firstChars } from '../text.ts';
import { requireAdmin } from '../workspace/access.ts';
import {
  chunksPerCommand,
  type NewChunk,
  removeDocuments,
  requireRoom,
  touchBase,
  writeEmbedding,
} from './knowledge.ts';

/** Across all workspaces. Each occupies a site, a page reader and an embedder. */
const crawlsAtOnce = 2;

/** Crawls. One at a time per workspace, in order. */
export const crawlKind = outboxKind<NoPayload>('kb.crawl', {
  // A failed crawl is not retried: the person who requested it sees the failure and can request it again.
  retryDelaysMs: [],
  maxUnderWay: crawlsAtOnce,
});

export const noStats: KbJobStats = {
  pagesFetched: 0,
  pagesSkipped: 0,
  documents: 0,
  chunks: 0,
  bytes: 0,
  pagesLeft: 0,
  skipped: [],
};
/** Skipped addresses listed, and their length: every progress event carries them. */
const maxSkippedNamed = 10;
const maxSkippedUrlChars = 300;
const maxReasonChars = 200;

export function withSkipped(stats: KbJobStats, skipped: SkippedPage | undefined): KbJobStats {
  const named = stats.skipped ?? [];
  if (skipped === undefined || named.length === maxSkippedNamed) return stats;
  return {
    ...stats,
    skipped: [
      ...named,
      { url: firstChars(skipped.url, maxSkippedUrlChars), reason: firstChars(skipped.reason, maxReasonChars) },
    ],
  };
}

export interface JobView {
  readonly id: string;
  readonly workspaceId: string;
  readonly kind: 'url';
  readonly status: KbJobRecord['status'];
  readonly input: { readonly url: string; readonly maxPages: number; readonly maxDepth: number };
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly error: string | null;
  readonly stats: KbJobStats | null;
  readonly createdByAgentId: string;
  readonly createdAt: string;
}

declare module '../events.ts' {
  interface EventRecords {
    readonly job: JobView;
  }
}

function jobView(view: Pick<View, 'workspaceId'>, job: KbJobRecord): JobView {
  const { id, status, url, maxPages, maxDepth, startedAt, finishedAt, error, stats, createdByAgentId, createdAt } = job;
  return {
    id,
    workspaceId: view.workspaceId,
    kind: 'url',
    status,
    input: { url, maxPages, maxDepth },
    startedAt,
    finishedAt,
    error,
    stats,
    createdByAgentId,
    createdAt,
  };
}

/** Refuses not_found. */
export function readJob(view: View, jobId: string): JobView {
  return jobView(view, findKbJob(view.db, jobId) ?? refuse('not_found'));
}

/** The latest twenty. */
export function listJobs(view: View): JobView[] {
  return recentKbJobs(view.db, kbJobsListed).map((job) => jobView(view, job));
}

/** Refuses admin_required, semantic_error if the base is full, service_unavailable if too many are queued. */
export const queueCrawl = command(
  'kb.ingestUrl',
  (
    ctx,
    params: { url: string; maxDepth?: number | undefined; maxPages?: number | undefined },
  ): { jobId: string; status: 'queued' } => {
    const agent = requireAdmin(ctx);
    requireRoom(ctx);
    if (countUnfinishedKbJobs(ctx.db) >= maxUnfinishedCrawls)
      refuse('service_unavailable', { message: `${maxUnfinishedCrawls} crawls are already queued or running.` });
    const job: KbJobRecord = {
      id: ctx.ids.uuid(),
      status: 'queued',
      url: params.url,
      maxPages: params.maxPages ?? crawlMaxPages,
      maxDepth: params.maxDepth ?? crawlMaxDepth,
      stats: null,
      error: null,
      createdByAgentId: agent.id,
      startedAt: null,
      finishedAt: null,
      createdAt: ctx.at,
    };
    insertKbJob(ctx.db, job);
    ctx.enqueue(crawlKind, { target: crawlKind.name, subjectId: job.id, payload: {} });
    emitJob(ctx, job);
    return { jobId: job.id, status: 'queued' };
  },
);

/** Starts it, from the beginning if an earlier run was interrupted. Undefined if it is already over. */
export const startCrawl = command('kb.startCrawl', (ctx, params: { jobId: string }): KbJobRecord | undefined => {
  const job = findKbJob(ctx.db, params.jobId);
  if (job === undefined || isOver(job)) return undefined;
  removeDocuments(
    ctx,
    stagedOfJob(ctx.db, job.id).map(({ id }) => id),
  );
  return putJob(ctx, { ...job, status: 'running', startedAt: ctx.at, stats: noStats });
});

export interface CrawledDocument {
  readonly page: CrawledPage;
  readonly model: string;
  /** Its first chunks, as many as one command writes. */
  readonly chunks: readonly NewChunk[];
  readonly chunkCount: number;
}

/** Stores one step of the crawl: its progress, and a page with its first chunks. `over`: it was cancelled meanwhile. */
export const storeStep = command(
  'kb.storeStep',
  (
    ctx,
    params: { jobId: string; stats: KbJobStats; document: CrawledDocument | undefined },
  ): 'over' | { documentId: string | undefined } => {
    const job = findRunning(ctx, params.jobId);
    if (job === undefined) return 'over';
    const documentId = params.document === undefined ? undefined : stageDocument(ctx, job, params.document);
    putJob(ctx, { ...job, stats: params.stats });
    return { documentId };
  },
);

function stageDocument(ctx: Context, job: KbJobRecord, { page, model, chunks, chunkCount }: CrawledDocument): string {
  const documentId = ctx.ids.uuid();
  insertKbDocument(ctx.db, {
    id: documentId,
    state: 'staged',
    sourceType: 'url',
    sourceUrl: page.url,
    rootUrl: job.url,
    jobId: job.id,
    articleId: null,
    title: page.title,
    text: page.text,
    byteSize: page.byteSize,
    ingestedAt: ctx.at,
  });
  writeEmbedding(ctx, { documentId, model, firstIndex: 0, chunks: chunks.slice(0, chunksPerCommand), chunkCount });
  return documentId;
}

/**
 * Replaces the former pages with the crawl's. `unreadyId`: a page that is not yet embedded by the model in use, because
 * the model changed meanwhile; nothing is replaced then. `over`: it was cancelled.
 */
export const finishCrawl = command(
  'kb.finishCrawl',
  (ctx, params: { jobId: string }): 'over' | { unreadyId: string | undefined } => {
    const job = findRunning(ctx, params.jobId);
    if (job === undefined) return 'over';
    const model = findKbBase(ctx.db)?.model ?? '';
    const unready = withoutEmbeddingOfJob(ctx.db, job.id, model);
    if (unready !== undefined) return { unreadyId: unready };
    const rootUrls = servedRootUrls(ctx.db).filter((rootUrl) => isSameAddress(rootUrl, job.url));
    const replaced = replacedByJob(ctx.db, { jobId: job.id, rootUrls });
    const articleOf = new Map(
      replaced.flatMap(({ sourceUrl, articleId }) => (articleId === null ? [] : [[sourceUrl, articleId]])),
    );
    removeDocuments(
      ctx,
      replaced.map(({ id }) => id),
    );
    for (const { id, sourceUrl } of stagedOfJob(ctx.db, job.id)) {
      const article = findKbArticle(ctx.db, articleOf.get(sourceUrl) ?? '');
      setKbDocumentState(ctx.db, id, article?.status === 'published' ? 'shadowed' : 'served');
      if (article === undefined) continue;
      // The adopted page exists again, as a new document.
      setKbDocumentArticle(ctx.db, id, article.id);
      updateKbArticle(ctx.db, { ...article, sourceDocumentId: id });
    }
    touchBase(ctx);
    putJob(ctx, { ...job, status: 'done', finishedAt: ctx.at });
    return { unreadyId: undefined };
  },
);

/**
 * Fails the job at once, queued or running; the crawler notices at its next page. Refuses admin_required, not_found,
 * conflict if it is over.
 */
export const cancelCrawl = command('kb.cancelJob', (ctx, params: { jobId: string }): JobView => {
  const agent = requireAdmin(ctx);
  const job = findKbJob(ctx.db, params.jobId) ?? refuse('not_found');
  if (isOver(job)) refuse('conflict', { message: `The crawl is already ${job.status}.` });
  return jobView(ctx, failJob(ctx, job, `${agent.name} cancelled it.`));
});

/** Runs in the transaction that records the crawl's outcome. Pages that are served stay. */
export function failCrawl(ctx: Context, jobId: string, error: string): void {
  const job = findKbJob(ctx.db, jobId);
  if (job !== undefined && !isOver(job)) failJob(ctx, job, error);
}

function failJob(ctx: Context, job: KbJobRecord, error: string): KbJobRecord {
  removeDocuments(
    ctx,
    stagedOfJob(ctx.db, job.id).map(({ id }) => id),
  );
  return putJob(ctx, { ...job, status: 'failed', finishedAt: ctx.at, error });
}

/** Ignores spelling: a trailing slash, case, an anchor. */
function isSameAddress(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  if (a === null || b === null) return one === other;
  [a.hash, b.hash] = ['', ''];
  return a.href === b.href;
}

/** Undefined if it is over. */
function findRunning(ctx: Context, jobId: string): KbJobRecord | undefined {
  const job = findKbJob(ctx.db, jobId);
  if (job === undefined || job.status === 'queued') throw new Error(`the crawl ${jobId} is not running`);
  return isOver(job) ? undefined : job;
}

function isOver(job: KbJobRecord): boolean {
  return job.status === 'done' || job.status === 'failed';
}

function putJob(ctx: Context, job: KbJobRecord): KbJobRecord {
  updateKbJob(ctx.db, job);
  emitJob(ctx, job);
  return job;
}

function emitJob(ctx: Context, job: KbJobRecord): void {
  emit(ctx, { type: 'kb.job.updated', audience: { kind: 'workspace' }, data: { job: jobView(ctx, job) } });
}
