// The network that an address belongs to, for limits. One IPv6 customer has 2^64 addresses (RFC 6177), so they count as
// one.

import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * An IPv4 address unchanged, also when it is mapped into IPv6; the /64 of an IPv6 address, such as
 * `2001:db8:0:1::/64`. Ignores a port that a proxy appended. Anything else is returned unchanged.
 */
export function networkOf(address: string): string {
  const bare = withoutPort(address);
  const groups = groupsIn(bare);
  if (groups === undefined) return bare;
  if (isMapped(groups))
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  return prefixOf(groups, 64);
}

/** The /48 around an IPv6 address, the usual size of a site; undefined for any other address. */
export function siteNetworkOf(address: string): string | undefined {
  const groups = groupsIn(withoutPort(address));
  return groups === undefined || isMapped(groups) ? undefined : prefixOf(groups, 48);
}

/**
 * Private addresses: this machine, its network, a carrier's own (RFC 1918, 4193, 4291, 6598). A proxy has one, and so
 * do all clients behind it.
 */
const privateNetworks = new BlockList();
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  privateNetworks.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of [
  ['::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  privateNetworks.addSubnet(network, bits, 'ipv6');

/** Like networkOf; undefined for a private address and for anything that is no address. */
export function publicNetworkOf(address: string): string | undefined {
  const network = networkOf(address);
  const first = network.replace(/\/64$/, '');
  if (isIPv4(first)) return privateNetworks.check(first, 'ipv4') ? undefined : network;
  return isIPv6(first) && !privateNetworks.check(first, 'ipv6') ? network : undefined;
}

function withoutPort(address: string): string {
  return (
    /^\[([\da-f:.%\w]+)\](?::\d+)?$/i.exec(address)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? address
  );
}

function prefixOf(groups: readonly number[], bits: 48 | 64): string {
  return `${groups
    .slice(0, bits / 16)
    .map((group) => group.toString(16))
    .join(':')}::/${bits}`;
}

/** Undefined for what is no IPv6 address. */
function groupsIn(address: string): number[] | undefined {
  const withoutZone = address.replace(/%.*$/, '');
  return isIPv6(withoutZone) ? groupsOf(withoutZone) : undefined;
}

/** The eight groups of an IPv6 address, however it is written. */
function groupsOf(address: string): number[] {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [high, low] = dotted === null ? [] : [hexOf(dotted[1], dotted[2]), hexOf(dotted[3], dotted[4])];
  const plain = dotted === null ? address : `${address.slice(0, dotted.index)}${high}:${low}`;
  const [before = '', after = ''] = plain.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === '' ? [] : after.split(':');
  const zeros = plain.includes('::') ? Array.from({ length: 8 - head.length - tail.length }, () => '0') : [];
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}

function hexOf(high: string | undefined, low: string | undefined): string {
  return (Number(high) * 256 + Number(low)).toString(16);
}

function isMapped(groups: readonly number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}
