// The edge: the only importer of uWebSockets.js. Listens, makes an exchange of each request, and hands sockets to
// http/sockets/sockets.ts as plain connections.

import './library-settings.ts';
import * as library from 'uWebSockets.js';
import {
  App,
  type HttpRequest,
  type HttpResponse,
  SSLApp,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  type us_socket_context_t,
  us_socket_local_port,
  type WebSocket,
  type WebSocketBehavior,
} from 'uWebSockets.js';
import { Connections, countConnections, mayBeOpen } from '../limits/connections.ts';
import { FairTurns } from '../limits/fair-turns.ts';
import { HeldBytes, NetworkRoom } from '../limits/held-bytes.ts';
import { networkOf } from '../limits/network-address.ts';
import { Pace } from '../limits/pace.ts';
import { framingProblem } from '../pipeline/headers.ts';
import { nodeHeader } from '../pipeline/node-answers.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { TlsFiles } from '../process/config.ts';
import type { OtherNodes } from '../request.ts';
import { type Connection, type Hello, type Session, subprotocol } from '../sockets/session.ts';
import type { Sockets } from '../sockets/sockets.ts';
import { requireCertificate, tls12Ciphers } from './certificate.ts';
import { Compression } from './compression.ts';
import { Exchange, type ExchangeParts } from './exchange.ts';
import { whyNotListening } from './listening.ts';
import { addressOf, Head } from './request-head.ts';

/** The address cannot be listened on. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
}

export interface ServerOptions {
  readonly pipeline: Pipeline;
  readonly sockets: Sockets;
  /** Proxies in front, each behind the next, that add an address to X-Forwarded-For; 0: the header is ignored. */
  readonly trustedProxies: number;
  /** The other nodes of a cluster. Their connections have no limit of their network. */
  readonly nodes?: OtherNodes | undefined;
  /** Connections allowed per network; undefined for no limit. */
  readonly maxConnectionsPerNetwork: number | undefined;
  /** A new connection was closed because there were too many. */
  onTooMany(network: string): void;
  readonly tls: TlsFiles | undefined;
  /** Browsers are told to come back only over TLS. */
  readonly isOnlyOverTls: boolean;
  /** In each span of this length, an incomplete body must grow by 16 KiB a second. */
  readonly bodyTimeoutMs: number;
  /** A client that accepts nothing of a reply for this long is disconnected. */
  readonly stallTimeoutMs?: number;
}

/** A form of listen() that the library has and its types lack. */
interface ListensExclusively {
  listen(
    host: string,
    port: number,
    options: typeof exclusivePort,
    cb: (socket: us_listen_socket | false) => void,
  ): TemplatedApp;
}

/** A setting that the library has and its types lack. `silent`: replies do not name the library and its version. */
interface Configurable {
  _cfg(setting: 'silent'): void;
}

interface SocketData {
  /** The network of the connection itself, whatever a proxy reports. Undefined for another node's, which has no limit. */
  readonly peer: string | undefined;
  readonly hello: Hello;
  session: Session | undefined;
  /** Memory for queued frames. */
  readonly room: NetworkRoom;
}

/**
 * The limit of a frame is 64 KiB. A larger one is still read, so that it can be answered with 1009. Beyond this limit
 * the library closes the connection before it holds any of the frame, because it would allocate whatever length the
 * frame's header announces.
 */
const maxFrameBytes = 1024 * 1024;
/** Memory of a queued frame beside its bytes. */
const frameOverheadBytes = 1024;
/** More than a session ever has queued: its own limit and one reply. */
const libraryBacklogBytes = 1024 * 1024 * 1024;
/** DISABLED, which the package exports only as a type. */
const noCompression = 0;
/**
 * Of a socket, which the library pings sixteen seconds earlier. Below the minute after which load balancers and address
 * translators forget an idle connection.
 */
const idleTimeoutSeconds = 56;
const drainPollMs = 10;
const stallTimeoutMs = 30_000;
/**
 * LIBUS_LISTEN_EXCLUSIVE_PORT, which the package exports only as a type. Without it a second process of the same user
 * shares the port.
 */
const exclusivePort = 1;
/**
 * The library closes an idle connection after eight to twelve seconds. A client that knows does not send its next
 * request into a closing connection.
 */
const keepAliveSeconds = 7;
/** New TLS connections of a network in ten seconds: each costs a handshake, most of a millisecond. */
const maxNewOverTls = 500;
const strictTransport = 'max-age=31536000';
(library as unknown as Configurable)._cfg('silent');

export class Server {
  readonly #options: ServerOptions;
  readonly #parts: ExchangeParts;
  readonly #connections: Connections;
  /** The last one listens. Earlier ones serve the connections that they accepted before a certificate was reloaded. */
  readonly #apps: TemplatedApp[] = [];
  #listening: us_listen_socket | undefined;
  #address = { host: '', port: 0 };
  #underWay = 0;
  #isStopping = false;
  #endsConnections = false;
  /** The network of the connection that is being refused. */
  #refused: string | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#connections = this.#countedConnections();
    const headers = options.isOnlyOverTls ? { 'Strict-Transport-Security': strictTransport } : {};
    this.#parts = {
      pipeline: options.pipeline,
      turns: new FairTurns(),
      held: new HeldBytes(),
      pace: new Pace(),
      compression: new Compression(),
      bodyTimeoutMs: options.bodyTimeoutMs,
      stallTimeoutMs: options.stallTimeoutMs ?? stallTimeoutMs,
      isStopping: () => this.#endsConnections || this.#isStopping,
      lastHeaders: headers,
      headers: { ...headers, Connection: 'keep-alive', 'Keep-Alive': `timeout=${keepAliveSeconds}` },
    };
  }

  /** Resolves to the port. Rejects with CannotListen and CertificateUnusable. */
  async listen(host: string, port: number): Promise<number> {
    requireCertificate(this.#options.tls);
    return this.#listen(host, port);
  }

  /**
   * New connections get the certificate that the files hold now; open ones keep theirs. Rejects with
   * CertificateUnusable, and then nothing changes.
   */
  async reloadCertificate(): Promise<void> {
    requireCertificate(this.#options.tls);
    if (this.#listening === undefined || this.#options.tls === undefined) return;
    // Both in one turn of the loop, so that no other process can take the port in between.
    us_listen_socket_close(this.#listening);
    await this.#listen(this.#address.host, this.#address.port);
  }

  /**
   * From now on each connection ends with its next reply, which says so: when everything is closed, no client is about to
   * send its next request.
   */
  endConnections(): void {
    this.#endsConnections = true;
  }

  /** Accepts no new connection; requests in progress finish. */
  stopListening(): void {
    this.#isStopping = true;
    if (this.#listening !== undefined) us_listen_socket_close(this.#listening);
    this.#listening = undefined;
  }

  /** Resolves when no request is in progress. */
  async drained(): Promise<void> {
    while (this.#underWay > 0) await new Promise((resolve) => setTimeout(resolve, drainPollMs));
  }

  /** Closes the connections that are still open. */
  close(): void {
    for (const app of this.#apps) app.close();
  }

  #countedConnections(): Connections {
    const { trustedProxies, maxConnectionsPerNetwork: maxOfNetwork, tls, nodes } = this.#options;
    const maxOfAll = mayBeOpen();
    // Behind a proxy every connection is the proxy's.
    const isBounded = trustedProxies === 0 && maxOfNetwork !== undefined;
    return new Connections({
      maxOfAll,
      // No network gets more than half, however few there may be.
      maxOfNetwork: isBounded ? Math.min(maxOfNetwork, Math.floor(maxOfAll / 2)) : undefined,
      maxNew: isBounded && tls !== undefined ? maxNewOverTls : undefined,
      now: () => performance.now(),
      count: () => countConnections(this.#address.port, (address) => nodes?.isNode(address) === true),
    });
  }

  #listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      (this.#makeApp() as TemplatedApp & ListensExclusively).listen(host, port, exclusivePort, (socket) => {
        // The library's types promise a socket; it returns false when the port is taken.
        if (!socket) {
          void whyNotListening(host, port).then((reason) =>
            reject(new CannotListen(`cannot listen on ${host}, port ${port}: ${reason}`)),
          );
          return;
        }
        this.#listening = socket;
        this.#address = { host, port: us_socket_local_port(socket) };
        resolve(this.#address.port);
      });
    });
  }

  #makeApp(): TemplatedApp {
    const { tls } = this.#options;
    const app =
      tls === undefined
        ? App()
        : SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile, ssl_ciphers: tls12Ciphers });
    for (const namespace of ['agent', 'visitor'] as const)
      app.ws<SocketData>(`/${namespace}`, this.#socketsOf(namespace));
    // The callback for a closed connection comes within close() and does not say whose it is.
    app.filter((res, change) => (change > 0 ? this.#opened(res) : this.#connections.closed(this.#refused)));
    app.any('/*', (res, req) => this.#serve(res, req));
    this.#apps.push(app);
    return app;
  }

  #opened(res: HttpResponse): void {
    const address = addressOf(res);
    const peer = this.#networkOfPeer(address);
    if (this.#connections.opened(peer)) return;
    this.#options.onTooMany(peer ?? address);
    this.#refused = peer;
    res.close();
    this.#refused = undefined;
  }

  /** By which connections from the address are limited; undefined for another node's. */
  #networkOfPeer(address: string): string | undefined {
    return this.#options.nodes?.isNode(address) === true ? undefined : networkOf(address);
  }

  #serve(res: HttpResponse, req: HttpRequest): void {
    this.#underWay += 1;
    const head = new Head(res, req, this.#options);
    new Exchange(res, head, this.#parts, () => (this.#underWay -= 1)).begin();
  }

  #socketsOf(namespace: Hello['namespace']): WebSocketBehavior<SocketData> {
    const { sockets } = this.#options;
    return {
      compression: noCompression,
      maxPayloadLength: maxFrameBytes,
      idleTimeout: idleTimeoutSeconds,
      sendPingsAutomatically: true,
      // Sessions close themselves at a limit of their own. At the library's limit frames would be dropped silently, the
      // closing one included.
      maxBackpressure: libraryBacklogBytes,
      upgrade: (res, req, context) => this.#upgrade(namespace, { res, req, context }),
      open: (ws) => {
        const data = ws.getUserData();
        data.session = sockets.open(connectionOf(ws, this.#parts.turns), data.hello);
      },
      message: (ws, message, isBinary) => this.#receive(ws.getUserData(), message, isBinary),
      drain: (ws) => {
        const { session } = ws.getUserData();
        if (session !== undefined) sockets.drained(session);
      },
      close: (ws) => {
        const { session, peer } = ws.getUserData();
        this.#connections.closed(peer);
        if (session !== undefined) sockets.closed(session);
      },
    };
  }

  #upgrade(
    namespace: Hello['namespace'],
    { res, req, context }: { res: HttpResponse; req: HttpRequest; context: us_socket_context_t },
  ): void {
    if (this.#isStopping) {
      res.cork(() => res.writeStatus('503 Service Unavailable').endWithoutBody(0, true));
      return;
    }
    const head = new Head(res, req, this.#options);
    if (framingProblem(head.headers) !== undefined) {
      res.close();
      return;
    }
    if (head.forwarded === 'forged') {
      res.cork(() => res.writeStatus('401 Unauthorized').writeHeader(nodeHeader, 'refused').endWithoutBody(0, true));
      return;
    }
    const offered = (head.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    const hello = helloOf(namespace, head, offered);
    const data: SocketData = {
      peer: this.#networkOfPeer(addressOf(res)),
      hello,
      session: undefined,
      room: new NetworkRoom(this.#parts.held, () => hello.network),
    };
    const protocol = offered.includes(subprotocol) ? subprotocol : '';
    res.cork(() => res.upgrade(data, head.headers['sec-websocket-key'] ?? '', protocol, '', context));
  }

  /**
   * Processes a frame in its network's turn. A queued frame is copied as bytes: the library reuses its memory, and the
   * garbage collector would move a text again and again.
   */
  #receive({ session, room }: SocketData, frame: ArrayBuffer, isBinary: boolean): void {
    const { sockets } = this.#options;
    const { turns } = this.#parts;
    if (session === undefined) return;
    const { byteLength } = frame;
    const process = (bytes: ArrayBuffer): void => sockets.receive(session, new Uint8Array(bytes), isBinary);
    if (turns.isFree(performance.now())) {
      process(frame);
      return;
    }
    const queuedBytes = byteLength + frameOverheadBytes;
    if (!room.reserve(queuedBytes)) {
      sockets.overrun(session);
      return;
    }
    const copy = frame.slice(0);
    turns.wait(room.network, () => {
      room.release(queuedBytes);
      process(copy);
    });
  }
}

/** Browsers cannot set headers of a socket, so a token may come as a subprotocol, `bearer.<token>`. */
function helloOf(namespace: Hello['namespace'], head: Head, offered: readonly string[]): Hello {
  return {
    namespace,
    token:
      offered.find((name) => name.startsWith('bearer.'))?.slice('bearer.'.length) ??
      /^Bearer +(\S+)$/i.exec(head.headers['authorization'] ?? '')?.[1],
    since: new URLSearchParams(head.query).get('since') ?? undefined,
    ip: head.ip,
    network: head.network,
    userAgent: head.headers['user-agent'] ?? null,
    origin: head.headers['origin'],
    isForwarded: head.forwarded === 'byNode',
  };
}

function connectionOf(ws: WebSocket<SocketData>, turns: FairTurns): Connection {
  const { network } = ws.getUserData().hello;
  return {
    send: (message) => void ws.send(message, false),
    together: (write) => void ws.cork(write),
    bufferedBytes: () => ws.getBufferedAmount(),
    inTurn: (work) => turns.wait(network, work),
    end: (code, reason) => ws.end(code, reason),
  };
}
