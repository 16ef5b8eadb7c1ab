// What may be done with a conversation by whom: the status machine of the specification, who can be handed what, and
// what happened to a conversation while somebody looked at it. Plain functions, without state.

import type { Agent, Channel, Conversation, ConversationStatus, Department } from '../../records.ts';

export type RequestedStatus = Exclude<ConversationStatus, 'closed'>;

/** Specification 3. Nothing is closed by hand. */
const moves: Readonly<Record<ConversationStatus, readonly RequestedStatus[]>> = {
  open: ['pending', 'solved', 'spam'],
  pending: ['open', 'solved', 'spam'],
  solved: ['open'],
  spam: ['open'],
  closed: ['open', 'solved'],
};

export function mayMove(from: ConversationStatus, to: RequestedStatus): boolean {
  return moves[from].includes(to);
}

const workOf: Readonly<Record<Channel, Agent['channels'][number]>> = {
  chat: 'chats',
  ticket: 'tickets',
  call: 'calls',
};

/** Whether the service would let the agent have it. Admins work in every channel. */
export function canTake({ inviteStatus, role, channels }: Agent, channel: Channel): boolean {
  return inviteStatus === 'joined' && (role === 'admin' || channels.includes(workOf[channel]));
}

/** Who has it, admins and supervisors put back what somebody has. Calls are put back by handing them over. */
export function mayGiveBack(own: Agent, { assignedAgentId, channel, status }: Conversation): boolean {
  return (
    assignedAgentId !== null &&
    channel !== 'call' &&
    (status === 'open' || status === 'pending') &&
    (assignedAgentId === own.id || own.role !== 'agent')
  );
}

/** What a customer wrote, of who may read it: who has the conversation, while nobody does anybody. */
export function mayMarkUnread(
  own: Agent | undefined,
  { assignedAgentId, lastCustomerMessageAt }: Conversation,
): boolean {
  return (
    own !== undefined && lastCustomerMessageAt !== null && (assignedAgentId === null || assignedAgentId === own.id)
  );
}

const presenceOrder = { available: 0, away: 1, offline: 2 } as const;

/**
 * Who can be offered it: everybody who can take it but who has it and who asks, the available first, of them those who
 * are there.
 */
export function recipientsOf(conversation: Conversation, agents: Iterable<Agent>, ownId: string | undefined): Agent[] {
  return [...agents]
    .filter(
      (agent) =>
        canTake(agent, conversation.channel) && agent.id !== conversation.assignedAgentId && agent.id !== ownId,
    )
    .sort(
      (a, b) =>
        presenceOrder[a.status] - presenceOrder[b.status] ||
        Number(b.isOnline) - Number(a.isOnline) ||
        a.name.localeCompare(b.name),
    );
}

interface Names {
  readonly agent: (agentId: string | null) => string;
  readonly department: (departmentId: string | null) => string;
}

/** "Ann took it. It is pending now.": what a reader who saw `was` has missed, most important first. */
export function whatHappened(was: Conversation | undefined, now: Conversation, names: Names): string {
  if (was === undefined) return 'Someone changed it a moment ago.';
  const said: string[] = [];
  if (was.assignedAgentId !== now.assignedAgentId)
    said.push(
      now.assignedAgentId === null
        ? 'It is unassigned now.'
        : `${names.agent(now.assignedAgentId)} took it a moment ago.`,
    );
  if (was.handshake?.expiresAt !== now.handshake?.expiresAt || was.handshake?.toAgentId !== now.handshake?.toAgentId) {
    if (now.handshake !== null)
      said.push(
        `${names.agent(now.handshake.initiatedByAgentId)} offered it to ${names.agent(now.handshake.toAgentId)} a moment ago.`,
      );
    else if (was.assignedAgentId === now.assignedAgentId) said.push('The offer has ended.');
  }
  if (was.departmentId !== now.departmentId)
    said.push(
      now.departmentId === null ? 'It is in no department now.' : `It moved to ${names.department(now.departmentId)}.`,
    );
  if (was.status !== now.status) said.push(`It is ${now.status} now.`);
  if (was.tags.join('\n') !== now.tags.join('\n'))
    said.push(now.tags.length === 0 ? 'It has no tags now.' : `Its tags are ${now.tags.join(', ')} now.`);
  return said.length === 0 ? 'Someone changed it a moment ago.' : said.join(' ');
}

/** The tags as they are, with what somebody added and took off who saw them as `from`. */
export function mergedTags(
  now: readonly string[],
  { from, to }: { readonly from: readonly string[]; readonly to: readonly string[] },
): string[] {
  const kept = now.filter((tag) => to.includes(tag) || !from.includes(tag));
  return [...new Set([...kept, ...to.filter((tag) => !from.includes(tag))])];
}

/** Whole seconds until then, by the service's clock; 0 when it is over. */
export function secondsUntil(at: string, nowMs: number): number {
  return Math.max(0, Math.ceil((Date.parse(at) - nowMs) / 1000));
}

/** Departments in the order of their names. */
export function sortedDepartments(departments: Iterable<Department>): Department[] {
  return [...departments].sort((a, b) => a.name.localeCompare(b.name));
}
