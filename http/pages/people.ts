// The agents and departments of the workspace: read once somebody asks, then kept by what the socket says.

import { computed, effect, signal, untracked } from '@preact/signals';
import { call, token } from './api.ts';
import { onceLive, socketOrTimeout } from './await-socket.ts';
import { connection, onEvent, onResync } from './live.ts';
import type { Agent, Department } from './records.ts';
import { type Stop, stopAll } from './subscriptions.ts';

export const agents = signal<ReadonlyMap<string, Agent>>(new Map());
export const departments = signal<ReadonlyMap<string, Department>>(new Map());
/** Why they could not be read, while they could not. */
export const peopleFailure = signal<unknown>(undefined);
export const joinedAgents = computed(() =>
  [...agents.value.values()]
    .filter(({ inviteStatus }) => inviteStatus === 'joined')
    .sort((a, b) => a.name.localeCompare(b.name)),
);

/** Until they are, nobody can say who is a former one. */
export const arePeopleRead = signal(false);
/** Departments that were named somewhere and are not among those that were read: each is asked for once. */
const soughtDepartments = new Set<string>();

export function startPeople(): Stop {
  return stopAll([
    effect(() => {
      agents.value = new Map();
      departments.value = new Map();
      arePeopleRead.value = false;
      soughtDepartments.clear();
      if (token.value !== null) void begin();
    }),
    onResync(() => void readPeople()),
    // A failed read is repeated when the connection is back.
    effect(() => {
      if (connection.value === 'live' && peopleFailure.peek() !== undefined) untracked(() => void readPeople());
    }),
    // The data of each event is as the sockets' document gives it.
    onEvent(['agent.updated'], ({ data }) => keepColleague((data as { agent: Agent }).agent)),
    onEvent(['department.created', 'department.updated'], ({ data }) =>
      keepDepartment((data as { department: Department }).department),
    ),
    onEvent(['department.deleted'], ({ data }) => {
      const left = new Map(departments.peek());
      left.delete((data as { department: Department }).department.id);
      departments.value = left;
    }),
    onEvent(['agent.presence'], ({ data }) => {
      const { agentId, isOnline } = data as { agentId: string; isOnline: boolean };
      const agent = agents.peek().get(agentId);
      if (agent !== undefined) keepColleague({ ...agent, isOnline });
    }),
  ]);
}

/** "Away, not here": what somebody chose, and whether that is because nobody has seen them. */
export function presenceOf({ status, statusSource, isOnline }: Agent): string {
  if (status === 'available') return isOnline ? 'Available' : 'Available, not connected';
  if (status === 'away') return statusSource === 'automatic' ? 'Away, not connected' : 'Away';
  return statusSource === 'automatic' ? 'Signed out' : 'Offline';
}

async function begin(): Promise<void> {
  await socketOrTimeout();
  onceLive(() => void readPeople());
  await readPeople();
}

function seekDepartment(what: string): void {
  if (soughtDepartments.has(what)) return;
  soughtDepartments.add(what);
  void readPeople();
}

/** What an answer or the socket said of somebody. */
export function keepColleague(agent: Agent): void {
  agents.value = new Map(agents.value).set(agent.id, agent);
}

export function keepDepartment(department: Department): void {
  // One department alone is where new conversations start.
  const others = [...departments.value.values()].map((one) =>
    department.isDefault && one.isDefault ? { ...one, isDefault: false } : one,
  );
  departments.value = new Map([...others, department].map((one) => [one.id, one]));
}

/** Every page of the list. */
export async function readAll<Row>(
  path: string,
  key: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Row[]> {
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
    const [allAgents, { departments: allDepartments }] = await Promise.all([
      readAll<Agent>('/agents', 'agents'),
      call<{ departments: Department[] }>('GET', '/departments'),
    ]);
    if (token.peek() !== asked) return;
    agents.value = new Map(allAgents.map((agent) => [agent.id, agent]));
    departments.value = new Map(allDepartments.map((department) => [department.id, department]));
    peopleFailure.value = undefined;
    arePeopleRead.value = true;
  } catch (error) {
    if (token.peek() === asked) peopleFailure.value = error;
  }
}

/** Somebody who left is still named in what they said. */
export function agentName(agentId: string | null): string {
  if (agentId === null) return 'No one';
  return agents.value.get(agentId)?.name ?? (arePeopleRead.value ? 'A former agent' : '…');
}

export function departmentName(departmentId: string | null): string {
  if (departmentId === null) return 'No department';
  const found = departments.value.get(departmentId);
  if (found !== undefined || !arePeopleRead.value) return found?.name ?? '…';
  // Made since they were read, or gone.
  queueMicrotask(() => seekDepartment(departmentId));
  return 'A former department';
}
