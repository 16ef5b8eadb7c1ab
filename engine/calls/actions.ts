// Agents' call actions: answer, hold, transfer, hang up. One agent wins a ringing call; each of the others gets the
// reason why they lost. Specification 4.8, decisions 4.8.

import { type CallFilter, callIdPage, findCallIdOfAgent } from '../../store/calls/calls.ts';
import type { CallView } from '../../store/calls/records.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { Cursor } from '../../store/cursor.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { maxHoldChanges } from '../constants.ts';
import {
  type CallState,
  callKind,
  callView,
  changeCall,
  emitCall,
  endCall,
  numberOf,
  requireState,
  ringTimeoutDeadline,
} from '../conversations/call.ts';
import { orderCall } from '../conversations/carrier-orders.ts';
import { changeConversation, conversationKind } from '../conversations/conversation.ts';
import { endHandshake, offer, requireRecipient } from '../conversations/handshake.ts';
import { appendSystemLine } from '../conversations/messages.ts';
import { notAnswered, ringTarget } from '../conversations/ringing.ts';
import { moveTo } from '../conversations/status.ts';
import { refuse } from '../errors.ts';
import { requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { callingAgent, reaches, reachOf } from '../workspace/access.ts';
import { requireFeature } from '../workspace/entitlements.ts';
import { noteAssignment } from '../workspace/roster.ts';
import { missCall } from './unanswered.ts';

interface ById {
  readonly conversationId: string;
}

/** Why an answer was too late or impossible. */
type LostReason = 'already_claimed' | 'call_ended' | 'agent_busy' | 'stale_version';

/**
 * Takes a ringing call. A retry by the winner gets the same reply. Refuses feature_locked, not_found, forbidden (scope;
 * another agent's call), call_unavailable with detail.reason.
 */
export const answerCall = command(
  'call.answer',
  (ctx, params: ById & { expectedVersion?: number | undefined }): CallView => {
    const { agent, conversation, call } = requireCall(ctx, params.conversationId);
    const target = ringTarget(ctx, conversation, numberOf(ctx, call));
    if (target.kind === 'agent' && agent.id !== target.agentId && agent.role !== 'admin')
      refuse('forbidden', { message: 'This call rings for another agent.' });
    if (call.agentId === agent.id) return callView(ctx, conversation, call);
    const reason = whyLost(ctx, { agent, conversation, call, expectedVersion: params.expectedVersion });
    if (reason !== undefined) refuseLost(reason, conversation);

    ctx.clearDeadline(ringTimeoutDeadline, call.conversationId);
    const free = endHandshake(ctx, conversation);
    const isFirst = call.answeredAt === null;
    const answered = changeCall(
      ctx,
      call,
      { phase: 'active', agentId: agent.id, ringingAgentIds: [], ...(isFirst ? { answeredAt: ctx.at } : {}) },
      { eventType: 'answered', detail: { agentId: agent.id } },
    );
    orderCall(ctx, answered, numberOf(ctx, call), {
      kind: 'connect',
      agentId: agent.id,
      startsRecording: isFirst && call.isRecorded,
    });
    noteAssignment(ctx, agent);
    const claimed = changeConversation(ctx, free, {
      assignedAgentId: agent.id,
      firstResponseAt: free.firstResponseAt ?? ctx.at,
      firstResponderId: free.firstResponderId ?? agent.id,
    });
    appendSystemLine(ctx, claimed, `${agent.name} answered.`);
    return emitCall(ctx, 'call.answered', call.conversationId);
  },
);

/** The most useful reason first: that the call is gone comes before any other obstacle. */
function whyLost(
  ctx: Context,
  lost: { agent: AgentRecord; conversation: ConversationRecord; call: CallState; expectedVersion: number | undefined },
): LostReason | undefined {
  const { agent, conversation, call, expectedVersion } = lost;
  if (call.phase === 'active') return 'already_claimed';
  if (call.phase !== 'ringing') return 'call_ended';
  if (findCallIdOfAgent(ctx.db, agent.id) !== undefined) return 'agent_busy';
  return expectedVersion !== undefined && expectedVersion !== conversation.version ? 'stale_version' : undefined;
}

const lostMessages: Readonly<Record<LostReason, string>> = {
  already_claimed: 'Another agent answered.',
  call_ended: 'The call is over.',
  agent_busy: 'You are in another call.',
  stale_version: 'The call has changed since you read it.',
};

function refuseLost(reason: LostReason, conversation: ConversationRecord): never {
  return refuse('call_unavailable', {
    message: lostMessages[reason],
    detail: { reason, ...(reason === 'stale_version' ? { currentVersion: conversation.version } : {}) },
  });
}

/**
 * Solves the conversation if the call was answered; an admin may end a ringing call, as missed. Refuses not_assigned,
 * call_unavailable if it is over, and as answerCall.
 */
export const hangUp = command('call.hangup', (ctx, params: ById): CallView => {
  const { conversation, call } = requireOwnCall(ctx, params.conversationId);
  switch (call.phase) {
    case 'active':
      moveTo(ctx, conversation, 'solved');
      break;
    case 'ringing':
      missCall(ctx, conversation, call, { line: 'The call was ended before anyone answered.', ordersHangup: true });
      break;
    case 'voicemail':
      endCall(ctx, call, { ordersHangup: true });
      emitCall(ctx, 'call.ended', call.conversationId);
      break;
    case 'ended':
      refuseLost('call_ended', conversation);
  }
  return readBack(ctx, call.conversationId);
});

/** Refuses conflict if the call is in that state already or has not been answered yet, and as hangUp. */
export const holdCall = command(
  'call.hold',
  (ctx, params: ById & { hold?: boolean | undefined; expectedVersion?: number | undefined }): CallView => {
    const { conversation, call } = requireOwnCall(ctx, params.conversationId);
    requireVersion(conversation, params.expectedVersion);
    const hold = params.hold ?? true;
    requireAnswered(conversation, call);
    if (call.isOnHold === hold)
      refuse('conflict', { message: hold ? 'The caller is already on hold.' : 'The caller is not on hold.' });
    // A held caller can always be resumed: the timeline reserves room for that entry.
    if (hold && call.events.length >= maxHoldChanges)
      refuse('conflict', { message: 'This call was put on hold too many times.' });
    changeCall(ctx, call, { isOnHold: hold }, { eventType: hold ? 'on_hold' : 'resumed' });
    orderCall(
      ctx,
      call,
      numberOf(ctx, call),
      hold ? { kind: 'hold' } : { kind: 'connect', agentId: call.agentId ?? '', startsRecording: false },
    );
    return emitCall(ctx, hold ? 'call.on_hold' : 'call.resumed', call.conversationId);
  },
);

/**
 * Offers the call as assign-to-agent does. Refuses stale_version, semantic_error (cannot take it), conflict if it has
 * not been answered yet, and as hangUp.
 */
export const transferCall = command(
  'call.transfer',
  (ctx, params: ById & { agentId: string; expectedVersion: number; note?: string | undefined }): CallView => {
    const { agent, conversation, call } = requireOwnCall(ctx, params.conversationId);
    requireAnswered(conversation, call);
    requireVersion(conversation, params.expectedVersion);
    const recipient = requireRecipient(ctx, conversation, params.agentId);
    const free = endHandshake(ctx, conversation);
    if (free.assignedAgentId !== recipient.id) offer(ctx, free, { agent, recipient, note: params.note });
    return readBack(ctx, call.conversationId);
  },
);

/** Calls that the agent may see, newest first. */
export function listCalls(
  view: View,
  page: { filter: CallFilter; cursor: Cursor | undefined; limit: number },
): CallView[] {
  requireFeature(view, 'calls');
  return callIdPage(view.db, { ...page, reach: reachOf(callingAgent(view)) }).map((conversationId) =>
    readBack(view, conversationId),
  );
}

/** Refuses feature_locked, not_found, forbidden. */
export function readCall(view: View, conversationId: string): CallView {
  const { conversation, call } = requireCall(view, conversationId);
  return callView(view, conversation, call);
}

function requireCall(
  view: View,
  conversationId: string,
): { agent: AgentRecord; conversation: ConversationRecord; call: CallState } {
  requireFeature(view, 'calls');
  const call = view.state(callKind, conversationId) ?? refuse('not_found');
  const agent = callingAgent(view);
  const conversation = requireConversation(view, conversationId);
  // An agent who lost access to the channel during a call still has the caller on the line and must be able to end it.
  if (call.agentId !== agent.id && !reaches(agent, conversation)) refuse('forbidden');
  return { agent, conversation, call };
}

/** The assigned agent, or an admin. */
function requireOwnCall(ctx: Context, conversationId: string): ReturnType<typeof requireCall> {
  const found = requireCall(ctx, conversationId);
  if (found.agent.role !== 'admin' && found.conversation.assignedAgentId !== found.agent.id) refuse('not_assigned');
  return found;
}

function requireAnswered(conversation: ConversationRecord, call: CallState): void {
  if (call.phase === 'ended' || call.phase === 'voicemail') refuseLost('call_ended', conversation);
  if (call.phase === 'ringing') refuse('conflict', { message: notAnswered });
}

function readBack(view: View, conversationId: string): CallView {
  return callView(view, requireConversation(view, conversationId), requireState(view, conversationId));
}

function requireConversation(view: View, conversationId: string): ConversationRecord {
  const conversation = view.state(conversationKind, conversationId);
  if (conversation === undefined) throw new Error(`call ${conversationId} without its conversation`);
  return conversation;
}
