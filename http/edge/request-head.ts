// What comes before a request's body, copied out of the library's short-lived objects; and whose request it is by
// address: that of the connection, or the one that a trusted proxy names. Knows of uWebSockets.js only the few calls it
// makes; made by server.ts.

import { isIP } from 'node:net';
import { networkOf } from '../limits/network-address.ts';
import type { RequestHead } from '../request.ts';

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
  readonly #trustedProxies: number;
  #ip: string | undefined;

  constructor(connection: Addressed, incoming: IncomingHead, trustedProxies: number) {
    this.method = incoming.getCaseSensitiveMethod();
    this.path = incoming.getUrl();
    this.query = incoming.getQuery() ?? '';
    incoming.forEach((name, value) => {
      // What comes twice is one list (RFC 9110 §5.3).
      const before = this.headers[name];
      this.headers[name] = before === undefined ? value : `${before}, ${value}`;
    });
    this.#connection = connection;
    this.#trustedProxies = trustedProxies;
  }

  /** Read when somebody asks: it costs as much as all the rest. */
  get ip(): string {
    this.#ip ??= forwardedAddress(this.headers['x-forwarded-for'], this.#trustedProxies) ?? addressOf(this.#connection);
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

/**
 * What the outermost of the trusted proxies saw: each wrote the address that it was called from at the end, so that
 * many of the last are theirs, and the
 * rest is the caller's own word. With fewer there are, some proxy was passed by, and the first is what is known.
 */
export function forwardedAddress(header: string | undefined, trustedProxies: number): string | undefined {
  if (header === undefined || trustedProxies === 0) return undefined;
  const named = header.split(',');
  const text = named.at(-Math.min(trustedProxies, named.length))?.trim() ?? '';
  // Some write a port behind it (RFC 7239 §6).
  const address = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/.exec(text)?.slice(1).find(Boolean) ?? text;
  return isIP(address) === 0 ? undefined : address;
}

/** IPv4 addresses come mapped into IPv6 on a dual-stack socket; they are the same address. */
export function addressOf(connection: Addressed): string {
  const address = text.decode(connection.getRemoteAddressAsText());
  const mapped = /^(?:0000:){5}ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$/.exec(address);
  return mapped === null
    ? address
    : mapped
        .slice(1)
        .map((byte) => Number.parseInt(byte, 16))
        .join('.');
}
