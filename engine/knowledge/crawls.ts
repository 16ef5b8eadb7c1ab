// Crawl jobs: queued, running, done or failed, and the pages they fetched. Pages are stored beside those that are
// served and replace them in one command when the crawl is done. Specification 3, 4.3.

import { fromJson, toJson } from '../../store/json.ts';
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
  deleteKbCrawlSteps,
  findKbJob,
  insertKbCrawlStep,
  insertKbJob,
  type KbJobRecord,
  type KbJobStats,
  kbCrawlTrail,
  kbJobsKept,
  recentKbJobs,
  updateKbJob,
} from '../../store/knowledge/jobs.ts';
import { findUpload } from '../../store/workspace/uploads.ts';
import type { CrawledPage, CrawlTrail, SkippedPage } from '../../workers/knowledge/crawler.ts';
import { crawlMaxDepth, crawlMaxPages, kbJobsListed, maxUnfinishedCrawls } from '../constants.ts';
import { refuse, refuseField } from '../errors.ts';
import { emit } from '../events.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { type NoPayload, outboxKind } from '../runtime/kinds.ts';
import { firstChars } from '../text.ts';
import { requireAdmin } from '../workspace/access.ts';
import { type NewChunk, removeDocuments, requireRoom, touchBase, writeEmbedding } from './knowledge.ts';

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
/** Failed crawls that keep what they have, to go on from there. */
const maxKept = 5;
/** Skipped addresses listed, and their length: every progress event carries them. */
const maxSkippedNamed = 50;
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
  readonly kind: 'url' | 'file';
  readonly status: KbJobRecord['status'];
  readonly input: {
    readonly url: string;
    readonly maxPages: number;
    readonly maxDepth: number;
    readonly fileName: string | null;
  };
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
  const {
    id,
    status,
    url,
    maxPages,
    maxDepth,
    fileName,
    startedAt,
    finishedAt,
    error,
    stats,
    createdByAgentId,
    createdAt,
  } = job;
  return {
    id,
    workspaceId: view.workspaceId,
    kind: fileName === null ? 'url' : 'file',
    status,
    input: { url, maxPages, maxDepth, fileName },
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
  (ctx, params: { url: string; maxDepth?: number | undefined; maxPages?: number | undefined }): QueuedJob => {
    const { url, maxPages = crawlMaxPages, maxDepth = crawlMaxDepth } = params;
    return queueJob(ctx, { url, maxPages, maxDepth, fileName: null, objectKey: null });
  },
);

/**
 * Reads an uploaded file. Replaces the document of an earlier file of that name. Refuses like queueCrawl, and
 * validation_error if `key` names no upload of this workspace.
 */
export const queueFile = command('kb.ingestFile', (ctx, params: { key: string | undefined }): QueuedJob => {
  const upload = params.key === undefined ? undefined : findUpload(ctx.db, params.key.split('/')[2] ?? '');
  if (upload?.key !== params.key || upload === undefined || upload.visitorId !== null)
    refuseField('validation_error', 'url', 'must be the publicUrl of a file that you uploaded');
  if (upload.state !== 'stored') refuseField('validation_error', 'url', 'must be uploaded first');
  const fileName = upload.filename ?? upload.key.split('/').at(-1) ?? 'file';
  if (!readableFile.test(fileName))
    refuseField('validation_error', 'url', 'must be a PDF, Word (.docx), Markdown, text, HTML or CSV file');
  const url = `upload:${encodeURIComponent(fileName)}`;
  return queueJob(ctx, { url, maxPages: 1, maxDepth: 0, fileName, objectKey: upload.key });
});

const readableFile = /\.(?:csv|docx|html?|markdown|md|pdf|txt)$/i;

export interface QueuedJob {
  readonly jobId: string;
  readonly status: 'queued';
}

function queueJob(
  ctx: Context,
  source: Pick<KbJobRecord, 'url' | 'maxPages' | 'maxDepth' | 'fileName' | 'objectKey'>,
): QueuedJob {
  const agent = requireAdmin(ctx);
  requireRoom(ctx);
  requireTurn(ctx);
  forgetKept(ctx, source.url);
  const job: KbJobRecord = {
    ...source,
    id: ctx.ids.uuid(),
    status: 'queued',
    stats: null,
    error: null,
    createdByAgentId: agent.id,
    startedAt: null,
    finishedAt: null,
    createdAt: ctx.at,
  };
  insertKbJob(ctx.db, job);
  enqueueCrawl(ctx, job);
  return { jobId: job.id, status: 'queued' };
}

function enqueueCrawl(ctx: Context, job: KbJobRecord): void {
  ctx.enqueue(crawlKind, { target: crawlKind.name, subjectId: job.id, payload: {} });
  emitJob(ctx, job);
}

function requireTurn(ctx: Context): void {
  if (countUnfinishedKbJobs(ctx.db) >= maxUnfinishedCrawls)
    refuse('service_unavailable', { message: `${maxUnfinishedCrawls} crawls are already queued or running.` });
}

/**
 * Queues a failed or cancelled job again, which goes on where it ended. Refuses admin_required, not_found, conflict if it
 * did not fail, and what queueing refuses.
 */
export const resumeCrawl = command('kb.resumeJob', (ctx, params: { jobId: string }): JobView => {
  requireAdmin(ctx);
  const job = findKbJob(ctx.db, params.jobId) ?? refuse('not_found');
  if (job.status !== 'failed') refuse('conflict', { message: `The crawl is ${job.status}.` });
  requireRoom(ctx);
  requireTurn(ctx);
  const queued: KbJobRecord = { ...job, status: 'queued', error: null, startedAt: null, finishedAt: null };
  updateKbJob(ctx.db, queued);
  enqueueCrawl(ctx, queued);
  return jobView(ctx, queued);
});

/** What failed crawls of this address kept, and the oldest if many keep something. */
function forgetKept(ctx: Context, url: string): void {
  const kept = kbJobsKept(ctx.db);
  for (const [index, job] of kept.entries())
    if (isSameAddress(job.url, url) || index < kept.length - maxKept) forgetProgress(ctx, job.id);
}

/** The pages that a job stored but did not serve, and the way to them. */
function forgetProgress(ctx: Context, jobId: string): void {
  removeDocuments(
    ctx,
    stagedOfJob(ctx.db, jobId).map(({ id }) => id),
  );
  deleteKbCrawlSteps(ctx.db, jobId);
}

/** `trail`: what an earlier run learned; empty for a crawl from the beginning. */
export interface StartedCrawl {
  readonly job: KbJobRecord;
  readonly stats: KbJobStats;
  readonly trail: readonly CrawlTrail[];
}

/** Starts it, or goes on where an earlier run ended. Undefined if it is already over. */
export const startCrawl = command('kb.startCrawl', (ctx, params: { jobId: string }): StartedCrawl | undefined => {
  const job = findKbJob(ctx.db, params.jobId);
  if (job === undefined || isOver(job)) return undefined;
  const trail = kbCrawlTrail(ctx.db, job.id).map((step) => fromJson<CrawlTrail>(step));
  if (trail.length === 0) forgetProgress(ctx, job.id);
  const stats = trail.length === 0 ? noStats : (job.stats ?? noStats);
  return { job: putJob(ctx, { ...job, status: 'running', startedAt: ctx.at, stats }), stats, trail };
});

export interface CrawledDocument {
  readonly page: CrawledPage;
  readonly model: string;
  readonly language: string | null;
  /** Its first chunks, as many as one command writes. */
  readonly chunks: readonly NewChunk[];
  readonly chunkCount: number;
}

/** Stores one step of the crawl: its progress, and a page with its first chunks. `over`: it was cancelled meanwhile. */
export const storeStep = command(
  'kb.storeStep',
  (
    ctx,
    params: {
      jobId: string;
      stats: KbJobStats;
      step: number;
      trail: CrawlTrail;
      document: CrawledDocument | undefined;
    },
  ): 'over' | { documentId: string | undefined } => {
    const job = findRunning(ctx, params.jobId);
    if (job === undefined) return 'over';
    const documentId = params.document === undefined ? undefined : stageDocument(ctx, job, params.document);
    insertKbCrawlStep(ctx.db, { jobId: job.id, step: params.step, trail: toJson(params.trail) });
    putJob(ctx, { ...job, stats: params.stats });
    return { documentId };
  },
);

function stageDocument(ctx: Context, job: KbJobRecord, document: CrawledDocument): string {
  const { page, model, language, chunks, chunkCount } = document;
  const documentId = ctx.ids.uuid();
  insertKbDocument(ctx.db, {
    id: documentId,
    state: 'staged',
    sourceType: 'url',
    sourceUrl: job.fileName === null ? page.url : null,
    rootUrl: job.url,
    jobId: job.id,
    articleId: null,
    title: page.title,
    text: page.text,
    byteSize: page.byteSize,
    language,
    fileName: job.fileName,
    ingestedAt: ctx.at,
  });
  writeEmbedding(ctx, { documentId, model, language, firstIndex: 0, chunks, chunkCount });
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
    deleteKbCrawlSteps(ctx.db, job.id);
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

/** Runs in the transaction that records the crawl's outcome. Pages that are served stay, and so does its progress. */
export function failCrawl(ctx: Context, jobId: string, error: string): void {
  const job = findKbJob(ctx.db, jobId);
  if (job !== undefined && !isOver(job)) failJob(ctx, job, error);
}

function failJob(ctx: Context, job: KbJobRecord, error: string): KbJobRecord {
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
