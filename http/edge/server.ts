// The edge: the only importer of uWebSockets.js. Listens, makes an exchange of each request, and hands sockets to
// http/sockets/sockets.ts as plain connections.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
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
} from 'uWebSockets.js';
import { Connections, countConnections, mayBeOpen } from '../limits/connections.ts';
import { FairTurns } from '../limits/fair-turns.ts';
import { HeldBytes, NetworkRoom } from '../limits/held-bytes.ts';
import { networkOf } from '../limits/network-address.ts';
import { framingProblem } from '../pipeline/headers.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { TlsFiles } from '../process/config.ts';
import { type Connection, type Hello, type Session, subprotocol } from '../sockets/session.ts';
import type { Sockets } from '../sockets/sockets.ts';
import { Compression } from './compression.ts';
import { Exchange, type ExchangeParts } from './exchange.ts';
import { whyNotListening } from './listening.ts';
import { addressOf, Head } from './request-head.ts';

/** The address cannot be listened on. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
}

/** The certificate's files cannot be read, or do not belong together. */
export class CertificateUnusable extends Error {
  override readonly name = 'CertificateUnusable';
}

export interface ServerOptions {
  readonly pipeline: Pipeline;
  readonly sockets: Sockets;
  /**
   * Proxies in front, one behind the other, that write an address into X-Forwarded-For; 0: nobody's word is taken for
   * it.
   */
  readonly trustedProxies: number;
  /** Connections that a network may have; undefined for no bound. */
  readonly maxConnectionsPerNetwork: number | undefined;
  /** A connection was closed at once, since there are too many. */
  onTooMany(network: string): void;
  readonly tls: TlsFiles | undefined;
  /** Browsers are told to come back over TLS alone. */
  readonly overTlsAlone: boolean;
  /** In each span of so long, a body that is not complete must have grown by 16 KiB a second. */
  readonly bodyTimeoutMs: number;
  /** A caller that takes nothing of a file for so long is let go. */
  readonly stallTimeoutMs?: number;
}

export interface Server {
  /** Resolves to the port. Rejects when it is taken. */
  listen(host: string, port: number): Promise<number>;
  /**
   * New connections are met with what the certificate's files hold now; those that are open stay. Rejects with
   * CertificateUnusable, and nothing changes.
   */
  reloadCertificate(): Promise<void>;
  /** Takes no new connection; requests under way finish. */
  stopListening(): void;
  /** Resolves when no request is under way. */
  drained(): Promise<void>;
  /** Closes what is still open. */
  close(): void;
}

/** A form of listen() that the library has and its types have not. */
interface ListensExclusively {
  listen(
    host: string,
    port: number,
    options: typeof exclusivePort,
    cb: (socket: us_listen_socket | false) => void,
  ): TemplatedApp;
}

/** What the library has and its types have not. `silent`: its name and version are in no reply. */
interface Configurable {
  _cfg(setting: 'silent'): void;
}

interface SocketData {
  /** Of the connection itself, whatever a proxy says. */
  readonly peer: string;
  readonly hello: Hello;
  session: Session | undefined;
  /** For frames that wait. */
  readonly room: NetworkRoom;
}

/**
 * A frame may have 64 KiB. A larger one is still read, so that it is answered with 1009; beyond this the library tears
 * the
 * connection before any of it is held, which is as it should be: it would set aside what the frame's header promises.
 */
const maxFrameBytes = 1024 * 1024;
/** What a frame that waits takes beside its text. */
const frameOverheadBytes = 1024;
/** More than a session ever has waiting: its bound and one reply. */
const libraryBacklogBytes = 1024 * 1024 * 1024;
/** DISABLED, which the package exports as a type only. */
const noCompression = 0;
/**
 * Of a socket, which the library pings sixteen seconds before: within the minute after which load balancers and address
 * translators forget what is idle.
 */
const idleTimeoutSeconds = 56;
const drainPollMs = 10;
/** A caller that takes nothing for so long is let go. */
const stallTimeoutMs = 30_000;
/**
 * LIBUS_LISTEN_EXCLUSIVE_PORT, which the package exports as a type only. Without it a second process of the same user
 * shares the port.
 */
const exclusivePort = 1;
/** With forward secrecy and authenticated encryption alone (RFC 9325 §4.2); those of TLS 1.3 are such anyway. */
const tls12Ciphers = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');
/**
 * The library ends an idle connection after eight to twelve seconds; who is told so does not send another request into
 * that.
 */
const keepAliveSeconds = 7;
/** Of a network in ten seconds: each costs a handshake, some of a millisecond. */
const maxNewOverTls = 500;
const strictTransport = 'max-age=31536000';
const text = new TextDecoder();
(library as unknown as Configurable)._cfg('silent');

export function createServer(options: ServerOptions): Server {
  const { pipeline, sockets } = options;
  let listening: us_listen_socket | undefined;
  let listenedAt = { host: '', port: 0 };
  /** The last one listens; the ones before it serve the connections that they took. */
  const apps: TemplatedApp[] = [];
  let underWay = 0;
  let stopping = false;
  /** Whose connection is just being closed. */
  let refusing: string | undefined;
  const maxOfAll = mayBeOpen();
  const isBounded = options.trustedProxies === 0 && options.maxConnectionsPerNetwork !== undefined;
  const connections = new Connections({
    maxOfAll,
    // However few there may be, nobody takes more than half of them.
    maxOfNetwork: isBounded ? Math.min(options.maxConnectionsPerNetwork, Math.floor(maxOfAll / 2)) : undefined,
    maxNew: isBounded && options.tls !== undefined ? maxNewOverTls : undefined,
    now: () => performance.now(),
    count: () => countConnections(listenedAt.port),
  });
  const headers = options.overTlsAlone ? { 'Strict-Transport-Security': strictTransport } : {};
  const parts: ExchangeParts = {
    pipeline,
    turns: new FairTurns(),
    held: new HeldBytes(),
    compression: new Compression(),
    bodyTimeoutMs: options.bodyTimeoutMs,
    stallTimeoutMs: options.stallTimeoutMs ?? stallTimeoutMs,
    isStopping: () => stopping,
    lastHeaders: headers,
    headers: { ...headers, Connection: 'keep-alive', 'Keep-Alive': `timeout=${keepAliveSeconds}` },
  };

  /** The library tells of the closing while it closes, without saying whose it is. */
  function opened(res: HttpResponse): void {
    const peer = networkOf(addressOf(res));
    if (connections.opened(peer)) return;
    options.onTooMany(peer);
    refusing = peer;
    res.close();
    refusing = undefined;
  }

  function serve(res: HttpResponse, req: HttpRequest): void {
    underWay += 1;
    new Exchange(res, new Head(res, req, options.trustedProxies), parts, () => (underWay -= 1)).begin();
  }

  /** A text frame, or undefined for a binary one, when it is its network's turn. */
  function receive({ session, room }: SocketData, frame: string | undefined, byteLength: number): void {
    const { turns } = parts;
    if (session === undefined) return;
    if (turns.isFree(performance.now())) {
      sockets.receive(session, frame, byteLength);
      return;
    }
    const heldBytes = byteLength + frameOverheadBytes;
    if (!room.take(heldBytes)) {
      sockets.overrun(session);
      return;
    }
    turns.wait(room.network, () => {
      room.giveBack(heldBytes);
      sockets.receive(session, frame, byteLength);
    });
  }

  function upgradeTo(namespace: Hello['namespace']) {
    return (res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void => {
      if (stopping) {
        res.cork(() => res.writeStatus('503 Service Unavailable').endWithoutBody(0, true));
        return;
      }
      const head = new Head(res, req, options.trustedProxies);
      if (framingProblem(head.headers) !== undefined) {
        res.close();
        return;
      }
      const offered = (head.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
      const bearer =
        offered.find((name) => name.startsWith('bearer.'))?.slice('bearer.'.length) ??
        /^Bearer +(\S+)$/i.exec(head.headers['authorization'] ?? '')?.[1];
      const data: SocketData = {
        peer: networkOf(addressOf(res)),
        hello: {
          namespace,
          token: bearer,
          since: new URLSearchParams(head.query).get('since') ?? undefined,
          ip: head.ip,
          network: head.network,
          userAgent: head.headers['user-agent'] ?? null,
          origin: head.headers['origin'],
        },
        session: undefined,
        room: new NetworkRoom(parts.held, () => data.hello.network),
      };
      const protocol = offered.includes(subprotocol) ? subprotocol : '';
      res.cork(() => res.upgrade(data, head.headers['sec-websocket-key'] ?? '', protocol, '', context));
    };
  }

  function makeApp(): TemplatedApp {
    const app =
      options.tls === undefined
        ? App()
        : SSLApp({
            cert_file_name: options.tls.certFile,
            key_file_name: options.tls.keyFile,
            ssl_ciphers: tls12Ciphers,
          });
    for (const namespace of ['agent', 'visitor'] as const) {
      app.ws<SocketData>(`/${namespace}`, {
        compression: noCompression,
        maxPayloadLength: maxFrameBytes,
        idleTimeout: idleTimeoutSeconds,
        sendPingsAutomatically: true,
        // Sessions close themselves past a bound of their own. The library's would drop frames in silence, the closing
        // one too.
        maxBackpressure: libraryBacklogBytes,
        upgrade: upgradeTo(namespace),
        open: (ws) => {
          const data = ws.getUserData();
          data.session = sockets.open(connectionOf(ws), data.hello);
        },
        message: (ws, message, isBinary) =>
          receive(ws.getUserData(), isBinary ? undefined : text.decode(message), message.byteLength),
        drain: (ws) => {
          const { session } = ws.getUserData();
          if (session !== undefined) sockets.drained(session);
        },
        close: (ws) => {
          const { session, peer } = ws.getUserData();
          connections.closed(peer);
          if (session !== undefined) sockets.closed(session);
        },
      });
    }
    app.filter((res, change) => (change > 0 ? opened(res) : connections.closed(refusing)));
    app.any('/*', serve);
    apps.push(app);
    return app;
  }

  function listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      (makeApp() as TemplatedApp & ListensExclusively).listen(host, port, exclusivePort, (socket) => {
        // The library's types promise a socket; it hands out false when the port is taken.
        if (!socket) {
          void whyNotListening(host, port).then((reason) =>
            reject(new CannotListen(`cannot listen on ${host}, port ${port}: ${reason}`)),
          );
          return;
        }
        listening = socket;
        listenedAt = { host, port: us_socket_local_port(socket) };
        resolve(listenedAt.port);
      });
    });
  }

  return {
    async listen(host, port) {
      requireCertificate(options.tls);
      return listen(host, port);
    },
    async reloadCertificate() {
      requireCertificate(options.tls);
      if (listening === undefined || options.tls === undefined) return;
      // Both in one turn of the loop, so that nobody else can take the port between.
      us_listen_socket_close(listening);
      await listen(listenedAt.host, listenedAt.port);
    },
    stopListening() {
      stopping = true;
      if (listening !== undefined) us_listen_socket_close(listening);
      listening = undefined;
    },
    async drained() {
      while (underWay > 0) await new Promise((resolve) => setTimeout(resolve, drainPollMs));
    },
    close() {
      for (const app of apps) app.close();
    },
  };
}

/** The library takes a file that it cannot read for one that is not there, and says no more. */
function requireCertificate(tls: TlsFiles | undefined): void {
  if (tls === undefined) return;
  try {
    const cert = new X509Certificate(readFileSync(tls.certFile));
    if (!cert.checkPrivateKey(createPrivateKey(readFileSync(tls.keyFile))))
      throw new Error('the key does not match the certificate');
    createSecureContext({ cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) });
  } catch (cause) {
    throw new CertificateUnusable(
      `the certificate in ${tls.certFile} with the key in ${tls.keyFile} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

function connectionOf(ws: WebSocket<SocketData>): Connection {
  return {
    send: (message) => void ws.send(message, false),
    together: (write) => void ws.cork(write),
    bufferedBytes: () => ws.getBufferedAmount(),
    end: (code, reason) => ws.end(code, reason),
  };
}
