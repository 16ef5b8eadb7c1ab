// From a host's name to its addresses, and which addresses and names belong to the public internet. The only importer
// of ipaddr.js. Whoever connects on somebody else's word asks here and connects to the very addresses it was given: a
// second question could be answered otherwise.

import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Every address of a host. Rejects with the system's error when it has none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/**
 * One try of one name server, and how often. A host whose servers are slower than the product is treated as
 * unreachable.
 */
const dnsTimeoutMs = 2000;
const dnsTries = 2;

/** As the machine resolves names, its hosts file included. */
export const systemResolver: ResolveHost = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/** Asks these name servers (`ip` or `ip:port`) and nothing else. */
export function dnsResolver(servers: readonly string[]): ResolveHost {
  const resolver = new Resolver({ timeout: dnsTimeoutMs, tries: dnsTries });
  resolver.setServers(servers);
  return async (host) => {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [first] = answers;
    if (addresses.length === 0 && first.status === 'rejected') throw first.reason;
    return addresses;
  };
}

/**
 * Where global unicast addresses of IPv6 come from; everything beside it is special in one way or another (RFC 4291
 * §2.4).
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * False for private, loopback, link-local, multicast, mapped, translated, reserved and any other special address, and
 * for what is none.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(globalUnicast);
}

/** Names that never leave a network or a machine (RFC 6761, RFC 6762; `.internal` is ICANN's for private use). */
const privateNames = ['localhost', 'local', 'internal'];

export type Place = 'name' | 'publicAddress' | 'private';

/**
 * What the host of an address is before anybody is asked. A URL has already made decimal, octal and hexadecimal
 * spellings into dotted ones.
 */
export function placeOf(url: URL, isPublic = isPublicAddress): Place {
  const host = hostOf(url);
  if (isIP(host) !== 0) return isPublic(host) ? 'publicAddress' : 'private';
  return privateNames.some((name) => host === name || host.endsWith(`.${name}`)) ? 'private' : 'name';
}

/** Without the brackets of IPv6 and without a dot at its end, which names the same host. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
