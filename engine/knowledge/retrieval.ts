// Searches the knowledge base: embeds the question with the model in use and returns the chunks that are most likely its
// answer. Specification 4.3.

import { findKbBase } from '../../store/knowledge/chunks.ts';
import { defaultAnswerThreshold, findWorkspace } from '../../store/workspace/workspaces.ts';
import type { Embedder } from '../../workers/knowledge/embedder.ts';
import type { FoundChunk, Retriever } from '../../workers/knowledge/retriever.ts';
import { Refusal, refuse } from '../errors.ts';
import { systemCaller } from '../runtime/caller.ts';
import type { Engine } from '../runtime/engine.ts';
import { articleUrl } from './settings.ts';

export interface RetrievalPorts {
  readonly embedder: Embedder;
  readonly retriever: Retriever;
}

export interface RetrievedChunk extends FoundChunk {
  /** Leads to the section on its page, or of the article in the help centre; null for a file, and without a help centre. */
  readonly url: string | null;
}

export interface Retrieved {
  readonly chunks: readonly RetrievedChunk[];
  /** A chunk with a lower score probably answers something else. */
  readonly threshold: number;
  readonly queryEmbedTimeMs: number;
  readonly searchTimeMs: number;
}

/** If the model changes between embedding and search, the question is embedded again. That happens once in months. */
const maxAttempts = 3;

/** Results are durable. Refuses unauthorized, embedding_unavailable. Rejects with the threads' errors. */
export async function retrieve(
  engine: Engine,
  question: {
    workspaceId: string;
    query: string;
    topK: number;
    neighbours?: number | undefined;
    plainTextToo?: boolean;
    articlesOnly?: boolean;
  },
  { embedder, retriever }: RetrievalPorts,
): Promise<Retrieved> {
  const durable = (seenMs?: number): Promise<void> => engine.durable(question.workspaceId, seenMs);
  if (embedder.model === undefined) refuse('embedding_unavailable');
  let [queryEmbedTimeMs, searchTimeMs, threshold] = [0, 0, defaultAnswerThreshold];
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const workspace = engine.workspace(question.workspaceId) ?? refuse('unauthorized');
    const { db } = workspace;
    threshold = findWorkspace(db)?.settings.answerThreshold ?? threshold;
    const model = findKbBase(db)?.model;
    if (model === undefined) break;
    if (!embedder.serves(model)) refuse('embedding_unavailable');
    const askedMs = performance.now();
    const vector = await embedder.embedQuestion({ model, text: question.query });
    const embeddedMs = performance.now();
    const { result: found, seenMs } = await retriever.search({
      path: db.path,
      model,
      vector,
      text: question.query,
      topK: question.topK,
      neighbours: question.neighbours ?? 0,
      plainTextToo: question.plainTextToo ?? false,
      articlesOnly: question.articlesOnly ?? false,
    });
    queryEmbedTimeMs += embeddedMs - askedMs;
    searchTimeMs += performance.now() - embeddedMs;
    if (found === undefined) continue;
    const view = workspace.view(systemCaller);
    const chunks = found.map((chunk) => ({
      ...chunk,
      url: chunk.articleId === null ? linkTo(chunk) : articleUrl(view, chunk.articleId, chunk.anchor),
    }));
    await durable(seenMs);
    return {
      chunks,
      threshold,
      queryEmbedTimeMs: Math.round(queryEmbedTimeMs),
      searchTimeMs: Math.round(searchTimeMs),
    };
  }
  await durable();
  return { chunks: [], threshold, queryEmbedTimeMs: 0, searchTimeMs: 0 };
}

function linkTo({ sourceUrl, anchor }: FoundChunk): string | null {
  const url = sourceUrl === null ? null : URL.parse(sourceUrl);
  if (url === null) return null;
  if (anchor !== null) url.hash = anchor;
  return url.href;
}

/** For a search that goes on with what else it finds. */
export function nothingWithoutModel(error: unknown): Pick<Retrieved, 'chunks' | 'threshold'> {
  if (error instanceof Refusal && error.slug === 'embedding_unavailable') return { chunks: [], threshold: 1 };
  throw error;
}
