// Moves messages from one ticket to another, and keeps the records of both true to what they hold since. merging.ts and
// splitting.ts decide what may move.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { freeTimeFrom } from '../../store/conversations/free-times.ts';
import { moveMessage, spokenIn } from '../../store/conversations/moves.ts';
import { audienceOf, type ConversationChanges, later } from '../conversations/conversation.ts';
import { previewOf } from '../conversations/messages.ts';
import { emit } from '../events.ts';
import { isoTime } from '../runtime/clock.ts';
import type { Context } from '../runtime/context.ts';

/** Messages went from one ticket to another. */
export interface MoveView {
  readonly fromConversationId: string;
  readonly toConversationId: string;
  readonly count: number;
}

declare module '../events.ts' {
  interface EventRecords {
    readonly move: MoveView;
  }
}

/**
 * Moves them in their order, each at its own time. Times are unique within a conversation: a message that meets another
 * one's time is put behind it.
 */
export function moveMessages(
  ctx: Context,
  messages: readonly { readonly id: string; readonly createdAt: string; readonly writtenAt: string }[],
  { moveId, toId }: { moveId: string; toId: string },
): void {
  let atMs = Number.NEGATIVE_INFINITY;
  for (const { id, createdAt, writtenAt } of messages) {
    const free = freeTimeFrom(ctx.db, toId, isoTime(Math.max(Date.parse(createdAt), atMs + 1)));
    moveMessage(ctx.db, { id, conversationId: toId, createdAt: free, writtenAt, moveId });
    atMs = Date.parse(free);
  }
}

/** The members of a ticket's record that follow from its messages. `waitingFrom`: no earlier message waits any more. */
export function spokenFields(
  ctx: Context,
  { id, agentsReadUpTo }: ConversationRecord,
  waitingFrom: string | null,
): ConversationChanges {
  const { last, firstUnreadAt, ...times } = spokenIn(ctx.db, id, waitingFrom);
  return {
    ...times,
    preview: last === undefined ? null : previewOf(last),
    lastMessageAt: last?.createdAt ?? null,
    lastSenderType: last?.senderType ?? null,
    lastSenderId: last?.senderId ?? null,
    agentsReadUpTo: readUpTo({ agentsReadUpTo, firstUnreadAt, lastCustomerMessageAt: times.lastCustomerMessageAt }),
  };
}

/** The mark falls back to before the first message that no agent has read, and passes all if each was read. */
function readUpTo({
  agentsReadUpTo,
  firstUnreadAt,
  lastCustomerMessageAt,
}: Record<'agentsReadUpTo' | 'firstUnreadAt' | 'lastCustomerMessageAt', string | null>): string | null {
  if (firstUnreadAt === null)
    return lastCustomerMessageAt === null ? agentsReadUpTo : later(lastCustomerMessageAt, agentsReadUpTo ?? '');
  if (agentsReadUpTo === null || agentsReadUpTo < firstUnreadAt) return agentsReadUpTo;
  return isoTime(Date.parse(firstUnreadAt) - 1);
}

/** Tells those who see either ticket to read its messages again. */
export function emitMove(
  ctx: Context,
  { from, to, count }: { from: ConversationRecord; to: ConversationRecord; count: number },
): void {
  for (const conversation of [from, to])
    emit(ctx, {
      type: 'message.moved',
      conversationId: conversation.id,
      audience: audienceOf(conversation, { visitorToo: false }),
      data: { move: { fromConversationId: from.id, toConversationId: to.id, count } },
    });
}
