// A request's head, copied from the library's short-lived objects, and the client's address: the connection's, or the
// one that a trusted proxy or another node reports. Uses only a few calls of uWebSockets.js; made by server.ts.

import { isIP } from 'node:net';
import { networkOf } from '../limits/network-address.ts';
import { nodeHeader } from '../pipeline/node-answers.ts';
import type { OtherNodes, RequestHead } from '../request.ts';

/** The library's view of a head. Invalid after the library's callback. */
export interface IncomingHead {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  forEach(call: (name: string, value: string) => void): void;
}

/** The connection of the request, while it is open. */
export interface Addressed {
  getRemoteAddressAsText(): ArrayBuffer;
}

export interface HeadOptions {
  readonly trustedProxies: number;
  /** Undefined for a node alone: the header of a mark then means nothing. */
  readonly nodes?: OtherNodes | undefined;
}

const text = new TextDecoder();
const markHeader = nodeHeader.toLowerCase();

export class Head implements RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string> = {};
  readonly startedMs = performance.now();
  readonly forwarded: RequestHead['forwarded'];
  readonly #connection: Addressed;
  readonly #trustedProxies: number;
  #ip: string | undefined;

  constructor(connection: Addressed, incoming: IncomingHead, { trustedProxies, nodes }: HeadOptions) {
    this.method = incoming.getCaseSensitiveMethod();
    this.path = incoming.getUrl();
    this.query = incoming.getQuery() ?? '';
    incoming.forEach((name, value) => {
      // A repeated header is one list (RFC 9110 §5.3).
      const before = this.headers[name];
      this.headers[name] = before === undefined ? value : `${before}, ${value}`;
    });
    this.#connection = connection;
    this.#trustedProxies = trustedProxies;
    this.forwarded = nodes && this.#receive(nodes);
  }

  /** Takes the facts of the client's connection from the mark of another node, if there is one. */
  #receive(nodes: OtherNodes): RequestHead['forwarded'] {
    const mark = this.headers[markHeader];
    if (mark === undefined) return undefined;
    const target = this.query === '' ? this.path : `${this.path}?${this.query}`;
    const from = nodes.receivedFrom(mark, { method: this.method, target });
    delete this.headers[markHeader];
    if (from === 'refused') return 'forged';
    this.#ip = from.ip;
    this.headers['host'] = from.host;
    return 'byNode';
  }

  /** Read on demand: it costs as much as everything else together. */
  get ip(): string {
    this.#ip ??= forwardedAddress(this.headers['x-forwarded-for'], this.#trustedProxies) ?? addressOf(this.#connection);
    return this.#ip;
  }

  /** The library closes the connection after the reply (RFC 9112 §9.6). */
  get endsConnection(): boolean {
    return this.headers['connection']?.toLowerCase() === 'close';
  }

  get network(): string {
    return networkOf(this.ip);
  }

  /** The connection has closed, so its address cannot be read any more. */
  forget(): void {
    this.#ip ??= '';
  }
}

/**
 * The address that the outermost trusted proxy saw. Each proxy appends the address that called it, so the last entries
 * are the proxies' and the rest is only the client's word. With fewer entries, a proxy was bypassed, and the first
 * entry is what is known.
 */
export function forwardedAddress(header: string | undefined, trustedProxies: number): string | undefined {
  if (header === undefined || trustedProxies === 0) return undefined;
  const named = header.split(',');
  const text = named.at(-Math.min(trustedProxies, named.length))?.trim() ?? '';
  // Some proxies append a port (RFC 7239 §6).
  const address = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/.exec(text)?.slice(1).find(Boolean) ?? text;
  return isIP(address) === 0 ? undefined : address;
}

/** A dual-stack socket reports IPv4 addresses mapped into IPv6. */
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
