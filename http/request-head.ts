// What comes before a request's body, copied out of the library's short-lived objects; and whose request it is by address: that of the
// connection, or the one that a trusted proxy names. Knows of uWebSockets.js only the few calls it makes; made by server.ts.

import { networkOf } from './network-address.ts';
import type { RequestHead } from './pipeline.ts';

/** What is read of a request's head. Gone after the library's callback. */
export interface IncomingHead {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  forEach(call: (name: string, value: string) => void): void;
}

/** The connection it came over, as long as that is open. */
export interface Addressed {
  getRemoteAddressAsText(): ArrayBuffer;
}

const text = new TextDecoder();

export class Head implements RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string> = {};
  readonly startedMs = performance.now();
  readonly #connection: Addressed;
  readonly #trustProxy: boolean;
  #ip: string | undefined;

  constructor(connection: Addressed, incoming: IncomingHead, trustProxy: boolean) {
    this.method = incoming.getCaseSensitiveMethod();
    this.path = incoming.getUrl();
    this.query = incoming.getQuery() ?? '';
    incoming.forEach((name, value) => {
      // What comes twice is one list (RFC 9110 §5.3).
      const before = this.headers[name];
      this.headers[name] = before === undefined ? value : `${before}, ${value}`;
    });
    this.#connection = connection;
    this.#trustProxy = trustProxy;
  }

  /** Read when somebody asks: it costs as much as all the rest. */
  get ip(): string {
    const forwarded = this.#trustProxy ? this.headers['x-forwarded-for']?.split(',').at(-1)?.trim() : undefined;
    this.#ip ??= forwarded || addressOf(this.#connection);
    return this.#ip;
  }

  /** The library closes the connection behind the reply (RFC 9112 §9.6). */
  get endsConnection(): boolean {
    return this.headers['connection']?.toLowerCase() === 'close';
  }

  get network(): string {
    return networkOf(this.ip);
  }

  /** The connection is gone, and its address with it. */
  forget(): void {
    this.#ip ??= '';
  }
}

/** IPv4 addresses come mapped into IPv6 on a dual-stack socket; they are the same address. */
export function addressOf(connection: Addressed): string {
  const address = text.decode(connection.getRemoteAddressAsText());
  const mapped = /^(?:0000:){5}ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$/.exec(address);
  return mapped === null ? address : mapped.slice(1).map((byte) => Number.parseInt(byte, 16)).join('.');
}
