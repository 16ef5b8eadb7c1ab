// Knowledge base work that takes longer than a command may: crawling a site, embedding its pages, embedding everything
// again for another model. Run by the outbox, so it starts over after a restart. Every write is a command, small enough
// not to delay a chat.

import { findKbBase, type KbBaseRecord } from '../../store/knowledge/chunks.ts';
import {
  findKbDocument,
  type KbDocumentRecord,
  nextReadyArticle,
  nextWithoutEmbedding,
} from '../../store/knowledge/documents.ts';
import type { KbJobRecord, KbJobStats } from '../../store/knowledge/jobs.ts';
import { findWorkspace } from '../../store/workspace/workspaces.ts';
import type { CrawlCounts, CrawledPage, Crawler, CrawlStep } from '../../workers/knowledge/crawler.ts';
import type { Digest, Embedder } from '../../workers/knowledge/embedder.ts';
import type { ModelStore } from '../../workers/knowledge/model-store.ts';
import type { UploadedFiles } from '../../workers/knowledge/uploaded-files.ts';
import { systemCaller } from '../runtime/caller.ts';
import type { CommandDefinition } from '../runtime/command.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Log } from '../runtime/log.ts';
import type { Workspace } from '../runtime/workspace.ts';
import { serveArticle } from './articles.ts';
import { finishCrawl, startCrawl, storeStep, withSkipped } from './crawls.ts';
import {
  chooseModel,
  chunksPerCommand,
  type EmbeddingPart,
  embedAgain,
  storeEmbedding,
  switchModel,
} from './knowledge.ts';
import { giveUpModel } from './settings.ts';

export interface IngestionOptions {
  readonly engine: Engine;
  readonly crawler: Crawler;
  readonly embedder: Embedder;
  readonly uploadedFiles: UploadedFiles;
  readonly models: Pick<ModelStore, 'idOf' | 'nameOf'>;
  readonly log: Log;
}

/** A crawl stops after this time. */
const crawlTimeoutMs = 60 * 60_000;
/** The outbox's answer for a crawl that was cancelled. */
const cancelled = 'it was cancelled';
const notEmbedded = 'The pages could not be embedded. Resume the crawl to try again.';
/** Documents that cannot be embedded, one after the other, before the work is given up. */
const maxFailedInARow = 3;

/** The message is for the person who requested the crawl, like those of the crawler. */
class CrawlStopped extends Error {
  override readonly name = 'CrawlStopped';
  readonly isForPeople = true;
}

interface Digested extends Digest {
  readonly page: CrawledPage;
  readonly model: string;
}

interface StepToStore {
  readonly jobId: string;
  readonly step: CrawlStep;
  readonly stats: KbJobStats;
  readonly number: number;
  /** Undefined if there was no page. */
  readonly digested: Digested | 'failed' | undefined;
}

export class Ingestion {
  readonly #engine: Engine;
  readonly #crawler: Crawler;
  readonly #embedder: Embedder;
  readonly #uploadedFiles: UploadedFiles;
  readonly #models: IngestionOptions['models'];
  readonly #log: Log;
  readonly #stopping = new AbortController();

  constructor(options: IngestionOptions) {
    this.#engine = options.engine;
    this.#crawler = options.crawler;
    this.#embedder = options.embedder;
    this.#uploadedFiles = options.uploadedFiles;
    this.#models = options.models;
    this.#log = options.log;
  }

  /** Crawls a job's site and replaces its former pages. Rejects with the site's or the embedding's problem. */
  async crawl(item: { workspaceId: string; jobId: string; signal: AbortSignal }): Promise<string> {
    try {
      return await this.#crawl(item);
    } catch (error) {
      throw forPeople(error);
    }
  }

  async #crawl({
    workspaceId,
    jobId,
    signal: leaving,
  }: {
    workspaceId: string;
    jobId: string;
    signal: AbortSignal;
  }): Promise<string> {
    const started = await this.#execute(workspaceId, startCrawl, { jobId });
    if (started === undefined) return 'it is already over';
    const { job, trail } = started;
    const ending = AbortSignal.any([this.#stopping.signal, leaving]);
    const signal = AbortSignal.any([ending, AbortSignal.timeout(crawlTimeoutMs)]);
    const { url, maxDepth, maxPages } = job;
    const earlier = trail.length === 0 ? undefined : { trail, counts: countsOf(started.stats) };
    let [stats, number, failedInARow] = [started.stats, trail.length, 0];
    const steps =
      job.objectKey === null || job.fileName === null
        ? this.#crawler.crawl({ url, maxDepth, maxPages, earlier, signal })
        : this.#uploadedFiles.read({ key: job.objectKey, fileName: job.fileName });
    for await (const step of steps) {
      stats = withSkipped({ ...stats, ...step.counts }, step.skipped);
      const digested = await this.#digest(workspaceId, step.page);
      signal.throwIfAborted();
      failedInARow = digested === 'failed' ? failedInARow + 1 : 0;
      if (failedInARow === maxFailedInARow) throw new CrawlStopped(notEmbedded);
      const stored = await this.#storeStep(workspaceId, { jobId, step, stats, number, digested });
      if (stored === 'over') return cancelled;
      stats = stored;
      number += 1;
    }
    if (stats.documents === 0) throw new CrawlStopped(failedInARow > 0 ? notEmbedded : withoutText(job, stats));
    for (;;) {
      const finished = await this.#execute(workspaceId, finishCrawl, { jobId });
      if (finished === 'over') return cancelled;
      if (finished.unreadyId === undefined) return `${stats.documents} documents`;
      await this.#embed(workspaceId, { documentId: finished.unreadyId, signal: ending });
    }
  }

  /** A page that cannot be embedded is left out; when several in a row cannot, the trouble is not theirs. */
  async #digest(workspaceId: string, page: CrawledPage | undefined): Promise<Digested | 'failed' | undefined> {
    if (page === undefined) return undefined;
    const { model } = await this.#base(workspaceId);
    try {
      const digest = await this.#embedder.digest({ model, ...page });
      return { page, model, ...digest };
    } catch (error) {
      this.#log.warn({ workspaceId, url: page.url, err: error }, 'a page could not be embedded');
      return 'failed';
    }
  }

  async #storeStep(
    workspaceId: string,
    { jobId, step, stats, number, digested }: StepToStore,
  ): Promise<KbJobStats | 'over'> {
    const leaveOut = (reason: string): KbJobStats =>
      withSkipped({ ...stats, pagesSkipped: stats.pagesSkipped + 1 }, { url: step.page?.url ?? '', reason });
    if (digested === undefined || digested === 'failed' || digested.chunks.length === 0) {
      const after =
        digested === undefined ? stats : leaveOut(digested === 'failed' ? 'could not be embedded' : 'holds no words');
      const trail = { ...step.trail, textHash: digested === undefined ? step.trail.textHash : null };
      const stored = await this.#execute(workspaceId, storeStep, {
        jobId,
        stats: after,
        step: number,
        trail,
        document: undefined,
      });
      return stored === 'over' ? stored : after;
    }
    const { page, model, language, chunks } = digested;
    const after = { ...stats, documents: stats.documents + 1, chunks: stats.chunks + chunks.length };
    const first = chunks.slice(0, chunksPerCommand);
    const stored = await this.#execute(workspaceId, storeStep, {
      jobId,
      stats: after,
      step: number,
      trail: step.trail,
      document: { page, model, language, chunks: first, chunkCount: chunks.length },
    });
    if (stored === 'over') return stored;
    if (stored.documentId !== undefined && first.length < chunks.length)
      await this.#storeFrom(workspaceId, {
        documentId: stored.documentId,
        model,
        language,
        chunks,
        from: first.length,
      });
    return after;
  }

  /**
   * Embeds every document without an embedding: first for the model in use, then for the one to switch to. Rejects once
   * `signal` aborts: another node goes on.
   */
  async embed({ workspaceId, signal: leaving }: { workspaceId: string; signal: AbortSignal }): Promise<string> {
    if (this.#embedder.model === undefined) return 'embedding is switched off';
    const signal = AbortSignal.any([this.#stopping.signal, leaving]);
    let count = 0;
    for (;;) {
      const { wanted, name } = this.#wanted(workspaceId, this.#embedder.model);
      const { model: searched } = await this.#base(workspaceId);
      count += await this.#embedAll(workspaceId, { model: searched, signal });
      for (
        let ready = this.#readyArticle(workspaceId, searched);
        ready !== undefined;
        ready = this.#readyArticle(workspaceId, searched)
      ) {
        await this.#execute(workspaceId, serveArticle, { documentId: ready });
      }
      if (searched === wanted) return `${count} documents`;
      try {
        count += await this.#embedAll(workspaceId, { model: wanted, signal });
        await this.#execute(workspaceId, switchModel, { model: wanted });
      } catch (error) {
        signal.throwIfAborted();
        if (name === undefined) throw error;
        this.#log.warn({ workspaceId, model: name, err: error }, 'the chosen model cannot embed the documents');
        const former = this.#models.nameOf(searched) ?? null;
        await this.#execute(workspaceId, giveUpModel, { name, searched: former });
      }
    }
  }

  /** The model to switch to: the chosen one if it is here, else the service's. `name`: of a chosen one. */
  #wanted(workspaceId: string, usual: string): { wanted: string; name: string | undefined } {
    const name = findWorkspace(this.#workspace(workspaceId).db)?.settings.embeddingModel ?? undefined;
    const chosen = name === undefined ? undefined : this.#models.idOf(name);
    return chosen === undefined ? { wanted: usual, name: undefined } : { wanted: chosen, name };
  }

  /** At start: requests embedding by the current model for documents that have none or another model's. */
  review(workspaceId: string, { isUnembedded }: { isUnembedded: boolean }): void {
    if (!isUnembedded) return;
    this.#execute(workspaceId, embedAgain, {}).catch((error: unknown) =>
      this.#log.warn({ workspaceId, err: error }, 'embedding could not be requested; the next start does it'),
    );
  }

  /** Aborts the work under way; it starts over after the restart. */
  stop(): void {
    this.#stopping.abort(new Error('the service is stopping'));
  }

  /** The model to search with. Chosen now if there was none or the former one is no longer available. */
  async #base(workspaceId: string): Promise<KbBaseRecord> {
    const base = findKbBase(this.#workspace(workspaceId).db);
    if (base !== undefined && this.#embedder.serves(base.model)) return base;
    const { model } = this.#embedder;
    if (model === undefined) throw new Error('embedding is switched off');
    return this.#execute(workspaceId, chooseModel, { model: this.#wanted(workspaceId, model).wanted });
  }

  /** One that fails does not keep the others from being embedded. Rejects with the last failure, to be tried again. */
  async #embedAll(workspaceId: string, { model, signal }: { model: string; signal: AbortSignal }): Promise<number> {
    let [count, failedInARow, failure]: [number, number, unknown] = [0, 0, undefined];
    for (let after = ''; failedInARow < maxFailedInARow; ) {
      const document = nextWithoutEmbedding(this.#workspace(workspaceId).db, { model, after });
      if (document === undefined) break;
      after = document.id;
      try {
        await this.#embedDocument(workspaceId, { document, model, signal });
        count += 1;
        failedInARow = 0;
      } catch (error) {
        signal.throwIfAborted();
        failure = error;
        failedInARow += 1;
      }
    }
    if (failure !== undefined) throw failure;
    return count;
  }

  async #embed(
    workspaceId: string,
    { documentId, signal }: { documentId: string; signal: AbortSignal },
  ): Promise<void> {
    const { model } = await this.#base(workspaceId);
    const document = findKbDocument(this.#workspace(workspaceId).db, documentId);
    if (document !== undefined) await this.#embedDocument(workspaceId, { document, model, signal });
  }

  async #embedDocument(
    workspaceId: string,
    { document, model, signal }: { document: KbDocumentRecord; model: string; signal: AbortSignal },
  ): Promise<void> {
    signal.throwIfAborted();
    const { language, chunks } = await this.#embedder.digest({
      model,
      ...document,
      isArticle: document.sourceType === 'article',
    });
    signal.throwIfAborted();
    await this.#storeFrom(workspaceId, { documentId: document.id, model, language, chunks, from: 0 });
  }

  async #storeFrom(
    workspaceId: string,
    { from, ...embedding }: Omit<EmbeddingPart, 'firstIndex' | 'chunkCount'> & { from: number },
  ): Promise<void> {
    const { chunks } = embedding;
    let firstIndex = from;
    // A text without words has no chunk and so counts as embedded.
    do {
      const part = chunks.slice(firstIndex, firstIndex + chunksPerCommand);
      const stored = { ...embedding, firstIndex, chunks: part, chunkCount: chunks.length };
      if (!(await this.#execute(workspaceId, storeEmbedding, stored))) return;
      firstIndex += chunksPerCommand;
    } while (firstIndex < chunks.length);
  }

  #readyArticle(workspaceId: string, model: string): string | undefined {
    return nextReadyArticle(this.#workspace(workspaceId).db, model)?.id;
  }

  #workspace(workspaceId: string): Workspace {
    const workspace = this.#engine.workspace(workspaceId);
    if (workspace === undefined) throw new Error(`the workspace ${workspaceId} is not there`);
    return workspace;
  }

  #execute<Params, Result>(
    workspaceId: string,
    definition: CommandDefinition<Params, Result>,
    params: Params,
  ): Promise<Result> {
    return this.#engine.execute(definition, { workspaceId, caller: systemCaller, params });
  }
}

/** Only messages that were written for people reach them; the cause is in the log. */
function forPeople(error: unknown): Error {
  if (error instanceof Error && 'isForPeople' in error && error.isForPeople === true) return error;
  return new CrawlStopped('The crawl was interrupted by a problem of the service. Resume it to go on where it ended.', {
    cause: error,
  });
}

function withoutText({ url, fileName }: KbJobRecord, { skipped = [] }: KbJobStats): string {
  if (fileName === null) return `No page at ${url} has text that can be used.`;
  return `${fileName} ${skipped[0]?.reason ?? 'holds no text'}.`;
}

function countsOf({ pagesFetched, pagesSkipped, bytes }: KbJobStats): CrawlCounts {
  return { pagesFetched, pagesSkipped, bytes };
}
