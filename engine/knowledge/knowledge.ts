// What is searched: the model whose chunks are, the embeddings that documents have, and what is swept up behind a
// change. Documents are replaced by new ones and switched over in one command, so that no search sees half of a change;
// whatever takes long is done before or after it, a bounded part at a time.

import { forgetSourceDocument } from '../../store/knowledge/articles.ts';
import {
  deleteChunksOf,
  deleteChunksOfOtherModels,
  deleteChunksOfRemoved,
  findKbBase,
  insertKbChunk,
  type KbBaseRecord,
  putKbBase,
} from '../../store/knowledge/chunks.ts';
import {
  countListedKbDocuments,
  deleteEmptyRemoved,
  findKbDocument,
  insertKbEmbedding,
  nextWithoutEmbedding,
  setKbDocumentState,
} from '../../store/knowledge/documents.ts';
import { refuse } from '../errors.ts';
import { maxKbDocuments } from '../limits.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';

/** A chunk as the embedder gave it. */
export interface NewChunk {
  readonly text: string;
  readonly vector: Uint8Array;
}

/** Chunks written in one command: a quarter of a megabyte, about two milliseconds. */
export const chunksPerCommand = 64;

export const sweepDeadline = 'kb.sweep';
/** Rows removed in one transaction; more follow a second later. */
const sweepPage = 500;
const nextSweepMs = 1000;

/** The kind of outside work that embeds what is not embedded yet. */
export const embedKind = 'kb.embed';
/** A model that cannot be loaded may be mended by hand within a day. */
export const embedRetryDelaysMs: readonly number[] = [
  60_000,
  5 * 60_000,
  30 * 60_000,
  2 * 3600_000,
  6 * 3600_000,
  12 * 3600_000,
];

/** Asks for whatever lacks an embedding to be embedded. One more than needed does nothing. */
export function requestEmbedding(ctx: Context): void {
  ctx.enqueue({ kind: embedKind, target: embedKind, payload: {} });
}

/** The same as a command: the service uses another model than it did. */
export const embedAgain = command('kb.embedAgain', (ctx, _: object): void => requestEmbedding(ctx));

/** Sets which model's chunks are searched, the first time or because the former one cannot be asked any more. */
export const chooseModel = command('kb.chooseModel', (ctx, params: { model: string }): KbBaseRecord => {
  const base: KbBaseRecord = { model: params.model, revision: (findKbBase(ctx.db)?.revision ?? 0) + 1 };
  putKbBase(ctx.db, base);
  return base;
});

/**
 * Searches `model`'s chunks from now on, if every document has them; false when one still lacks them. What other models
 * made is swept up.
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
  /** Of all the document's chunks, the place of the first of these. */
  readonly firstIndex: number;
  readonly chunks: readonly NewChunk[];
  readonly chunkCount: number;
}

/**
 * Writes a part of a document's embedding, the first one over what an earlier attempt left. With the last part it
 * counts. False: the document is gone.
 */
export const storeEmbedding = command('kb.storeEmbedding', (ctx, part: EmbeddingPart): boolean => {
  const document = findKbDocument(ctx.db, part.documentId);
  if (document === undefined || document.state === 'removed') return false;
  writeEmbedding(ctx, part);
  if (document.state === 'served' && findKbBase(ctx.db)?.model === part.model) touchBase(ctx);
  return true;
});

export function writeEmbedding(ctx: Context, part: EmbeddingPart): void {
  const { documentId, model, firstIndex, chunks, chunkCount } = part;
  if (firstIndex === 0) deleteChunksOf(ctx.db, documentId, model);
  for (const [index, { text, vector }] of chunks.entries())
    insertKbChunk(ctx.db, { id: ctx.ids.uuid(), documentId, model, chunkIndex: firstIndex + index, text, vector });
  if (firstIndex + chunks.length === chunkCount) insertKbEmbedding(ctx.db, { documentId, model, chunkCount });
}

/** What is searched has changed: indexes are brought up to it with the next search. */
export function touchBase(ctx: Context): void {
  const base = findKbBase(ctx.db);
  if (base !== undefined) putKbBase(ctx.db, { ...base, revision: base.revision + 1 });
}

/**
 * Takes documents out of what is listed, at once; their chunks are swept up after. Whoever takes out what is searched
 * touches the base.
 */
export function removeDocuments(ctx: Context, documentIds: readonly string[]): void {
  if (documentIds.length === 0) return;
  for (const documentId of documentIds) {
    setKbDocumentState(ctx.db, documentId, 'removed');
    forgetSourceDocument(ctx.db, documentId);
  }
  ctx.setDeadline(sweepDeadline, 'documents', ctx.nowMs);
}

/** Refuses semantic_error when the base holds as many documents as it may. */
export function requireRoom(view: Pick<View, 'db'>): void {
  if (countListedKbDocuments(view.db) >= maxKbDocuments)
    refuse('semantic_error', { message: `The knowledge base holds ${maxKbDocuments} documents already.` });
}

/**
 * Deletes what nothing shows any more, a page at a time: the rows of removed documents, or those of models that are not
 * searched.
 */
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
