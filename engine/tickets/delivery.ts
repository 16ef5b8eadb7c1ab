// Records in its message what became of a mail: sent, failed, or to be tried again. Suppresses an address that was
// refused for good.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { findMessage, setMailed, settleDelivery } from '../../store/conversations/messages.ts';
import { audienceOf, conversationKind } from '../conversations/conversation.ts';
import { appendServiceLine, appendSystemLine, messageView } from '../conversations/messages.ts';
import { expectUnseenIn } from '../conversations/unseen.ts';
import { emit } from '../events.ts';
import type { Mail } from '../mail/outgoing.ts';
import { suppress } from '../mail/suppressions.ts';
import type { Context } from '../runtime/context.ts';
import type { OutboxItem, OutboxOutcome } from '../runtime/outbox.ts';
import { notifyOfLostInvitation } from '../team/lost-invitations.ts';

/** The DeliveryError code for an address that, according to its server, accepts no mail at all. */
export const addressRefused = 'address_refused';
/** The answer for a mail that did not leave, because there was no reason for it any more. */
export const withdrawn = 'withdrawn';
/** Characters kept of a server's answer; some are very long. */
const maxAnswerChars = 300;

export function settleMail(ctx: Context, item: OutboxItem<Mail>, outcome: OutboxOutcome): void {
  const { to, copyOf, messageIds = [item.subjectId ?? ''] } = item.payload;
  if (outcome.state === 'retry') {
    if (copyOf === undefined) for (const id of messageIds) noteDelay(ctx, id, outcome.answer);
    return;
  }
  if (outcome.state === 'failed' && outcome.code === addressRefused) suppress(ctx, to, 'rejected', outcome.answer);
  if (item.subjectId === null) {
    if (outcome.state === 'failed') notifyOfLostInvitation(ctx, item.payload, outcome.answer);
    return;
  }
  if (copyOf !== undefined) {
    if (outcome.state === 'failed') failCopy(ctx, item.subjectId, { to, answer: outcome.answer });
  } else if (outcome.state === 'failed') failDelivery(ctx, messageIds, { to, answer: outcome.answer });
  else if (outcome.answer === withdrawn) withdraw(ctx, messageIds);
  else for (const id of messageIds) noteDelivery(ctx, id, 'sent');
}

/** What the customer has not seen waits again. */
function withdraw(ctx: Context, messageIds: readonly string[]): void {
  let chat: ConversationRecord | undefined;
  for (const id of messageIds) {
    setMailed(ctx.db, { id, deliveryStatus: null, mail: null });
    chat = tellDelivery(ctx, id) ?? chat;
  }
  if (chat !== undefined) expectUnseenIn(ctx, chat);
}

/** The customer has the message; a line in the conversation says which copy failed. */
export function failCopy(ctx: Context, messageId: string, failure: { to: string; answer: string }): void {
  const message = findMessage(ctx.db, messageId);
  const conversation = message === undefined ? undefined : ctx.state(conversationKind, message.conversationId);
  if (conversation !== undefined)
    appendServiceLine(
      ctx,
      conversation,
      `The copy to ${failure.to} could not be delivered: ${failure.answer.slice(0, maxAnswerChars)}`,
    );
}

/**
 * A mail with these messages, or about a conversation (a receipt, a transcript), did not arrive; a line in the
 * conversation says why.
 */
export function failDelivery(
  ctx: Context,
  subjectIds: readonly string[],
  failure: { to: string; answer: string },
): void {
  let conversation: ConversationRecord | undefined;
  for (const id of subjectIds) {
    const message = findMessage(ctx.db, id);
    if (message === undefined) conversation = ctx.state(conversationKind, id);
    else if (message.deliveryStatus !== 'failed') conversation = noteDelivery(ctx, id, 'failed') ?? conversation;
  }
  if (conversation !== undefined)
    appendSystemLine(
      ctx,
      conversation,
      `The mail to ${failure.to} could not be delivered: ${failure.answer.slice(0, maxAnswerChars)}`,
    );
}

/** Agents are told of the first retry, and again when the server answers something else. */
function noteDelay(ctx: Context, messageId: string, words: string): void {
  const message = findMessage(ctx.db, messageId);
  const answer = words.slice(0, maxAnswerChars);
  if (message?.mail == null || message.deliveryStatus !== 'queued' || message.mail.delayed?.answer === answer) return;
  setMailed(ctx.db, { ...message, mail: { ...message.mail, delayed: { answer, at: ctx.at } } });
  tellDelivery(ctx, messageId);
}

/**
 * Records the delivery state of the message's mail and emits it to the agents. Undefined if the message does not exist.
 */
function noteDelivery(
  ctx: Context,
  messageId: string,
  deliveryStatus: 'sent' | 'failed',
): ConversationRecord | undefined {
  settleDelivery(ctx.db, messageId, deliveryStatus);
  return tellDelivery(ctx, messageId);
}

function tellDelivery(ctx: Context, messageId: string): ConversationRecord | undefined {
  const message = findMessage(ctx.db, messageId);
  const conversation = message === undefined ? undefined : ctx.state(conversationKind, message.conversationId);
  if (message === undefined || conversation === undefined) return undefined;
  emit(ctx, {
    type: 'message.updated',
    conversationId: conversation.id,
    audience: audienceOf(conversation, { visitorToo: false }),
    data: { message: messageView(message) },
  });
  return conversation;
}
