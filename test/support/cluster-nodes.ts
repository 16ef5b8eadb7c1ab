// Nodes of one cluster in this process: real services over a real NATS server, each with a folder of its own.

import { systemClock } from '../../engine/runtime/clock.ts';
import type { NatsServer } from './nats.ts';
import { type Service, type StartOptions, startService, type Teardown } from './service.ts';

const secret = 'a secret that the nodes of a test share';

export function startNode(
  t: Teardown,
  nats: Pick<NatsServer, 'url'>,
  { node, env, ...options }: StartOptions & { node: string },
): Promise<Service> {
  return startService(t, {
    clock: systemClock(),
    ...options,
    env: {
      CLUSTER_NATS_URL: nats.url,
      CLUSTER_NODE: node,
      CLUSTER_REPLICAS: '1',
      CLUSTER_SECRET: secret,
      JWT_SECRET: secret,
      SECRETS_KEY: secret,
      STORAGE_PROVIDER: 'none',
      ...env,
    },
  });
}
