// The edge: the only importer of uWebSockets.js. Copies what a request is out of the library's short-lived objects, reads its
// body within bounds, writes the reply, and hands sockets to http/sockets.ts as plain connections.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { createSecureContext } from 'node:tls';
import { App, type HttpRequest, type HttpResponse, SSLApp, type TemplatedApp, type us_listen_socket, us_listen_socket_close, us_socket_local_port, type us_socket_context_t, type WebSocket } from 'uWebSockets.js';
import { BodyStream, pour, type Streamed } from './body-streams.ts';
import type { TlsFiles } from './config.ts';
import { type Begun, maxBodyBytes, type Pipeline, type Reply, type RequestHead } from './pipeline.ts';
import { type Connection, type Hello, type Session, subprotocol } from './session.ts';
import type { Sockets } from './sockets.ts';

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
  readonly trustProxy: boolean;
  readonly tls: TlsFiles | undefined;
  /** In each span of so long, a body that is not complete must have grown by minBodyBytesPerSecond. */
  readonly bodyTimeoutMs: number;
  /** A caller that takes nothing of a file for so long is let go. */
  readonly stallTimeoutMs?: number;
}

export interface Server {
  /** Resolves to the port. Rejects when it is taken. */
  listen(host: string, port: number): Promise<number>;
  /** New connections are met with what the certificate's files hold now; those that are open stay. Rejects with CertificateUnusable, and nothing changes. */
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
  listen(host: string, port: number, options: typeof exclusivePort, cb: (socket: us_listen_socket | false) => void): TemplatedApp;
}

interface SocketData {
  readonly hello: Hello;
  session: Session | undefined;
}

/**
 * A frame may have 64 KiB. A larger one is still read, so that it is answered with 1009; beyond this the library tears the
 * connection before any of it is held, which is as it should be: it would set aside what the frame's header promises.
 */
const maxFrameBytes = 1024 * 1024;
/** More than a session ever has waiting: its bound and one reply. */
const libraryBacklogBytes = 1024 * 1024 * 1024;
/** DISABLED, which the package exports as a type only. */
const noCompression = 0;
/** As slow as a request may come in. The same as the library asks for over its own, longer span. */
const minBodyBytesPerSecond = 16 * 1024;
const idleTimeoutSeconds = 120;
const drainPollMs = 10;
/** The least that a connection takes when it says that it takes more; a larger piece would pile up behind a slow caller. */
const pieceBytes = 16 * 1024;
/** A caller that takes nothing for so long is let go. */
const stallTimeoutMs = 30_000;
/** LIBUS_LISTEN_EXCLUSIVE_PORT, which the package exports as a type only. Without it a second process of the same user shares the port. */
const exclusivePort = 1;
const text = new TextDecoder();

export function createServer(options: ServerOptions): Server {
  const { pipeline, sockets } = options;
  let listening: us_listen_socket | undefined;
  let listenedAt = { host: '', port: 0 };
  /** The last one listens; the ones before it serve the connections that they took. */
  const apps: TemplatedApp[] = [];
  let underWay = 0;
  let stopping = false;

  function serve(res: HttpResponse, req: HttpRequest): void {
    const head = new Head(res, req, options.trustProxy);
    const begun = pipeline.begin(head);
    let isOpen = true;
    let isUnderWay = true;
    let wake = (): void => {};
    underWay += 1;
    const settle = (): void => {
      if (isUnderWay) underWay -= 1;
      isUnderWay = false;
    };
    const respond = (reply: Reply, close = stopping): void => {
      const isHead = head.method === 'HEAD';
      const { body } = reply;
      received?.forget();
      if (isMeasured(body) && body.byteLength > 0 && !isHead && isOpen) {
        res.cork(() => writeHead(res, reply));
        const pouring = pour(res, body, options.stallTimeoutMs ?? stallTimeoutMs);
        wake = () => pouring.gone();
        void pouring.done.catch(() => undefined).finally(() => {
          settle();
          isOpen = false;
        });
        return;
      }
      if (isStreamed(body) && !isHead && isOpen) {
        const caller: Caller = { isGone: () => !isOpen, onceReady: (call) => (wake = call) };
        res.onWritable(() => {
          wake();
          return true;
        });
        void writeParts(res, { head: reply, body }, caller, () => stopping).finally(() => {
          settle();
          isOpen = false;
        });
        return;
      }
      settle();
      if (isOpen) write(res, reply, { isHead, close });
      isOpen = false;
    };
    let reading: { end(): void } | undefined;
    let received: BodyStream | undefined;
    // What was handed on runs to its end, whether or not somebody still waits for the answer.
    let handed = false;
    res.onAborted(() => {
      head.forget();
      isOpen = false;
      reading?.end();
      received?.end();
      if (!handed) settle();
      wake();
    });
    const finish = (started: Begun, body: Uint8Array | BodyStream): void => {
      handed = true;
      pipeline.finish(started, body, respond);
    };
    if (!('compiled' in begun)) respond(begun);
    else if (head.method === 'GET' || head.method === 'HEAD') finish(begun, new Uint8Array(0));
    else if (begun.compiled.route.receive !== undefined) finish(begun, (received = new BodyStream(res, options.bodyTimeoutMs)));
    else reading = readBody(res, begun, (body) => finish(begun, body), (slug) => respond(pipeline.failed(begun, slug), true));
  }

  /** `end` lets go of a body that nobody waits for any more. */
  function readBody(res: HttpResponse, begun: Begun, done: (body: Uint8Array) => void, failed: (slug: 'payload_too_large' | 'request_timeout') => void): { end(): void } {
    let parts: Uint8Array[] | undefined;
    let length = 0;
    let timer: NodeJS.Timeout | undefined;
    let ended = false;
    const end = (): void => {
      ended = true;
      clearTimeout(timer);
    };
    const fail = (slug: 'payload_too_large' | 'request_timeout'): void => {
      end();
      failed(slug);
    };
    if (Number(begun.head.headers['content-length'] ?? 0) > maxBodyBytes) {
      fail('payload_too_large');
      return { end };
    }
    const watch = (lengthBefore: number): void => {
      timer = setTimeout(() => {
        if ((length - lengthBefore) * 1000 < minBodyBytesPerSecond * options.bodyTimeoutMs) fail('request_timeout');
        else watch(length);
      }, options.bodyTimeoutMs).unref();
    };
    watch(0);
    res.onData((chunk, isLast) => {
      if (ended) return;
      length += chunk.byteLength;
      if (length > maxBodyBytes) {
        fail('payload_too_large');
        return;
      }
      if (isLast && parts === undefined) {
        end();
        // Parsed before this callback returns, so the library's memory needs no copy.
        done(new Uint8Array(chunk));
        return;
      }
      (parts ??= []).push(new Uint8Array(chunk.slice(0)));
      if (!isLast) return;
      end();
      done(Buffer.concat(parts));
    });
    return { end };
  }

  function upgradeTo(namespace: Hello['namespace']) {
    return (res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void => {
      if (stopping) {
        res.cork(() => res.writeStatus('503 Service Unavailable').endWithoutBody(0, true));
        return;
      }
      const head = new Head(res, req, options.trustProxy);
      const offered = (head.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
      const bearer = offered.find((name) => name.startsWith('bearer.'))?.slice('bearer.'.length) ?? /^Bearer +(\S+)$/i.exec(head.headers['authorization'] ?? '')?.[1];
      const data: SocketData = {
        hello: {
          namespace,
          token: bearer,
          since: new URLSearchParams(head.query).get('since') ?? undefined,
          ip: head.ip,
          userAgent: head.headers['user-agent'] ?? null,
          origin: head.headers['origin'],
        },
        session: undefined,
      };
      const protocol = offered.includes(subprotocol) ? subprotocol : '';
      res.cork(() => res.upgrade(data, head.headers['sec-websocket-key'] ?? '', protocol, '', context));
    };
  }

  function makeApp(): TemplatedApp {
    const app = options.tls === undefined ? App() : SSLApp({ cert_file_name: options.tls.certFile, key_file_name: options.tls.keyFile });
    for (const namespace of ['agent', 'visitor'] as const) {
      app.ws<SocketData>(`/${namespace}`, {
        compression: noCompression,
        maxPayloadLength: maxFrameBytes,
        idleTimeout: idleTimeoutSeconds,
        sendPingsAutomatically: true,
        // Sessions close themselves past a bound of their own. The library's would drop frames in silence, the closing one too.
        maxBackpressure: libraryBacklogBytes,
        upgrade: upgradeTo(namespace),
        open: (ws) => {
          const data = ws.getUserData();
          data.session = sockets.open(connectionOf(ws), data.hello);
        },
        message: (ws, message, isBinary) => {
          const { session } = ws.getUserData();
          if (session !== undefined) sockets.receive(session, isBinary ? undefined : text.decode(message), message.byteLength);
        },
        drain: (ws) => {
          const { session } = ws.getUserData();
          if (session !== undefined) sockets.drained(session);
        },
        close: (ws) => {
          const { session } = ws.getUserData();
          if (session !== undefined) sockets.closed(session);
        },
      });
    }
    app.any('/*', serve);
    apps.push(app);
    return app;
  }

  function listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      (makeApp() as TemplatedApp & ListensExclusively).listen(host, port, exclusivePort, (socket) => {
        // The library's types promise a socket; it hands out false when the port is taken.
        if (!socket) {
          reject(new CannotListen(`cannot listen on ${host}:${port}; is something else using the port?`));
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
    if (!cert.checkPrivateKey(createPrivateKey(readFileSync(tls.keyFile)))) throw new Error('the key is not the certificate\'s');
    createSecureContext({ cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) });
  } catch (cause) {
    throw new CertificateUnusable(`the certificate in ${tls.certFile} with the key in ${tls.keyFile} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

class Head implements RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string> = {};
  readonly startedMs = performance.now();
  readonly #res: HttpResponse;
  readonly #trustProxy: boolean;
  #ip: string | undefined;

  constructor(res: HttpResponse, req: HttpRequest, trustProxy: boolean) {
    this.method = req.getCaseSensitiveMethod().toUpperCase();
    this.path = req.getUrl();
    this.query = req.getQuery() ?? '';
    req.forEach((name, value) => {
      // What comes twice is one list (RFC 9110 §5.3).
      const before = this.headers[name];
      this.headers[name] = before === undefined ? value : `${before}, ${value}`;
    });
    this.#res = res;
    this.#trustProxy = trustProxy;
  }

  /** Read when somebody asks: it costs as much as all the rest. */
  get ip(): string {
    const forwarded = this.#trustProxy ? this.headers['x-forwarded-for']?.split(',').at(-1)?.trim() : undefined;
    this.#ip ??= forwarded || addressOf(this.#res);
    return this.#ip;
  }

  /** The connection is gone, and its address with it. */
  forget(): void {
    this.#ip ??= '';
  }
}

/** IPv4 addresses come mapped into IPv6 on a dual-stack socket; they are the same address. */
function addressOf(res: HttpResponse): string {
  const address = text.decode(res.getRemoteAddressAsText());
  const mapped = /^(?:0000:){5}ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$/.exec(address);
  return mapped === null ? address : mapped.slice(1).map((byte) => Number.parseInt(byte, 16)).join('.');
}

function writeHead(res: HttpResponse, reply: Reply): void {
  res.writeStatus(`${reply.status} ${STATUS_CODES[reply.status] ?? ''}`);
  for (const name in reply.headers) res.writeHeader(name, reply.headers[name] ?? '');
}

function write(res: HttpResponse, reply: Reply, options: { isHead: boolean; close: boolean }): void {
  const { status, body } = reply;
  res.cork(() => {
    writeHead(res, reply);
    const hasNoLength = status === 204 || status === 304 || isStreamed(body);
    if (body !== undefined && !isMeasured(body) && !hasNoLength && !options.isHead) {
      res.end(body, options.close);
      return;
    }
    // The library waits for the bytes of a length that it is told of, and tears the connection when something else comes; one of
    // undefined it writes as 2^63. A connection that stays open here is closed with the others.
    if (!hasNoLength) res.writeHeader('Content-Length', String(lengthOf(body)));
    res.endWithoutBody();
  });
}

function lengthOf(body: Exclude<Reply['body'], AsyncIterable<string>>): number {
  if (body === undefined) return 0;
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
}

function isMeasured(body: Reply['body']): body is Streamed {
  return typeof body === 'object' && 'parts' in body;
}

function isStreamed(body: Reply['body']): body is AsyncIterable<string> {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}

/** Who takes a reply in parts. */
interface Caller {
  isGone(): boolean;
  /** Calls once more can be sent, or the caller is gone. */
  onceReady(call: () => void): void;
}

/** Writes each part when the one before has left, so that a slow caller costs one part of memory, and a stalled one its connection. */
async function writeParts(res: HttpResponse, reply: { head: Reply; body: AsyncIterable<string> }, caller: Caller, isStopping: () => boolean): Promise<void> {
  try {
    res.cork(() => writeHead(res, reply.head));
    for await (const part of reply.body) {
      const bytes = Buffer.from(part);
      for (let at = 0; at < bytes.length && !caller.isGone(); at += pieceBytes) {
        let hasLeft = false;
        res.cork(() => {
          hasLeft = res.write(bytes.subarray(at, at + pieceBytes));
        });
        if (!hasLeft) await ready(caller);
      }
      if (caller.isGone()) return;
    }
    res.cork(() => void res.end(undefined, isStopping()));
  } catch {
    // The pipeline logs why a part could not be made. What was sent would look complete if its connection did not end here.
    if (!caller.isGone()) res.close();
  }
}

function ready(caller: Caller): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the caller takes nothing')), stallTimeoutMs).unref();
    caller.onceReady(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function connectionOf(ws: WebSocket<SocketData>): Connection {
  return {
    send: (message) => void ws.send(message, false),
    together: (write) => void ws.cork(write),
    bufferedBytes: () => ws.getBufferedAmount(),
    end: (code, reason) => ws.end(code, reason),
  };
}
