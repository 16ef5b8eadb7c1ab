// What could answer a customer's question, for the agent who answers it: chunks of the knowledge base that probably do,
// and saved replies that the agent may use.

import type { FoundReply } from '../../workers/knowledge/retriever.ts';
import { refuse } from '../errors.ts';
import type { Caller } from '../runtime/caller.ts';
import type { Engine } from '../runtime/engine.ts';
import { callingAgent } from '../workspace/access.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { nothingWithoutModel, type RetrievalPorts, type RetrievedChunk, retrieve } from './retrieval.ts';

export interface Suggestions {
  /** At least as likely as the workspace's threshold asks, best first. */
  readonly chunks: readonly (RetrievedChunk & { readonly plainText: string })[];
  readonly replies: readonly FoundReply[];
}

export interface SuggestParams {
  readonly workspaceId: string;
  readonly caller: Caller;
  readonly query: string;
  readonly channel: 'chat' | 'ticket' | undefined;
  /** At most so many of each. */
  readonly limit: number;
}

/**
 * Results are durable. Without a knowledge base, or without a model for it, only saved replies are found. Refuses
 * unauthorized. Rejects with the threads' errors.
 */
export async function suggest(
  engine: Engine,
  { workspaceId, caller, query, channel, limit }: SuggestParams,
  ports: RetrievalPorts,
): Promise<Suggestions> {
  const view = engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
  const { id: agentId } = callingAgent(view);
  const [language = 'en'] = theWorkspace(view).locale.split('-');
  const [{ chunks, threshold }, { result: replies, seenMs }] = await Promise.all([
    retrieve(engine, { workspaceId, query, topK: limit, plainTextToo: true }, ports).catch(nothingWithoutModel),
    ports.retriever.searchReplies({ path: view.db.path, agentId, channel, text: query, languages: [language], limit }),
  ]);
  await engine.durable(workspaceId, seenMs);
  const likely = chunks.filter(({ score }) => score >= threshold);
  return { chunks: likely.map((chunk) => ({ ...chunk, plainText: chunk.plainText ?? chunk.text })), replies };
}
