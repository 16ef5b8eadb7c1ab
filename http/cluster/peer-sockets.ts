// Sockets at other nodes, one for each client's socket whose workspace is served there: marked like a request, told who
// comes by the first frame, read only as fast as the client takes. The only importer of ws: the client in undici cannot
// stop reading, so that a slow client would be unknown to the node that serves it. The other end of http/sockets/elsewhere.ts.

import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { Clock } from '../../engine/runtime/clock.ts';
import { mayBeOpen } from '../limits/connections.ts';
import { nodeHeader } from '../pipeline/node-answers.ts';
import type { FromElsewhere, HelloElsewhere } from '../sockets/elsewhere.ts';
import { type SocketElsewhere, subprotocol } from '../sockets/session.ts';
import { headerBytes } from './forwarded-headers.ts';
import { markOf } from './mark.ts';

export interface PeerSocketsOptions {
  readonly secret: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly ca?: string | undefined;
}

/** Nothing was told to the other node. `isRefused`: it does not believe the mark. */
export class NoSocket extends Error {
  override readonly name = 'NoSocket';
  readonly isRefused: boolean;

  constructor(message: string, { isRefused = false, cause }: { isRefused?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isRefused = isRefused;
  }
}

/** To connect, and to be let in. */
const openTimeoutMs = 5000;
/** The other node pings an idle socket every 40 s. */
const silenceMs = 75_000;
/** Of a frame: larger than any reply. */
const maxFrameBytes = 32 * 1024 * 1024;

export class PeerSockets {
  readonly #options: PeerSocketsOptions;
  /** With the origin of their node; also those that are being opened. */
  readonly #open = new Map<WebSocket, string>();
  /** Half as many as clients may open. */
  readonly #maxOpen = Math.floor(mayBeOpen() / 2);

  constructor(options: PeerSocketsOptions) {
    this.#options = options;
  }

  /** Resolves when the other node was told who comes. Rejects with NoSocket. */
  open(origin: string, hello: HelloElsewhere, to: FromElsewhere): Promise<SocketElsewhere> {
    if (this.#open.size >= this.#maxOpen)
      return Promise.reject(new NoSocket('too many sockets to other nodes are open'));
    const socket = this.#connect(origin, hello);
    this.#open.set(socket, origin);
    socket.once('close', () => this.#open.delete(socket));
    return opened(socket).then(() => {
      socket.send(JSON.stringify({ type: 'auth', token: hello.token, since: hello.since }));
      return new PeerSocket(socket, to);
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Ends those to all other nodes. */
  keepOnly(origins: ReadonlySet<string>): void {
    for (const [socket, origin] of this.#open) if (!origins.has(origin)) socket.terminate();
  }

  #connect(origin: string, { namespace, ip, userAgent, origin: clientsOrigin }: HelloElsewhere): WebSocket {
    const { secret, clock, ca } = this.#options;
    const target = `/${namespace}`;
    const mark = markOf({ method: 'GET', target }, { ip, host: '' }, { secret, nowMs: clock.now() });
    return new WebSocket(new URL(target, origin.replace(/^http/, 'ws')), [subprotocol], {
      headers: {
        [nodeHeader]: mark,
        ...(userAgent === null ? {} : { 'User-Agent': headerBytes(userAgent) }),
        ...(clientsOrigin === undefined ? {} : { Origin: headerBytes(clientsOrigin) }),
      },
      handshakeTimeout: openTimeoutMs,
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
      // The other node writes valid text, and the bytes are passed on as they are.
      skipUTF8Validation: true,
      ...(ca === undefined ? {} : { ca }),
    });
  }
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.on('error', (error) => reject(new NoSocket('another node could not be reached', { cause: error })));
    socket.once('close', () => reject(new NoSocket('another node closed a socket before it was open')));
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      const isRefused = response.headers[nodeHeader.toLowerCase()] === 'refused';
      reject(new NoSocket(`another node answered with ${response.statusCode}`, { isRefused }));
      socket.terminate();
    });
  });
}

class PeerSocket implements SocketElsewhere {
  readonly #socket: WebSocket;
  /** A node that is cut off says nothing, not even that it is gone. */
  readonly #silence: NodeJS.Timeout;

  constructor(socket: WebSocket, to: FromElsewhere) {
    this.#socket = socket;
    this.#silence = setTimeout(() => this.#fallSilent(), silenceMs).unref();
    socket.on('message', (data) => {
      this.#silence.refresh();
      // One piece, by the library's default.
      to.message(data as Buffer);
    });
    socket.on('ping', () => this.#silence.refresh());
    socket.once('close', (code, reason) => {
      clearTimeout(this.#silence);
      to.closed(code, reason.toString());
    });
  }

  send(bytes: Uint8Array, isBinary: boolean): void {
    this.#socket.send(Buffer.from(bytes), { binary: isBinary });
  }

  bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#socket.isPaused) return;
    this.#silence.refresh();
    this.#socket.resume();
  }

  close(): void {
    this.resume();
    this.#socket.close(1000);
  }

  #fallSilent(): void {
    // What it sent waits for the client.
    if (this.#socket.isPaused) this.#silence.refresh();
    else this.#socket.terminate();
  }
}
