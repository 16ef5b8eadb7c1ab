// Rules of the inbox: the status machine of the specification, who can be handed a conversation, and what happened to
// it while an agent looked at it. Plain functions, without state.

import type { Agent, Channel, Conversation, ConversationStatus, Department } from '../../records.ts';

export type RequestedStatus = Exclude<ConversationStatus, 'closed'>;

/** Specification 3. No one closes a conversation by hand. */
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

/** Whether the service would assign it to the agent. Admins work in every channel. */
export function canTake({ inviteStatus, role, channels }: Agent, channel: Channel): boolean {
  return inviteStatus === 'joined' && (role === 'admin' || channels.includes(workOf[channel]));
}

/**
 * The assignee, admins and supervisors can return a conversation to the queue. Calls are returned by handing them over.
 */
export function mayGiveBack(own: Agent, { assignedAgentId, channel, status }: Conversation): boolean {
  return (
    assignedAgentId !== null &&
    channel !== 'call' &&
    (status === 'open' || status === 'pending') &&
    (assignedAgentId === own.id || own.role !== 'agent')
  );
}

/** A customer's message can be marked unread by the assignee, or by anyone while it is unassigned. */
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
 * Who can be offered it: everyone who can take it except the assignee and the reader, available ones first, then those
 * present.
 */
export function recipientsOf(conversation: Conversation, agents: Iterable<Agent>, ownId: string | undefined): Agent[] {
  return inOrderOfPresence(
    [...agents].filter(
      (agent) =>
        canTake(agent, conversation.channel) && agent.id !== conversation.assignedAgentId && agent.id !== ownId,
    ),
  );
}

export function inOrderOfPresence(agents: readonly Agent[]): Agent[] {
  return agents.toSorted(
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

/** "Ann took it. It is pending now.": the changes since `was`, most important first. */
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

/** The present tags with the additions and removals of an agent who saw them as `from`. */
export function mergedTags(
  now: readonly string[],
  { from, to }: { readonly from: readonly string[]; readonly to: readonly string[] },
): string[] {
  const kept = now.filter((tag) => to.includes(tag) || !from.includes(tag));
  return [...new Set([...kept, ...to.filter((tag) => !from.includes(tag))])];
}

/** Whole seconds until then, by the service's clock; 0 once it has passed. */
export function secondsUntil(at: string, nowMs: number): number {
  return Math.max(0, Math.ceil((Date.parse(at) - nowMs) / 1000));
}

/** Departments by name. */
export function sortedDepartments(departments: Iterable<Department>): Department[] {
  return [...departments].sort((a, b) => a.name.localeCompare(b.name));
}
