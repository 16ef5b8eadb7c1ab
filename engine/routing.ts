// Who gets a new chat: the available agent in scope with the fewest open chats, the longest idle among equals, up to the
// workspace's limit; else it waits and the queue drains as agents free up. Tickets stay until somebody takes them. Calls ring
// (ringing.ts); who becomes free is rung too.

import type { AgentRecord } from '../store/agents.ts';
import { type ConversationRecord, findLongestWaitingChat, openChatsByAgent } from '../store/conversations.ts';
import { passesDepartment, worksIn } from './access.ts';
import { changeConversation, conversationKind } from './conversation.ts';
import { appendServiceLine } from './messages.ts';
import { ringFreeAgents } from './ringing.ts';
import { isActive, noteAssignment, theRoster } from './roster.ts';
import { command } from './runtime/command.ts';
import type { Context } from './runtime/context.ts';
import type { DeadlineParams } from './runtime/deadlines.ts';
import { theWorkspace } from './workspace.ts';

/** Chats given out in one command, so that a limit that is raised does not hold up the others. More follow in the next. */
const drainPage = 100;
export const drainDeadline = 'routing.drain';

/** How many open chats each agent has, of those that have any. */
type Loads = ReadonlyMap<string, number>;

/** Those who could take one more chat. */
export function freeAgents(agents: Iterable<AgentRecord>, loads: Loads, maxOpenChats: number): AgentRecord[] {
  return [...agents].filter((agent) => isActive(agent) && agent.status === 'available' && worksIn(agent, 'chat') && (loads.get(agent.id) ?? 0) < maxOpenChats);
}

/** The choice among those who are free. */
export function chooseAgent(free: readonly AgentRecord[], conversation: ConversationRecord, loads: Loads): AgentRecord | undefined {
  let best: AgentRecord | undefined;
  for (const agent of free) if (passesDepartment(agent, conversation) && (best === undefined || comesBefore(agent, best, loads))) best = agent;
  return best;
}

function comesBefore(agent: AgentRecord, best: AgentRecord, loads: Loads): boolean {
  const [load, least] = [loads.get(agent.id) ?? 0, loads.get(best.id) ?? 0];
  return load < least || (load === least && (agent.lastAssignedAt ?? '') < (best.lastAssignedAt ?? ''));
}

/** Gives a waiting chat to an agent if one is free; returns it as it is then. */
export function routeChat(ctx: Context, conversation: ConversationRecord, options: { exceptAgentId?: string } = {}): ConversationRecord {
  const { routing } = theWorkspace(ctx).settings;
  if (routing.mode !== 'auto' || !isWaiting(conversation)) return conversation;
  const loads = openChatsByAgent(ctx.db);
  const free = freeAgents(theRoster(ctx).agents.values(), loads, routing.maxOpenChatsPerAgent).filter((agent) => agent.id !== options.exceptAgentId);
  const agent = chooseAgent(free, conversation, loads);
  return agent === undefined ? conversation : give(ctx, conversation, agent);
}

/** Called when somebody may have become free, or something may have come back: the longest waiting go first. */
export function drainQueue(ctx: Context): void {
  ringFreeAgents(ctx);
  const { routing } = theWorkspace(ctx).settings;
  if (routing.mode !== 'auto') return;
  const loads = openChatsByAgent(ctx.db);
  for (let given = 0; given < drainPage; given += 1) {
    const free = freeAgents(theRoster(ctx).agents.values(), loads, routing.maxOpenChatsPerAgent);
    const chatId = free.length === 0 ? undefined : findLongestWaitingChat(ctx.db, departmentsOf(free));
    const conversation = chatId === undefined ? undefined : ctx.state(conversationKind, chatId);
    const agent = conversation && chooseAgent(free, conversation, loads);
    if (conversation === undefined || agent === undefined) return;
    give(ctx, conversation, agent);
    loads.set(agent.id, (loads.get(agent.id) ?? 0) + 1);
  }
  ctx.setDeadline(drainDeadline, ctx.workspaceId, ctx.nowMs);
}

/** Goes on where drainQueue left off. */
export const drainOn = command('routing.drain', (ctx, _: DeadlineParams): void => drainQueue(ctx));

function give(ctx: Context, conversation: ConversationRecord, agent: AgentRecord): ConversationRecord {
  noteAssignment(ctx, agent);
  const assigned = changeConversation(ctx, conversation, { assignedAgentId: agent.id });
  return appendServiceLine(ctx, assigned, `Assigned to ${agent.name}.`);
}

/** Where any of them may reach a chat; null is everywhere. */
function departmentsOf(agents: readonly AgentRecord[]): string[] | null {
  return agents.some((agent) => agent.role === 'admin') ? null : [...new Set(agents.flatMap((agent) => agent.groupIds))];
}

function isWaiting(conversation: ConversationRecord): boolean {
  return conversation.channel === 'chat' && conversation.status === 'open' && conversation.assignedAgentId === null && conversation.handshake === null;
}
