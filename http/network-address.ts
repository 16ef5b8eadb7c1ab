// The network that an address belongs to, for limits: whoever has one IPv6 address has the 2^64 of its network (RFC 6177), so those count as one.

import { isIPv6 } from 'node:net';

/** An IPv4 address as it is, also when it comes mapped into IPv6; of an IPv6 address its first 64 bits, such as `2001:db8:0:1::/64`. What is no address is left as it is. */
export function networkOf(address: string): string {
  const withoutZone = address.replace(/%.*$/, '');
  if (!isIPv6(withoutZone)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(withoutZone);
  if (mapped?.[1] !== undefined) return mapped[1];
  const groups = groupsOf(withoutZone);
  if (isMapped(groups)) return groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]).join('.');
  return `${groups.slice(0, 4).map((group) => group.toString(16)).join(':')}::/64`;
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
