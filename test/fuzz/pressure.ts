// Sends one request many times at once, over a connection whose answers are read, and over one whose answers are not.
// The service must answer or close the connection, without an error of its own. Its answers are checked in http.ts.

import { connect, type Socket } from 'node:net';

export interface Pressed {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

const copies = 30;
/** For all copies; a body of a megabyte is sent about twice. */
const mostBytes = 2 * 1024 * 1024;

/** The problem with the service's reaction, if any. */
export async function pressureProblem(
  base: string,
  request: Pressed,
  signal: AbortSignal,
): Promise<string | undefined> {
  const one = bytesOf(new URL(base).host, request);
  const all = Buffer.concat(
    Array.from({ length: Math.max(2, Math.min(copies, Math.floor(mostBytes / one.length))) }, () => one),
  );
  const unread = await opened(base, signal);
  const read = await opened(base, signal);
  try {
    unread.pause();
    unread.write(all);
    read.write(all);
    const first = await firstLine(read, signal);
    return first === undefined || /^HTTP\/1\.1 (?!500)\d{3} /.test(first) ? undefined : `${copies} at once: ${first}`;
  } catch (error) {
    return signal.aborted ? 'many at once are neither answered nor refused' : String(error);
  } finally {
    unread.destroy();
    read.destroy();
  }
}

function bytesOf(host: string, { method, path, headers, body }: Pressed): Buffer {
  const lines = Object.entries({
    Host: host,
    ...headers,
    ...(body === undefined ? {} : { 'Content-Length': String(body.length) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'),
    body ?? Buffer.alloc(0),
  ]);
}

function opened(base: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(base).port), host: '127.0.0.1', signal }, () => resolve(socket));
    socket.once('error', reject);
    socket.on('error', () => {
      // The service closed it; the close event follows.
    });
  });
}

/** Undefined if the connection closes first. */
function firstLine(socket: Socket, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.includes('\r\n')) resolve(text.slice(0, text.indexOf('\r\n')));
    });
    socket.on('close', () => resolve(undefined));
  });
}
