// Two nodes on loopback over the parts of one service: one that serves everything, and one that clients come to, which
// sends every request on. Stands for the routing of a cluster, which chooses the node.

import { Refusal } from '../../engine/errors.ts';
import type { NodeRecord } from '../../engine/runtime/cluster/ports.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import { ServedElsewhere } from '../../engine/runtime/placement.ts';
import { PeerRequests } from '../../http/cluster/forwarding.ts';
import { KnownNodes } from '../../http/cluster/receiving.ts';
import { Server, type ServerOptions } from '../../http/edge/server.ts';
import { networkOf } from '../../http/limits/network-address.ts';
import type { BodyStream } from '../../http/pipeline/body-streams.ts';
import type { Begun } from '../../http/pipeline/http-call.ts';
import { forNode } from '../../http/pipeline/node-answers.ts';
import { refusedReply } from '../../http/pipeline/outcomes.ts';
import { Pipeline, type Respond } from '../../http/pipeline/pipeline.ts';
import type { Config } from '../../http/process/config.ts';
import type { Metrics } from '../../http/process/metrics.ts';
import type { Reply } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';
import type { Elsewhere } from '../../http/sockets/elsewhere.ts';
import { Sockets } from '../../http/sockets/sockets.ts';
import { nodeRecord } from './node-record.ts';
import type { Service, Teardown } from './service.ts';

export const clusterSecret = 'a secret that all nodes of a test share';

/** Counts nothing. */
const noMetrics = { observeRequest() {}, observeCeiling() {} } as unknown as Metrics;

/** Answers what is sent on to it, unless it says that it does not serve the workspace. */
class OwnersPipeline extends Pipeline {
  doesServe = true;

  override finish(begun: Begun, body: Uint8Array | BodyStream, respond: Respond): void {
    if (this.doesServe || begun.head.forwarded === undefined) super.finish(begun, body, respond);
    else respond(forNode(unavailable(begun), 'not-served'));
  }
}

class EntrysPipeline extends Pipeline {
  readonly errors: Error[] = [];
  readonly #send: (begun: Begun, body: Uint8Array | BodyStream) => Promise<Reply>;

  constructor(
    options: ConstructorParameters<typeof Pipeline>[0],
    send: (begun: Begun, body: Uint8Array | BodyStream) => Promise<Reply>,
  ) {
    super(options);
    this.#send = send;
  }

  override finish(begun: Begun, body: Uint8Array | BodyStream, respond: Respond): void {
    // The edge uses the memory of a body again.
    this.#send(begun, body instanceof Uint8Array ? body.slice() : body).then(respond, (error: Error) => {
      this.errors.push(error);
      respond(unavailable(begun));
    });
  }
}

/** The engine as a node sees it that serves only some workspaces. */
function engineServing(engine: Engine, serves: (workspaceId: string) => boolean): Engine {
  const open = (workspaceId: string): void => {
    if (engine.hasFile(workspaceId) && !serves(workspaceId)) throw new ServedElsewhere(workspaceId);
  };
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        if (name === 'workspace') open(String(given[0]));
        if (name === 'execute')
          return Promise.resolve((given[1] as { workspaceId: string }).workspaceId)
            .then(open)
            .then(() => value.apply(target, given));
        if (name === 'openWorkspaces')
          return [...engine.openWorkspaces()].filter(({ workspaceId }) => serves(workspaceId));
        return value.apply(target, given);
      };
    },
  });
}

export interface Node {
  readonly sockets: Sockets;
  readonly url: string;
  readonly port: number;
  /** What the other node knows it by. */
  readonly record: NodeRecord;
  readonly nodes: KnownNodes;
  close(): void;
}

type Changed = Partial<ServerOptions> & { readonly secret?: string };

/** Serves the service's routes, and these. */
export async function startOwner(
  t: Teardown,
  service: Service,
  { routes = [], ...options }: Changed & { readonly routes?: readonly Route[] } = {},
): Promise<Node & { readonly pipeline: OwnersPipeline }> {
  const pipeline = new OwnersPipeline(partsOf(service, routes));
  return { ...(await listen(t, service, { pipeline, ...options })), pipeline };
}

/** Sends everything on to `owner`. Knows the service's routes, and these. */
export async function startEntry(
  t: Teardown,
  service: Service,
  {
    owner,
    routes = [],
    requests,
    ...options
  }: Changed & { readonly owner: NodeRecord; readonly routes?: readonly Route[]; readonly requests?: PeerRequests },
): Promise<Node & { readonly pipeline: EntrysPipeline; readonly requests: PeerRequests }> {
  const { clock, log } = service.running.services;
  const peers = requests ?? new PeerRequests({ secret: clusterSecret, clock, log });
  t.teardown(() => peers.close());
  const pipeline = new EntrysPipeline(partsOf(service, routes), ({ head, requestId }, body) =>
    peers.forward(owner, { head, requestId, body }),
  );
  return { ...(await listen(t, service, { pipeline, ...options })), pipeline, requests: peers };
}

export interface SocketEntryOptions {
  /** The node that has the workspaces which this one does not serve. */
  readonly owner: () => NodeRecord;
  /** None by default. */
  readonly serves?: (workspaceId: string) => boolean;
  /** Instead of the way to `owner`. */
  readonly elsewhere?: Elsewhere;
  readonly config?: Partial<Config>;
}

/** A node for sockets, which serves some workspaces and has the others from `owner`. */
export async function startSocketEntry(
  t: Teardown,
  service: Service,
  { owner, serves = () => false, elsewhere, config }: SocketEntryOptions,
): Promise<Node & { readonly requests: PeerRequests }> {
  const { services } = service.running;
  const { clock, log } = services;
  const requests = new PeerRequests({ secret: clusterSecret, clock, log });
  t.teardown(() => requests.close());
  const own = {
    ...services,
    engine: engineServing(services.engine, serves),
    config: { ...services.config, ...config },
  };
  const pipeline = new Pipeline({ ...partsOf(service, []), services: own });
  const sockets = new Sockets(own, pipeline, {
    elsewhere: elsewhere ?? {
      socketTo: (workspaceId, hello, to) =>
        serves(workspaceId) ? Promise.resolve('here') : requests.openSocket(owner(), hello, to),
    },
  });
  return { ...(await listen(t, service, { pipeline, sockets })), requests };
}

async function listen(
  t: Teardown,
  service: Service,
  { secret = clusterSecret, pipeline, ...options }: Changed & { readonly pipeline: Pipeline },
): Promise<Node> {
  const { services } = service.running;
  const sockets = options.sockets ?? new Sockets(services, pipeline);
  const nodes = new KnownNodes({ secret, clock: services.clock });
  const server = new Server({
    pipeline,
    trustedProxies: 0,
    nodes,
    maxConnectionsPerNetwork: undefined,
    onTooMany: (network) => services.log.warn({ network: networkOf(network) }, 'too many'),
    tls: undefined,
    isOnlyOverTls: false,
    bodyTimeoutMs: 7000,
    ...options,
    sockets,
  });
  const port = await server.listen('127.0.0.1', 0);
  const close = (): void => {
    sockets.endAll();
    server.stopListening();
    server.close();
  };
  t.teardown(close);
  const isTls = options.tls !== undefined;
  const url = `${isTls ? 'https://localhost' : 'http://127.0.0.1'}:${port}`;
  return { url, port, record: nodeRecord(`node at ${port}`, { url }), nodes, sockets, close };
}

function partsOf(service: Service, routes: readonly Route[]): ConstructorParameters<typeof Pipeline>[0] {
  const { services, routes: own } = service.running;
  return { services, routes: [...own, ...routes], metrics: noMetrics, checkReplies: true };
}

function unavailable({ head, requestId }: Begun): Reply {
  return refusedReply(new Refusal('service_unavailable', 'Try again.', undefined), { head, requestId });
}
