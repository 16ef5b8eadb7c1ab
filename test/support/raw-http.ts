// A request with exactly the headers and bytes that a test gives it, where fetch would add or refuse some.

import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parsed JSON, or undefined. */
  readonly body: any;
  /** Which connection of ours it came over. */
  readonly localPort: number;
}

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
  /** Sends the body in these parts, without announcing its length. */
  readonly chunks?: readonly (string | Uint8Array)[];
  /** Whose connections are used; else each request has one of its own. */
  readonly agent?: Agent;
}

export function rawRequest(base: string, options: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', path, headers = {}, body, chunks, agent = false } = options;
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const outgoing = request(new URL(path, base), { method, headers: { ...headers, ...length }, agent }, (incoming) => {
      const localPort = incoming.socket.localPort ?? 0;
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        const isJson = incoming.headers['content-type']?.startsWith('application/json') === true && text !== '';
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: isJson ? JSON.parse(text) : undefined, localPort });
      });
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    for (const chunk of chunks ?? []) outgoing.write(chunk);
    outgoing.end(body);
  });
}

/** Sends these bytes on a connection of its own and resolves to all that comes back until the other side ends it. */
export function rawBytes(base: string, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = '';
    socket.on('data', (part) => (text += part.toString('latin1')));
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}
