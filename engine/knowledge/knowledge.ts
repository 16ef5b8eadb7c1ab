// The searchable base: the model in use, the documents' embeddings, and the cleanup after changes. Documents are
// replaced by new ones and switched over in one command, so that no search sees half a change; slow work happens before
// or after it, in bounded steps.

import { forgetSourceDocument } from '../../store/knowledge/articles.ts';
import {
  deleteChunksOf,
  deleteChunksOfOtherModels,
  deleteChunksOfRemoved,
  findKbBase,
  insertKbChunk,
  type KbBaseRecord,
  type KbChunkRecord,
  putKbBase,
} from '../../store/knowledge/chunks.ts';
import {
  countListedKbDocuments,
  deleteEmptyRemoved,
  findKbDocument,
  insertKbEmbedding,
  nextWithoutEmbedding,
  setKbDocumentLanguage,
  setKbDocumentState,
} from '../../store/knowledge/documents.ts';
import { maxKbDocuments } from '../constants.ts';
import { refuse } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline, type NoPayload, outboxKind } from '../runtime/kinds.ts';

/** A chunk as the embedder gave it. */
export type NewChunk = Pick<KbChunkRecord, 'text' | 'headings' | 'anchor' | 'vector' | 'terms'>;

/** Chunks written per command: about two milliseconds, most of them for the terms. */
export const chunksPerCommand = 16;

export const sweepDeadline = deadline('kb.sweep');
/** Rows deleted per transaction. The next page follows a second later. */
const sweepPage = 500;
const nextSweepMs = 1000;

/** Across all workspaces. */
const embeddingsAtOnce = 2;

/** Embeds documents without an embedding. */
export const embedKind = outboxKind<NoPayload>('kb.embed', {
  // A model that cannot be loaded may be repaired by hand within a day.
  retryDelaysMs: [60_000, 5 * 60_000, 30 * 60_000, 2 * 3600_000, 6 * 3600_000, 12 * 3600_000],
  maxUnderWay: embeddingsAtOnce,
});

/** Queues embedding of everything without an embedding. A superfluous request does nothing. */
export function requestEmbedding(ctx: Context): void {
  ctx.enqueue(embedKind, { target: embedKind.name, payload: {} });
}

/** The same as a command, for when the service's model has changed. */
export const embedAgain = command('kb.embedAgain', (ctx, _: object): void => requestEmbedding(ctx));

/** Sets the model to search with, for the first time or because the former one is no longer available. */
export const chooseModel = command('kb.chooseModel', (ctx, params: { model: string }): KbBaseRecord => {
  const base: KbBaseRecord = { model: params.model, revision: (findKbBase(ctx.db)?.revision ?? 0) + 1 };
  putKbBase(ctx.db, base);
  return base;
});

/**
 * Switches the search to `model`, if it has embedded every document; otherwise returns false. Other models' chunks are
 * swept.
 */
export const switchModel = command('kb.switchModel', (ctx, params: { model: string }): boolean => {
  if (nextWithoutEmbedding(ctx.db, { model: params.model, after: '' }) !== undefined) return false;
  putKbBase(ctx.db, { model: params.model, revision: (findKbBase(ctx.db)?.revision ?? 0) + 1 });
  ctx.setDeadline(sweepDeadline, 'models', ctx.nowMs);
  return true;
});

export interface EmbeddingPart {
  readonly documentId: string;
  readonly model: string;
  /** Of the document. */
  readonly language: string | null;
  /** The index of the first of these chunks among all of the document's. */
  readonly firstIndex: number;
  readonly chunks: readonly NewChunk[];
  readonly chunkCount: number;
}

/**
 * Writes a part of a document's embedding; the first part replaces what an earlier attempt left. It counts once the
 * last part is written. Returns false if the document no longer exists.
 */
export const storeEmbedding = command('kb.storeEmbedding', (ctx, part: EmbeddingPart): boolean => {
  const document = findKbDocument(ctx.db, part.documentId);
  if (document === undefined || document.state === 'removed') return false;
  writeEmbedding(ctx, part);
  if (document.state === 'served' && findKbBase(ctx.db)?.model === part.model) touchBase(ctx);
  return true;
});

export function writeEmbedding(ctx: Context, part: EmbeddingPart): void {
  const { documentId, model, language, firstIndex, chunks, chunkCount } = part;
  if (firstIndex === 0) {
    deleteChunksOf(ctx.db, documentId, model);
    setKbDocumentLanguage(ctx.db, documentId, language);
  }
  for (const [index, chunk] of chunks.entries())
    insertKbChunk(ctx.db, { ...chunk, id: ctx.ids.uuid(), documentId, model, chunkIndex: firstIndex + index });
  if (firstIndex + chunks.length === chunkCount) insertKbEmbedding(ctx.db, { documentId, model, chunkCount });
}

/** Marks the base as changed: the next search updates its indexes. */
export function touchBase(ctx: Context): void {
  const base = findKbBase(ctx.db);
  if (base !== undefined) putKbBase(ctx.db, { ...base, revision: base.revision + 1 });
}

/**
 * Removes documents from the list at once; their chunks are swept later. If they were searchable, the caller must also
 * call touchBase().
 */
export function removeDocuments(ctx: Context, documentIds: readonly string[]): void {
  if (documentIds.length === 0) return;
  for (const documentId of documentIds) {
    setKbDocumentState(ctx.db, documentId, 'removed');
    forgetSourceDocument(ctx.db, documentId);
  }
  ctx.setDeadline(sweepDeadline, 'documents', ctx.nowMs);
}

/** Refuses semantic_error if the base has the maximum number of documents. */
export function requireRoom(view: Pick<View, 'db'>): void {
  if (countListedKbDocuments(view.db) >= maxKbDocuments)
    refuse('semantic_error', {
      message: `The knowledge base already holds ${maxKbDocuments} documents, which is the limit.`,
    });
}

/** Deletes rows that are no longer visible, a page at a time: those of removed documents, or of models not in use. */
export const sweep = command('kb.sweep', (ctx, { subjectId }: DeadlineParams): void => {
  const model = findKbBase(ctx.db)?.model;
  const chunks =
    subjectId === 'documents' || model === undefined
      ? deleteChunksOfRemoved(ctx.db, sweepPage)
      : deleteChunksOfOtherModels(ctx.db, [model], sweepPage);
  const documents = subjectId === 'documents' ? deleteEmptyRemoved(ctx.db, sweepPage) : 0;
  if (chunks === sweepPage || documents === sweepPage)
    ctx.setDeadline(sweepDeadline, subjectId, ctx.nowMs + nextSweepMs);
});
