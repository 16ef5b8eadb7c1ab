// Taking an unassigned conversation, explicitly or by answering, and giving one back to routing. For chats, tickets and
// calls. Decisions, "Taking".

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { refuse } from '../errors.ts';
import { requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import { isSenior } from '../workspace/access.ts';
import { noteAssignment, theRoster } from '../workspace/roster.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { requireCallHolder } from './call.ts';
import { changeConversation, conversationKind, conversationView, requireReachable } from './conversation.ts';
import { endHandshake, handshakeDeadline } from './handshake.ts';
import { appendSystemLine } from './messages.ts';
import { requireSilent, ringAgain } from './ringing.ts';
import { drainQueue, routeChat } from './routing.ts';

interface Answer {
  readonly conversation: ConversationView;
}

/**
 * Ends a pending offer. No effect for the current assignee. Refuses not_found, forbidden, already_assigned,
 * illegal_status_transition for spam and closed; for a call, conflict while it rings and not_assigned while another
 * agent is in it.
 */
export const takeConversation = command(
  'conversation.take',
  (ctx, params: { conversationId: string; expectedVersion?: number | undefined }): Answer => {
    const { agent, conversation } = requireReachable(ctx, params.conversationId);
    requireVersion(conversation, params.expectedVersion);
    const { assignedAgentId, status } = conversation;
    if (assignedAgentId !== null && assignedAgentId !== agent.id)
      refuse('already_assigned', { detail: { assignedAgentId } });
    if (status === 'spam' || status === 'closed')
      refuse('illegal_status_transition', {
        message: `A conversation that is ${status} cannot be taken.`,
        detail: { from: status },
      });
    requireSilent(ctx, conversation);
    requireCallHolder(ctx, agent, conversation);
    if (assignedAgentId === agent.id) return { conversation: conversationView(endHandshake(ctx, conversation)) };
    return { conversation: conversationView(take(ctx, conversation, agent, `${agent.name} took this.`)) };
  },
);

/** Assigns an unassigned chat or ticket to the agent who answers it, if the workspace's settings say so. */
export function takeByReply(ctx: Context, conversation: ConversationRecord, agent: AgentRecord): ConversationRecord {
  if (
    conversation.channel === 'call' ||
    conversation.assignedAgentId !== null ||
    !theWorkspace(ctx).settings.assignOnReply
  )
    return conversation;
  return take(ctx, conversation, agent, `${agent.name} took this by answering.`);
}

/**
 * By the assignee, an admin or a supervisor: back to routing, which skips both the caller and the former assignee.
 * Refuses not_found, nobody_assigned, forbidden; not_assigned for a call under way that is another agent's.
 */
export const unassignConversation = command(
  'conversation.unassign',
  (ctx, params: { conversationId: string; expectedVersion?: number | undefined }): Answer => {
    const { agent, conversation } = requireReachable(ctx, params.conversationId);
    requireVersion(conversation, params.expectedVersion);
    const { assignedAgentId } = conversation;
    if (assignedAgentId === null) refuse('nobody_assigned');
    if (assignedAgentId !== agent.id && !isSenior(agent))
      refuse('forbidden', { message: 'Only the assignee, an admin or a supervisor can return it to the queue.' });
    requireCallHolder(ctx, agent, conversation);
    const unoffered = endHandshake(ctx, conversation);
    const free = changeConversation(ctx, unoffered, {
      assignedAgentId: null,
      notToAgentIds: [...new Set([agent.id, assignedAgentId])],
    });
    ringAgain(ctx, unoffered, free);
    const former = assignedAgentId === agent.id ? undefined : theRoster(ctx).agents.get(assignedAgentId);
    const told = appendSystemLine(
      ctx,
      free,
      former === undefined
        ? `${agent.name} returned this to the queue.`
        : `${agent.name} took this from ${former.name}; it is back in the queue.`,
    );
    routeChat(ctx, told);
    drainQueue(ctx);
    return { conversation: conversationView(ctx.state(conversationKind, told.id) ?? told) };
  },
);

/** A single change, so that it is never unassigned and without an offer in between. */
function take(ctx: Context, conversation: ConversationRecord, agent: AgentRecord, line: string): ConversationRecord {
  const { handshake } = conversation;
  if (handshake !== null) ctx.clearDeadline(handshakeDeadline, conversation.id);
  const told =
    handshake === null ? undefined : handshake.toAgentId === agent.id ? 'assignment.accepted' : 'assignment.cancelled';
  const taken = changeConversation(ctx, conversation, { assignedAgentId: agent.id, handshake: null }, told);
  noteAssignment(ctx, agent);
  return appendSystemLine(ctx, taken, line);
}
