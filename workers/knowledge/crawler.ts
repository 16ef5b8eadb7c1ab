// Crawls a site breadth first and yields each page's text. Stays on one host, obeys its robots.txt, makes one request
// at a time with pauses between, and visits no address twice. Stores nothing.

import { setTimeout as pause } from 'node:timers/promises';
import { type Fetched, type Fetcher, FetchFailed, type FetchProblem } from '../providers/fetcher.ts';
import { type isPublicAddress, placeOf } from '../providers/host-resolver.ts';
import type { PageReader, ReadPage } from './page-reader.ts';
import { type Robots, readRobots } from './robots.ts';
import { readSitemap } from './sitemap.ts';

export interface CrawledPage {
  /** The page's canonical address. */
  readonly url: string;
  readonly title: string;
  /** Markdown; never empty. */
  readonly text: string;
  /** ISO 639-1, or null if it is not known. */
  readonly language: string | null;
  /** As served, decompressed. */
  readonly byteSize: number;
}

/** An address that was not read, and why. */
export interface SkippedPage {
  readonly url: string;
  readonly reason: string;
}

/** What a step learned. All of a crawl's trail is enough to take it up where it ended. */
export interface CrawlTrail {
  /** Addresses that were visited, and other addresses of those pages. */
  readonly seen: readonly string[];
  /** New addresses, in the order in which they are visited. */
  readonly queued: readonly string[];
  /** Links from the first page to those. */
  readonly depth: number;
  /** Addresses beyond the depth that was asked for. */
  readonly beyond: readonly string[];
  /** Of the page's text, if it was kept. */
  readonly textHash: string | null;
}

export interface CrawlCounts {
  readonly pagesFetched: number;
  readonly pagesSkipped: number;
  readonly bytes: number;
}

export interface CrawlStep {
  /** Undefined for an address that was skipped. */
  readonly page: CrawledPage | undefined;
  /** Undefined for a page, and for one that was already read under another address. */
  readonly skipped: SkippedPage | undefined;
  /** So far, including this one. */
  readonly counts: CrawlCounts & {
    /** Addresses found but not requested, including those too deep; on an endless site, as many as are remembered. */
    readonly pagesLeft: number;
  };
  readonly trail: CrawlTrail;
}

export interface CrawlOptions {
  readonly url: string;
  /** Links away from the first page. */
  readonly maxDepth: number;
  readonly maxPages: number;
  /** An earlier part of the same crawl, to go on from there. */
  readonly earlier?: { readonly trail: readonly CrawlTrail[]; readonly counts: CrawlCounts } | undefined;
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
  readonly isForPeople = true;
}

/** Why an address could not be fetched. The fetcher's own words are for the log. */
const problemWords: Record<FetchProblem, string> = {
  url: 'is not a web address',
  address: 'is not a public address',
  redirects: 'redirects too often',
  elsewhere: 'leads to another site, or to a page that robots.txt excludes',
  type: 'is not a page or a document',
  size: 'is too large',
  encoding: 'has an unknown encoding',
  time: 'did not answer in time',
  network: 'could not be reached',
};

/** The service's user agent in robots.txt. */
export const robotName = 'Switchboard';

const examineTimeoutMs = 5000;
const pageTimeoutMs = 15_000;
const maxPageBytes = 2 * 1024 * 1024;
export const maxFileBytes = 20 * 1024 * 1024;
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
const contentTypes = [
  'text/html',
  'application/xhtml+xml',
  'text/plain',
  'text/markdown',
  'text/csv',
  'application/pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
];
/** Files that are read, too. They may be larger, and many servers do not know their types. */
const documentFiles = /\.(?:csv|docx|markdown|md|pdf)$/i;
/**
 * Time spent on links before giving way to other work. A page has some thousands, and its robots.txt may make each of
 * them expensive.
 */
const linksMs = 5;
const maxLinksMs = 5000;
/** Extensions of files that are not pages, so that they are not requested. */
const otherFiles =
  /\.(?:7z|avi|bin|bmp|bz2|css|csv|dmg|doc|eot|exe|gif|gz|ico|iso|jpe?g|js|json|m4a|mov|mp3|mp4|mpe?g|ogg|png|pptx?|rar|rss|svg|tar|tgz|tiff?|ttf|wav|webm|webp|woff2?|xlsx?|xml|zip)$/i;
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

type Visited = { readonly links: readonly string[] } & (
  | { readonly page: CrawledPage; readonly textHash: string }
  | {
      readonly page: undefined;
      readonly reason: string;
      readonly isDuplicate?: true;
      /** Nothing could be read there. */
      readonly isUnread?: true;
    }
);

const unread = (reason: string): Visited => ({ page: undefined, reason, isUnread: true, links: [] });
const duplicate = (reason: string): Visited => ({ page: undefined, reason, isDuplicate: true, links: [] });

export interface CrawlerOptions {
  readonly fetcher: Fetcher;
  readonly pageReader: PageReader;
  /** See the fetcher. */
  readonly allowPrivate: boolean;
  /** See the fetcher. */
  readonly isPublic?: typeof isPublicAddress;
  readonly shortestPauseMs?: number;
  /** For the links of one crawl in total, where common sites take some milliseconds. Later links are ignored. */
  readonly maxLinksMs?: number;
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
  readonly #start: URL;
  readonly #queue: Queued[] = [];
  /** Addresses that were requested or are queued. */
  readonly #seen = new Set<string>();
  /** Addresses beyond the requested depth. */
  readonly #beyond = new Set<string>();
  /** Of the texts that were kept. */
  readonly #textHashes = new Set<string>();
  #counts: CrawlCounts = { pagesFetched: 0, pagesSkipped: 0, bytes: 0 };
  #requests = 0;
  #linksLeftMs: number;
  /** Addresses that the step under way added to #seen besides its own. */
  #otherAddresses: string[] = [];

  constructor(options: CrawlerOptions, wanted: CrawlOptions, { start, robots }: { start: URL; robots: Robots }) {
    this.#options = options;
    this.#wanted = wanted;
    this.#start = start;
    this.#host = start.host;
    this.#linksLeftMs = options.maxLinksMs ?? maxLinksMs;
    this.#robots = robots;
    this.#enqueue(canonicalAddress(start), 0);
    if (wanted.earlier !== undefined) this.#takeUp(wanted.earlier);
  }

  #takeUp({ trail, counts }: NonNullable<CrawlOptions['earlier']>): void {
    const visited = new Set<string>();
    for (const { seen, queued, depth, beyond, textHash } of trail) {
      for (const address of seen) visited.add(address);
      for (const address of queued) this.#enqueue(address, depth);
      for (const address of beyond) this.#beyond.add(address);
      if (textHash !== null) this.#textHashes.add(textHash);
    }
    for (const address of visited) this.#seen.add(address);
    this.#queue.splice(0, this.#queue.length, ...this.#queue.filter(({ url }) => !visited.has(url)));
    this.#counts = counts;
    this.#requests = trail.length;
  }

  #enqueue(url: string, depth: number): void {
    this.#seen.add(url);
    this.#queue.push({ url, depth });
  }

  async *steps(): AsyncGenerator<CrawlStep, void, void> {
    const { maxPages, signal } = this.#wanted;
    let lastMs: number | undefined;
    while (this.#requests < maxPages * requestsPerPage && this.#counts.pagesFetched < maxPages) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#requests += 1;
      if (lastMs !== undefined) await pause(this.#pauseAfter(lastMs), undefined, { signal });
      const startedMs = performance.now();
      const visited = await this.#visit(next);
      lastMs = performance.now() - startedMs;
      signal.throwIfAborted();
      yield await this.#stepOf(next, visited);
    }
  }

  async #stepOf(next: Queued, visited: Visited): Promise<CrawlStep> {
    if (visited.page === undefined && visited.isUnread === true && next.depth === 0)
      throw new CrawlFailed(`${next.url} ${visited.reason}`);
    const { pagesFetched, pagesSkipped, bytes } = this.#counts;
    this.#counts =
      visited.page === undefined
        ? { pagesFetched, pagesSkipped: pagesSkipped + 1, bytes }
        : { pagesFetched: pagesFetched + 1, pagesSkipped, bytes: bytes + visited.page.byteSize };
    const links = next.depth === 0 ? [...visited.links, ...(await this.#sitemap())] : visited.links;
    const trail: CrawlTrail = {
      seen: [next.url, ...this.#otherAddresses.splice(0)],
      ...(await this.#queueLinks(links, next.depth)),
      textHash: visited.page === undefined ? null : visited.textHash,
    };
    const pagesLeft = this.#queue.length + [...this.#beyond].filter((address) => !this.#seen.has(address)).length;
    return {
      page: visited.page,
      skipped:
        visited.page !== undefined || visited.isDuplicate === true
          ? undefined
          : { url: next.url, reason: visited.reason },
      counts: { ...this.#counts, pagesLeft },
      trail,
    };
  }

  /** The site's own list of its pages, below the first one. */
  async #sitemap(): Promise<string[]> {
    if (this.#wanted.maxDepth === 0) return [];
    const listed = await readSitemap(this.#options.fetcher, {
      start: this.#start,
      named: this.#robots.sitemaps,
      signal: this.#wanted.signal,
    });
    return listed.filter((address) => URL.canParse(address));
  }

  #pauseAfter(lastMs: number): number {
    const { delayMs } = this.#robots;
    if (delayMs !== undefined) return Math.min(delayMs, longestAskedPauseMs);
    return Math.min(Math.max(lastMs, this.#options.shortestPauseMs ?? shortestPauseMs), longestPauseMs);
  }

  async #visit(queued: Queued): Promise<Visited> {
    let fetched: Fetched;
    let read: ReadPage;
    try {
      fetched = await this.#fetch(queued.url);
      if (fetched.status < 200 || fetched.status > 299) return unread(`answered ${fetched.status}`);
      if (this.#isOther(canonicalAddress(new URL(fetched.url)), queued))
        return duplicate('leads to a page that was read already');
      const charset = /charset\s*=\s*"?([\w:.-]+)/i.exec(fetched.headers['content-type'] ?? '')?.[1];
      const { body: bytes, contentType, url } = fetched;
      read = await this.#options.pageReader.read({ bytes, contentType, charset, url });
    } catch (error) {
      if (this.#wanted.signal.aborted) throw error;
      return unread(error instanceof FetchFailed ? problemWords[error.problem] : 'could not be read');
    }
    return this.#judge(queued, fetched, read);
  }

  /** Whether a page that was read is kept, and under which address. */
  #judge(queued: Queued, fetched: Fetched, read: ReadPage): Visited {
    const robots = `${fetched.headers['x-robots-tag'] ?? ''},${read.robots}`.toLowerCase();
    const links = /\bnofollow\b|\bnone\b/.test(robots) ? [] : read.links;
    if (/\bnoindex\b|\bnone\b/.test(robots)) return { page: undefined, reason: 'asks not to be indexed', links };
    const here = new URL(fetched.url);
    const url = canonicalAddress(this.#canonicalOf(here, read.canonicalUrl));
    if (url !== canonicalAddress(here) && this.#isOther(url, queued))
      return { ...duplicate(`is ${url}, which was read already`), links };
    if (read.text === '') return { page: undefined, reason: 'holds no text', links };
    if (this.#textHashes.has(read.textHash)) return { ...duplicate('has the text of another page'), links };
    this.#textHashes.add(read.textHash);
    const { title, text, language, textHash } = read;
    return { page: { url, title, text, language, byteSize: fetched.body.byteLength }, textHash, links };
  }

  /** The page's own word, unless it names the home page or another site: templates often do by mistake. */
  #canonicalOf(here: URL, named: string | undefined): URL {
    const canonical = URL.parse(named ?? '');
    if (canonical === null || canonical.host !== this.#host) return here;
    return canonical.pathname === '/' && here.pathname !== '/' && canonical.search === '' ? here : canonical;
  }

  /** True if `address` differs from the one requested and has been visited; otherwise remembers it. */
  #isOther(address: string, queued: Queued): boolean {
    if (address === queued.url) return false;
    if (this.#seen.has(address)) return true;
    this.#seen.add(address);
    this.#otherAddresses.push(address);
    return false;
  }

  #fetch(url: string): Promise<Fetched> {
    const isFile = documentFiles.test(new URL(url).pathname);
    return this.#options.fetcher.fetch({
      url,
      headers: { accept: 'text/html, application/xhtml+xml, text/plain;q=0.8, */*;q=0.5' },
      contentTypes: isFile ? [...contentTypes, 'application/octet-stream'] : contentTypes,
      maxBytes: isFile ? maxFileBytes : maxPageBytes,
      timeoutMs: pageTimeoutMs,
      maxRedirects,
      mayFollow: (target) => target.host === this.#host && this.#robots.allows(target),
      signal: this.#wanted.signal,
    });
  }

  /** Queues the links of a page at this depth that are new pages of the site. */
  async #queueLinks(links: readonly string[], depth: number): Promise<Pick<CrawlTrail, 'queued' | 'depth' | 'beyond'>> {
    const [queued, beyond]: [string[], string[]] = [[], []];
    for (const address of await this.#newAddresses(links)) {
      if (depth === this.#wanted.maxDepth) {
        if (this.#beyond.size >= maxQueued || this.#beyond.has(address)) continue;
        this.#beyond.add(address);
        beyond.push(address);
      } else if (this.#queue.length < maxQueued) {
        this.#enqueue(address, depth + 1);
        queued.push(address);
      }
    }
    return { queued, depth: depth + 1, beyond };
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
    const said = `${url} ${problemWords[error.problem]}`;
    throw new CrawlFailed(error.problem === 'address' ? `website_not_public: ${said}` : said, { cause: error });
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
