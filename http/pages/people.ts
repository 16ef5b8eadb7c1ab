// The agents and departments of the workspace: read after signing in, then kept current by the socket.

import { computed, effect, signal, untracked } from '@preact/signals';
import { call, token } from './api.ts';
import { onceLive, socketOrTimeout } from './await-socket.ts';
import { connection, onEvent, onResync } from './live.ts';
import { readAll } from './paging.ts';
import type { Agent, Department } from './records.ts';
import { type Stop, stopAll } from './subscriptions.ts';

export const agents = signal<ReadonlyMap<string, Agent>>(new Map());
export const departments = signal<ReadonlyMap<string, Department>>(new Map());
/** Why they could not be loaded, while they could not. */
export const peopleFailure = signal<unknown>(undefined);
export const joinedAgents = computed(() =>
  [...agents.value.values()]
    .filter(({ inviteStatus }) => inviteStatus === 'joined')
    .sort((a, b) => a.name.localeCompare(b.name)),
);

/** Before that, an unknown agent may not be a former one. */
export const arePeopleRead = signal(false);
/** Departments that were named somewhere but not read: each causes one more read. */
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

/** "Away, not connected": the chosen status, and whether it was set because the agent is not connected. */
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

function seekDepartment(departmentId: string): void {
  if (soughtDepartments.has(departmentId)) return;
  soughtDepartments.add(departmentId);
  void readPeople();
}

export function keepColleague(agent: Agent): void {
  agents.value = new Map(agents.value).set(agent.id, agent);
}

export function keepDepartment(department: Department): void {
  // Only one department is the default.
  const others = [...departments.value.values()].map((one) =>
    department.isDefault && one.isDefault ? { ...one, isDefault: false } : one,
  );
  departments.value = new Map([...others, department].map((one) => [one.id, one]));
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

/** An agent who left is still named in old messages. */
export function agentName(agentId: string | null): string {
  if (agentId === null) return 'No one';
  return agents.value.get(agentId)?.name ?? (arePeopleRead.value ? 'A former agent' : '…');
}

export function departmentName(departmentId: string | null): string {
  if (departmentId === null) return 'No department';
  const found = departments.value.get(departmentId);
  if (found !== undefined || !arePeopleRead.value) return found?.name ?? '…';
  // Created since the last read, or deleted.
  queueMicrotask(() => seekDepartment(departmentId));
  return 'A former department';
}
