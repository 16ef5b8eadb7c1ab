// A site's own list of its pages (sitemaps.org): found in robots.txt or at /sitemap.xml, read as far as it concerns the
// part of the site that is crawled. It is only a hint: one that cannot be read is as good as none.

import { gunzipSync } from 'node:zlib';
import { type Fetcher, FetchFailed } from '../providers/fetcher.ts';

/** Of one file, unpacked. The protocol allows more, but a crawl visits two hundred pages. */
const maxBytes = 4 * 1024 * 1024;
const timeoutMs = 10_000;
const maxRedirects = 3;
/** An index names further files; those are read up to this number in total. */
const maxFiles = 10;
const maxAddresses = 2000;

/** Addresses on the start's host, below its folder. `named`: the sitemaps that robots.txt names. */
export async function readSitemap(
  fetcher: Fetcher,
  site: { start: URL; named: readonly string[]; signal: AbortSignal },
): Promise<string[]> {
  const { start, signal } = site;
  const files = new Set(
    (site.named.length === 0 ? ['/sitemap.xml'] : site.named).flatMap((name) => sameHost(name, start)),
  );
  const folder = start.pathname.slice(0, start.pathname.lastIndexOf('/') + 1);
  const addresses = new Set<string>();
  let read = 0;
  for (const file of files) {
    if (read === maxFiles || addresses.size >= maxAddresses) break;
    read += 1;
    const text = await textOf(fetcher, file, signal);
    const isIndex = /<sitemapindex[\s>]/i.test(text);
    for (const address of locationsIn(text).flatMap((location) => sameHost(location, start))) {
      if (isIndex) files.add(address);
      else if (new URL(address).pathname.startsWith(folder) && addresses.size < maxAddresses) addresses.add(address);
    }
  }
  return [...addresses];
}

async function textOf(fetcher: Fetcher, url: string, signal: AbortSignal): Promise<string> {
  try {
    const { status, body } = await fetcher.fetch({ url, maxBytes, timeoutMs, maxRedirects, signal });
    if (status !== 200) return '';
    const isPacked = body[0] === 0x1f && body[1] === 0x8b;
    return Buffer.from(isPacked ? gunzipSync(body, { maxOutputLength: maxBytes }) : body).toString('utf8');
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof FetchFailed || isUnpacking(error)) return '';
    throw error;
  }
}

function isUnpacking(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?:Z_|ERR_BUFFER_TOO_LARGE)/.test(String(error.code));
}

/** The addresses in <loc>, in order. Entities other than an ampersand have no place in an address. */
function locationsIn(text: string): string[] {
  return [...text.matchAll(/<loc>\s*(?:<!\[CDATA\[)?\s*([^\s<\]]{1,2000})/gi)]
    .slice(0, maxAddresses)
    .map(([, location = '']) => location.replaceAll('&amp;', '&'));
}

function sameHost(address: string, start: URL): string[] {
  const url = URL.parse(address, start.href);
  return url !== null && url.host === start.host && /^https?:$/.test(url.protocol) ? [url.href] : [];
}
