// Unanswered calls: voicemail if the number has it, otherwise missed. The conversation stays open and unassigned, so
// that an agent can call back. Decisions 4.8.

import { ringingCallIdsOfNumber } from '../../store/calls/calls.ts';
import type { PhoneNumberRecord } from '../../store/calls/phone-numbers.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import {
  type CallState,
  callKind,
  changeCall,
  emitCall,
  endCall,
  numberOf,
  requireState,
  ringTimeoutDeadline,
} from '../conversations/call.ts';
import { alreadyGreeted, greetingOf, orderCall } from '../conversations/carrier-orders.ts';
import { changeConversation, conversationKind } from '../conversations/conversation.ts';
import { endHandshake } from '../conversations/handshake.ts';
import { appendSystemLine } from '../conversations/messages.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';

/** Runs after the 30 seconds. */
export const ringTimeout = command('call.ringTimeout', (ctx, params: DeadlineParams): void => {
  const call = ctx.state(callKind, params.subjectId);
  const conversation = ctx.state(conversationKind, params.subjectId);
  if (call?.phase === 'ringing' && conversation !== undefined) leaveUnanswered(ctx, conversation, call);
});

/** The number is being released: calls still ringing go to voicemail first. */
export function leaveAllUnanswered(ctx: Context, number: PhoneNumberRecord): void {
  for (const conversationId of ringingCallIdsOfNumber(ctx.db, number.id)) {
    const conversation = ctx.state(conversationKind, conversationId);
    if (conversation !== undefined) leaveUnanswered(ctx, conversation, requireState(ctx, conversationId));
  }
}

/** `carrierAsks`: the carrier waits for our reply and needs no order. */
export function leaveUnanswered(
  ctx: Context,
  conversation: ConversationRecord,
  call: CallState,
  options: { carrierAsks?: boolean } = {},
): void {
  const number = numberOf(ctx, call);
  if (!number.voicemailEnabled) {
    missCall(ctx, conversation, call, { line: 'No one answered.', ordersHangup: options.carrierAsks !== true });
    return;
  }
  ctx.clearDeadline(ringTimeoutDeadline, call.conversationId);
  if (options.carrierAsks !== true)
    orderCall(ctx, call, number, { kind: 'voicemail', greeting: { ...greetingOf(ctx, number), ...alreadyGreeted } });
  changeCall(ctx, call, { phase: 'voicemail', ringingAgentIds: [] });
  appendSystemLine(ctx, freed(ctx, conversation), 'No one answered; the caller may leave a voicemail.');
  emitCall(ctx, 'call.ringing', call.conversationId);
}

/** Ends it as missed. */
export function missCall(
  ctx: Context,
  conversation: ConversationRecord,
  call: CallState,
  options: { line: string; ordersHangup: boolean },
): void {
  endCall(ctx, call, options);
  appendSystemLine(ctx, freed(ctx, conversation), options.line);
  emitCall(ctx, 'call.ended', call.conversationId);
}

/** Unassigned. */
function freed(ctx: Context, conversation: ConversationRecord): ConversationRecord {
  const free = endHandshake(ctx, conversation);
  const isFree = free.assignedAgentId === null && free.status !== 'pending';
  return isFree
    ? free
    : changeConversation(ctx, free, {
        assignedAgentId: null,
        ...(free.status === 'pending' ? { status: 'open' } : {}),
      });
}
