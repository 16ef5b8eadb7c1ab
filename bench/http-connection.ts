// One kept-alive HTTP connection that sends one request at a time and measures to the microsecond when its reply is
// complete. autocannon counts latencies in whole milliseconds, and sends in bursts when its rate is limited.

import { connect, type Socket } from 'node:net';

export interface Request {
  readonly path: string;
  readonly token?: string;
  readonly body: string;
}

const answeredWell = /^HTTP\/1\.1 20[01] /;

export class HttpConnection {
  readonly #socket: Socket;
  readonly #host: string;
  #received = '';
  #answered: { resolve(body: string): void; reject(error: Error): void } | undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => this.#read(chunk));
    socket.on('close', () => this.#answered?.reject(new Error('the connection was closed before the answer')));
    // The close event, which follows, reports the error.
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

  /**
   * Resolves to the answer's body, as Latin-1, with its last byte. Rejects on any status except 200 and 201. One request
   * at a time.
   */
  post({ body, ...request }: Request): Promise<string> {
    return this.#send(
      'POST',
      request,
      ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`],
      body,
    );
  }

  /** The same without a body. */
  get(request: Omit<Request, 'body'>): Promise<string> {
    return this.#send('GET', request, [], '');
  }

  #send(
    method: string,
    { path, token }: Omit<Request, 'body'>,
    headers: readonly string[],
    body: string,
  ): Promise<string> {
    const authorization = token === undefined ? [] : [`Authorization: Bearer ${token}`];
    const head = [
      `${method} ${path} HTTP/1.1`,
      `Host: ${this.#host}`,
      'Accept: application/json',
      ...headers,
      ...authorization,
    ].join('\r\n');
    if (this.#socket.destroyed) return Promise.reject(new Error('the connection was closed before the question'));
    return new Promise((resolve, reject) => {
      this.#answered = { resolve, reject };
      this.#socket.write(`${head}\r\n\r\n${body}`);
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
    if (answeredWell.test(head)) answered?.resolve(answer.slice(headEnd + 4));
    else answered?.reject(new Error(`answered with ${answer}`));
  }
}
