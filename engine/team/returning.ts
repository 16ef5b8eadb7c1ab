// Returns conversations to the queue when their agent can no longer have them: all of a deactivated agent's, those of a
// channel it no longer works in and, while it is not present, chats that routing assigned and that are unanswered.
// Specification 3, decisions "Presence of agents". Works in pages, one per command, so that many conversations do not
// block other commands.

import { findCallIdOfAgent } from '../../store/calls/calls.ts';
import {
  type Channel,
  type ConversationRecord,
  conversationIdsToReturn,
} from '../../store/conversations/conversations.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { changeConversation, conversationKind } from '../conversations/conversation.ts';
import { endHandshake, revertHandshake } from '../conversations/handshake.ts';
import { appendSystemLine } from '../conversations/messages.ts';
import { hasCaller, ringAgain } from '../conversations/ringing.ts';
import { drainQueue } from '../conversations/routing.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline } from '../runtime/kinds.ts';
import { worksIn } from '../workspace/access.ts';
import { isActive, theRoster } from '../workspace/roster.ts';

const returnPage = 200;
export const returnDeadline = deadline('agent.returnConversations');
const allChannels: readonly Channel[] = ['chat', 'ticket', 'call'];

/** Decides by the agent's current state. Continues in further commands if there are many. */
export function returnHeld(ctx: Context, agentId: string): void {
  const agent = theRoster(ctx).agents.get(agentId);
  if (agent === undefined) return;
  const ids = conversationIdsToReturn(ctx.db, { agentId, ...whatGoesBack(ctx, agent), limit: returnPage });
  for (const conversationId of ids) {
    const conversation = ctx.state(conversationKind, conversationId);
    if (conversation !== undefined) returnToQueue(ctx, conversation, agent);
  }
  if (ids.length === returnPage) ctx.setDeadline(returnDeadline, agentId, ctx.nowMs);
  drainQueue(ctx);
}

/** Continues where returnHeld stopped. If the agent can have them again by then, it keeps the rest. */
export const returnConversations = command('agent.returnConversations', (ctx, params: DeadlineParams): void =>
  returnHeld(ctx, params.subjectId),
);

/**
 * An offer to an agent who no longer works in the channel expires by itself. A caller stays on the line with the agent
 * until one of them hangs up.
 */
function whatGoesBack(
  ctx: Context,
  agent: AgentRecord,
): { channels: readonly Channel[]; isOfferedToo: boolean; routedToo: boolean; exceptId: string | null } {
  if (!isActive(agent)) return { channels: allChannels, isOfferedToo: true, routedToo: true, exceptId: null };
  return {
    channels: allChannels.filter((channel) => !worksIn(agent, channel)),
    isOfferedToo: false,
    routedToo: agent.status !== 'available',
    exceptId: findCallIdOfAgent(ctx.db, agent.id) ?? null,
  };
}

function returnToQueue(ctx: Context, conversation: ConversationRecord, agent: AgentRecord): void {
  const settled =
    conversation.handshake?.toAgentId === agent.id && !isActive(agent)
      ? revertHandshake(ctx, conversation)
      : conversation;
  if (settled.assignedAgentId !== agent.id) return;
  // The call rings every available agent, so an offer of it ends.
  const unoffered = hasCaller(ctx, settled) ? endHandshake(ctx, settled) : settled;
  const free = changeConversation(ctx, unoffered, { assignedAgentId: null });
  ringAgain(ctx, unoffered, free);
  appendSystemLine(ctx, free, `${agent.name} ${whyOf(agent, free.channel)}; this is back in the queue.`);
}

function whyOf(agent: AgentRecord, channel: Channel): string {
  if (!isActive(agent)) return 'left';
  return worksIn(agent, channel) ? `is ${agent.status}` : `no longer takes ${channel}s`;
}
