// A receiver of webhooks: a web server on a free loopback port that answers as a test says and keeps what it receives.
// It can go down and return at the same address.

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from './service.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parsed. */
  readonly body: any;
}

type Answer =
  | number
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly isEndless?: true;
    }
  | 'never';

export class Receiver {
  /** Its answer. */
  answer: (received: Received) => Answer | Promise<Answer> = () => 204;
  readonly received: Received[] = [];
  readonly #waiting: { count: number; resolve: () => void }[] = [];
  #server: Server | undefined;
  #port = 0;

  static async start(t: Teardown): Promise<Receiver> {
    const receiver = new Receiver();
    await receiver.comeBack();
    t.teardown(() => receiver.goAway());
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  async goAway(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  async comeBack(): Promise<void> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on(
        'end',
        () =>
          void this.#take({ path: request.url ?? '', headers: request.headers, parts }).then((answer) => {
            if (answer === 'never') return;
            const {
              status,
              headers,
              body = '',
              isEndless = false,
            } = typeof answer === 'number' ? { status: answer, headers: {} } : answer;
            response.writeHead(status, headers);
            if (isEndless) response.write(body);
            else response.end(body);
          }),
      );
    });
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Resolves when this many requests were received in all. */
  async count(count: number): Promise<readonly Received[]> {
    if (this.received.length < count) await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
    return this.received;
  }

  async #take({
    path,
    headers,
    parts,
  }: {
    path: string;
    headers: IncomingHttpHeaders;
    parts: Buffer[];
  }): Promise<Answer> {
    const text = Buffer.concat(parts).toString('utf8');
    const received: Received = { path, headers, text, body: JSON.parse(text) };
    this.received.push(received);
    for (const one of this.#waiting.splice(0)) {
      if (this.received.length >= one.count) one.resolve();
      else this.#waiting.push(one);
    }
    return this.answer(received);
  }
}
