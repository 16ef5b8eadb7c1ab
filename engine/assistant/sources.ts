// What an answer is written from: the customer's question, and the places in the knowledge base that answer it.

import type { AiSource } from '../../store/assistant/ai-requests.ts';
import { type MessageRecord, messagesBefore } from '../../store/conversations/messages.ts';
import { type RetrievalPorts, type RetrievedChunk, retrieve } from '../knowledge/retrieval.ts';
import type { View } from '../runtime/context.ts';
import type { Engine } from '../runtime/engine.ts';
import { maxPromptMessages } from './prompts.ts';

export type Source = RetrievedChunk;

const maxSources = 5;
const maxQuestionChars = 2000;

/** Those that probably answer the question, best first. Refuses as retrieve() does. */
export async function sourcesFor(
  engine: Engine,
  question: { workspaceId: string; query: string },
  ports: RetrievalPorts,
): Promise<Source[]> {
  const asked = { ...question, topK: maxSources, plainTextToo: true };
  const { chunks, threshold } = await retrieve(engine, asked, ports);
  return chunks.filter(({ score }) => score >= threshold);
}

/** For a prompt. */
export function plainly(source: Source): Source {
  return { ...source, text: source.plainText ?? source.text };
}

/** What customer and team wrote last, oldest first. */
export function newestMessages(view: Pick<View, 'db'>, conversationId: string): MessageRecord[] {
  return messagesBefore(view.db, {
    conversationId,
    before: undefined,
    limit: maxPromptMessages,
    withSystem: false,
  }).reverse();
}

/** What the customer wrote since the last answer, or last; empty without any. */
export function questionIn(messages: readonly MessageRecord[]): string {
  const last = messages.findLastIndex(({ senderType }) => senderType === 'visitor');
  const before = messages.slice(0, last + 1).findLastIndex(({ senderType }) => senderType !== 'visitor');
  const asked = messages.slice(before + 1, last + 1).map(({ body }) => body);
  return asked.join('\n').slice(-maxQuestionChars).trim();
}

/** Every address that the sources have. */
export function linksIn(sources: readonly Source[]): string {
  return sources.map(({ url, text }) => `${url ?? ''} ${text}`).join('\n');
}

export function sourceOf({ title, headings, url, documentId }: Source): AiSource {
  return { title: headings.at(-1) ?? title, url, documentId };
}
