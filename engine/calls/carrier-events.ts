// Events from the carrier. They may come twice, late and in any order. Each states a fact that counts once, identified
// by the carrier's call id and the fact's type; the call's state follows from all facts so far. Decisions 4.8.

import type { CallRecord } from '../../store/calls/calls.ts';
import { findCallIdByCarrier } from '../../store/calls/calls.ts';
import { findPhoneNumberByE164, type PhoneNumberRecord } from '../../store/calls/phone-numbers.ts';
import { unsetCall } from '../../store/calls/writes.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { CallOrder, CarrierEvent } from '../../workers/providers/carrier.ts';
import {
  addCall,
  type CallState,
  callKind,
  changeCall,
  emitCall,
  endCall,
  numberOf,
  requireState,
} from '../conversations/call.ts';
import { type CallOrderItem, greetingOf } from '../conversations/carrier-orders.ts';
import { addConversation, conversationKind, newConversation } from '../conversations/conversation.ts';
import { appendSystemLine } from '../conversations/messages.ts';
import { ring, ringFreeAgents } from '../conversations/ringing.ts';
import { moveTo } from '../conversations/status.ts';
import { refuse } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import type { OutboxItem, OutboxOutcome } from '../runtime/outbox.ts';
import { hasFeature } from '../workspace/entitlements.ts';
import { lineHours } from '../workspace/office-hours.ts';
import { theRoster } from '../workspace/roster.ts';
import { findOrAddCaller } from './callers.ts';
import { leaveUnanswered, missCall } from './unanswered.ts';
import { leaveVoicemail, transcribeVoicemail } from './voicemails.ts';

export interface CarrierAnswer {
  /** Null if it was ignored. */
  readonly conversationId: string | null;
  /** What the carrier should do with the call now, if it asks. */
  readonly order: CallOrder;
}

/** Refuses invalid_signature if the workspace never had the number. */
export const receiveCarrierEvent = command('carrier.event', (ctx, event: CarrierEvent): CarrierAnswer => {
  const knownId = findCallIdByCarrier(ctx.db, event.callId);
  const known = knownId === undefined ? undefined : requireState(ctx, knownId);
  const number =
    known === undefined
      ? (findPhoneNumberByE164(ctx.db, event.to) ?? refuse('invalid_signature'))
      : numberOf(ctx, known);
  if (number.releasedAt !== null && !wasOpenAt(known, number.releasedAt)) {
    ctx.audit({
      action: 'phone_number.event_ignored',
      targetKind: 'phone_number',
      targetId: number.id,
      context: { type: event.type, callId: event.callId, from: event.from },
    });
    return { conversationId: null, order: { kind: 'hangup' } };
  }
  const call = known ?? beginCall(ctx, number, event);
  settle(ctx, call, event);
  return { conversationId: call.conversationId, order: presentOrder(ctx, call.conversationId, number) };
});

/** Events that can only come after a call has stopped ringing. */
const impliesOver: ReadonlySet<CarrierEvent['type']> = new Set(['ended', 'voicemail_left', 'transcript_ready']);

/** A call that the carrier has not named before. The event says whether a caller is still on the line. */
function beginCall(ctx: Context, number: PhoneNumberRecord, event: CarrierEvent): CallState {
  const caller = findOrAddCaller(ctx, event.from);
  const departmentId =
    number.routingStrategy === 'department' && theRoster(ctx).departments.has(number.routingTargetId ?? '')
      ? number.routingTargetId
      : null;
  const isUnwanted = caller !== undefined && caller.blockedAt !== null;
  const conversation = addConversation(
    ctx,
    newConversation(ctx, {
      channel: 'call',
      siteId: null,
      visitorId: caller?.id ?? null,
      contactId: caller?.contactId ?? null,
      departmentId,
    }),
  );
  const added = addCall(ctx, newCall(ctx, conversation, { number, event }));
  const call = changeCall(
    ctx,
    added,
    {},
    { eventType: 'ringing', detail: event.from === null ? {} : { fromE164: event.from } },
  );
  if (isUnwanted) moveTo(ctx, conversation, 'spam');
  else if (!impliesOver.has(event.type)) {
    const isOpen =
      hasFeature(ctx, 'calls') && lineHours(ctx, { businessHours: number.businessHours, departmentId }).officeHoursOpen;
    if (isOpen) ring(ctx, conversation, call);
    else leaveUnanswered(ctx, conversation, call, { carrierAsks: true });
  }
  return requireState(ctx, call.conversationId);
}

function settle(ctx: Context, call: CallState, event: CarrierEvent): void {
  const conversation = ctx.state(conversationKind, call.conversationId);
  if (conversation === undefined) throw new Error(`call ${call.conversationId} without its conversation`);
  switch (event.type) {
    case 'ringing':
      return;
    case 'ended':
      if (call.carrierEndedAt === null)
        endByCarrier(
          ctx,
          conversation,
          changeCall(ctx, call, { carrierEndedAt: ctx.at, durationMs: event.durationMs ?? call.durationMs }),
        );
      return;
    case 'voicemail_left':
      if (call.voicemailId === null) leaveVoicemail(ctx, conversation, call, event);
      return;
    case 'recording_ready':
      if (!call.isRecorded || call.recordingUrl !== null) return;
      changeCall(ctx, call, { recordingUrl: event.recordingUrl });
      if (call.phase === 'ended') emitCall(ctx, 'call.ended', call.conversationId);
      return;
    case 'transcript_ready':
      if (call.voicemailId === null) leaveVoicemail(ctx, conversation, call, event);
      else transcribeVoicemail(ctx, conversation, call.voicemailId, event.transcript);
      return;
  }
}

/**
 * After an answer the conversation is solved. Unanswered, the call is missed and the conversation stays open, as after
 * a voicemail.
 */
function endByCarrier(ctx: Context, conversation: ConversationRecord, call: CallState): void {
  switch (call.phase) {
    case 'ended':
      emitCall(ctx, 'call.ended', call.conversationId);
      return;
    case 'active':
      endCall(ctx, call, { ordersHangup: false });
      moveTo(ctx, conversation, 'solved');
      emitCall(ctx, 'call.ended', call.conversationId);
      ringFreeAgents(ctx);
      return;
    case 'voicemail':
      endCall(ctx, call, { ordersHangup: false });
      emitCall(ctx, 'call.ended', call.conversationId);
      return;
    case 'ringing':
      missCall(ctx, conversation, call, { line: 'The caller hung up before anyone answered.', ordersHangup: false });
      return;
  }
}

/** For a carrier that asks what to do, the first time or again. */
function presentOrder(ctx: Context, conversationId: string, number: PhoneNumberRecord): CallOrder {
  const call = ctx.state(callKind, conversationId);
  switch (call?.phase) {
    case 'ringing':
      return { kind: 'ring', greeting: greetingOf(ctx, number) };
    case 'active':
      return call.isOnHold
        ? { kind: 'hold' }
        : { kind: 'connect', agentId: call.agentId ?? '', startsRecording: false };
    case 'voicemail':
      return { kind: 'voicemail', greeting: greetingOf(ctx, number) };
    default:
      return { kind: 'hangup' };
  }
}

/** A call that was under way when the number was released still receives its events. */
function wasOpenAt(call: CallState | undefined, releasedAt: string): boolean {
  return call !== undefined && (call.endedAt === null || call.endedAt >= releasedAt);
}

function newCall(
  ctx: Context,
  conversation: ConversationRecord,
  of: { number: PhoneNumberRecord; event: CarrierEvent },
): CallRecord {
  return {
    ...unsetCall,
    conversationId: conversation.id,
    phoneNumberId: of.number.id,
    carrierCallId: of.event.callId,
    fromE164: of.event.from,
    toE164: of.event.to,
    phase: 'ringing',
    isOnHold: false,
    isRecorded: of.number.recordingEnabled,
    createdAt: ctx.at,
  };
}

/** The carrier finally refused an order: the agent in the call must know that the caller hears something else. */
export function noteFailedOrder(ctx: Context, item: OutboxItem<CallOrderItem>, outcome: OutboxOutcome): void {
  const conversation = item.subjectId === null ? undefined : ctx.state(conversationKind, item.subjectId);
  if (outcome.state !== 'failed' || conversation === undefined) return;
  const { order } = item.payload;
  appendSystemLine(ctx, conversation, `The carrier did not do this: ${order.kind}. ${outcome.answer}`);
}
