// The mark of a request that one node sends on to another: what the client's connection said, and when, signed with
// CLUSTER_SECRET. A mark is for one method and one path, and for a minute. Written by forwarding.ts and peer-sockets.ts,
// read by receiving.ts.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { ReceivedFrom } from '../request.ts';

/** The request that a mark is for. `target`: path and query, as the other node reads them. */
export interface Marked {
  readonly method: string;
  readonly target: string;
}

/** The clocks of two nodes may differ by this much. */
const maxAgeMs = 60_000;
/** Longer ones are not read. */
const maxLength = 1024;
/** No name of a host is longer. */
const maxHostLength = 255;

export function markOf(request: Marked, from: ReceivedFrom, { secret, nowMs }: Signing): string {
  const facts = Buffer.from(
    JSON.stringify({ at: nowMs, ip: from.ip, host: from.host.slice(0, maxHostLength) }),
  ).toString('base64url');
  return `${facts}.${signatureOf(request, facts, secret).toString('base64url')}`;
}

export interface Signing {
  readonly secret: string;
  readonly nowMs: number;
}

/** Undefined for a mark that is not of this secret, not for this request or not of the last minute. */
export function readMark(mark: string, request: Marked, { secret, nowMs }: Signing): ReceivedFrom | undefined {
  const [facts = '', given = '', ...rest] = mark.length > maxLength ? [] : mark.split('.');
  const signature = Buffer.from(given, 'base64url');
  const expected = signatureOf(request, facts, secret);
  if (rest.length > 0 || signature.length !== expected.length || !timingSafeEqual(signature, expected))
    return undefined;
  // Signed by a node, so of the form that markOf() writes.
  const { at, ip, host } = JSON.parse(Buffer.from(facts, 'base64url').toString()) as ReceivedFrom & { at: number };
  return Math.abs(nowMs - at) <= maxAgeMs && isIP(ip) !== 0 ? { ip, host } : undefined;
}

function signatureOf({ method, target }: Marked, facts: string, secret: string): Buffer {
  return createHmac('sha256', secret).update(`a request from node to node\n${method}\n${target}\n${facts}`).digest();
}
