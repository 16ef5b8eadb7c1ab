// Many agent sockets of one workspace, for measurements with a crowd of watchers.

import type { Api } from './api.ts';
import { addAgent, makeTenant, type Person, type Tenant } from './scenario.ts';
import { openServiceSocket, type SocketClient } from './socket-client.ts';

/** The seats of the default plan, including the owner's. */
export const agentsPerWorkspace = 50;
/** Concurrent upgrades: the kernel's backlog is short. */
const opening = 50;

/** A workspace with every seat taken. */
export async function makeFullTenant(api: Api): Promise<{ tenant: Tenant; agents: readonly Person[] }> {
  const tenant = await makeTenant(api);
  const invited = await Promise.all(
    Array.from({ length: agentsPerWorkspace - 1 }, (_, index) =>
      addAgent(api, tenant.owner, {
        email: `agent${index}.${tenant.embedId}@example.com`.toLowerCase(),
        name: `Agent ${index}`,
        role: 'agent',
        channels: ['chats'],
      }),
    ),
  );
  return { tenant, agents: [tenant.owner, ...invited] };
}

/** Opens this many sockets, distributed over the agents. */
export function openAgentSockets(url: string, agents: readonly Person[], count: number): Promise<SocketClient[]> {
  return openMany(count, (index) => openServiceSocket(url, 'agent', agents[index % agents.length]?.token ?? ''));
}

export async function openMany(count: number, open: (index: number) => Promise<SocketClient>): Promise<SocketClient[]> {
  const clients: SocketClient[] = [];
  while (clients.length < count) {
    const first = clients.length;
    clients.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(opening, count - first) }, (_, index) => open(first + index)),
      )),
    );
  }
  return clients;
}
