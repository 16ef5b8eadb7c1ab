// Asks the language model for an agent: a draft of the next answer, a summary, a rewritten text. Each asks outside, then
// records what was asked and what it cost. Nothing is ever sent to a customer by itself.

import type { AiModelRecord } from '../../store/assistant/ai-models.ts';
import { type AiRequestRecord, type AiSource, addAiUsage, insertAiRequest } from '../../store/assistant/ai-requests.ts';
import { type MessageRecord, messagesBefore } from '../../store/conversations/messages.ts';
import type { ChatModel, ChatPrompt } from '../../workers/providers/chat-model.ts';
import { requireReadable } from '../conversations/conversation.ts';
import { refuse } from '../errors.ts';
import { nothingWithoutModel, type RetrievalPorts, type RetrievedChunk, retrieve } from '../knowledge/retrieval.ts';
import { type Caller, systemCaller } from '../runtime/caller.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Ids } from '../runtime/ids.ts';
import { callingAgent } from '../workspace/access.ts';
import { requireFeature } from '../workspace/entitlements.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { aiTokensPerDay, aiUsage, type ModelEndpoint, type OperatorsModel, ownAiModel } from './ai-model.ts';
import { citedText, leaksPrompt, withoutForeignLinks } from './answer-text.ts';
import { draftPrompt, maxPromptMessages, type Rewriting, rewritePrompt, summaryPrompt } from './prompts.ts';

export interface AssistancePorts extends RetrievalPorts {
  readonly chatModel: ChatModel;
  readonly operatorsModel: OperatorsModel;
  /** Opens the key of a model that a workspace named. */
  openAiKey(workspaceId: string, sealed: string): string;
  readonly ids: Ids;
  /** Whether a provider sells the add-on; without one, every workspace has it. */
  readonly isAiSold: boolean;
}

export interface Asking {
  readonly workspaceId: string;
  readonly caller: Caller;
  /** Gets the text as it arrives, with the numbers of its sources. */
  readonly onText?: (text: string) => void;
  readonly signal?: AbortSignal;
}

export interface Assistance {
  readonly id: string;
  readonly text: string;
  /** Those that the text uses; for a draft only. */
  readonly sources: readonly AiSource[];
  /** The model stopped before the end. */
  readonly isCut: boolean;
}

const maxSources = 5;
const maxQuestionChars = 2000;
const maxTokens = { draft: 700, summary: 400, rewrite: 3000, test: 200 } as const;
const fenceBytes = 9;
const secondsPerDay = 24 * 3600;
/** Rather too many tokens. */
const charsPerToken = 3;

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
  const query = questionIn(messages);
  if (query === '') refuse('semantic_error', { message: 'The customer has written nothing to answer yet.' });
  const { chunks, threshold } = await retrieve(
    engine,
    { workspaceId, query, topK: maxSources, plainTextToo: true },
    ports,
  ).catch(nothingWithoutModel);
  const sources = chunks.filter(({ score }) => score >= threshold);
  const fence = ports.ids.secret(fenceBytes);
  const prompt = draftPrompt(
    theWorkspace(view).name,
    messages,
    sources.map((chunk) => ({ ...chunk, text: chunk.plainText ?? chunk.text })),
    fence,
  );
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
  const fence = ports.ids.secret(fenceBytes);
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
  const fence = ports.ids.secret(fenceBytes);
  const prompt = rewritePrompt(text, { how, language: languageName(language) }, fence);
  const answer = await ask(engine, { ...asking, kind: 'rewrite', prompt, fence, sources: [] }, ports);
  return { ...answer, text: withoutForeignLinks(answer.text, text), sources: [] };
}

/** One short question, to see whether the model answers. Refuses as rewrite() does. */
export async function tryModel(engine: Engine, asking: Asking, ports: AssistancePorts): Promise<Assistance> {
  const prompt = { system: 'You answer in one short sentence.', user: 'Say hello.' };
  const fence = ports.ids.secret(fenceBytes);
  const answer = await ask(engine, { ...asking, kind: 'test', prompt, fence, sources: [] }, ports);
  return { ...answer, sources: [] };
}

const noteRequest = command('ai.note', (ctx, params: Omit<AiRequestRecord, 'createdAt'>): void => {
  insertAiRequest(ctx.db, { ...params, createdAt: ctx.at });
  addAiUsage(ctx.db, { day: ctx.at.slice(0, 10), tokensIn: params.tokensIn, tokensOut: params.tokensOut });
});

interface Question extends Asking {
  readonly kind: AiRequestRecord['kind'];
  readonly conversationId?: string;
  readonly prompt: ChatPrompt;
  readonly fence: string;
  readonly sources: readonly RetrievedChunk[];
}

/** Records every question, the answered and the others. */
async function ask(
  engine: Engine,
  question: Question,
  ports: AssistancePorts,
): Promise<{ id: string; text: string; isCut: boolean }> {
  const { workspaceId, kind, conversationId = null, prompt, fence, onText, signal } = question;
  const view = viewOf(engine, question);
  const { id: agentId } = callingAgent(view);
  const endpoint = requireModel(view, ports);
  const id = ports.ids.uuid();
  const note = (outcome: { answer: string | null; problem: string | null; tokensIn: number; tokensOut: number }) =>
    engine.execute(noteRequest, {
      workspaceId,
      // The tokens count even if the agent may do nothing any more by then.
      caller: systemCaller,
      params: {
        id,
        kind,
        agentId,
        conversationId,
        model: endpoint.model,
        prompt,
        sources: question.sources.map(sourceOf),
        ...outcome,
      },
    });
  const options = {
    maxTokens: maxTokens[kind],
    ...(onText === undefined ? {} : { onText }),
    ...(signal === undefined ? {} : { signal }),
  };
  const answered = await ports.chatModel.ask({ ...endpoint, tenant: workspaceId }, prompt, options);
  if ('problem' in answered) {
    const { problem: reason, message, cause } = answered;
    await note({ answer: null, problem: message, tokensIn: estimatedTokens(prompt), tokensOut: 0 });
    refuse('service_unavailable', { message, detail: { reason }, cause });
  }
  const { text, isCut, tokensIn, tokensOut } = answered;
  if (leaksPrompt(text, fence)) {
    const message = 'The model repeated its instructions instead of answering.';
    await note({ answer: text, problem: message, tokensIn, tokensOut });
    refuse('service_unavailable', { message, detail: { reason: 'garbled' } });
  }
  await note({ answer: text, problem: null, tokensIn, tokensOut });
  return { id, text, isCut };
}

function viewOf(engine: Engine, { workspaceId, caller }: Pick<Asking, 'workspaceId' | 'caller'>): View {
  return engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
}

/** The model to ask. Refuses feature_locked, service_unavailable, rate_limited. */
function requireModel(view: View, ports: AssistancePorts): ModelEndpoint {
  if (ports.isAiSold) requireFeature(view, 'ai');
  const { operatorsModel } = ports;
  const own = ownAiModel(view, operatorsModel);
  const endpoint = operatorsModel.endpoint ?? (own && endpointOf(view, own, ports)) ?? noModel();
  const [today] = aiUsage(view);
  const used = today?.day === view.at.slice(0, 10) ? today.tokensIn + today.tokensOut : 0;
  if (used >= (aiTokensPerDay(view, operatorsModel) ?? 0))
    refuse('rate_limited', {
      message: "Today's tokens of the language model are used up. A new day begins at midnight, UTC.",
      retryAfter: secondsPerDay - (Math.floor(view.nowMs / 1000) % secondsPerDay),
    });
  return endpoint;
}

function noModel(): never {
  refuse('service_unavailable', { message: 'No language model is set up.', detail: { reason: 'not_configured' } });
}

function endpointOf(
  view: View,
  { url, model, sealedKey, mayBePrivate }: AiModelRecord,
  ports: AssistancePorts,
): ModelEndpoint {
  const key = sealedKey === null ? undefined : ports.openAiKey(view.workspaceId, sealedKey);
  return { url, model, key, mayBePrivate };
}

/** What customer and team wrote, oldest first. Refuses not_found, channel_not_assigned. */
function messagesOf(view: View, conversationId: string): MessageRecord[] {
  requireReadable(view, conversationId);
  return messagesBefore(view.db, {
    conversationId,
    before: undefined,
    limit: maxPromptMessages,
    withSystem: false,
  }).reverse();
}

/** What the customer wrote since the last answer, or last; empty without any. */
function questionIn(messages: readonly MessageRecord[]): string {
  const last = messages.findLastIndex(({ senderType }) => senderType === 'visitor');
  const before = messages.slice(0, last + 1).findLastIndex(({ senderType }) => senderType !== 'visitor');
  const asked = messages.slice(before + 1, last + 1).map(({ body }) => body);
  return asked.join('\n').slice(-maxQuestionChars).trim();
}

/** Every address that the sources have. */
function linksIn(sources: readonly RetrievedChunk[]): string {
  return sources.map(({ url, text }) => `${url ?? ''} ${text}`).join('\n');
}

function sourceOf({ title, headings, url, documentId }: RetrievedChunk): AiSource {
  return { title: headings.at(-1) ?? title, url, documentId };
}

/** Of a question whose answer never came: it may have been counted all the same. */
function estimatedTokens({ system, user }: ChatPrompt): number {
  return Math.ceil((system.length + user.length) / charsPerToken);
}

/** In English, as the rest of the prompt. A tag that names no language stays as it is. */
function languageName(locale: string): string {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(locale.replaceAll('_', '-')) ?? locale;
  } catch {
    return locale;
  }
}
