// Handing over chats, tickets and calls: an offer that its recipient has 30 seconds to accept or decline, or at once,
// with force or to a department. Specification 3, decisions 4.5.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { handshakeMs } from '../constants.ts';
import { refuse } from '../errors.ts';
import type { EventOf } from '../events.ts';
import { requireVersion } from '../preconditions.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline } from '../runtime/kinds.ts';
import { isSenior, worksIn } from '../workspace/access.ts';
import { isActive, noteAssignment, requireAgent, theRoster } from '../workspace/roster.ts';
import { requireCallHolder } from './call.ts';
import {
  changeConversation,
  conversationKind,
  conversationView,
  requireReachable,
  requireUnmerged,
} from './conversation.ts';
import { appendSystemLine } from './messages.ts';
import { expectNotice, givenNoticeDeadline, offerNoticeDeadline } from './notices.ts';
import { handCall, requireSilent, ringAgain, wouldBeInTwoCalls } from './ringing.ts';
import { drainQueue, routeChat } from './routing.ts';

export const handshakeDeadline = deadline('assignment.expire');

export interface AssignParams {
  readonly conversationId: string;
  readonly agentId: string;
  readonly expectedVersion: number;
  readonly note?: string | undefined;
  readonly force?: boolean | undefined;
}

interface Answer {
  readonly conversation: ConversationView;
}

/**
 * A new assignment replaces a pending offer. Offering a conversation to its current assignee has no effect. Refuses
 * not_found, forbidden (scope; force by an agent), not_assigned for a call under way that is another agent's,
 * stale_version, conflict for a merged ticket or a call that has not been answered yet, semantic_error (cannot take it).
 */
export const assignToAgent = command('conversation.assignToAgent', (ctx, params: AssignParams): Answer => {
  const { agent, conversation } = requireReachable(ctx, params.conversationId);
  if (params.force === true && !isSenior(agent))
    refuse('forbidden', { message: 'Only admins and supervisors can assign without an offer.' });
  requireCallHolder(ctx, agent, conversation);
  requireVersion(conversation, params.expectedVersion);
  requireSilent(ctx, conversation);
  requireUnmerged(ctx, conversation);
  const recipient = requireRecipient(ctx, conversation, params.agentId);
  const free = endHandshake(ctx, conversation);
  if (free.assignedAgentId === recipient.id) return answer(free);
  if (params.force === true) return answer(giveByForce(ctx, free, { agent, recipient, note: params.note }));
  return answer(offer(ctx, free, { agent, recipient, note: params.note }));
});

/** Starts the 30 seconds. The assignee does not change until the recipient accepts. */
export function offer(
  ctx: Context,
  conversation: ConversationRecord,
  options: { agent: AgentRecord; recipient: AgentRecord; note?: string | undefined },
): ConversationRecord {
  const { agent, recipient } = options;
  const expiresMs = ctx.nowMs + handshakeMs;
  expectNotice(ctx, offerNoticeDeadline, conversation.id);
  ctx.setDeadline(handshakeDeadline, conversation.id, expiresMs);
  const offered = changeConversation(
    ctx,
    conversation,
    {
      handshake: {
        toAgentId: recipient.id,
        initiatedByAgentId: agent.id,
        previousAgentId: conversation.assignedAgentId,
        note: options.note ?? null,
        expiresAt: isoTime(expiresMs),
      },
    },
    'assignment.pending',
  );
  return appendSystemLine(ctx, offered, withReason(`${agent.name} offered this to ${recipient.name}.`, options.note));
}

export interface AnswerParams {
  readonly conversationId: string;
  readonly expectedVersion?: number | undefined;
  readonly reason?: string | undefined;
}

/**
 * By the recipient, or an admin or supervisor. Refuses no_pending_handshake, forbidden, stale_version; semantic_error
 * when the
 * recipient no longer works in the channel; call_unavailable when it is in another call.
 */
export const acceptAssignment = command('assignment.accept', (ctx, params: AnswerParams): Answer => {
  const { agent, conversation, handshake } = requireHandshake(
    ctx,
    params,
    (by, offered) => by.id === offered.toAgentId,
  );
  if (wouldBeInTwoCalls(ctx, conversation, handshake.toAgentId))
    refuse('call_unavailable', { message: 'The recipient is in another call.', detail: { reason: 'agent_busy' } });
  const recipient = requireRecipient(ctx, conversation, handshake.toAgentId);
  ctx.clearDeadline(handshakeDeadline, conversation.id);
  const accepted = changeConversation(
    ctx,
    conversation,
    { assignedAgentId: recipient.id, handshake: null },
    'assignment.accepted',
  );
  noteAssignment(ctx, recipient);
  handCall(ctx, conversation, accepted);
  const line =
    agent.id === recipient.id ? `${recipient.name} accepted.` : `${agent.name} accepted for ${recipient.name}.`;
  const told = appendSystemLine(ctx, accepted, withReason(line, params.reason));
  drainQueue(ctx);
  return answer(current(ctx, told));
});

/** By the recipient, or an admin or supervisor. The assignee keeps the conversation. */
export const declineAssignment = command('assignment.decline', (ctx, params: AnswerParams): Answer => {
  const { agent, conversation, handshake } = requireHandshake(
    ctx,
    params,
    (by, offered) => by.id === offered.toAgentId,
  );
  const declined = revert(
    ctx,
    conversation,
    'assignment.declined',
    withReason(`${agent.name} declined.`, params.reason),
  );
  return answer(routeChat(ctx, declined, { exceptAgentId: handshake.toAgentId }));
});

/** By the agent who made the offer, or an admin or supervisor. */
export const cancelAssignment = command('assignment.cancel', (ctx, params: AnswerParams): Answer => {
  const { agent, conversation } = requireHandshake(ctx, params, (by, offered) => by.id === offered.initiatedByAgentId);
  const cancelled = revert(
    ctx,
    conversation,
    'assignment.cancelled',
    withReason(`${agent.name} cancelled the offer.`, params.reason),
  );
  return answer(routeChat(ctx, cancelled));
});

/** Runs after the 30 seconds. */
export const expireAssignment = command('assignment.expire', (ctx, params: DeadlineParams): void => {
  const conversation = ctx.state(conversationKind, params.subjectId);
  if (conversation?.handshake == null) return;
  const { toAgentId } = conversation.handshake;
  const expired = revert(ctx, conversation, 'assignment.expired', 'The offer expired.');
  routeChat(ctx, expired, { exceptAgentId: toAgentId });
});

/** The recipient left the workspace: the offer ends at once, as if it had expired. */
export function revertHandshake(ctx: Context, conversation: ConversationRecord): ConversationRecord {
  return conversation.handshake === null
    ? conversation
    : revert(ctx, conversation, 'assignment.expired', 'The offer ended: its recipient is no longer available.');
}

/** Ends an offer that something else superseded (a new assignment, another department, a solved conversation). */
export function endHandshake(ctx: Context, conversation: ConversationRecord): ConversationRecord {
  if (conversation.handshake === null) return conversation;
  ctx.clearDeadline(handshakeDeadline, conversation.id);
  return changeConversation(ctx, conversation, { handshake: null }, 'assignment.cancelled');
}

export interface AssignDepartmentParams {
  readonly conversationId: string;
  /** Null: out of every department, into the workspace's queue. */
  readonly departmentId: string | null;
  readonly expectedVersion?: number | undefined;
}

/**
 * Immediate: into the department's queue, unassigned. A chat is then routed there, but not to the agent who moved it.
 * Refuses not_found, forbidden, not_assigned for a call under way that is another agent's, stale_version, conflict.
 */
export const assignToDepartment = command(
  'conversation.assignToDepartment',
  (ctx, params: AssignDepartmentParams): Answer => {
    const { agent, conversation } = requireReachable(ctx, params.conversationId);
    requireCallHolder(ctx, agent, conversation);
    requireVersion(conversation, params.expectedVersion);
    requireUnmerged(ctx, conversation);
    const department =
      params.departmentId === null
        ? undefined
        : (theRoster(ctx).departments.get(params.departmentId) ?? refuse('not_found'));
    const free = endHandshake(ctx, conversation);
    const moved = changeConversation(ctx, free, {
      departmentId: params.departmentId,
      assignedAgentId: null,
      notToAgentIds: [agent.id],
    });
    ringAgain(ctx, free, moved);
    const told = appendSystemLine(
      ctx,
      moved,
      `${agent.name} moved this ${department === undefined ? 'out of its department' : `to ${department.name}`}.`,
    );
    const routed = routeChat(ctx, told);
    drainQueue(ctx);
    return answer(current(ctx, routed));
  },
);

/** An agent who may be given the conversation: an active one, in its channel. Refuses not_found, semantic_error. */
export function requireRecipient(ctx: Context, conversation: ConversationRecord, agentId: string): AgentRecord {
  const recipient = requireAgent(ctx, agentId);
  if (!isActive(recipient)) refuse('semantic_error', { message: `${recipient.name} is not active in this workspace.` });
  if (!worksIn(recipient, conversation.channel))
    refuse('semantic_error', { message: `${recipient.name} does not work in the channel ${conversation.channel}.` });
  if (wouldBeInTwoCalls(ctx, conversation, recipient.id))
    refuse('semantic_error', { message: `${recipient.name} is in another call.` });
  return recipient;
}

function giveByForce(
  ctx: Context,
  conversation: ConversationRecord,
  options: { agent: AgentRecord; recipient: AgentRecord; note?: string | undefined },
): ConversationRecord {
  const { agent, recipient } = options;
  const isGiven = agent.id !== recipient.id;
  const given = changeConversation(
    ctx,
    conversation,
    { assignedAgentId: recipient.id },
    isGiven ? 'assignment.given' : undefined,
  );
  noteAssignment(ctx, recipient);
  handCall(ctx, conversation, given);
  if (isGiven) expectNotice(ctx, givenNoticeDeadline, conversation.id);
  ctx.audit({
    action: 'conversation.force_transferred',
    targetKind: 'conversation',
    targetId: conversation.id,
    before: { assignedAgentId: conversation.assignedAgentId },
    after: { assignedAgentId: recipient.id },
  });
  const told = appendSystemLine(
    ctx,
    given,
    withReason(`${agent.name} assigned this to ${recipient.name}.`, options.note),
  );
  drainQueue(ctx);
  return current(ctx, told);
}

function requireHandshake(
  ctx: Context,
  params: AnswerParams,
  isTheirs: (agent: AgentRecord, handshake: NonNullable<ConversationRecord['handshake']>) => boolean,
) {
  const { agent, conversation } = requireReachable(ctx, params.conversationId);
  const { handshake } = conversation;
  // An expired offer is over even before its deadline has run.
  if (handshake === null || handshake.expiresAt <= ctx.at) refuse('no_pending_handshake');
  if (!isSenior(agent) && !isTheirs(agent, handshake)) refuse('forbidden');
  requireVersion(conversation, params.expectedVersion);
  return { agent, conversation, handshake };
}

/** The assignee did not change while the offer was pending, so reverting it only ends it. */
function revert(
  ctx: Context,
  conversation: ConversationRecord,
  type: EventOf<'conversation'>,
  line: string,
): ConversationRecord {
  ctx.clearDeadline(handshakeDeadline, conversation.id);
  const reverted = changeConversation(ctx, conversation, { handshake: null }, type);
  return appendSystemLine(ctx, reverted, line);
}

/** The conversation as earlier steps of this command left it. */
function current(ctx: Context, conversation: ConversationRecord): ConversationRecord {
  return ctx.state(conversationKind, conversation.id) ?? conversation;
}

function withReason(line: string, reason: string | undefined): string {
  return reason === undefined || reason.trim() === '' ? line : `${line.slice(0, -1)}: ${reason.trim()}`;
}

function answer(conversation: ConversationRecord): Answer {
  return { conversation: conversationView(conversation) };
}
