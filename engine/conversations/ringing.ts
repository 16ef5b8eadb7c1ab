// Which agents a call rings: those in its number's routing who are available and in no other call, all at once, sorted
// by the longest idle. The first to answer gets it. Specification 3 (transfer), 4.8, decisions 4.8.

import { agentIdsInCalls, findCallIdOfAgent, ringingCallIds } from '../../store/calls/calls.ts';
import type { PhoneNumberRecord } from '../../store/calls/phone-numbers.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { ringMs } from '../constants.ts';
import { refuse } from '../errors.ts';
import type { Context, View } from '../runtime/context.ts';
import { worksIn } from '../workspace/access.ts';
import { isActive, theRoster } from '../workspace/roster.ts';
import { type CallState, callKind, changeCall, emitCall, numberOf, requireState, ringTimeoutDeadline } from './call.ts';
import { alreadyGreeted, greetingOf, orderCall } from './carrier-orders.ts';
import { conversationKind } from './conversation.ts';
import { callNoticeDeadline, expectNotice } from './notices.ts';

/** Who may answer the call. */
export type RingTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'department'; readonly departmentId: string }
  | { readonly kind: 'agent'; readonly agentId: string };

export const notAnswered = 'No one has answered this call yet.';
/** Ringing calls checked when an agent becomes free. A caller further back waits until one of these is answered. */
const maxRungAtOnce = 50;

/** Chooses the agents. */
export function agentsToRing(options: {
  agents: Iterable<AgentRecord>;
  target: RingTarget;
  busy: ReadonlySet<string>;
  not: readonly string[];
}): string[] {
  const { target, busy, not } = options;
  const rung = [...options.agents].filter(
    (agent) =>
      isActive(agent) &&
      agent.status === 'available' &&
      worksIn(agent, 'call') &&
      !busy.has(agent.id) &&
      !not.includes(agent.id) &&
      isMeant(agent, target),
  );
  return rung
    .sort((a, b) => compare(a.lastAssignedAt ?? '', b.lastAssignedAt ?? '') || compare(a.id, b.id))
    .map((agent) => agent.id);
}

/**
 * A department that the call was moved to takes precedence over its number's routing; a target agent who is gone counts
 * as none.
 */
export function ringTarget(
  view: Pick<View, 'state'>,
  conversation: ConversationRecord,
  number: PhoneNumberRecord,
): RingTarget {
  if (conversation.departmentId !== null) return { kind: 'department', departmentId: conversation.departmentId };
  if (number.routingStrategy !== 'specific_agent' || number.routingTargetId === null) return { kind: 'all' };
  const agent = theRoster(view).agents.get(number.routingTargetId);
  return agent !== undefined && isActive(agent) && worksIn(agent, 'call')
    ? { kind: 'agent', agentId: agent.id }
    : { kind: 'all' };
}

/** Starts the 30 seconds. Callers of this notify the carrier. */
export function ring(ctx: Context, conversation: ConversationRecord, call: CallState): void {
  changeCall(ctx, call, { ringingAgentIds: whomToRing(ctx, conversation, call) });
  ctx.setDeadline(ringTimeoutDeadline, call.conversationId, ctx.nowMs + ringMs);
  expectNotice(ctx, callNoticeDeadline, call.conversationId);
  emitCall(ctx, 'call.ringing', call.conversationId);
}

/** The conversation has a new assignee, who also gets the caller, if an agent has one on the line. */
export function handCall(ctx: Context, before: ConversationRecord, after: ConversationRecord): void {
  if (after.channel !== 'call' || after.assignedAgentId === null) return;
  const call = requireState(ctx, after.id);
  const agent = theRoster(ctx).agents.get(after.assignedAgentId);
  if (call.phase !== 'active' || agent === undefined || call.agentId === agent.id) return;
  changeCall(ctx, call, { agentId: agent.id }, { eventType: 'transferred', detail: { agentId: agent.id } });
  if (!call.isOnHold)
    orderCall(ctx, call, numberOf(ctx, call), { kind: 'connect', agentId: agent.id, startsRecording: false });
  emitCall(ctx, 'call.transferred', after.id, { before });
  ringFreeAgents(ctx);
}

/** Whether a caller is waiting or speaking on the line. */
export function hasCaller(view: Pick<View, 'state'>, conversation: ConversationRecord): boolean {
  if (conversation.channel !== 'call') return false;
  const { phase } = requireState(view, conversation.id);
  return phase === 'active' || phase === 'ringing';
}

/** The conversation went to a department or lost its agent: a caller who is still on the line rings again. */
export function ringAgain(ctx: Context, before: ConversationRecord, after: ConversationRecord): void {
  if (!hasCaller(ctx, after)) return;
  const call = requireState(ctx, after.id);
  const detail = after.departmentId === null ? {} : { departmentId: after.departmentId };
  const freed = changeCall(
    ctx,
    call,
    { phase: 'ringing', agentId: null, isOnHold: false },
    { eventType: 'transferred', detail },
  );
  const number = numberOf(ctx, call);
  if (call.phase === 'active')
    orderCall(ctx, call, number, { kind: 'ring', greeting: { ...greetingOf(ctx, number), ...alreadyGreeted } });
  emitCall(ctx, 'call.transferred', after.id, { before });
  ring(ctx, after, freed);
  ringFreeAgents(ctx);
}

/** A call cannot be assigned before it is answered. Refuses conflict. */
export function requireSilent(view: Pick<View, 'state'>, conversation: ConversationRecord): void {
  if (conversation.channel === 'call' && requireState(view, conversation.id).phase === 'ringing')
    refuse('conflict', { message: notAnswered });
}

/** Whether the agent is in another call already, and so cannot take this conversation's caller. */
export function wouldBeInTwoCalls(ctx: Context, conversation: ConversationRecord, agentId: string): boolean {
  if (conversation.channel !== 'call' || requireState(ctx, conversation.id).phase !== 'active') return false;
  const present = findCallIdOfAgent(ctx.db, agentId);
  return present !== undefined && present !== conversation.id;
}

/**
 * Call when an agent may have become free or unavailable: ringing calls then ring the one and stop ringing the other.
 * An agent who took another call still sees them ring.
 */
export function ringFreeAgents(ctx: Context): void {
  for (const conversationId of ringingCallIds(ctx.db, maxRungAtOnce)) {
    const call = ctx.state(callKind, conversationId);
    const conversation = ctx.state(conversationKind, conversationId);
    if (call === undefined || conversation === undefined) continue;
    const there = whomToRing(ctx, conversation, call, new Set());
    const kept = call.ringingAgentIds.filter((agentId) => there.includes(agentId));
    const added = whomToRing(ctx, conversation, call).filter((agentId) => !kept.includes(agentId));
    if (added.length === 0 && kept.length === call.ringingAgentIds.length) continue;
    changeCall(ctx, call, { ringingAgentIds: [...kept, ...added] });
    emitCall(ctx, 'call.ringing', conversationId);
  }
}

function whomToRing(
  ctx: Context,
  conversation: ConversationRecord,
  call: CallState,
  busy: ReadonlySet<string> = agentIdsInCalls(ctx.db),
): string[] {
  return agentsToRing({
    agents: theRoster(ctx).agents.values(),
    target: ringTarget(ctx, conversation, numberOf(ctx, call)),
    busy,
    not: conversation.notToAgentIds,
  });
}

function isMeant(agent: AgentRecord, target: RingTarget): boolean {
  switch (target.kind) {
    case 'all':
      return true;
    case 'department':
      return agent.groupIds.includes(target.departmentId);
    case 'agent':
      return agent.id === target.agentId;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
