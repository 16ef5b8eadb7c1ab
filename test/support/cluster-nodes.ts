// Nodes of one cluster in this process: real services over a real NATS server, each with a folder of its own.

import { systemClock } from '../../engine/runtime/clock.ts';
import { inLine } from '../../engine/runtime/cluster/sharing.ts';
import type { NatsServer } from './nats.ts';
import { nodeRecord } from './node-record.ts';
import { type Person, password, type Service, type StartOptions, startService, type Teardown } from './service.ts';

const secret = 'a secret that the nodes of a test share';
const maxTries = 20;

/** Settings of every node, and of a command beside them. */
export function clusterEnv(nats: Pick<NatsServer, 'url'>): Record<string, string> {
  return {
    CLUSTER_NATS_URL: nats.url,
    CLUSTER_REPLICAS: '1',
    CLUSTER_SECRET: secret,
    JWT_SECRET: secret,
    SECRETS_KEY: secret,
    STORAGE_PROVIDER: 'none',
  };
}

export function startNode(
  t: Teardown,
  nats: Pick<NatsServer, 'url'>,
  { node, env, ...options }: StartOptions & { node: string },
): Promise<Service> {
  return startService(t, {
    clock: systemClock(),
    ...options,
    env: { ...clusterEnv(nats), CLUSTER_NODE: node, ...env },
  });
}

/** A workspace that stays at the node of this name, of these. */
export async function workspaceAt(node: Service, name: string, nodes: readonly string[]): Promise<Person> {
  const records = nodes.map((one) => nodeRecord(one));
  for (let tries = 0; tries < maxTries; tries += 1) {
    const email = `owner-${crypto.randomUUID()}@example.com`;
    const { body, status } = await node.post('/auth/register', {
      email,
      password,
      workspaceName: `Shop ${crypto.randomUUID()}`,
      siteUrl: 'https://shop.example',
    });
    if (status !== 201) throw new Error(`a workspace could not be made: ${status} ${JSON.stringify(body)}`);
    const { token, agent } = body;
    if (inLine(agent.workspaceId, records)[0]?.node === name)
      return { token, agentId: agent.id, workspaceId: agent.workspaceId, email };
  }
  throw new Error(`none of its workspaces stays at ${name}`);
}

/** Resolves when each of these nodes knows the workspaces: its copy of the directory follows a moment behind. */
export async function knownTo(nodes: readonly Service[], workspaceIds: readonly string[]): Promise<void> {
  for (const { directory } of nodes.map(({ running }) => running.services))
    while (!workspaceIds.every((workspaceId) => directory.isWorkspace(workspaceId)))
      await new Promise((resolve) => setImmediate(resolve));
}
