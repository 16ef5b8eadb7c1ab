// One kept-alive HTTP connection that sends a request at a time and says to the microsecond when its answer is whole. For
// latencies, which autocannon counts in whole milliseconds and sends in bursts when it is held to a rate.

import { connect, type Socket } from 'node:net';

export interface Request {
  readonly path: string;
  readonly token?: string;
  readonly body: string;
}

export class HttpConnection {
  readonly #socket: Socket;
  readonly #host: string;
  #received = '';
  #answered: { resolve(): void; reject(error: Error): void } | undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => this.#read(chunk));
    socket.on('close', () => this.#answered?.reject(new Error('the connection was closed before the answer')));
    // What went wrong is told by close, which follows.
    socket.on('error', () => socket.destroy());
  }

  /** `url` as in http://host:port. */
  static open(url: string): Promise<HttpConnection> {
    const { hostname, port, host } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => resolve(new HttpConnection(socket, host)));
      socket.once('error', reject);
    });
  }

  /** Resolves with the answer's last byte. Rejects on any status but 201. One at a time. */
  post(request: Request): Promise<void> {
    const headers = [
      `POST ${request.path} HTTP/1.1`,
      `Host: ${this.#host}`,
      'Accept: application/json',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(request.body)}`,
      ...(request.token === undefined ? [] : [`Authorization: Bearer ${request.token}`]),
    ];
    return new Promise((resolve, reject) => {
      this.#answered = { resolve, reject };
      this.#socket.write(`${headers.join('\r\n')}\r\n\r\n${request.body}`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    this.#received += chunk;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const head = this.#received.slice(0, headEnd);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < headEnd + 4 + length) return;
    const answered = this.#answered;
    const answer = this.#received;
    this.#received = '';
    this.#answered = undefined;
    if (head.startsWith('HTTP/1.1 201')) answered?.resolve();
    else answered?.reject(new Error(`answered with ${answer}`));
  }
}
