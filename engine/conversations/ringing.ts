// Whom a call rings, and how it comes to ring: the agents of its number's routing that are available and in no other
// call, the longest idle first, all at once; who answers first has it. Specification 3 (transfer), 4.8, decisions 4.8.

import { agentIdsInCalls, findCallIdOfAgent, ringingCallIds } from '../../store/calls/calls.ts';
import type { PhoneNumberRecord } from '../../store/calls/phone-numbers.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { refuse } from '../errors.ts';
import { ringMs } from '../limits.ts';
import type { Context, View } from '../runtime/context.ts';
import { worksIn } from '../workspace/access.ts';
import { isActive, theRoster } from '../workspace/roster.ts';
import {
  type CallState,
  callKind,
  changeCall,
  numberOf,
  requireState,
  ringTimeoutDeadline,
  tellOfCall,
} from './call.ts';
import { alreadyGreeted, greetingOf, orderCall } from './carrier-orders.ts';
import { conversationKind } from './conversation.ts';

/** Whose call it is to answer. */
export type RingTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'department'; readonly departmentId: string }
  | { readonly kind: 'agent'; readonly agentId: string };

export const notAnswered = 'Nobody has answered this call yet.';
/**
 * Ringing calls looked at when somebody becomes free; a caller behind so many others waits for one of those to be
 * answered.
 */
const maxRungAtOnce = 50;

/** The choice itself. */
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

/** A department that it was moved to counts before its number's routing; an agent that is gone, like none. */
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

/** Starts the 30 seconds. The carrier hears of it from who calls this. */
export function ring(ctx: Context, conversation: ConversationRecord, call: CallState): void {
  changeCall(ctx, call, { ringingAgentIds: whomToRing(ctx, conversation, call) });
  ctx.setDeadline(ringTimeoutDeadline, call.conversationId, ctx.nowMs + ringMs);
  tellOfCall(ctx, 'call.ringing', call.conversationId);
}

/** The conversation is somebody else's now, and with it the caller, if there is one on the line with an agent. */
export function handCall(ctx: Context, before: ConversationRecord, after: ConversationRecord): void {
  if (after.channel !== 'call' || after.assignedAgentId === null) return;
  const call = requireState(ctx, after.id);
  const agent = theRoster(ctx).agents.get(after.assignedAgentId);
  if (call.phase !== 'active' || agent === undefined || call.agentId === agent.id) return;
  changeCall(ctx, call, { agentId: agent.id }, { eventType: 'transferred', detail: { agentId: agent.id } });
  if (!call.isOnHold)
    orderCall(ctx, call, numberOf(ctx, call), { kind: 'connect', agentId: agent.id, startsRecording: false });
  tellOfCall(ctx, 'call.transferred', after.id, { before });
  ringFreeAgents(ctx);
}

/** Whether somebody waits or speaks on the line. */
export function hasCaller(view: Pick<View, 'state'>, conversation: ConversationRecord): boolean {
  if (conversation.channel !== 'call') return false;
  const { phase } = requireState(view, conversation.id);
  return phase === 'active' || phase === 'ringing';
}

/** The conversation went to a department, or lost its agent: a caller who is still there rings anew. */
export function ringAnew(ctx: Context, before: ConversationRecord, after: ConversationRecord): void {
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
  tellOfCall(ctx, 'call.transferred', after.id, { before });
  ring(ctx, after, freed);
  ringFreeAgents(ctx);
}

/** A call is given to who answers it, and to nobody before. Refuses conflict. */
export function requireSilent(view: Pick<View, 'state'>, conversation: ConversationRecord): void {
  if (conversation.channel === 'call' && requireState(view, conversation.id).phase === 'ringing')
    refuse('conflict', { message: notAnswered });
}

/** Whether the agent is on the phone already, so that it cannot have the caller of this conversation too. */
export function wouldBeInTwoCalls(ctx: Context, conversation: ConversationRecord, agentId: string): boolean {
  if (conversation.channel !== 'call' || requireState(ctx, conversation.id).phase !== 'active') return false;
  const present = findCallIdOfAgent(ctx.db, agentId);
  return present !== undefined && present !== conversation.id;
}

/**
 * Called when somebody may have become free, or gone away: what rings meanwhile rings the one too, and the other no
 * longer. Who took another call still sees that it rings.
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
    tellOfCall(ctx, 'call.ringing', conversationId);
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
