// Headers of a request that is sent on to another node, and of its reply: without those of one connection (RFC 9110
// §7.6.1), which each connection has of its own.

import { nodeHeader } from '../pipeline/node-answers.ts';
import type { RequestHead } from '../request.ts';

const ofConnection = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  nodeHeader.toLowerCase(),
];
/** What the mark says, and what the client and this node have settled by now. */
const notSent = new Set([...ofConnection, 'expect', 'forwarded', 'host', 'x-forwarded-for', 'x-request-id']);
/** This node's own, too. */
const notReturned = new Set([...ofConnection, 'date', 'strict-transport-security']);
const name = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** All that a header must not contain: the rest of the control characters. */
const unwritable = /[\u0000-\u0008\u000a-\u001f\u007f]/g;

/** For a request that has this id. */
export function headersToSend({ headers }: RequestHead, requestId: string): Record<string, string> {
  const named = namesIn(headers['connection']);
  const sent: Record<string, string> = { 'x-request-id': requestId };
  for (const [header, value] of Object.entries(headers))
    if (!notSent.has(header) && !named.has(header) && name.test(header)) sent[header] = headerBytes(value);
  return sent;
}

/** As the edge writes them. `raw`: names and values in turn. */
export function headersToReturn(raw: readonly (Buffer | string)[]): Record<string, string> {
  const returned: Record<string, string> = {};
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const header = String(raw[index]);
    if (!notReturned.has(header.toLowerCase())) returned[header] = String(raw[index + 1]);
  }
  return returned;
}

/** Path and query in printable ASCII: whatever else a client wrote is escaped, which means the same. */
export function targetOf({ path, query }: RequestHead): string {
  const target = query === '' ? path : `${path}?${query}`;
  return target.replace(/[^\u0021-\u007e]+/g, (other) => encodeURIComponent(other.toWellFormed()));
}

/** The edge reads headers as UTF-8, the client of HTTP writes one byte for each character. */
export function headerBytes(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1').replace(unwritable, ' ');
}

function namesIn(connection: string | undefined): ReadonlySet<string> {
  return new Set((connection ?? '').split(',').map((one) => one.trim().toLowerCase()));
}
