// A web server on a loopback address and a free port, as faulty as a test wants it, and a name server for its names.
// With `only127001`, the service treats 127.0.0.1 as public and every other address as private.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import dns2 from 'dns2';
import type { Teardown } from './service.ts';

export type Answerer = (request: IncomingMessage, response: ServerResponse) => void;

export class Site {
  readonly #server: Server;
  /** The requested paths, in order. */
  readonly asked: string[] = [];
  readonly #pages = new Map<string, Answerer>();

  private constructor() {
    this.#server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://site');
      this.asked.push(request.url ?? '/');
      const page = this.#pages.get(pathname) ?? this.#pages.get('*');
      if (page === undefined) response.writeHead(404).end();
      else page(request, response);
    });
  }

  static async start(t: Teardown, address = '127.0.0.1'): Promise<Site> {
    const site = new Site();
    await new Promise<void>((resolve) => site.#server.listen(0, address, resolve));
    t.teardown(() => {
      site.#server.closeAllConnections();
      return new Promise((resolve) => site.#server.close(() => resolve()));
    });
    return site;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Sets the answer at a path; `*` is every other path. */
  on(path: string, answerer: Answerer): this {
    this.#pages.set(path, answerer);
    return this;
  }

  page(path: string, body: string | Uint8Array, headers: Record<string, string> = {}): this {
    return this.on(path, (_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...headers }).end(body),
    );
  }

  redirect(path: string, to: string, status = 302): this {
    return this.on(path, (_, response) => response.writeHead(status, { Location: to }).end());
  }
}

/** A name server: each query takes the next of a name's addresses; the last one stays. */
export class Names {
  readonly #server: ReturnType<typeof dns2.createServer>;
  readonly #addresses = new Map<string, string[]>();
  readonly asked: string[] = [];

  private constructor() {
    const { Packet } = dns2;
    this.#server = dns2.createServer({
      udp: true,
      handle: (request, send) => {
        const response = Packet.createResponseFromRequest(request);
        const [question] = request.questions;
        const name = question?.name ?? '';
        const addresses = this.#addresses.get(name);
        if (addresses === undefined) response.header.rcode = 3;
        else if (question !== undefined && 'type' in question && question.type === Packet.TYPE.A) {
          this.asked.push(name);
          const address = addresses.length > 1 ? addresses.shift() : addresses[0];
          // The library's types require a specific method.
          if (address !== undefined)
            response.answers.push({ name, type: Packet.TYPE.A, class: Packet.CLASS.IN, ttl: 0, address } as never);
        }
        send(response);
      },
    });
  }

  static async start(t: Teardown): Promise<Names> {
    const names = new Names();
    await names.#server.listen({ udp: { port: 0, address: '127.0.0.1' } });
    t.teardown(() => void names.#server.close());
    return names;
  }

  /** In the form of DNS_SERVERS. */
  get address(): string {
    return `127.0.0.1:${portOf(this.#server)}`;
  }

  set(name: string, ...addresses: string[]): this {
    this.#addresses.set(name, addresses);
    return this;
  }
}

function portOf(server: ReturnType<typeof dns2.createServer>): number {
  const { udp } = server.addresses() as { udp?: { port: number } };
  return udp?.port ?? 0;
}

export const only127001 = (address: string): boolean => address === '127.0.0.1';
