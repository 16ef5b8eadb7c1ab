// The parts of a hostile client: calls from its own address, and connections that write at full speed and read the
// answers or not. Answers are counted by status.

import { Agent, type AgentOptions, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  /** Parsed JSON, or undefined. */
  readonly body: any;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const callTimeoutMs = 60_000;
/** A connection that was idle for so long is not used again: the service closes it after ten seconds. */
const idleMs = 3000;
/** The delay before a closed connection is opened again. */
const reopenMs = 5;

/** Calls from one address, over kept-alive connections. */
export class Caller {
  readonly #url: string;
  readonly #options: AgentOptions;
  #agent: Agent;

  /** `from` is an address of this machine, such as 127.66.0.1. */
  constructor(url: string, from: string, options: { connections?: number } = {}) {
    this.#url = url;
    this.#options = { keepAlive: true, localAddress: from, maxSockets: options.connections ?? 4, timeout: idleMs };
    this.#agent = new Agent(this.#options);
  }

  /** `path` is below /api/v1 unless it is complete. Rejects if there is no answer. */
  call(method: string, path: string, { token, body, headers }: CallOptions = {}): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const all = {
      Accept: 'application/json',
      ...(text !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(text)),
      }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(
        new URL(path.startsWith('//') ? path.slice(1) : `/api/v1${path}`, this.#url),
        { method, headers: all, agent: this.#agent, timeout: callTimeoutMs },
        (incoming) => {
          const parts: Buffer[] = [];
          incoming.on('data', (part: Buffer) => parts.push(part));
          incoming.on('end', () =>
            resolve({ status: incoming.statusCode ?? 0, body: parsed(Buffer.concat(parts).toString()) }),
          );
          incoming.on('error', reject);
        },
      );
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')));
      outgoing.on('error', reject);
      outgoing.end(text);
    });
  }

  /** The body of an answer, which must be a success. */
  async ask(method: string, path: string, options?: CallOptions): Promise<any> {
    const { status, body } = await this.call(method, path, options);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** New connections: the service closes those that have been idle, perhaps while the next call is being sent. */
  reconnect(): void {
    this.#agent.destroy();
    this.#agent = new Agent(this.#options);
  }

  close(): void {
    this.#agent.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The bytes of a request with or without a JSON body. */
export function requestBytes(
  method: string,
  path: string,
  options: CallOptions & { raw?: string | Buffer } = {},
): Buffer {
  const { token, body, raw, headers = {} } = options;
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: abuse.test',
    ...Object.entries({
      Accept: 'application/json',
      ...(text !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}`),
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(text === undefined ? [] : [`Content-Length: ${Buffer.byteLength(text)}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(text ?? '')]);
}

export interface FloodOptions {
  readonly url: string;
  readonly from: string;
  readonly connections: number;
  /**
   * Requests written at once; more follow as these are answered. The service closes a connection on which a request
   * arrives before the former is answered, so only requests that are answered at once can have more than 1.
   */
  readonly depth?: number;
  /** False leaves all answers unread but for the beginning of the first. */
  readonly isRead?: boolean;
  /** Aborted when the time is over. */
  readonly over: AbortSignal;
  /** The next request, by its serial number over all connections. */
  readonly next: (serial: number) => Buffer;
  /** Called with the status of each answer, 0 for a connection that was refused, or closed before it answered. */
  readonly onAnswer: (status: number) => void;
  readonly onOpen: () => void;
}

/** Resolves when it is over and all connections are closed. */
export async function flood({
  url,
  from,
  connections,
  depth = 1,
  isRead = true,
  over,
  next,
  onAnswer,
  onOpen,
}: FloodOptions): Promise<void> {
  let serial = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!over.aborted) {
        let waiting = depth;
        await oneConnection({ url, from, over }, (socket) => {
          onOpen();
          let tail = '';
          const write = (): void => {
            waiting = depth;
            for (let index = 0; index < depth; index += 1) socket.write(next((serial += 1)));
          };
          socket.on('data', (chunk: Buffer) => {
            if (!isRead) socket.pause();
            const text = tail + chunk.toString('latin1');
            for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
              onAnswer(Number(status));
              waiting -= 1;
            }
            // Keeps a status line that is cut in two, but never one that was counted.
            tail = /H(?:T(?:T(?:P(?:\/(?:1(?:\.(?:1(?: \d{0,2})?)?)?)?)?)?)?)?$/.exec(text.slice(-12))?.[0] ?? '';
            if (waiting <= 0) write();
          });
          write();
        });
        if (waiting > 0) onAnswer(0);
        await new Promise((resolve) => setTimeout(resolve, reopenMs));
      }
    }),
  );
}

/** Opens a connection from an address. Resolves when either side closes it, when it is over at the latest. */
export function oneConnection(
  { url, from, over }: { url: string; from: string; over: AbortSignal },
  onOpen: (socket: Socket) => void,
): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: from }, () => onOpen(socket));
    const end = (): void => void socket.destroy();
    over.addEventListener('abort', end);
    if (over.aborted) end();
    // The close event, which follows, reports it.
    socket.on('error', () => {});
    socket.on('close', () => {
      over.removeEventListener('abort', end);
      resolve();
    });
  });
}

/** Of the beginning of an answer over HTTP; 0 if it is none. */
export function statusOf(chunk: Buffer): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1', 0, 20))?.[1] ?? 0);
}
