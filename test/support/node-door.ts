// The way to a node of a cluster, which can be closed and can end TLS as a proxy in front of the node does. Its address is
// known before the node starts; the node's port is given to it afterwards.

import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Teardown } from './service.ts';

export class NodeDoor {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #scheme: string;
  isOpen = true;
  /** How many came in. */
  connections = 0;
  /** Of the node. */
  port = 0;

  /** `tls`: paths of files. */
  constructor(tls?: { readonly cert: string; readonly key: string }) {
    this.#scheme = tls === undefined ? 'http' : 'https';
    this.#server =
      tls === undefined
        ? createServer((from) => this.#join(from))
        : createTlsServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, (from) => this.#join(from));
    this.#server.on('tlsClientError', () => undefined);
  }

  /** Resolves to its URL. */
  async start(t: Teardown): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      this.close();
      this.#server.close();
    });
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.isOpen = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(from: Socket): void {
    if (!this.isOpen) {
      from.destroy();
      return;
    }
    this.connections += 1;
    const to = connect(this.port, '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
