// Access rules by role, channel and department, checked on the state at the moment the command runs. Specification 5.

import type { Channel, ConversationRecord, Reach } from '../../store/conversations/conversations.ts';
import type { AgentChannel, AgentRecord } from '../../store/workspace/agents.ts';
import { refuse } from '../errors.ts';
import type { View } from '../runtime/context.ts';
import { isActive, theRoster } from './roster.ts';

const channelOf: Record<AgentChannel, Channel> = { chats: 'chat', tickets: 'ticket', calls: 'call' };
const agentChannelOf: Record<Channel, AgentChannel> = { chat: 'chats', ticket: 'tickets', call: 'calls' };
export const allAgentChannels: readonly AgentChannel[] = ['chats', 'tickets', 'calls'];

type Calling = Pick<View, 'state' | 'caller'>;

/** The calling agent in its current state. Refuses token_revoked if it was deactivated meanwhile. */
export function callingAgent(ctx: Calling): AgentRecord {
  if (ctx.caller.kind !== 'agent') throw new Error(`an agent's command called by a ${ctx.caller.kind}`);
  const agent = theRoster(ctx).agents.get(ctx.caller.agentId);
  return agent !== undefined && isActive(agent) ? agent : refuse('token_revoked');
}

export function requireAdmin(ctx: Calling): AgentRecord {
  const agent = callingAgent(ctx);
  return agent.role === 'admin' ? agent : refuse('admin_required');
}

export function isSenior(agent: AgentRecord): boolean {
  return agent.role === 'admin' || agent.role === 'supervisor';
}

/** Specification 5.6; an agent, if it may read tickets. */
export function mayCreateTickets(agent: AgentRecord): boolean {
  return isSenior(agent) || (agent.canTransfer && worksIn(agent, 'ticket'));
}

/** Admins work in every channel. */
export function worksIn(agent: AgentRecord, channel: Channel): boolean {
  return agent.role === 'admin' || agent.channels.includes(agentChannelOf[channel]);
}

/**
 * Only admins see all departments. Conversations without a department, and an agent's own, are open to every agent with
 * the channel.
 */
export function passesDepartment(
  agent: AgentRecord,
  conversation: Pick<ConversationRecord, 'departmentId' | 'assignedAgentId' | 'handshake'>,
): boolean {
  return (
    agent.role === 'admin' ||
    conversation.departmentId === null ||
    agent.groupIds.includes(conversation.departmentId) ||
    conversation.assignedAgentId === agent.id ||
    conversation.handshake?.toAgentId === agent.id
  );
}

export function reaches(
  agent: AgentRecord,
  conversation: Pick<ConversationRecord, 'channel' | 'departmentId' | 'assignedAgentId' | 'handshake'>,
): boolean {
  return worksIn(agent, conversation.channel) && passesDepartment(agent, conversation);
}

/** The same rule for lists. */
export function reachOf(agent: AgentRecord): Reach {
  return {
    channels: agent.role === 'admin' ? ['chat', 'ticket', 'call'] : agent.channels.map((channel) => channelOf[channel]),
    departmentIds: agent.role === 'admin' ? null : agent.groupIds,
    agentId: agent.id,
  };
}
