// Routes new chats to the available agent with the fewest open chats, the longest idle among equals, up to the
// workspace's limit; a department's chats only to its members. Otherwise the chat waits, and the queue drains as agents
// free up. Tickets wait until an agent takes them. Calls ring (ringing.ts); an agent who becomes free is rung too.

import {
  type ConversationRecord,
  findLongestWaitingChat,
  openChatsByAgent,
  type Takers,
} from '../../store/conversations/conversations.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline } from '../runtime/kinds.ts';
import { worksIn } from '../workspace/access.ts';
import { isActive, isUnseen, noteAssignment, theRoster } from '../workspace/roster.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { changeConversation, conversationKind } from './conversation.ts';
import { appendServiceLine } from './messages.ts';
import { ringFreeAgents } from './ringing.ts';

/** Chats routed in one command, so that raising a limit does not block other commands. More follow in the next. */
const drainPage = 100;
export const drainDeadline = deadline('routing.drain');

/** Open chats per agent, without those who have none. */
type Loads = ReadonlyMap<string, number>;

/** Agents who can take one more chat. */
export function freeAgents(agents: Iterable<AgentRecord>, loads: Loads, maxOpenChats: number): AgentRecord[] {
  return [...agents].filter(
    (agent) =>
      isActive(agent) &&
      agent.status === 'available' &&
      worksIn(agent, 'chat') &&
      (loads.get(agent.id) ?? 0) < maxOpenChats,
  );
}

/** Chooses among the free agents. */
export function chooseAgent(
  free: readonly AgentRecord[],
  conversation: ConversationRecord,
  loads: Loads,
): AgentRecord | undefined {
  let best: AgentRecord | undefined;
  for (const agent of free)
    if (isMeantFor(agent, conversation) && (best === undefined || comesBefore(agent, best, loads))) best = agent;
  return best;
}

/** An admin sees every department but is a member of none by that. */
function isMeantFor(agent: AgentRecord, { departmentId, notToAgentIds }: ConversationRecord): boolean {
  return (departmentId === null || agent.groupIds.includes(departmentId)) && !notToAgentIds.includes(agent.id);
}

function comesBefore(agent: AgentRecord, best: AgentRecord, loads: Loads): boolean {
  const [load, least] = [loads.get(agent.id) ?? 0, loads.get(best.id) ?? 0];
  return load < least || (load === least && (agent.lastAssignedAt ?? '') < (best.lastAssignedAt ?? ''));
}

/** Assigns a waiting chat to an agent if one is free. Returns its current state. */
export function routeChat(
  ctx: Context,
  conversation: ConversationRecord,
  options: { exceptAgentId?: string } = {},
): ConversationRecord {
  const { routing } = theWorkspace(ctx).settings;
  if (routing.mode !== 'auto' || !isWaiting(conversation)) return conversation;
  const loads = openChatsByAgent(ctx.db);
  const free = freeAgents(theRoster(ctx).agents.values(), loads, routing.maxOpenChatsPerAgent).filter(
    (agent) => agent.id !== options.exceptAgentId,
  );
  const agent = chooseAgent(free, conversation, loads);
  return agent === undefined ? conversation : give(ctx, conversation, agent);
}

/** Call when an agent may have become free or a chat may have come back. The longest waiting go first. */
export function drainQueue(ctx: Context): void {
  ringFreeAgents(ctx);
  const { routing } = theWorkspace(ctx).settings;
  if (routing.mode !== 'auto') return;
  const loads = openChatsByAgent(ctx.db);
  for (let given = 0; given < drainPage; given += 1) {
    // An agent who has just joined or signed in starts with one chat from the queue, and gets a full share once
    // present.
    const free = freeAgents(theRoster(ctx).agents.values(), loads, routing.maxOpenChatsPerAgent).filter(
      (agent) => !isUnseen(agent) || !loads.has(agent.id),
    );
    const chatId = free.length === 0 ? undefined : findLongestWaitingChat(ctx.db, takersOf(free));
    const conversation = chatId === undefined ? undefined : ctx.state(conversationKind, chatId);
    const agent = conversation && chooseAgent(free, conversation, loads);
    if (conversation === undefined || agent === undefined) return;
    give(ctx, conversation, agent);
    loads.set(agent.id, (loads.get(agent.id) ?? 0) + 1);
  }
  ctx.setDeadline(drainDeadline, ctx.workspaceId, ctx.nowMs);
}

/** Continues where drainQueue stopped. */
export const drainOn = command('routing.drain', (ctx, _: DeadlineParams): void => drainQueue(ctx));

function give(ctx: Context, conversation: ConversationRecord, agent: AgentRecord): ConversationRecord {
  noteAssignment(ctx, agent);
  const assigned = changeConversation(
    ctx,
    conversation,
    { assignedAgentId: agent.id, routedAt: ctx.at },
    'assignment.given',
  );
  return appendServiceLine(ctx, assigned, `Assigned to ${agent.name}.`);
}

/** By department, the agents who would take a chat of it; for chats without one, all of them. */
function takersOf(agents: readonly AgentRecord[]): Takers[] {
  const byDepartment = new Map<string | null, string[]>([[null, agents.map(({ id }) => id)]]);
  for (const { id, groupIds } of agents) {
    for (const departmentId of groupIds) {
      const members = byDepartment.get(departmentId);
      if (members === undefined) byDepartment.set(departmentId, [id]);
      else members.push(id);
    }
  }
  return [...byDepartment].map(([departmentId, agentIds]) => ({ departmentId, agentIds }));
}

function isWaiting(conversation: ConversationRecord): boolean {
  return (
    conversation.channel === 'chat' &&
    conversation.status === 'open' &&
    conversation.assignedAgentId === null &&
    conversation.handshake === null &&
    conversation.assistant !== 'answering'
  );
}
