// Answers a site's customers by itself, where its owner wants that: from the knowledge base only, with its sources. It
// hands over to a person when asked to, when it is not sure, after so many answers and when anything fails. Until then
// the chat waits for no agent.

import { countAiAnswers } from '../../store/assistant/ai-requests.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { countAiMessages, findMessage, type MessageRecord, unmarkRead } from '../../store/conversations/messages.ts';
import { changeConversation, conversationKind } from '../conversations/conversation.ts';
import { appendMessage, appendServiceLine } from '../conversations/messages.ts';
import { expectNotice, messageNoticeDeadline } from '../conversations/notices.ts';
import { routeChat } from '../conversations/routing.ts';
import { moveTo } from '../conversations/status.ts';
import { expectUnseen, waitingAnswers } from '../conversations/unseen.ts';
import { countIfBelow, dayMs, hourMs, minuteMs } from '../directory/ceilings.ts';
import { Refusal } from '../errors.ts';
import { systemCaller } from '../runtime/caller.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import type { Engine } from '../runtime/engine.ts';
import { deadline, type NoPayload, outboxKind } from '../runtime/kinds.ts';
import type { OutboxItem, OutboxOutcome } from '../runtime/outbox.ts';
import { requireSite } from '../workspace/sites.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { citedText, unknownFigure, withoutForeignLinks } from './answer-text.ts';
import { type AssistancePorts, ask, newFence, requireModel, viewOf } from './asking.ts';
import { type OwnWords, ownWords, understood } from './own-words.ts';
import { answerPrompt, languageName, passOn, summaryPrompt } from './prompts.ts';
import { linksIn, newestMessages, plainly, questionIn, type Source, sourceOf, sourcesFor } from './sources.ts';

export interface AnswerToWrite {
  readonly messageId: string;
}

/** Below what one workspace may have under way at a model, so that none is refused for that. */
const answersAtOnce = 4;
export const answerKind = outboxKind<AnswerToWrite>('assistant.answer', {
  retryDelaysMs: [],
  maxUnderWay: 32,
  maxPerWorkspace: answersAtOnce,
});
export const handoverSummaryKind = outboxKind<NoPayload>('assistant.summary', {
  retryDelaysMs: [],
  maxUnderWay: 8,
  maxPerWorkspace: 1,
});
/** Subjects are conversations. */
export const restDeadline = deadline('assistant.rest');

/** A chat in which the customer has not written since the answer counts as solved after this time. */
const restMs = dayMs;
/** A message that waited longer for its turn is a person's, and so is one whose answer takes longer. */
const longestWaitMs = minuteMs;
const answerTimeoutMs = 30_000;
/** Chats of one network in an hour, since every answer costs tokens. Agents answer the others. */
const chatsPerNetwork = 20;
const maxNamedSources = 3;
/** Far more than what is asked for. */
const maxAnswerChars = 4000;

/** Why a person takes over, for agents. */
const reasons = {
  asked: 'the customer asked for a person.',
  unsure: 'the knowledge base has no clear answer.',
  turns: 'it gave as many answers as the site allows.',
  file: 'the customer sent a file.',
  mail: 'the customer answered by mail.',
  unread: 'the customer left before reading the answer.',
  off: 'it is turned off.',
  failed: 'the language model gave no answer.',
} as const;
type Reason = keyof typeof reasons;
/** With these, the customer is told: it would otherwise wait for the assistant. */
const toldReasons: readonly Reason[] = ['asked', 'unsure', 'turns', 'file'];

/** Whether a new chat begins with the assistant. */
export function beginsWithAssistant(ctx: Context, chat: { siteId: string; network: string }): boolean {
  return (
    requireSite(ctx, chat.siteId).assistantTurns > 0 &&
    countIfBelow(ctx, {
      ceiling: 'assistant_chats_of_network',
      of: chat.network,
      limit: chatsPerNetwork,
      perMs: hourMs,
    })
  );
}

/** Call after a customer's message. Returns the current state of the conversation. */
export function expectAnswer(ctx: Context, chat: ConversationRecord, message: MessageRecord): ConversationRecord {
  if (!isAnswering(chat)) return chat;
  ctx.clearDeadline(restDeadline, chat.id);
  const turns = turnsOf(ctx, chat);
  if (turns === 0) return handOver(ctx, chat, 'off');
  if (message.attachments.length > 0) return handOver(ctx, chat, 'file');
  if (understood(message.body) === 'person') return handOver(ctx, chat, 'asked');
  // Each costs tokens, whether or not it came in time; greetings cost none.
  if (countAiAnswers(ctx.db, chat.id) >= turns) return handOver(ctx, chat, 'turns');
  ctx.enqueue(answerKind, {
    target: `assistant:${chat.id}`,
    subjectId: chat.id,
    payload: { messageId: message.id },
  });
  return chat;
}

/** A person answers from now on: an available agent at once, or else whoever takes it from the queue. */
export function handOver(ctx: Context, chat: ConversationRecord, reason: Reason): ConversationRecord {
  if (chat.assistant !== 'answering') return chat;
  ctx.clearDeadline(restDeadline, chat.id);
  const handed = changeConversation(ctx, unreadAgain(ctx, chat), { assistant: 'handed_over' });
  // It answers nothing: the customer goes on waiting.
  const told = toldReasons.includes(reason)
    ? appendMessage(ctx, handed, {
        senderType: 'ai',
        senderId: null,
        body: wordsOf(ctx).handover,
        isSide: true,
      }).conversation
    : handed;
  const answers = countAiMessages(ctx.db, chat.id) - (told === handed ? 0 : 1);
  if (answers > 0 && countAiAnswers(ctx.db, chat.id) > 0)
    ctx.enqueue(handoverSummaryKind, { target: `assistant:${chat.id}`, subjectId: chat.id, payload: {} });
  const noted = appendServiceLine(ctx, told, `The assistant handed this over: ${reasons[reason]}`);
  expectNotice(ctx, messageNoticeDeadline, chat.id);
  return routeChat(ctx, noted);
}

/** Who looked while the assistant was answering left it to that. */
function unreadAgain(ctx: Context, chat: ConversationRecord): ConversationRecord {
  const { id, waitingSince, agentsReadUpTo } = chat;
  if (waitingSince === null || agentsReadUpTo === null || agentsReadUpTo < waitingSince) return chat;
  unmarkRead(ctx.db, { conversationId: id, senderType: 'visitor', from: waitingSince });
  return changeConversation(ctx, chat, { agentsReadUpTo: isoTime(Date.parse(waitingSince) - 1) });
}

/**
 * Writes the answer to a message, or hands over. Resolves to what it did. A restart begins again: the answer has the
 * item's id, so it is written once.
 */
export async function answerCustomer(
  engine: Engine,
  item: { workspaceId: string; id: string; conversationId: string; messageId: string; createdAt: string },
  ports: AssistancePorts,
): Promise<string> {
  const { workspaceId, conversationId, messageId } = item;
  const asking = { workspaceId, caller: systemCaller };
  const view = viewOf(engine, asking);
  if (awaitedIn(view, item) === undefined) return 'nothing to answer';
  const passedOn = async (reason: Reason): Promise<string> => {
    const params = { conversationId, messageId, reason };
    await engine.execute(passToPerson, { ...asking, params });
    return `handed over: ${reason}`;
  };
  if (view.nowMs - Date.parse(item.createdAt) > longestWaitMs) return passedOn('failed');
  try {
    const body = await answerTo(engine, { workspaceId, conversationId, view }, ports);
    if (body === undefined) return await passedOn('unsure');
    await engine.execute(writeAnswer, { ...asking, params: { ...item, body } });
    return 'answered';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return passedOn(error.slug === 'feature_locked' || isNotSetUp(error) ? 'off' : 'failed');
  }
}

/** Runs when an attempt failed for a reason that no one foresaw. */
export function settleAnswer(
  ctx: Context,
  { subjectId, payload }: OutboxItem<AnswerToWrite>,
  outcome: OutboxOutcome,
): void {
  if (outcome.state === 'sent' || subjectId === null) return;
  const chat = awaitedIn(ctx, { conversationId: subjectId, ...payload });
  if (chat !== undefined) handOver(ctx, chat, 'failed');
}

/** Writes, for the agent who takes over, what it was about. Refuses as ask() does. */
export async function summariseHandover(
  engine: Engine,
  { workspaceId, conversationId }: { workspaceId: string; conversationId: string },
  ports: AssistancePorts,
): Promise<string> {
  const asking = { workspaceId, caller: systemCaller };
  const view = viewOf(engine, asking);
  const messages = newestMessages(view, conversationId);
  if (view.state(conversationKind, conversationId) === undefined || messages.length === 0) return 'nothing to sum up';
  const fence = newFence(ports);
  const prompt = summaryPrompt(messages, languageName(theWorkspace(view).locale), fence);
  const { text } = await ask(engine, { ...asking, kind: 'summary', conversationId, prompt, fence, sources: [] }, ports);
  const summary = withoutForeignLinks(text, prompt.user);
  await engine.execute(writeSummary, { ...asking, params: { conversationId, summary } });
  return 'summed up';
}

/** The customer has not written since the assistant's last answer. */
export const restChat = command('assistant.rest', (ctx, { subjectId }: DeadlineParams): void => {
  const chat = ctx.state(conversationKind, subjectId);
  if (chat === undefined || !isAnswering(chat) || chat.lastSenderType !== 'ai') return;
  const [unread] = waitingAnswers(ctx, chat, 1);
  if (unread !== undefined) {
    handOver(ctx, chat, 'unread');
    return;
  }
  moveTo(ctx, chat, 'solved', { line: 'The assistant solved this: the customer wrote nothing more for a day.' });
});

const writeAnswer = command(
  'assistant.write',
  (ctx, params: { id: string; conversationId: string; messageId: string; body: string }): void => {
    const chat = awaitedIn(ctx, params);
    if (chat === undefined || findMessage(ctx.db, params.id) !== undefined) return;
    const { hint } = wordsOf(ctx);
    const isFirst = countAiMessages(ctx.db, chat.id) === 0;
    const { message, conversation } = appendMessage(ctx, chat, {
      id: params.id,
      senderType: 'ai',
      senderId: null,
      body: isFirst ? `${params.body}\n\n${hint}` : params.body,
    });
    expectUnseen(ctx, message);
    ctx.setDeadline(restDeadline, conversation.id, ctx.nowMs + restMs);
  },
);

const passToPerson = command(
  'assistant.handOver',
  (ctx, params: { conversationId: string; messageId: string; reason: Reason }): void => {
    const chat = awaitedIn(ctx, params);
    if (chat !== undefined) handOver(ctx, chat, params.reason);
  },
);

const writeSummary = command('assistant.sum', (ctx, params: { conversationId: string; summary: string }): void => {
  const chat = ctx.state(conversationKind, params.conversationId);
  if (chat !== undefined && params.summary !== '') appendServiceLine(ctx, chat, `Summary: ${params.summary}`);
});

/** Undefined if a person should answer. Refuses as ask() does. */
async function answerTo(
  engine: Engine,
  { workspaceId, conversationId, view }: { workspaceId: string; conversationId: string; view: View },
  ports: AssistancePorts,
): Promise<string | undefined> {
  requireModel(view, ports);
  const messages = newestMessages(view, conversationId);
  const query = questionIn(messages);
  const words = wordsOf(view);
  const meant = understood(query);
  if (meant === 'greeting') return words.greeting;
  if (meant === 'thanks') return words.welcome;
  const sources = await sourcesFor(engine, { workspaceId, query }, ports);
  if (sources.length === 0) return undefined;
  const plain = sources.map(plainly);
  const fence = newFence(ports);
  const prompt = answerPrompt(theWorkspace(view).name, messages, plain, fence);
  const { text, isCut } = await ask(
    engine,
    {
      workspaceId,
      caller: systemCaller,
      kind: 'answer',
      conversationId,
      prompt,
      fence,
      sources,
      signal: AbortSignal.timeout(answerTimeoutMs),
    },
    ports,
  );
  if (text.length > maxAnswerChars) return undefined;
  const { text: said, cited } = citedText(text, sources.length);
  if (isCut || said.includes(passOn) || cited.length === 0 || said === '') return undefined;
  // A customer's own figures are none of ours, even if the model confirms them.
  const known = plain.map((source) => `${source.title} ${source.headings.join(' ')} ${source.text}`);
  if (unknownFigure(said, known.join('\n')) !== undefined) return undefined;
  const named = cited.flatMap((index) => sources.slice(index, index + 1));
  return `${withoutForeignLinks(said, linksIn(sources))}\n\n${sourceLines(named, words)}`;
}

function sourceLines(sources: readonly Source[], words: OwnWords): string {
  const lines = sources.map(sourceOf).map(({ title, url }) => (url === null ? title : `${title}: ${url}`));
  const named = [...new Set(lines)].slice(0, maxNamedSources);
  const [only] = named;
  return named.length === 1 ? `${words.source} ${only}` : `${words.sources}\n${named.join('\n')}`;
}

/** The chat, if the assistant still has to answer this message: no one has, and the customer has written nothing more. */
function awaitedIn(
  view: Pick<View, 'db' | 'state'>,
  { conversationId, messageId }: { conversationId: string; messageId: string },
): ConversationRecord | undefined {
  const chat = view.state(conversationKind, conversationId);
  if (chat === undefined || !isAnswering(chat) || chat.waitingSince === null) return undefined;
  return findMessage(view.db, messageId)?.createdAt === chat.lastCustomerMessageAt ? chat : undefined;
}

function isAnswering({ assistant, status }: ConversationRecord): boolean {
  return assistant === 'answering' && status === 'open';
}

function turnsOf(ctx: Context, { siteId }: ConversationRecord): number {
  return siteId === null ? 0 : requireSite(ctx, siteId).assistantTurns;
}

function wordsOf(view: Pick<View, 'state'>): OwnWords {
  return ownWords(theWorkspace(view).locale);
}

function isNotSetUp({ detail }: Refusal): boolean {
  return detail !== undefined && 'reason' in detail && detail.reason === 'not_configured';
}
