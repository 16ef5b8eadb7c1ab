// Requests with exactly the given headers and bytes, where fetch would add or refuse some: a complete request, or a
// connection on which a test writes what no well-behaved client would.

import { type Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Teardown } from './service.ts';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Parsed JSON, or undefined. */
  readonly body: any;
}

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
  /** Sends the body in these parts, without announcing its length. */
  readonly chunks?: readonly (string | Uint8Array)[];
  /** Uses its connections; by default each request has its own. */
  readonly agent?: Agent;
  /** Gives up when it aborts. */
  readonly signal?: AbortSignal;
}

/** `localPort` identifies the connection of the answer. */
export function rawRequest(base: string, options: RawRequest): Promise<RawAnswer & { readonly localPort: number }> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', path, headers = {}, body, chunks, agent = false, signal } = options;
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const outgoing = request(
      new URL(path, base),
      { method, headers: { ...headers, ...length }, agent, ...(signal && { signal }) },
      (incoming) => {
        const localPort = incoming.socket.localPort ?? 0;
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          resolve({ ...answerOf(incoming.statusCode ?? 0, incoming.headers, text), localPort });
        });
        incoming.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    for (const chunk of chunks ?? []) outgoing.write(chunk);
    outgoing.end(body);
  });
}

export class RawClient {
  readonly #socket: Socket;
  #received = '';
  #isClosed = false;
  #wake: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#received += chunk.toString('latin1');
      this.#wakeAll();
    });
    socket.on('close', () => {
      this.#isClosed = true;
      this.#wakeAll();
    });
    socket.on('error', () => {
      // The service closed the connection; the close event follows.
    });
  }

  static open(t: Teardown, port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new RawClient(socket)));
      socket.once('error', reject);
      t.teardown(() => void socket.destroy());
    });
  }

  /** Everything that answer() has not returned. */
  get received(): string {
    return this.#received;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  write(text: string | Buffer): void {
    this.#socket.write(text);
  }

  /** The same, once the kernel has accepted it or the connection is closed. */
  written(text: string | Buffer): Promise<void> {
    return new Promise((resolve) => this.#socket.write(text, () => resolve()));
  }

  /** The next complete answer. Rejects if the connection closes first. */
  async answer(): Promise<RawAnswer> {
    for (;;) {
      const answer = this.#take();
      if (answer !== undefined) return answer;
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.#received)}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async closed(): Promise<void> {
    while (!this.#isClosed) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(): RawAnswer | undefined {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [first = '', ...lines] = this.#received.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const length = Number(headers['content-length'] ?? 0);
    const text = this.#received.slice(end + 4, end + 4 + length);
    if (text.length < length) return undefined;
    this.#received = this.#received.slice(end + 4 + length);
    return answerOf(Number(first.split(' ')[1]), headers, text);
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const call of wake) call();
  }
}

/** The head of a request with a JSON body. */
export function headOf(method: string, path: string, headers: Readonly<Record<string, string | number>>): string {
  const all = { Host: 'switchboard.test', Accept: 'application/json', 'Content-Type': 'application/json', ...headers };
  return `${method} ${path} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
}

function answerOf(status: number, headers: RawAnswer['headers'], text: string): RawAnswer {
  const isJson = String(headers['content-type'] ?? '').startsWith('application/json') && text !== '';
  return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
}
