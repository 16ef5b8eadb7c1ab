// Who gets a new chat: the available agent in scope with the fewest open chats, the longest idle among equals, up to the
// workspace's limit; else it waits and the queue drains as agents free up. Tickets stay until somebody takes them. Calls ring
// (ringing.ts); who becomes free is rung too.

import type { AgentRecord } from '../store/agents.ts';
import { type ConversationRecord, openChatsByAgent, waitingChats } from '../store/conversations.ts';
import { reaches } from './access.ts';
import { changeConversation, conversationKind } from './conversation.ts';
import { appendSystemLine } from './messages.ts';
import { ringFreeAgents } from './ringing.ts';
import { isActive, noteAssignment, theRoster } from './roster.ts';
import type { Context } from './runtime/context.ts';
import { theWorkspace } from './workspace.ts';

/** Waiting chats looked at in one go. More than agents could take at once in any workspace. */
const drainLimit = 500;

/** The choice itself. `loads` counts the open chats of those who have any. */
export function chooseAgent(options: {
  agents: Iterable<AgentRecord>;
  conversation: ConversationRecord;
  loads: ReadonlyMap<string, number>;
  maxOpenChats: number;
  exceptAgentId?: string | undefined;
}): AgentRecord | undefined {
  const { conversation, loads } = options;
  const loadOf = (agent: AgentRecord): number => loads.get(agent.id) ?? 0;
  let best: AgentRecord | undefined;
  for (const agent of options.agents) {
    if (!isActive(agent) || agent.status !== 'available' || agent.id === options.exceptAgentId) continue;
    if (!reaches(agent, conversation) || loadOf(agent) >= options.maxOpenChats) continue;
    if (best === undefined || loadOf(agent) < loadOf(best) || (loadOf(agent) === loadOf(best) && (agent.lastAssignedAt ?? '') < (best.lastAssignedAt ?? ''))) best = agent;
  }
  return best;
}

/** Gives a waiting chat to an agent if one is free; returns it as it is then. */
export function routeChat(ctx: Context, conversation: ConversationRecord, options: { exceptAgentId?: string | undefined } = {}): ConversationRecord {
  const { routing } = theWorkspace(ctx).settings;
  if (routing.mode !== 'auto' || !isWaiting(conversation)) return conversation;
  const agent = chooseAgent({
    agents: theRoster(ctx).agents.values(),
    conversation,
    loads: openChatsByAgent(ctx.db),
    maxOpenChats: routing.maxOpenChatsPerAgent,
    exceptAgentId: options.exceptAgentId,
  });
  if (agent === undefined) return conversation;
  noteAssignment(ctx, agent);
  const assigned = changeConversation(ctx, conversation, { assignedAgentId: agent.id });
  return appendSystemLine(ctx, assigned, `Assigned to ${agent.name}.`);
}

/** Called when somebody may have become free, or something may have come back. */
export function drainQueue(ctx: Context): void {
  ringFreeAgents(ctx);
  if (theWorkspace(ctx).settings.routing.mode !== 'auto') return;
  for (const row of waitingChats(ctx.db, drainLimit)) {
    const conversation = ctx.state(conversationKind, row.id);
    if (conversation !== undefined) routeChat(ctx, conversation);
  }
}

function isWaiting(conversation: ConversationRecord): boolean {
  return conversation.channel === 'chat' && conversation.status === 'open' && conversation.assignedAgentId === null && conversation.handshake === null;
}
