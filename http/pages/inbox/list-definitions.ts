// Which lists the inbox has: a rule says what is in a list, a time orders it. A view is a list, too.

import { computed } from '@preact/signals';
import type { IconName } from '../design/icon.tsx';
import { departments } from '../people.ts';
import type { Agent, Conversation } from '../records.ts';
import { me } from '../session.ts';
import { type Filter, isIn, type Sort } from './narrowing.ts';
import { views } from './views.ts';

export interface ListDefinition {
  /** In the address. */
  readonly key: string;
  readonly label: string;
  readonly icon: IconName;
  readonly group: 'yours' | 'views' | 'channels' | 'departments' | 'over';
  readonly source: Source;
  /** What a view of the list would filter by. */
  readonly filter?: Filter;
  /** Also what is offered to the agent. */
  readonly isWithOffered?: boolean;
  /** Nothing can be in it, so nothing is asked for. */
  readonly isNothing?: boolean;
  /** `newest` if it is left out. */
  readonly sort?: Sort;
  /** It is a view. */
  readonly viewId?: string;
  holds(conversation: Conversation, agent: Agent): boolean;
}

type Source = 'queue' | 'solved' | 'spam';

export const isOpen = ({ status }: Conversation): boolean => status === 'open' || status === 'pending';
const isOver = ({ status }: Conversation): boolean => status === 'solved' || status === 'closed';
const inChannel = (channel: Conversation['channel']): Pick<ListDefinition, 'filter' | 'holds'> => ({
  filter: { channel },
  holds: (one) => isOpen(one) && one.channel === channel,
});

const fixed: readonly ListDefinition[] = [
  {
    key: 'mine',
    label: 'Yours',
    icon: 'person',
    group: 'yours',
    source: 'queue',
    filter: { assigneeId: 'me' },
    isWithOffered: true,
    holds: (one, agent) => isOpen(one) && (one.assignedAgentId === agent.id || one.handshake?.toAgentId === agent.id),
  },
  {
    key: 'unassigned',
    label: 'Unassigned',
    icon: 'inbox',
    group: 'yours',
    source: 'queue',
    filter: { assigneeId: 'none' },
    holds: (one) => isOpen(one) && one.assignedAgentId === null,
  },
  { key: 'all', label: 'All open', icon: 'list', group: 'yours', source: 'queue', holds: isOpen },
  { key: 'chats', label: 'Chats', icon: 'chat', group: 'channels', source: 'queue', ...inChannel('chat') },
  { key: 'tickets', label: 'Tickets', icon: 'ticket', group: 'channels', source: 'queue', ...inChannel('ticket') },
  { key: 'calls', label: 'Calls', icon: 'call', group: 'channels', source: 'queue', ...inChannel('call') },
  { key: 'solved', label: 'Solved', icon: 'check', group: 'over', source: 'solved', holds: isOver },
  {
    key: 'spam',
    label: 'Spam',
    icon: 'block',
    group: 'over',
    source: 'spam',
    holds: ({ status }) => status === 'spam',
  },
];

const channelOf: Readonly<Record<string, Agent['channels'][number]>> = {
  chats: 'chats',
  tickets: 'tickets',
  calls: 'calls',
};

/** The parts of the agent's record that decide what it may see. */
export const reach = computed(() =>
  JSON.stringify([me.value?.agent.id, me.value?.agent.role, me.value?.agent.channels, me.value?.agent.groupIds]),
);

/** By name. There may be 200, so they stay the same while only other lists change. */
const ofDepartments = computed<readonly ListDefinition[]>(() => {
  void reach.value;
  const agent = me.peek()?.agent;
  return [...departments.value.values()]
    .filter(({ id }) => agent?.role === 'admin' || agent?.groupIds.includes(id) === true)
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ id, name }) => ({
      key: `department-${id}`,
      label: name,
      icon: 'people',
      group: 'departments',
      source: 'queue',
      filter: { departmentId: id },
      holds: (one) => isOpen(one) && one.departmentId === id,
    }));
});

/** The lists in which this agent can have conversations. */
export const definitions = computed<readonly ListDefinition[]>(() => {
  void reach.value;
  const agent = me.peek()?.agent;
  const shown = fixed.filter(({ key }) => {
    const channel = channelOf[key];
    return channel === undefined || agent?.role === 'admin' || agent?.channels.includes(channel) === true;
  });
  const ofViews = views.value.map(
    ({ id, name, filter, sort }): ListDefinition => ({
      key: `view-${id}`,
      label: name,
      icon: 'filter',
      group: 'views',
      source: 'queue',
      filter,
      sort,
      viewId: id,
      holds: (one, reader) => isOpen(one) && isIn(filter, one, reader),
    }),
  );
  return [
    ...shown.filter(({ group }) => group === 'yours'),
    ...ofViews,
    ...shown.filter(({ group }) => group === 'channels'),
    ...ofDepartments.value,
    ...shown.filter(({ group }) => group === 'over'),
  ];
});

/** The server's rule for what an agent may see (`engine/workspace/access.ts`); a test runs both over the same cases. */
export function isReachable(one: Conversation, agent: Agent): boolean {
  if (agent.role === 'admin') return true;
  if (!agent.channels.includes(`${one.channel}s`)) return false;
  return (
    one.departmentId === null ||
    agent.groupIds.includes(one.departmentId) ||
    one.assignedAgentId === agent.id ||
    one.handshake?.toAgentId === agent.id
  );
}
