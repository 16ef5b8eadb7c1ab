// Walks a site, breadth first, page by page, and hands each page's text to who asked. It stays on one host, keeps to
// the site's robots.txt, asks for one thing at a time with pauses in between, and takes no address twice. It stores
// nothing; who asked decides what becomes of a page.

import { setTimeout as pause } from 'node:timers/promises';
import { type Fetched, type Fetcher, FetchFailed } from '../providers/fetcher.ts';
import { type isPublicAddress, placeOf } from '../providers/host-resolver.ts';
import type { PageReader, ReadPage } from './page-reader.ts';
import { type Robots, readRobots } from './robots.ts';

export interface CrawledPage {
  /** The page's canonical address. */
  readonly url: string;
  readonly title: string;
  /** Markdown; never empty. */
  readonly text: string;
  /** As it was served, decompressed. */
  readonly byteSize: number;
}

/** An address that is missing in what was read, and why. */
export interface SkippedPage {
  readonly url: string;
  readonly reason: string;
}

export interface CrawlStep {
  /** Undefined for an address that was skipped. */
  readonly page: CrawledPage | undefined;
  /** Undefined for a page, and for one that was read already under another address. */
  readonly skipped: SkippedPage | undefined;
  /** So far, this one included. */
  readonly pagesFetched: number;
  readonly pagesSkipped: number;
  readonly bytes: number;
  /**
   * Addresses that were found and not asked for, those too far away included; of a site without an end as many as are
   * remembered.
   */
  readonly pagesLeft: number;
}

export interface CrawlOptions {
  readonly url: string;
  /** Links away from the first page. */
  readonly maxDepth: number;
  readonly maxPages: number;
  readonly signal: AbortSignal;
}

/**
 * What an address turns out to be. `literal`: it names a public address instead of a host. `unreachable` may still be
 * reached later.
 */
export type AddressVerdict = 'public' | 'private' | 'literal' | 'malformed' | 'unreachable';

export interface Crawler {
  /** Looks at an address and, within five seconds, at where its redirects lead, without reading a page. */
  examine(url: string): Promise<AddressVerdict>;
  /** One step per address. Throws CrawlFailed when the first page cannot be had. */
  crawl(options: CrawlOptions): AsyncGenerator<CrawlStep, void, void>;
}

/** The site cannot be crawled. The message is for the person who asked. */
export class CrawlFailed extends Error {
  override readonly name = 'CrawlFailed';
}

/** How the service names itself in robots.txt. */
export const robotName = 'Switchboard';

const examineTimeoutMs = 5000;
const pageTimeoutMs = 15_000;
const maxPageBytes = 2 * 1024 * 1024;
const maxRedirects = 5;
/**
 * A site rests between two requests as long as it took to answer, within these bounds, or as long as its robots.txt
 * asks, up to the last.
 * Four pages a second are little for a site and nothing to the chats beside; at twenty, messages waited three times as
 * long.
 */
const shortestPauseMs = 250;
const longestPauseMs = 1000;
const longestAskedPauseMs = 10_000;
/** Addresses asked for in all, per page wanted: a site of dead links ends too. */
const requestsPerPage = 3;
/** Addresses that wait. A calendar without an end has more. */
const maxQueued = 10_000;
const contentTypes = ['text/html', 'application/xhtml+xml', 'text/plain', 'text/markdown'];
/**
 * Of looking at links, after which everybody else is let go first. A page has some thousands, and its robots.txt may
 * make each of them dear.
 */
const linksMs = 5;
/** Of all of it in a crawl: common sites take some milliseconds. Links after that are not looked at. */
const maxLinksMs = 5000;
/** Names of what is no page, so that it need not be asked for. */
const otherFiles =
  /\.(?:7z|avi|bin|bmp|bz2|css|csv|dmg|docx?|eot|exe|gif|gz|ico|iso|jpe?g|js|json|m4a|mov|mp3|mp4|mpe?g|ogg|pdf|png|pptx?|rar|rss|svg|tar|tgz|tiff?|ttf|wav|webm|webp|woff2?|xlsx?|xml|zip)$/i;
/** Parameters that say where a reader came from, not what is read. */
const tracking = /^(?:utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|ref_src)$/;

/** One spelling for all addresses of one page. */
export function canonicalAddress(url: URL): string {
  const canonical = new URL(url);
  canonical.hash = '';
  canonical.hostname = canonical.hostname.replace(/\.$/, '');
  for (const name of [...canonical.searchParams.keys()]) if (tracking.test(name)) canonical.searchParams.delete(name);
  return canonical.href;
}

interface Queued {
  readonly url: string;
  readonly depth: number;
}

type Visited =
  | { readonly page: CrawledPage; readonly links: readonly string[] }
  | { readonly page: undefined; readonly reason: string; readonly isDuplicate?: true };

const none = (reason: string): { page: undefined; reason: string } => ({ page: undefined, reason });

export interface CrawlerOptions {
  readonly fetcher: Fetcher;
  readonly pageReader: PageReader;
  /** As the fetcher's. */
  readonly allowPrivate: boolean;
  /** As the fetcher's. */
  readonly isPublic?: typeof isPublicAddress;
  readonly shortestPauseMs?: number;
}

export function createCrawler(options: CrawlerOptions): Crawler {
  const { fetcher, pageReader, allowPrivate, isPublic } = options;
  const restMs = options.shortestPauseMs ?? shortestPauseMs;

  async function* crawl({ url, maxDepth, maxPages, signal }: CrawlOptions): AsyncGenerator<CrawlStep, void, void> {
    const start = await startOf(url, signal);
    const robots = await readRobots(fetcher, { origin: start.origin, agent: robotName, signal });
    if (!robots.allows(start))
      throw new CrawlFailed(`robots.txt of ${start.host} does not allow it, or could not be read`);
    const queue: Queued[] = [{ url: canonicalAddress(start), depth: 0 }];
    const seen = new Set([canonicalAddress(start)]);
    /** More links away than was asked for. */
    const beyond = new Set<string>();
    const pagesLeft = (): number => queue.length + [...beyond].filter((address) => !seen.has(address)).length;
    let [pagesFetched, pagesSkipped, bytes, pages, lastMs] = [0, 0, 0, 0, 0];
    let linksLeftMs = maxLinksMs;
    for (let requests = 0; requests < maxPages * requestsPerPage && pages < maxPages; requests += 1) {
      const next = queue.shift();
      if (next === undefined) return;
      if (requests > 0) await pause(pauseAfter(lastMs, robots), undefined, { signal });
      const startedMs = performance.now();
      const visited = await visit(next, { host: start.host, robots, seen, signal });
      lastMs = performance.now() - startedMs;
      signal.throwIfAborted();
      if (visited.page === undefined) {
        if (next.depth === 0) throw new CrawlFailed(`${next.url} ${visited.reason}`);
        pagesSkipped += 1;
        yield {
          page: undefined,
          skipped: visited.isDuplicate === true ? undefined : { url: next.url, reason: visited.reason },
          pagesFetched,
          pagesSkipped,
          bytes,
          pagesLeft: pagesLeft(),
        };
        continue;
      }
      pagesFetched += 1;
      pages += 1;
      bytes += visited.page.byteSize;
      const looked = await unseen(visited.links, { host: start.host, robots, seen, withinMs: linksLeftMs, signal });
      linksLeftMs -= looked.workedMs;
      for (const address of looked.addresses) {
        if (next.depth === maxDepth) {
          if (beyond.size < maxQueued) beyond.add(address);
        } else if (queue.length < maxQueued) {
          seen.add(address);
          queue.push({ url: address, depth: next.depth + 1 });
        }
      }
      yield { page: visited.page, skipped: undefined, pagesFetched, pagesSkipped, bytes, pagesLeft: pagesLeft() };
    }
  }

  /** Where the first page is after its redirects: its host is the one that the crawl stays on. */
  async function startOf(url: string, signal: AbortSignal): Promise<URL> {
    try {
      return new URL((await fetcher.trace({ url, timeoutMs: pageTimeoutMs, maxRedirects, signal })).url);
    } catch (error) {
      if (error instanceof FetchFailed)
        throw new CrawlFailed(error.problem === 'address' ? `website_not_public: ${error.message}` : error.message, {
          cause: error,
        });
      throw error;
    }
  }

  async function visit(
    one: Queued,
    within: { host: string; robots: Robots; seen: Set<string>; signal: AbortSignal },
  ): Promise<Visited> {
    const { host, robots, seen, signal } = within;
    let fetched: Fetched;
    let read: ReadPage;
    try {
      fetched = await fetcher.fetch({
        url: one.url,
        headers: { accept: 'text/html, application/xhtml+xml, text/plain;q=0.8' },
        contentTypes,
        maxBytes: maxPageBytes,
        timeoutMs: pageTimeoutMs,
        maxRedirects,
        mayFollow: (target) => target.host === host && robots.allows(target),
        signal,
      });
      if (fetched.status < 200 || fetched.status > 299) return none(`answered ${fetched.status}`);
      if (isOther(canonicalAddress(new URL(fetched.url)), one, seen))
        return { ...none('leads to a page that was read already'), isDuplicate: true };
      const charset = /charset\s*=\s*"?([\w:.-]+)/i.exec(fetched.headers['content-type'] ?? '')?.[1];
      read = await pageReader.read({
        bytes: fetched.body,
        contentType: fetched.contentType,
        charset,
        url: fetched.url,
      });
    } catch (error) {
      if (signal.aborted) throw error;
      return none(error instanceof FetchFailed ? `cannot be read: ${error.message}` : 'cannot be read');
    }
    const own = URL.parse(read.canonicalUrl ?? fetched.url) ?? new URL(fetched.url);
    const url = canonicalAddress(own.host === host ? own : new URL(fetched.url));
    if (url !== canonicalAddress(new URL(fetched.url)) && isOther(url, one, seen))
      return { ...none(`is ${url}, which was read already`), isDuplicate: true };
    if (read.text === '') return none('holds no text');
    return { page: { url, title: read.title, text: read.text, byteSize: fetched.body.byteLength }, links: read.links };
  }

  /**
   * Of the links of a page those that are pages of the site, each once, in the page's order; and how long it took to
   * tell.
   */
  async function unseen(
    links: readonly string[],
    within: { host: string; robots: Robots; seen: Set<string>; withinMs: number; signal: AbortSignal },
  ): Promise<{ addresses: Set<string>; workedMs: number }> {
    const addresses = new Set<string>();
    let [workedMs, begunMs] = [0, performance.now()];
    for (const link of links) {
      const sinceMs = performance.now() - begunMs;
      if (workedMs + sinceMs > within.withinMs) break;
      if (sinceMs > linksMs) {
        workedMs += sinceMs;
        await pause(sinceMs, undefined, { signal: within.signal });
        begunMs = performance.now();
      }
      const target = new URL(link);
      if (target.host !== within.host || otherFiles.test(target.pathname)) continue;
      const address = canonicalAddress(target);
      if (!within.seen.has(address) && within.robots.allows(target)) addresses.add(address);
    }
    return { addresses, workedMs: workedMs + performance.now() - begunMs };
  }

  function pauseAfter(lastMs: number, robots: Robots): number {
    if (robots.delayMs !== undefined) return Math.min(robots.delayMs, longestAskedPauseMs);
    return Math.min(Math.max(lastMs, restMs), longestPauseMs);
  }

  async function examine(text: string): Promise<AddressVerdict> {
    const url = URL.parse(text);
    if (url === null || url.username !== '' || url.password !== '') return 'malformed';
    const place = placeOf(url, isPublic);
    if (!allowPrivate && place !== 'name') return place === 'private' ? 'private' : 'literal';
    try {
      await fetcher.trace({ url: text, timeoutMs: examineTimeoutMs, maxRedirects });
      return 'public';
    } catch (error) {
      if (!(error instanceof FetchFailed)) throw error;
      if (error.problem === 'url') return 'malformed';
      return error.problem === 'address' ? 'private' : 'unreachable';
    }
  }

  return { examine, crawl };
}

/** True when `address` is not the one that was asked for and was taken before; remembers it otherwise. */
function isOther(address: string, asked: Queued, seen: Set<string>): boolean {
  if (address === asked.url) return false;
  if (seen.has(address)) return true;
  seen.add(address);
  return false;
}
