// Names of roles, channels and states.

import type { Agent, Role } from '../records.ts';

export type AgentChannel = Agent['channels'][number];

export const roleNames: Readonly<Record<Role, string>> = { admin: 'Admin', supervisor: 'Supervisor', agent: 'Agent' };
export const roleHints: Readonly<Record<Role, string>> = {
  admin: 'Can change everything: agents, sites, billing, settings. Works in every channel.',
  supervisor: "Sees everyone's figures, edits shared replies and goals, manages their departments.",
  agent: 'Answers customers in their channels and departments.',
};
export const channelNames: Readonly<Record<AgentChannel, string>> = {
  chats: 'Chats',
  tickets: 'Tickets',
  calls: 'Calls',
};
export const agentChannels: readonly AgentChannel[] = ['chats', 'tickets', 'calls'];

/** "a, b and c" */
export function listed(items: readonly string[]): string {
  if (items.length < 2) return items[0] ?? '';
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`;
}

/** "1 site", "3 sites" */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${new Intl.NumberFormat().format(count)} ${count === 1 ? one : many}`;
}
