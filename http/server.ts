// The edge: the only importer of uWebSockets.js. Copies what a request is out of the library's short-lived objects, reads its
// body within bounds, writes the reply, and hands sockets to http/sockets.ts as plain connections.

import { STATUS_CODES } from 'node:http';
import { App, type HttpRequest, type HttpResponse, type us_listen_socket, us_listen_socket_close, us_socket_local_port, type us_socket_context_t, type WebSocket } from 'uWebSockets.js';
import { type Begun, maxBodyBytes, type Pipeline, type Reply, type RequestHead } from './pipeline.ts';
import { type Connection, type Hello, maxBufferedBytes, type Session, type Sockets, subprotocol } from './sockets.ts';

export interface ServerOptions {
  readonly pipeline: Pipeline;
  readonly sockets: Sockets;
  readonly trustProxy: boolean;
  /** From the first part of a body to its last. */
  readonly bodyTimeoutMs: number;
}

export interface Server {
  /** Resolves to the port. Rejects when it is taken. */
  listen(host: string, port: number): Promise<number>;
  /** Takes no new connection; requests under way finish. */
  stopListening(): void;
  /** Resolves when no request is under way. */
  drained(): Promise<void>;
  /** Closes what is still open. */
  close(): void;
}

interface SocketData {
  readonly hello: Hello;
  session: Session | undefined;
}

/** A frame may have 64 KiB; one a little larger is still read, so that it can be answered with 1009 instead of a torn connection. */
const maxFrameBytes = 256 * 1024;
/** DISABLED, which the package exports as a type only. */
const noCompression = 0;
const idleTimeoutSeconds = 120;
const drainPollMs = 10;
/** The least that a connection takes when it says that it takes more; a larger piece would pile up behind a slow caller. */
const pieceBytes = 16 * 1024;
/** A caller that takes nothing for so long is let go. */
const stallTimeoutMs = 30_000;
const text = new TextDecoder();

export function createServer(options: ServerOptions): Server {
  const { pipeline, sockets } = options;
  const app = App();
  let listening: us_listen_socket | undefined;
  let underWay = 0;
  let stopping = false;

  function serve(res: HttpResponse, req: HttpRequest): void {
    const head = headOf(res, req, options.trustProxy);
    const begun = pipeline.begin(head);
    let aborted = false;
    let wake = (): void => {};
    underWay += 1;
    const respond = (reply: Reply): void => {
      const isHead = head.method === 'HEAD';
      const { body } = reply;
      if (isStreamed(body) && !isHead && !aborted) {
        const caller: Caller = { isGone: () => aborted, onceReady: (call) => (wake = call) };
        res.onWritable(() => {
          wake();
          return true;
        });
        void writeParts(res, { head: reply, body }, caller, () => stopping).finally(() => {
          underWay -= 1;
          aborted = true;
        });
        return;
      }
      underWay -= 1;
      if (!aborted) write(res, reply, { isHead, close: stopping });
      aborted = true;
    };
    const abort = (): void => {
      if (!aborted) underWay -= 1;
      aborted = true;
    };
    // Once a reply is on its way to be made, an aborted connection only spares the writing: the command has run.
    let handed = false;
    res.onAborted(() => {
      if (handed) aborted = true;
      else abort();
      wake();
    });
    if (!('compiled' in begun)) {
      respond(begun);
      return;
    }
    if (head.method === 'GET' || head.method === 'HEAD') {
      handed = true;
      pipeline.finish(begun, new Uint8Array(0), respond);
      return;
    }
    readBody(res, begun, (body) => {
      if (aborted) return;
      handed = true;
      pipeline.finish(begun, body, respond);
    }, (slug) => {
      if (aborted) return;
      underWay -= 1;
      aborted = true;
      write(res, pipeline.failed(begun, slug), { isHead: false, close: true });
    });
  }

  function readBody(res: HttpResponse, begun: Begun, done: (body: Uint8Array) => void, failed: (slug: 'payload_too_large' | 'request_timeout') => void): void {
    let parts: Uint8Array[] | undefined;
    let length = 0;
    let timer: NodeJS.Timeout | undefined;
    let ended = false;
    const fail = (slug: 'payload_too_large' | 'request_timeout'): void => {
      ended = true;
      clearTimeout(timer);
      failed(slug);
    };
    if (Number(begun.head.headers['content-length'] ?? 0) > maxBodyBytes) {
      fail('payload_too_large');
      return;
    }
    res.onData((chunk, isLast) => {
      if (ended) return;
      length += chunk.byteLength;
      if (length > maxBodyBytes) {
        fail('payload_too_large');
        return;
      }
      if (isLast && parts === undefined) {
        ended = true;
        // Parsed before this callback returns, so the library's memory needs no copy.
        done(new Uint8Array(chunk));
        return;
      }
      (parts ??= []).push(new Uint8Array(chunk.slice(0)));
      timer ??= setTimeout(() => fail('request_timeout'), options.bodyTimeoutMs).unref();
      if (!isLast) return;
      ended = true;
      clearTimeout(timer);
      done(Buffer.concat(parts));
    });
  }

  function upgradeTo(namespace: Hello['namespace']) {
    return (res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void => {
      const head = headOf(res, req, options.trustProxy);
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

  for (const namespace of ['agent', 'visitor'] as const) {
    app.ws<SocketData>(`/${namespace}`, {
      compression: noCompression,
      maxPayloadLength: maxFrameBytes,
      idleTimeout: idleTimeoutSeconds,
      sendPingsAutomatically: true,
      // Sessions close themselves at maxBufferedBytes; the library's own bound only has to lie above it.
      maxBackpressure: 4 * maxBufferedBytes,
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

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        app.listen(host, port, (socket) => {
          // The library's types promise a socket; it hands out false when the port is taken.
          if (!socket) {
            reject(new Error(`cannot listen on ${host}:${port}; is something else using the port?`));
            return;
          }
          listening = socket;
          resolve(us_socket_local_port(socket));
        });
      }),
    stopListening() {
      stopping = true;
      if (listening !== undefined) us_listen_socket_close(listening);
      listening = undefined;
    },
    async drained() {
      while (underWay > 0) await new Promise((resolve) => setTimeout(resolve, drainPollMs));
    },
    close: () => void app.close(),
  };
}

function headOf(res: HttpResponse, req: HttpRequest, trustProxy: boolean): RequestHead {
  const headers: Record<string, string> = {};
  req.forEach((name, value) => {
    headers[name] = value;
  });
  const forwarded = trustProxy ? headers['x-forwarded-for']?.split(',').at(-1)?.trim() : undefined;
  return {
    method: req.getCaseSensitiveMethod().toUpperCase(),
    path: req.getUrl(),
    query: req.getQuery() ?? '',
    headers,
    ip: forwarded || addressOf(res),
    startedMs: performance.now(),
  };
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
    // Given a length of undefined the library writes one of 2^63; a connection that stays open here is closed with the others.
    if (hasNoLength) res.endWithoutBody();
    else if (body === undefined || options.isHead) res.endWithoutBody(body === undefined ? 0 : Buffer.byteLength(body), options.close);
    else res.end(body, options.close);
  });
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
    terminate: () => ws.close(),
  };
}
