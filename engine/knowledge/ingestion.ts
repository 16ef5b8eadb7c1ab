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
import type { Crawler } from '../../workers/knowledge/crawler.ts';
import type { EmbeddedChunk, Embedder } from '../../workers/knowledge/embedder.ts';
import { systemCaller } from '../runtime/caller.ts';
import type { CommandDefinition } from '../runtime/command.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Workspace } from '../runtime/workspace.ts';
import { serveArticle } from './articles.ts';
import { finishCrawl, noStats, startCrawl, storeStep, withSkipped } from './crawls.ts';
import { chooseModel, chunksPerCommand, embedAgain, storeEmbedding, switchModel } from './knowledge.ts';

export interface IngestionOptions {
  readonly engine: Engine;
  readonly crawler: Crawler;
  readonly embedder: Embedder;
}

/** A crawl stops after this time. */
const crawlTimeoutMs = 60 * 60_000;
/** The outbox's answer for a crawl that was cancelled. */
const cancelled = 'it was cancelled';

export class Ingestion {
  readonly #engine: Engine;
  readonly #crawler: Crawler;
  readonly #embedder: Embedder;
  readonly #stopping = new AbortController();

  constructor(options: IngestionOptions) {
    this.#engine = options.engine;
    this.#crawler = options.crawler;
    this.#embedder = options.embedder;
  }

  /** Crawls a job's site and replaces its former pages. Rejects with the site's or the embedding's problem. */
  async crawl({ workspaceId, jobId }: { workspaceId: string; jobId: string }): Promise<string> {
    const job = await this.#execute(workspaceId, startCrawl, { jobId });
    if (job === undefined) return 'it is already over';
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(crawlTimeoutMs)]);
    const { url, maxDepth, maxPages } = job;
    let stats = noStats;
    for await (const { page, skipped, ...counts } of this.#crawler.crawl({ url, maxDepth, maxPages, signal })) {
      stats = withSkipped({ ...stats, ...counts }, skipped);
      if (page === undefined) {
        const stored = await this.#execute(workspaceId, storeStep, { jobId, stats, document: undefined });
        if (stored === 'over') return cancelled;
        continue;
      }
      const model = (await this.#base(workspaceId)).model;
      const chunks = await this.#embedder.digest({ model, title: page.title, text: page.text });
      stats = { ...stats, documents: stats.documents + 1, chunks: stats.chunks + chunks.length };
      const first = chunks.slice(0, chunksPerCommand);
      const stored = await this.#execute(workspaceId, storeStep, {
        jobId,
        stats,
        document: { page, model, chunks: first, chunkCount: chunks.length },
      });
      if (stored === 'over') return cancelled;
      if (stored.documentId !== undefined)
        await this.#storeFrom(workspaceId, { documentId: stored.documentId, model, chunks, from: first.length });
    }
    for (;;) {
      const finished = await this.#execute(workspaceId, finishCrawl, { jobId });
      if (finished === 'over') return cancelled;
      if (finished.unreadyId === undefined) return `${stats.documents} documents`;
      await this.#embed(workspaceId, finished.unreadyId, (await this.#base(workspaceId)).model);
    }
  }

  /** Embeds every document without an embedding: first for the model in use, then for the one to switch to. */
  async embed({ workspaceId }: { workspaceId: string }): Promise<string> {
    const wanted = this.#embedder.model;
    if (wanted === undefined) return 'embedding is switched off';
    let count = 0;
    for (;;) {
      const { model: searched } = await this.#base(workspaceId);
      count += await this.#embedAll(workspaceId, searched);
      for (
        let ready = this.#readyArticle(workspaceId, searched);
        ready !== undefined;
        ready = this.#readyArticle(workspaceId, searched)
      ) {
        await this.#execute(workspaceId, serveArticle, { documentId: ready });
      }
      if (searched === wanted) return `${count} documents`;
      count += await this.#embedAll(workspaceId, wanted);
      await this.#execute(workspaceId, switchModel, { model: wanted });
    }
  }

  /** At start: requests embedding by the current model for documents that have none or another model's. */
  review(workspaceId: string, { isUnembedded }: { isUnembedded: boolean }): void {
    if (isUnembedded) void this.#execute(workspaceId, embedAgain, {});
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
    return this.#execute(workspaceId, chooseModel, { model });
  }

  async #embedAll(workspaceId: string, model: string): Promise<number> {
    let count = 0;
    for (let after = ''; ; count += 1) {
      const document = nextWithoutEmbedding(this.#workspace(workspaceId).db, { model, after });
      if (document === undefined) return count;
      await this.#embedDocument(workspaceId, document, model);
      after = document.id;
    }
  }

  async #embed(workspaceId: string, documentId: string, model: string): Promise<void> {
    const document = findKbDocument(this.#workspace(workspaceId).db, documentId);
    if (document !== undefined) await this.#embedDocument(workspaceId, document, model);
  }

  async #embedDocument(workspaceId: string, { id, title, text }: KbDocumentRecord, model: string): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    const chunks = await this.#embedder.digest({ model, title, text });
    await this.#storeFrom(workspaceId, { documentId: id, model, chunks, from: 0 });
  }

  async #storeFrom(
    workspaceId: string,
    embedding: { documentId: string; model: string; chunks: readonly EmbeddedChunk[]; from: number },
  ): Promise<void> {
    const { documentId, model, chunks, from } = embedding;
    // A text without words has no chunk and so counts as embedded.
    for (
      let firstIndex = from;
      firstIndex < chunks.length || (firstIndex === 0 && chunks.length === 0);
      firstIndex += chunksPerCommand
    ) {
      const part = chunks.slice(firstIndex, firstIndex + chunksPerCommand);
      const isThere = await this.#execute(workspaceId, storeEmbedding, {
        documentId,
        model,
        firstIndex,
        chunks: part,
        chunkCount: chunks.length,
      });
      if (!isThere) return;
    }
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
