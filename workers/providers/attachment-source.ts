// Fetches an attachment from where an inbound mail provider keeps it. The address came in with a request, so it must lead to the
// public internet: every name is resolved here, the address that it leads to is the one connected to, and each redirect is held
// to the same.

import { lookup as resolveName, type LookupAddress } from 'node:dns';
import { type IncomingMessage, get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';

export interface AttachmentSource {
  /** Its bytes, as they come. Fails, now or later on, with AttachmentRefused when asking again would not help, with any error otherwise. */
  fetch(url: string): Promise<Readable>;
}

/** Not to be had: a private address, too large, or the other side says that it is not there. */
export class AttachmentRefused extends Error {
  override readonly name = 'AttachmentRefused';
}

const timeoutMs = 60_000;
const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** As large as an attachment may be (specification 8). */
const maxBytes = 25 * 1024 * 1024;

/** Everything that is not the public internet (RFC 6890), as prefixes. */
const notPublic = new BlockList();
for (const [network, prefix] of [['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.0.0.0', 24], ['192.0.2.0', 24], ['192.88.99.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15], ['198.51.100.0', 24], ['203.0.113.0', 24], ['224.0.0.0', 4], ['240.0.0.0', 4]] as const) notPublic.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [['::', 96], ['64:ff9b::', 96], ['64:ff9b:1::', 48], ['100::', 64], ['2001::', 23], ['2001:db8::', 32], ['2002::', 16], ['fc00::', 7], ['fe80::', 10], ['fec0::', 10], ['ff00::', 8]] as const) notPublic.addSubnet(network, prefix, 'ipv6');

export function createAttachmentSource(options: { allowPrivate: boolean }): AttachmentSource {
  const isAllowed = (address: string): boolean => options.allowPrivate || isPublic(address);

  const lookup: LookupFunction = (hostname, given, done) => {
    resolveName(hostname, { ...given, all: true }, (error, addresses) => {
      if (error !== null) return done(error, [] as LookupAddress[]);
      const refused = addresses.find(({ address }) => !isAllowed(address));
      if (refused !== undefined) return done(new AttachmentRefused(`${hostname} is not a public address`), [] as LookupAddress[]);
      const [first] = addresses;
      if (given.all === true) return done(null, addresses);
      return done(null, first?.address ?? '', first?.family);
    });
  };

  function request(url: URL): Promise<IncomingMessage> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && !isAllowed(host)) return Promise.reject(new AttachmentRefused(`${host} is not a public address`));
    const get = url.protocol === 'https:' ? httpsGet : httpGet;
    return new Promise((resolve, reject) => {
      get(url, { lookup, signal: AbortSignal.timeout(timeoutMs), headers: { Accept: '*/*' } }, resolve).on('error', reject);
    });
  }

  return {
    async fetch(address) {
      let url = new URL(address);
      for (let hops = 0; hops <= maxRedirects; hops += 1) {
        if (!/^https?:$/.test(url.protocol)) throw new AttachmentRefused(`${url.protocol} is not a web address`);
        const response = await request(url);
        const status = response.statusCode ?? 0;
        if (status === 200) return Readable.from(bounded(response));
        response.destroy();
        const { location } = response.headers;
        if (!redirects.has(status) || location === undefined) {
          const message = `${url.host} answered ${status}`;
          // A server's own trouble passes; a link that has run out does not come back.
          throw status >= 500 || status === 429 || status === 408 ? new Error(message) : new AttachmentRefused(message);
        }
        url = new URL(location, url);
      }
      throw new AttachmentRefused(`more than ${maxRedirects} redirects`);
    },
  };
}

async function* bounded(response: IncomingMessage): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new AttachmentRefused(`it is larger than ${maxBytes} bytes`);
    yield chunk;
  }
}

/** An IPv4 address within IPv6 is held to the IPv4 rules too. */
function isPublic(address: string): boolean {
  return !notPublic.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
