// The agents and departments of the workspace: read once somebody asks, then kept by what the socket says.

import { computed, effect, signal } from '@preact/signals';
import { call, token } from './api.ts';
import { onEvent, onResync } from './live.ts';
import type { Agent, Department } from './records.ts';

export const agents = signal<ReadonlyMap<string, Agent>>(new Map());
export const departments = signal<ReadonlyMap<string, Department>>(new Map());
/** Why they could not be read, while they could not. */
export const peopleFailure = signal<unknown>(undefined);
export const joinedAgents = computed(() => [...agents.value.values()].filter(({ inviteStatus }) => inviteStatus === 'joined').sort((a, b) => a.name.localeCompare(b.name)));

effect(() => {
  agents.value = new Map();
  departments.value = new Map();
  if (token.value !== null) void readPeople();
});
onResync(() => void readPeople());
onEvent(['agent.updated'], ({ data }) => {
  // The event's data, as the sockets' document gives it.
  const { agent } = data as { agent: Agent };
  keepColleague(agent);
});

/** What an answer or the socket said of somebody. */
export function keepColleague(agent: Agent): void {
  agents.value = new Map(agents.value).set(agent.id, agent);
}

export function keepDepartment(department: Department): void {
  // One department alone is where new conversations start.
  const others = [...departments.value.values()].map((one) => (department.isDefault && one.isDefault ? { ...one, isDefault: false } : one));
  departments.value = new Map([...others, department].map((one) => [one.id, one]));
}

/** Every page of the list. */
export async function readAll<Row>(path: string, key: string, query: Readonly<Record<string, string>> = {}): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  do {
    const page: Record<string, unknown> = await call('GET', path, { query: { ...query, limit: 200, cursor } });
    // Lists stand under their plural name, decisions, Wrapping.
    rows.push(...(page[key] as Row[]));
    cursor = (page['nextCursor'] as string | null | undefined) ?? null;
  } while (cursor !== null);
  return rows;
}

export async function readPeople(): Promise<void> {
  const asked = token.peek();
  if (asked === null) return;
  try {
    const [allAgents, { departments: allDepartments }] = await Promise.all([readAll<Agent>('/agents', 'agents'), call<{ departments: Department[] }>('GET', '/departments')]);
    if (token.peek() !== asked) return;
    agents.value = new Map(allAgents.map((agent) => [agent.id, agent]));
    departments.value = new Map(allDepartments.map((department) => [department.id, department]));
    peopleFailure.value = undefined;
  } catch (error) {
    if (token.peek() === asked) peopleFailure.value = error;
  }
}

/** Somebody who left is still named in what they said. */
export function agentName(agentId: string | null): string {
  if (agentId === null) return 'Nobody';
  return agents.value.get(agentId)?.name ?? 'A former agent';
}

export function departmentName(departmentId: string | null): string {
  if (departmentId === null) return 'No department';
  return departments.value.get(departmentId)?.name ?? 'A former department';
}
