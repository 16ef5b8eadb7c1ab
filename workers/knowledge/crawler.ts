// Crawls a site breadth first and yields each page's text. Stays on one host, obeys its robots.txt, makes one request
// at a time with pauses between, and visits no address twice. Stores nothing.

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
  /** As served, decompressed. */
  readonly byteSize: number;
}

/** An address that was not read, and why. */
export interface SkippedPage {
  readonly url: string;
  readonly reason: string;
}

export interface CrawlStep {
  /** Undefined for an address that was skipped. */
  readonly page: CrawledPage | undefined;
  /** Undefined for a page, and for one that was already read under another address. */
  readonly skipped: SkippedPage | undefined;
  /** So far, including this one. */
  readonly pagesFetched: number;
  readonly pagesSkipped: number;
  readonly bytes: number;
  /** Addresses found but not requested, including those too deep; on an endless site, as many as are remembered. */
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
 * The result of checking an address. `literal`: a public IP address instead of a host. `unreachable` may be temporary.
 */
export type AddressVerdict = 'public' | 'private' | 'literal' | 'malformed' | 'unreachable';

export interface Crawler {
  /** Checks an address and, within five seconds, where its redirects lead, without reading a page. */
  examine(url: string): Promise<AddressVerdict>;
  /** Yields one step per address. Throws CrawlFailed if the first page cannot be read. */
  crawl(options: CrawlOptions): AsyncGenerator<CrawlStep, void, void>;
}

/** The site cannot be crawled. The message is shown to whoever requested it. */
class CrawlFailed extends Error {
  override readonly name = 'CrawlFailed';
}

/** The service's user agent in robots.txt. */
export const robotName = 'Switchboard';

const examineTimeoutMs = 5000;
const pageTimeoutMs = 15_000;
const maxPageBytes = 2 * 1024 * 1024;
const maxRedirects = 5;
/**
 * The pause between two requests is as long as the site took to answer, within these bounds, or as long as its
 * robots.txt asks, up to the last. Four pages a second are little for a site and do not affect chats; at twenty,
 * messages took three times as long.
 */
const shortestPauseMs = 250;
const longestPauseMs = 1000;
const longestAskedPauseMs = 10_000;
/** Requests per page wanted, so that a site of dead links ends too. */
const requestsPerPage = 3;
/** A calendar without an end has more links. */
const maxQueued = 10_000;
const contentTypes = ['text/html', 'application/xhtml+xml', 'text/plain', 'text/markdown'];
/**
 * Time spent on links before giving way to other work. A page has some thousands, and its robots.txt may make each of
 * them expensive.
 */
const linksMs = 5;
/** In total per crawl, where common sites take some milliseconds. Later links are ignored. */
const maxLinksMs = 5000;
/** Extensions of files that are not pages, so that they are not requested. */
const otherFiles =
  /\.(?:7z|avi|bin|bmp|bz2|css|csv|dmg|docx?|eot|exe|gif|gz|ico|iso|jpe?g|js|json|m4a|mov|mp3|mp4|mpe?g|ogg|pdf|png|pptx?|rar|rss|svg|tar|tgz|tiff?|ttf|wav|webm|webp|woff2?|xlsx?|xml|zip)$/i;
/** Parameters that say where a reader came from, not what is read. */
const tracking = /^(?:utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|ref_src)$/;

/** One spelling for all addresses of a page. */
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
  /** See the fetcher. */
  readonly allowPrivate: boolean;
  /** See the fetcher. */
  readonly isPublic?: typeof isPublicAddress;
  readonly shortestPauseMs?: number;
}

export function createCrawler(options: CrawlerOptions): Crawler {
  return {
    examine: (url) => examine(url, options),
    async *crawl(wanted) {
      const start = await startOf(wanted, options);
      const robots = await readRobots(options.fetcher, {
        origin: start.origin,
        agent: robotName,
        signal: wanted.signal,
      });
      if (!robots.allows(start))
        throw new CrawlFailed(`robots.txt of ${start.host} does not allow it, or could not be read`);
      yield* new Crawl(options, wanted, { start, robots }).steps();
    },
  };
}

/** One crawl of one site. */
class Crawl {
  readonly #options: CrawlerOptions;
  readonly #wanted: CrawlOptions;
  readonly #host: string;
  readonly #robots: Robots;
  readonly #queue: Queued[];
  /** Addresses that were requested or are queued. */
  readonly #seen: Set<string>;
  /** Addresses beyond the requested depth. */
  readonly #beyond = new Set<string>();
  #pagesFetched = 0;
  #pagesSkipped = 0;
  #bytes = 0;
  #linksLeftMs = maxLinksMs;

  constructor(options: CrawlerOptions, wanted: CrawlOptions, { start, robots }: { start: URL; robots: Robots }) {
    const url = canonicalAddress(start);
    this.#options = options;
    this.#wanted = wanted;
    this.#host = start.host;
    this.#robots = robots;
    this.#queue = [{ url, depth: 0 }];
    this.#seen = new Set([url]);
  }

  async *steps(): AsyncGenerator<CrawlStep, void, void> {
    const { maxPages, signal } = this.#wanted;
    let lastMs = 0;
    for (let requests = 0; requests < maxPages * requestsPerPage && this.#pagesFetched < maxPages; requests += 1) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      if (requests > 0) await pause(this.#pauseAfter(lastMs), undefined, { signal });
      const startedMs = performance.now();
      const visited = await this.#visit(next);
      lastMs = performance.now() - startedMs;
      signal.throwIfAborted();
      if (visited.page === undefined) {
        if (next.depth === 0) throw new CrawlFailed(`${next.url} ${visited.reason}`);
        this.#pagesSkipped += 1;
        const skipped = visited.isDuplicate === true ? undefined : { url: next.url, reason: visited.reason };
        yield { page: undefined, skipped, ...this.#counts() };
        continue;
      }
      this.#pagesFetched += 1;
      this.#bytes += visited.page.byteSize;
      await this.#queueLinks(visited.links, next.depth);
      yield { page: visited.page, skipped: undefined, ...this.#counts() };
    }
  }

  #counts(): Pick<CrawlStep, 'pagesFetched' | 'pagesSkipped' | 'bytes' | 'pagesLeft'> {
    return {
      pagesFetched: this.#pagesFetched,
      pagesSkipped: this.#pagesSkipped,
      bytes: this.#bytes,
      pagesLeft: this.#queue.length + [...this.#beyond].filter((address) => !this.#seen.has(address)).length,
    };
  }

  #pauseAfter(lastMs: number): number {
    const { delayMs } = this.#robots;
    if (delayMs !== undefined) return Math.min(delayMs, longestAskedPauseMs);
    return Math.min(Math.max(lastMs, this.#options.shortestPauseMs ?? shortestPauseMs), longestPauseMs);
  }

  async #visit(queued: Queued): Promise<Visited> {
    const { signal } = this.#wanted;
    let fetched: Fetched;
    let read: ReadPage;
    try {
      fetched = await this.#fetch(queued.url);
      if (fetched.status < 200 || fetched.status > 299) return none(`answered ${fetched.status}`);
      if (isOther(canonicalAddress(new URL(fetched.url)), queued, this.#seen))
        return { ...none('leads to a page that was read already'), isDuplicate: true };
      const charset = /charset\s*=\s*"?([\w:.-]+)/i.exec(fetched.headers['content-type'] ?? '')?.[1];
      const { body: bytes, contentType, url } = fetched;
      read = await this.#options.pageReader.read({ bytes, contentType, charset, url });
    } catch (error) {
      if (signal.aborted) throw error;
      return none(error instanceof FetchFailed ? `cannot be read: ${error.message}` : 'cannot be read');
    }
    const own = URL.parse(read.canonicalUrl ?? fetched.url) ?? new URL(fetched.url);
    const url = canonicalAddress(own.host === this.#host ? own : new URL(fetched.url));
    if (url !== canonicalAddress(new URL(fetched.url)) && isOther(url, queued, this.#seen))
      return { ...none(`is ${url}, which was read already`), isDuplicate: true };
    if (read.text === '') return none('holds no text');
    return { page: { url, title: read.title, text: read.text, byteSize: fetched.body.byteLength }, links: read.links };
  }

  #fetch(url: string): Promise<Fetched> {
    return this.#options.fetcher.fetch({
      url,
      headers: { accept: 'text/html, application/xhtml+xml, text/plain;q=0.8' },
      contentTypes,
      maxBytes: maxPageBytes,
      timeoutMs: pageTimeoutMs,
      maxRedirects,
      mayFollow: (target) => target.host === this.#host && this.#robots.allows(target),
      signal: this.#wanted.signal,
    });
  }

  /** Queues the links of a page at this depth that are new pages of the site. */
  async #queueLinks(links: readonly string[], depth: number): Promise<void> {
    for (const address of await this.#newAddresses(links)) {
      if (depth === this.#wanted.maxDepth) {
        if (this.#beyond.size < maxQueued) this.#beyond.add(address);
      } else if (this.#queue.length < maxQueued) {
        this.#seen.add(address);
        this.#queue.push({ url: address, depth: depth + 1 });
      }
    }
  }

  /** In order, as far as the time for links allows. */
  async #newAddresses(links: readonly string[]): Promise<Set<string>> {
    const addresses = new Set<string>();
    let [workedMs, begunMs] = [0, performance.now()];
    for (const link of links) {
      const sinceMs = performance.now() - begunMs;
      if (workedMs + sinceMs > this.#linksLeftMs) break;
      if (sinceMs > linksMs) {
        workedMs += sinceMs;
        await pause(sinceMs, undefined, { signal: this.#wanted.signal });
        begunMs = performance.now();
      }
      const target = new URL(link);
      if (target.host !== this.#host || otherFiles.test(target.pathname)) continue;
      const address = canonicalAddress(target);
      if (!this.#seen.has(address) && this.#robots.allows(target)) addresses.add(address);
    }
    this.#linksLeftMs -= workedMs + performance.now() - begunMs;
    return addresses;
  }
}

/** The first page after its redirects: the crawl stays on its host. */
async function startOf({ url, signal }: CrawlOptions, { fetcher }: CrawlerOptions): Promise<URL> {
  try {
    return new URL((await fetcher.trace({ url, timeoutMs: pageTimeoutMs, maxRedirects, signal })).url);
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error;
    const message = error.problem === 'address' ? `website_not_public: ${error.message}` : error.message;
    throw new CrawlFailed(message, { cause: error });
  }
}

async function examine(text: string, { fetcher, allowPrivate, isPublic }: CrawlerOptions): Promise<AddressVerdict> {
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

/** True if `address` differs from the one requested and has been visited; otherwise remembers it. */
function isOther(address: string, queued: Queued, seen: Set<string>): boolean {
  if (address === queued.url) return false;
  if (seen.has(address)) return true;
  seen.add(address);
  return false;
}
