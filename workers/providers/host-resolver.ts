// Resolves hosts and decides which addresses and names are public. The only importer of ipaddr.js. Connections to
// user-supplied hosts use exactly the addresses resolved here: a second query could return others.

import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Every address of a host. Rejects with the system's error if there is none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** For one try of one name server, and the number of tries. A host with slower servers counts as unreachable. */
const dnsTimeoutMs = 2000;
const dnsTries = 2;

/** As the machine resolves names, including its hosts file. */
export const systemResolver: ResolveHost = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/** Queries only these name servers (`ip` or `ip:port`). */
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

/** Global unicast addresses of IPv6; all others are special (RFC 4291 §2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * False for private, loopback, link-local, multicast, mapped, translated, reserved and other special addresses, and for
 * invalid ones.
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
 * Classifies an address's host without resolving it. URL has already normalised decimal, octal and hexadecimal
 * spellings.
 */
export function placeOf(url: URL, isPublic = isPublicAddress): Place {
  const host = hostOf(url);
  if (isIP(host) !== 0) return isPublic(host) ? 'publicAddress' : 'private';
  return privateNames.some((name) => host === name || host.endsWith(`.${name}`)) ? 'private' : 'name';
}

/** Without IPv6 brackets and without a trailing dot, which names the same host. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
