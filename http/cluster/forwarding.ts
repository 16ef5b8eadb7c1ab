// Sends requests on to the node that serves their workspace, whole: method, path, headers and body there, status,
// headers and body back; and opens sockets there. Decides what a failure means: nothing was done, or nobody knows.
// Chooses no node; the router in engine/runtime/cluster does.

import { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { NodeRecord } from '../../engine/runtime/cluster/ports.ts';
import type { Log } from '../../engine/runtime/log.ts';
import { NotServed } from '../../engine/runtime/placement.ts';
import { isUntrusted } from '../../workers/cluster/address.ts';
import { Unavailable } from '../../workers/failures.ts';
import { networkOf } from '../limits/network-address.ts';
import { type NodeAnswer, nodeHeader } from '../pipeline/node-answers.ts';
import { LogThrottle } from '../process/log-throttle.ts';
import type { Reply, RequestHead } from '../request.ts';
import type { FromElsewhere, HelloElsewhere } from '../sockets/elsewhere.ts';
import type { SocketElsewhere } from '../sockets/session.ts';
import { Answering } from './answering.ts';
import { headersToSend, targetOf } from './forwarded-headers.ts';
import { markOf } from './mark.ts';
import { NoSocket, PeerSockets } from './peer-sockets.ts';
import { Places } from './places.ts';

/** The other node may have carried out the command. */
export class OutcomeUnknown extends Unavailable {
  override readonly name = 'OutcomeUnknown';
}

export interface PeerRequestsOptions {
  /** CLUSTER_SECRET. */
  readonly secret: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Certificates in PEM that the other nodes' are signed by, instead of the usual ones. */
  readonly ca?: string | undefined;
}

export interface ForwardedRequest {
  readonly head: RequestHead;
  /** The client's, or the one that this node gave it. */
  readonly requestId: string;
  /** Bytes that nobody changes until the reply is there, or a stream that nobody has begun to read. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

const connectTimeoutMs = 2000;
/** The longest that a handler may take, and be silent: a model has 90 s for an answer. */
const silenceMs = 120_000;
/** Requests under way to one node, each on a connection of its own; and those of one network among them. */
const maxOfNode = 512;
const maxOfNetwork = 128;
/** Of all header lines of a reply. */
const maxHeaderBytes = 32 * 1024;
const untrusted =
  'its certificate cannot be trusted. CLUSTER_CA_FILE must name the authority that signed it, and its CLUSTER_NODE_URL the host that it is for';
/** One log line a minute for each node. */
const logEveryMs = 60_000;

/** The way to one node. */
interface Way {
  readonly pool: Pool;
  readonly places: Places;
}

export class PeerRequests {
  readonly #options: PeerRequestsOptions;
  readonly #throttle: LogThrottle;
  /** By the node's origin. */
  readonly #ways = new Map<string, Way>();
  readonly #sockets: PeerSockets;

  constructor(options: PeerRequestsOptions) {
    this.#options = options;
    this.#throttle = new LogThrottle(options.clock, logEveryMs);
    this.#sockets = new PeerSockets(options);
  }

  /**
   * The reply of the node. Rejects with NotServed if it has done nothing, and for a read that got no reply; with
   * OutcomeUnknown if it may have done something; with Unavailable if it has done nothing but the body's stream cannot be
   * read again; and with what that stream throws.
   */
  forward(node: NodeRecord, request: ForwardedRequest): Promise<Reply> {
    const way = this.#wayTo(node);
    const network = networkOf(request.head.ip);
    if (!way.places.take(network)) return Promise.reject(new NotServed());
    return new Promise((resolve, reject) => {
      const sent = sendable(request.body);
      const answering = new Answering(request.head.method, {
        replied: (reply, answer) => {
          if (answer === undefined) resolve(reply);
          else reject(this.#refusedBy(node, { reply, answer, isStreamBegun: sent.isBegun() }));
        },
        failed: (error) =>
          reject(sent.failure() ?? this.#failed(node, { error, request, hasBegun: answering.hasBegun })),
        over: () => way.places.giveBack(network),
      });
      way.pool.dispatch(this.#asSent(request, sent.body), answering);
    });
  }

  /** A socket at the node, which was told who comes. Rejects with NotServed if it is not open within seconds. */
  async openSocket(node: NodeRecord, hello: HelloElsewhere, to: FromElsewhere): Promise<SocketElsewhere> {
    try {
      return await this.#sockets.open(originOf(node), hello, to);
    } catch (error) {
      if (!(error instanceof NoSocket)) throw error;
      if (error.isRefused) this.#warnOfMark(node);
      else this.#warnOfFailure(node, { err: error.cause ?? error }, 'a socket at another node could not be opened');
      throw new NotServed();
    }
  }

  /** Requests and sockets that are not over. */
  get figures(): { readonly requests: number; readonly sockets: number } {
    return { requests: this.#requestsUnderWay, sockets: this.#sockets.size };
  }

  get #requestsUnderWay(): number {
    return [...this.#ways.values()].reduce((sum, { places }) => sum + places.taken, 0);
  }

  /** Forgets the ways to all other nodes: what is under way there fails, and their sockets end. */
  keepOnly(nodes: Iterable<NodeRecord>): void {
    const kept = new Set([...nodes].map(originOf));
    this.#sockets.keepOnly(kept);
    for (const [origin, { pool }] of this.#ways) {
      if (kept.has(origin)) continue;
      this.#ways.delete(origin);
      void pool.destroy();
    }
  }

  /** Ends everything that is under way. */
  async close(): Promise<void> {
    this.#sockets.keepOnly(new Set());
    const pools = [...this.#ways.values()].map(({ pool }) => pool);
    this.#ways.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #wayTo(node: NodeRecord): Way {
    const origin = originOf(node);
    const known = this.#ways.get(origin);
    if (known !== undefined) return known;
    const { ca } = this.#options;
    const pool = new Pool(origin, {
      connections: maxOfNode,
      connect: { timeout: connectTimeoutMs, ...(ca === undefined ? {} : { ca }) },
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      maxHeaderSize: maxHeaderBytes,
    });
    const way = { pool, places: new Places({ ofAll: maxOfNode, ofNetwork: maxOfNetwork }) };
    this.#ways.set(origin, way);
    return way;
  }

  #asSent({ head, requestId }: ForwardedRequest, body: Uint8Array | Readable | null): Dispatcher.DispatchOptions {
    const { secret, clock } = this.#options;
    const target = targetOf(head);
    const headers = headersToSend(head, requestId);
    headers[nodeHeader] = markOf(
      { method: head.method, target },
      { ip: head.ip, host: head.headers['host'] ?? '' },
      { secret, nowMs: clock.now() },
    );
    const length = head.headers['content-length'];
    if (body instanceof Readable && length !== undefined) headers['content-length'] = length;
    return { path: target, method: head.method as Dispatcher.HttpMethod, headers, body };
  }

  /** The node has done nothing, and says so. What was read of a stream is gone, so that it cannot be sent again. */
  #refusedBy(
    node: NodeRecord,
    { reply, answer, isStreamBegun }: { reply: Reply; answer: NodeAnswer; isStreamBegun: boolean },
  ): Error {
    if (answer === 'refused') this.#warnOfMark(node);
    if (isStreamBegun) return new Unavailable(`${node.node} does not serve the workspace`);
    return new NotServed(Number(reply.headers['Retry-After'] ?? 1));
  }

  #failed(
    node: NodeRecord,
    { error, request, hasBegun }: { error: Error; request: ForwardedRequest; hasBegun: boolean },
  ): Error {
    const { method } = request.head;
    this.#warnOfFailure(node, { err: error, hasBegun }, 'another node did not answer');
    if (!hasBegun || method === 'GET' || method === 'HEAD') return new NotServed();
    return new OutcomeUnknown(`${node.node} may have carried out the request`, { cause: error });
  }

  #warnOfFailure(node: NodeRecord, fields: { readonly err: unknown; readonly hasBegun?: boolean }, text: string): void {
    this.#warn(node, { url: node.url, ...fields }, isUntrusted(fields.err) ? `${text}: ${untrusted}` : text);
  }

  #warnOfMark(node: NodeRecord): void {
    this.#warn(node, {}, 'another node refuses what this one sends on: CLUSTER_SECRET or the clocks differ');
  }

  #warn({ node }: NodeRecord, fields: object, text: string): void {
    const times = this.#throttle.count(`${node} ${text}`);
    if (times !== undefined) this.#options.log.warn({ node, times, ...fields }, text);
  }
}

/** A body as the client of HTTP takes it, and what became of a stream. */
function sendable(body: ForwardedRequest['body']): {
  readonly body: Uint8Array | Readable | null;
  isBegun(): boolean;
  failure(): Error | undefined;
} {
  let isBegun = false;
  let failure: Error | undefined;
  async function* read(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    isBegun = true;
    const parts = stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        // Not by a loop over the stream, which an error of the connection would be thrown into.
        const part = await parts.next().catch((error: Error) => {
          failure = error;
          throw error;
        });
        if (part.done === true) return;
        yield part.value;
      }
    } finally {
      await parts.return?.();
    }
  }
  const isStream = !(body instanceof Uint8Array);
  const sent = isStream ? Readable.from(read(body)) : body.byteLength === 0 ? null : body;
  return { body: sent, isBegun: () => isBegun, failure: () => failure };
}

function originOf({ url }: NodeRecord): string {
  return new URL(url).origin;
}
