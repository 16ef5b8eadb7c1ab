// The call actor beside its conversation's: the call's phase, who is on the phone, and its timeline. Writes changes of
// a call and emits them. Permissions are checked in actions.ts, ringing.ts and carrier-events.ts.

import { type CallRecord, findCall } from '../../store/calls/calls.ts';
import {
  type CallEventDetail,
  type CallEventRecord,
  type CallEventType,
  callEventsOf,
  insertCallEvent,
} from '../../store/calls/events.ts';
import { findPhoneNumber, type PhoneNumberRecord } from '../../store/calls/phone-numbers.ts';
import { type CallEventView, CallView } from '../../store/calls/records.ts';
import { type CallChanges, insertCall, updateCall } from '../../store/calls/writes.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { findContact } from '../../store/customers/contacts.ts';
import { viewer } from '../../store/record.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { refuse } from '../errors.ts';
import { type EventOf, emit } from '../events.ts';
import { foldCallChange } from '../rollups.ts';
import type { Context, View } from '../runtime/context.ts';
import { deadline } from '../runtime/kinds.ts';
import type { ActorKind } from '../runtime/registry.ts';
import { orderCall } from './carrier-orders.ts';
import { audienceOf, conversationKind } from './conversation.ts';
import { callNoticeDeadline, expectNotice } from './notices.ts';

export interface CallState extends CallRecord {
  readonly events: readonly CallEventRecord[];
}

export const callKind: ActorKind<CallState> = {
  name: 'call',
  load(db, conversationId) {
    const call = findCall(db, conversationId);
    return call && { ...call, events: callEventsOf(db, conversationId) };
  },
};

export const phoneNumberKind: ActorKind<PhoneNumberRecord> = { name: 'phoneNumber', load: findPhoneNumber };

export const ringTimeoutDeadline = deadline('call.ringTimeout');

declare module '../events.ts' {
  interface EventRecords {
    readonly call: CallView;
  }
}

export function callerNameOf(view: Pick<View, 'db'>, { contactId }: ConversationRecord): string | null {
  return contactId === null ? null : (findContact(view.db, contactId)?.name ?? null);
}

const viewed = viewer(CallView);

/** The record in HTTP replies and socket events. */
export function callView(view: Pick<View, 'db'>, conversation: ConversationRecord, call: CallState): CallView {
  return viewed({
    ...call,
    ...conversation,
    channel: 'call',
    state: call.phase === 'active' ? (call.isOnHold ? 'on_hold' : 'answered') : call.phase,
    callerName: callerNameOf(view, conversation),
    ringingAgentIds: call.phase === 'ringing' ? call.ringingAgentIds : [],
    events: timelineOf(call),
  });
}

/** The end comes last, even if the carrier delivered something after it. */
function timelineOf(call: CallState): CallEventView[] {
  const isEnd = (event: CallEventRecord): boolean => event.eventType === 'ended';
  const ordered = [...call.events.filter((event) => !isEnd(event)), ...call.events.filter(isEnd)];
  return ordered.map((event) => ({
    eventType: event.eventType,
    createdAt: event.createdAt,
    ...event.detail,
    ...(isEnd(event)
      ? {
          duration_ms: call.durationMs ?? 0,
          ...(call.recordingUrl === null ? {} : { recordingUrl: call.recordingUrl }),
        }
      : {}),
  }));
}

export function requireState(view: Pick<View, 'state'>, conversationId: string): CallState {
  const call = view.state(callKind, conversationId);
  if (call === undefined) throw new Error(`conversation ${conversationId} is a call without its row`);
  return call;
}

/**
 * Only the agent in the call, or an admin, may end, move or reassign it while it goes on, by any route. Refuses
 * not_assigned.
 */
export function requireCallHolder(
  view: Pick<View, 'state'>,
  agent: AgentRecord,
  conversation: ConversationRecord,
): void {
  if (conversation.channel !== 'call' || agent.role === 'admin' || conversation.assignedAgentId === agent.id) return;
  if (requireState(view, conversation.id).phase !== 'ended') refuse('not_assigned');
}

export function numberOf(view: Pick<View, 'state'>, call: CallRecord): PhoneNumberRecord {
  const number = view.state(phoneNumberKind, call.phoneNumberId);
  if (number === undefined) throw new Error(`call ${call.conversationId} came in on a number without its row`);
  return number;
}

export function addCall(ctx: Context, call: CallRecord): CallState {
  insertCall(ctx.db, call);
  const added: CallState = { ...call, events: [] };
  ctx.setState(callKind, call.conversationId, added);
  return added;
}

/** Writes a change, with its timeline entry if it has one. Emits nothing. */
export function changeCall(
  ctx: Context,
  call: CallState,
  changes: CallChanges,
  entry?: { eventType: CallEventType; detail?: CallEventDetail },
): CallState {
  const { events: past, ...present } = call;
  const changed: CallRecord = { ...present, ...changes };
  updateCall(ctx.db, changed);
  let events = past;
  if (entry !== undefined) {
    const event: CallEventRecord = {
      conversationId: call.conversationId,
      position: events.length,
      eventType: entry.eventType,
      detail: entry.detail ?? {},
      createdAt: ctx.at,
    };
    insertCallEvent(ctx.db, event);
    events = [...events, event];
  }
  const conversation = ctx.state(conversationKind, call.conversationId);
  if (changed.phase !== call.phase && conversation !== undefined)
    foldCallChange(ctx, conversation, { before: call, after: changed });
  const next: CallState = { ...changed, events };
  ctx.setState(callKind, call.conversationId, next);
  return next;
}

/**
 * Emits the call, with its conversation, to those who may see it. `before`: the conversation as it was, for those who
 * could see it until now.
 */
export function emitCall(
  ctx: Context,
  type: EventOf<'call'>,
  conversationId: string,
  options: { before?: ConversationRecord } = {},
): CallView {
  const conversation = ctx.state(conversationKind, conversationId);
  if (conversation === undefined) throw new Error(`call ${conversationId} without its conversation`);
  const call = callView(ctx, conversation, requireState(ctx, conversationId));
  emit(ctx, {
    type,
    conversationId,
    audience: audienceOf(conversation, { visitorToo: false, ...options }),
    data: { call },
  });
  return call;
}

/**
 * Ends the call. Emits nothing yet, because its conversation may change with it. `ordersHangup`: the carrier does not
 * know yet.
 */
export function endCall(ctx: Context, call: CallState, options: { ordersHangup: boolean }): CallState {
  ctx.clearDeadline(ringTimeoutDeadline, call.conversationId);
  if (options.ordersHangup) orderCall(ctx, call, numberOf(ctx, call), { kind: 'hangup' });
  // A voicemail has had its notice.
  if (call.voicemailId === null) expectNotice(ctx, callNoticeDeadline, call.conversationId);
  const spokenMs = call.answeredAt === null ? 0 : ctx.nowMs - Date.parse(call.answeredAt);
  // The carrier's duration is more accurate than ours.
  const durationMs = call.durationMs ?? spokenMs;
  return changeCall(
    ctx,
    call,
    { phase: 'ended', agentId: null, isOnHold: false, ringingAgentIds: [], endedAt: ctx.at, durationMs },
    { eventType: 'ended' },
  );
}

/** Ends the call of a conversation that is solved or marked as spam. Returns false if it was over already. */
export function endCallOf(ctx: Context, conversationId: string): boolean {
  const call = requireState(ctx, conversationId);
  if (call.phase === 'ended') return false;
  endCall(ctx, call, { ordersHangup: true });
  return true;
}
