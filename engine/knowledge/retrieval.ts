// Searches the knowledge base: embeds the question with the model in use and returns its nearest chunks. Specification
// 4.3.

import { findKbBase } from '../../store/knowledge/chunks.ts';
import type { KbMatch } from '../../store/knowledge/index.ts';
import type { Embedder } from '../../workers/knowledge/embedder.ts';
import type { Retriever } from '../../workers/knowledge/retriever.ts';
import { refuse } from '../errors.ts';
import type { Engine } from '../runtime/engine.ts';

export interface RetrievalPorts {
  readonly embedder: Embedder;
  readonly retriever: Retriever;
}

export interface Retrieved {
  readonly chunks: readonly KbMatch[];
  readonly queryEmbedTimeMs: number;
  readonly searchTimeMs: number;
}

/** If the model changes between embedding and search, the question is embedded again. That happens once in months. */
const maxAttempts = 3;

/** Results are durable. Refuses unauthorized, embedding_unavailable. Rejects with the threads' errors. */
export async function retrieve(
  engine: Engine,
  question: { workspaceId: string; query: string; topK: number },
  { embedder, retriever }: RetrievalPorts,
): Promise<Retrieved> {
  const durable = (seenMs?: number): Promise<void> =>
    new Promise((resolve) => engine.whenDurable(question.workspaceId, resolve, seenMs));
  if (embedder.model === undefined) refuse('embedding_unavailable');
  let [queryEmbedTimeMs, searchTimeMs] = [0, 0];
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const { db } = engine.workspace(question.workspaceId) ?? refuse('unauthorized');
    const model = findKbBase(db)?.model;
    if (model === undefined) break;
    if (!embedder.serves(model)) refuse('embedding_unavailable');
    const askedMs = performance.now();
    const vector = await embedder.embedQuestion({ model, text: question.query });
    const embeddedMs = performance.now();
    const { result: chunks, seenMs } = await retriever.search({ path: db.path, model, vector, topK: question.topK });
    queryEmbedTimeMs += embeddedMs - askedMs;
    searchTimeMs += performance.now() - embeddedMs;
    if (chunks === undefined) continue;
    await durable(seenMs);
    return { chunks, queryEmbedTimeMs: Math.round(queryEmbedTimeMs), searchTimeMs: Math.round(searchTimeMs) };
  }
  await durable();
  return { chunks: [], queryEmbedTimeMs: 0, searchTimeMs: 0 };
}
