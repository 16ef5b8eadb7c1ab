// Asks the language model for an agent: a draft of the next answer, a summary, a rewritten text. Nothing is ever sent to a
// customer from here.

import type { AiSource } from '../../store/assistant/ai-requests.ts';
import type { MessageRecord } from '../../store/conversations/messages.ts';
import { requireReadable } from '../conversations/conversation.ts';
import { refuse } from '../errors.ts';
import { nothingWithoutModel } from '../knowledge/retrieval.ts';
import type { View } from '../runtime/context.ts';
import type { Engine } from '../runtime/engine.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { citedText, withoutForeignLinks } from './answer-text.ts';
import { type Answered, type Asking, type AssistancePorts, ask, newFence, requireModel, viewOf } from './asking.ts';
import { draftPrompt, languageName, type Rewriting, rewritePrompt, summaryPrompt } from './prompts.ts';
import { linksIn, newestMessages, plainly, questionIn, sourceOf, sourcesFor } from './sources.ts';

export interface Assistance extends Answered {
  /** Those that the text uses; for a draft only. */
  readonly sources: readonly AiSource[];
}

/**
 * Drafts the answer to the customer's last message, from the knowledge base only. Refuses not_found,
 * channel_not_assigned, feature_locked, service_unavailable, rate_limited, semantic_error if the customer
 * wrote nothing.
 */
export async function draftAnswer(
  engine: Engine,
  asking: Asking & { readonly conversationId: string },
  ports: AssistancePorts,
): Promise<Assistance> {
  const { workspaceId, conversationId } = asking;
  const view = viewOf(engine, asking);
  const messages = messagesOf(view, conversationId);
  requireModel(view, ports);
  // What the assistant answered before it handed over is still a question for the agent.
  const query = questionIn(messages.filter(({ senderType }) => senderType !== 'ai'));
  if (query === '') refuse('semantic_error', { message: 'The customer has written nothing to answer yet.' });
  const sources = await sourcesFor(engine, { workspaceId, query }, ports).catch(
    (error: unknown) => nothingWithoutModel(error).chunks,
  );
  const fence = newFence(ports);
  const prompt = draftPrompt(theWorkspace(view).name, messages, sources.map(plainly), fence);
  const { text, ...answer } = await ask(engine, { ...asking, kind: 'draft', prompt, fence, sources }, ports);
  const cited = citedText(text, sources.length);
  return {
    ...answer,
    text: withoutForeignLinks(cited.text, linksIn(sources)),
    sources: cited.cited.flatMap((index) => sources.slice(index, index + 1).map(sourceOf)),
  };
}

/** Of a conversation, for a colleague. Refuses as draftAnswer() does. */
export async function summarise(
  engine: Engine,
  asking: Asking & { readonly conversationId: string },
  ports: AssistancePorts,
): Promise<Assistance> {
  const view = viewOf(engine, asking);
  const messages = messagesOf(view, asking.conversationId);
  requireModel(view, ports);
  if (messages.length === 0) refuse('semantic_error', { message: 'There is nothing to summarise yet.' });
  const fence = newFence(ports);
  const prompt = summaryPrompt(messages, languageName(theWorkspace(view).locale), fence);
  const answer = await ask(engine, { ...asking, kind: 'summary', prompt, fence, sources: [] }, ports);
  return { ...answer, text: withoutForeignLinks(answer.text, prompt.user), sources: [] };
}

/** Refuses feature_locked, service_unavailable, rate_limited. */
export async function rewrite(
  engine: Engine,
  asking: Asking & { readonly text: string; readonly how: Rewriting; readonly language: string | undefined },
  ports: AssistancePorts,
): Promise<Assistance> {
  const view = viewOf(engine, asking);
  const { text, how, language = theWorkspace(view).locale } = asking;
  const fence = newFence(ports);
  const prompt = rewritePrompt(text, { how, language: languageName(language) }, fence);
  const answer = await ask(engine, { ...asking, kind: 'rewrite', prompt, fence, sources: [] }, ports);
  return { ...answer, text: withoutForeignLinks(answer.text, text), sources: [] };
}

/** One short question, to see whether the model answers. Refuses as rewrite() does. */
export async function tryModel(engine: Engine, asking: Asking, ports: AssistancePorts): Promise<Assistance> {
  const prompt = { system: 'You answer in one short sentence.', user: 'Say hello.' };
  const fence = newFence(ports);
  const answer = await ask(engine, { ...asking, kind: 'test', prompt, fence, sources: [] }, ports);
  return { ...answer, sources: [] };
}

/** What customer and team wrote, oldest first. Refuses not_found, channel_not_assigned. */
function messagesOf(view: View, conversationId: string): MessageRecord[] {
  requireReadable(view, conversationId);
  return newestMessages(view, conversationId);
}
