// When a chat's answers that its customer has not seen are due to be mailed: some minutes after the first of them, once
// the customer is gone. tickets/chat-mail.ts mails them. A chat has a deadline while answers may have to be mailed at a
// known time; while its customer is there it has none, and gets it when the customer leaves. Decisions "A chat goes on
// by mail".

import { type ConversationRecord, newestConversationsOfVisitor } from '../../store/conversations/conversations.ts';
import { type MessageRecord, unseenAnswers } from '../../store/conversations/messages.ts';
import { findDeadline } from '../../store/runtime/deadlines.ts';
import { dayMs, minuteMs } from '../directory/ceilings.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline } from '../runtime/kinds.ts';
import type { ActorKind } from '../runtime/registry.ts';
import { reschedule } from '../runtime/rescheduling.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { conversationKind } from './conversation.ts';

export const unseenDeadline = deadline('chat.unseen');
export const rescheduleUnseenDeadline = deadline('workspace.unseenAnew');
/** Older answers are not mailed: to a customer who returns for something else they would be no news. */
const longestMs = 7 * dayMs;
/** A customer's chats that are looked at when it leaves. Few have more than one. */
const maxChats = 10;

/** Whether a chat has the deadline. In memory, because every answer asks and only the first sets it. */
const expectedKind: ActorKind<boolean> = {
  name: 'chatUnseen',
  load: (db, chatId) => findDeadline(db, unseenDeadline.deadlineKind, chatId) !== undefined,
};

/** How a command sets the deadline. */
export function setUnseen(ctx: Context, chatId: string, dueMs: number): void {
  ctx.setDeadline(unseenDeadline, chatId, dueMs);
  ctx.setState(expectedKind, chatId, true);
}

/** The deadline was due, and its row is gone. */
export function noteUnseenDue(ctx: Context, chatId: string): void {
  ctx.setState(expectedKind, chatId, false);
}

/** The first answers that wait, oldest first. */
export function waitingAnswers(
  view: Pick<View, 'db' | 'nowMs'>,
  conversation: ConversationRecord,
  limit: number,
): MessageRecord[] {
  const kept = isoTime(view.nowMs - longestMs);
  const { id, customerReadUpTo } = conversation;
  const after = customerReadUpTo !== null && customerReadUpTo > kept ? customerReadUpTo : kept;
  return unseenAnswers(view.db, { conversationId: id, after, limit });
}

/**
 * When answers of which the first is this old are due. Without a number of minutes, when they no longer wait: until then
 * the deadline stays, so that a number that is set meanwhile finds them.
 */
export function unseenDueMs(view: Pick<View, 'state'>, { createdAt }: Pick<MessageRecord, 'createdAt'>): number {
  const { unseenMailMinutes } = theWorkspace(view).settings;
  return Date.parse(createdAt) + (unseenMailMinutes === 0 ? longestMs : unseenMailMinutes * minuteMs);
}

/** Call after an agent's message in a chat. */
export function expectUnseen(ctx: Context, message: MessageRecord): void {
  if (ctx.state(expectedKind, message.conversationId) !== true)
    setUnseen(ctx, message.conversationId, unseenDueMs(ctx, message));
}

/** Call when a customer may have become one whose answers are mailed: it left, or gave an address. */
export function expectUnseenOf(ctx: Context, visitorId: string): void {
  for (const chat of newestConversationsOfVisitor(ctx.db, { visitorId, channel: 'chat', limit: maxChats }))
    expectUnseenIn(ctx, chat);
}

/** Call when a chat's answers may have to be mailed again. */
export function expectUnseenIn(ctx: Context, chat: ConversationRecord): void {
  const [first] = waitingAnswers(ctx, chat, 1);
  if (first !== undefined) setUnseen(ctx, chat.id, Math.max(unseenDueMs(ctx, first), ctx.nowMs));
}

/** The workspace's number of minutes changed: it applies to answers that wait already, too. */
export function rescheduleUnseen(ctx: Context, afterId = ''): void {
  reschedule(ctx, { of: unseenDeadline, next: rescheduleUnseenDeadline, afterId }, (id) => {
    const chat = ctx.state(conversationKind, id);
    if (chat !== undefined) expectUnseenIn(ctx, chat);
  });
}

/** Continues where rescheduleUnseen stopped. */
export const continueUnseen = command('workspace.unseenAnew', (ctx, params: DeadlineParams): void =>
  rescheduleUnseen(ctx, params.subjectId),
);
