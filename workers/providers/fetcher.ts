// HTTP requests to addresses that users chose: pages to crawl, images to import, webhooks. A host is resolved when a
// connection is made, every address is checked, and the connection goes to exactly those addresses, so that no redirect
// and no second DNS answer can lead into our own network. Everything is bounded: hops, bytes after decompression, time.

import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';
import { hostOf, isPublicAddress, placeOf, type ResolveHost } from './host-resolver.ts';

export interface FetchRequest {
  readonly url: string;
  /** GET by default. Only a GET follows redirects. */
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /**
   * Media types to read from a successful response, without parameters; `image/` accepts every image. Any by default.
   */
  readonly contentTypes?: readonly string[];
  /** Of the body, decompressed. */
  readonly maxBytes: number;
  /** In total, from DNS to the last byte. */
  readonly timeoutMs: number;
  /** 0: a redirect is the result. */
  readonly maxRedirects: number;
  /** Called with each redirect's target; false ends the request as `elsewhere`. */
  readonly mayFollow?: (target: URL) => boolean;
  readonly signal?: AbortSignal;
  /** Called with each part of a successful body as it arrives, decompressed. True: it is not kept for the result. */
  readonly onPart?: (part: Uint8Array, contentType: string) => boolean;
}

export interface Fetched {
  /** After redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Lower case, without parameters; empty if the server sent none. */
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface Traced {
  /** After redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The start of an uncompressed body, as far as it came quickly. */
  readonly beginning: Uint8Array;
}

export interface Fetcher {
  /** Resolves for any status. Rejects with FetchFailed. */
  fetch(request: FetchRequest): Promise<Fetched>;
  /** Follows redirects and reads only the start of the body, by default none. Rejects with FetchFailed. */
  trace(
    request: Omit<FetchRequest, 'contentTypes' | 'maxBytes'> & { readonly beginningBytes?: number },
  ): Promise<Traced>;
  close(): Promise<void>;
}

/** `address`: it is, or leads to, a non-public address. `elsewhere`: mayFollow() refused a redirect. */
export type FetchProblem =
  | 'url'
  | 'address'
  | 'elsewhere'
  | 'redirects'
  | 'type'
  | 'size'
  | 'encoding'
  | 'time'
  | 'network';

export class FetchFailed extends Error {
  override readonly name = 'FetchFailed';
  readonly problem: FetchProblem;

  constructor(problem: FetchProblem, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.problem = problem;
  }
}

export interface FetcherOptions {
  readonly resolveHost: ResolveHost;
  /** Allows private addresses, for tests and for operators within their own network. */
  readonly allowPrivate: boolean;
  /** Which addresses are public. */
  readonly isPublic?: typeof isPublicAddress;
  readonly userAgent: string;
  /** Longest silence of a server, before its response and between two parts of it; 10 s by default. */
  readonly silenceTimeoutMs?: number;
  /** Concurrent connections per server; 4 by default. */
  readonly connectionsPerOrigin?: number;
}

const connectTimeoutMs = 5000;
/** The request's own limit ends a slow trickle. */
const defaultSilenceTimeoutMs = 10_000;
const keepAliveMs = 4000;
/** With one request at a time on each. */
const defaultConnectionsPerOrigin = 4;
/** Of all header lines together. */
const maxHeaderBytes = 32 * 1024;
/** For the start of a body that is not essential. */
const beginningTimeoutMs = 2000;
/** Of a redirect's body, read so that its connection can be reused. */
const maxDiscardedBytes = 16 * 1024;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

export function createFetcher(options: FetcherOptions): Fetcher {
  return new CheckedFetcher(options);
}

type Followed = Omit<FetchRequest, 'contentTypes' | 'maxBytes'>;

class CheckedFetcher implements Fetcher {
  readonly #options: FetcherOptions;
  #loading: ReturnType<typeof loadAgent> | undefined;

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  fetch(wanted: FetchRequest): Promise<Fetched> {
    return within(wanted, async (signal) => {
      const { url, response } = await this.#follow(wanted, signal);
      const contentType = (headerOf(response, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
      try {
        if (response.statusCode < 300 && !isWanted(contentType, wanted.contentTypes))
          throw new FetchFailed('type', `it is ${contentType || 'of no declared type'}`);
        return {
          url: url.href,
          status: response.statusCode,
          headers: headersOf(response),
          contentType,
          body: await readBody(response, {
            maxBytes: wanted.maxBytes,
            isTaken: (part) => response.statusCode < 300 && wanted.onPart?.(part, contentType) === true,
          }),
        };
      } finally {
        discard(response.body);
      }
    });
  }

  trace(wanted: Followed & { readonly beginningBytes?: number }): Promise<Traced> {
    return within(wanted, async (signal) => {
      const { url, response } = await this.#follow(wanted, signal);
      const beginning = await beginningOf(response, wanted.beginningBytes ?? 0);
      return { url: url.href, status: response.statusCode, headers: headersOf(response), beginning };
    });
  }

  async close(): Promise<void> {
    if (this.#loading !== undefined) await (await this.#loading).agent.destroy();
  }

  async #follow(wanted: Followed, signal: AbortSignal): Promise<{ url: URL; response: Dispatcher.ResponseData }> {
    const options = this.#options;
    const { agent, request } = await (this.#loading ??= loadAgent(options));
    const method = wanted.method ?? 'GET';
    let url = requireAddress(wanted.url, undefined, options);
    for (let hops = 0; ; hops += 1) {
      const response = await request(url, {
        dispatcher: agent,
        method,
        headers: { 'user-agent': options.userAgent, 'accept-encoding': 'gzip, deflate, br', ...wanted.headers },
        ...(wanted.body === undefined ? {} : { body: wanted.body }),
        signal,
      });
      const location = headerOf(response, 'location');
      if (
        method !== 'GET' ||
        wanted.maxRedirects === 0 ||
        location === undefined ||
        !redirectStatuses.has(response.statusCode)
      )
        return { url, response };
      await response.body.dump({ limit: maxDiscardedBytes });
      if (hops >= wanted.maxRedirects) throw new FetchFailed('redirects', `more than ${wanted.maxRedirects} redirects`);
      url = requireAddress(location, url, options);
      if (wanted.mayFollow?.(url) === false) throw new FetchFailed('elsewhere', `redirected to ${url.host}`);
    }
  }
}

async function loadAgent(options: FetcherOptions): Promise<{ agent: Agent; request: typeof import('undici').request }> {
  const { Agent, request } = await import('undici');
  const { silenceTimeoutMs = defaultSilenceTimeoutMs, connectionsPerOrigin = defaultConnectionsPerOrigin } = options;
  const agent = new Agent({
    connect: { lookup: checkedLookup(options), timeout: connectTimeoutMs },
    connections: connectionsPerOrigin,
    headersTimeout: silenceTimeoutMs,
    bodyTimeout: silenceTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: maxHeaderBytes,
  });
  return { agent, request };
}

/** Ends the work after the request's time. Rejects with FetchFailed. */
async function within<Result>(
  wanted: { timeoutMs: number; signal?: AbortSignal },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limit = AbortSignal.timeout(wanted.timeoutMs);
  try {
    return await work(wanted.signal === undefined ? limit : AbortSignal.any([limit, wanted.signal]));
  } catch (error) {
    if (limit.aborted) throw new FetchFailed('time', `no answer within ${wanted.timeoutMs} ms`, { cause: error });
    throw error instanceof FetchFailed
      ? error
      : new FetchFailed('network', `no answer: ${reasonOf(error)}`, { cause: error });
  }
}

function isWanted(contentType: string, wanted: FetchRequest['contentTypes']): boolean {
  if (wanted === undefined) return true;
  return wanted.some((type) => (type.endsWith('/') ? contentType.startsWith(type) : contentType === type));
}

/** Resolves once per connection and returns addresses only if all of the host's are allowed. */
function checkedLookup({ resolveHost, allowPrivate, isPublic = isPublicAddress }: FetcherOptions): LookupFunction {
  return (host, { all }, answer) => {
    const check = async (): Promise<{ address: string; family: number }[]> => {
      const addresses = await resolveHost(host);
      if (addresses.length === 0) throw new FetchFailed('network', `${host} has no address`);
      if (!allowPrivate && !addresses.every((address) => isPublic(address)))
        throw new FetchFailed('address', `${host} is not a public host`);
      return addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    };
    check().then(
      (found) => {
        const [first] = found;
        if (all === true) answer(null, found);
        else answer(null, first?.address ?? '', first?.family);
      },
      (error: NodeJS.ErrnoException) => answer(error, '', 0),
    );
  };
}

/** Checks an address as far as possible before its host is resolved. */
function requireAddress(text: string, from: URL | undefined, { allowPrivate, isPublic }: FetcherOptions): URL {
  const url = URL.parse(text, from?.href);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new FetchFailed('url', `${text.slice(0, 200)} is not a web address`);
  if (!allowPrivate && placeOf(url, isPublic) === 'private')
    throw new FetchFailed('address', `${url.hostname} is not a public host`);
  url.hostname = url.hostname.startsWith('[') ? url.hostname : hostOf(url);
  url.username = '';
  url.password = '';
  url.hash = '';
  return url;
}

/** No server encodes more than once, and each decoder has a cost. */
const maxCodings = 2;

/** Decompresses the body as it arrives, so that a small response that expands to a large one fails at the limit. */
async function readBody(
  response: Dispatcher.ResponseData,
  { maxBytes, isTaken }: { maxBytes: number; isTaken: (part: Uint8Array) => boolean },
): Promise<Uint8Array> {
  const codings = (headerOf(response, 'content-encoding') ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const tooLarge = (): FetchFailed => new FetchFailed('size', `it has more than ${maxBytes} bytes`);
  if (codings.length > maxCodings) throw new FetchFailed('encoding', `it is encoded ${codings.length} times`);
  if (codings.length === 0 && Number(headerOf(response, 'content-length') ?? 0) > maxBytes) throw tooLarge();
  let source: Readable = response.body;
  // An error in a stage ends the last one, whose error the loop below throws.
  for (const coding of codings.toReversed()) source = pipeline(source, decoderOf(coding), () => undefined);
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of source) {
    // A byte stream without an encoding yields buffers.
    const bytes = part as Buffer;
    length += bytes.length;
    if (length > maxBytes) throw tooLarge();
    if (!isTaken(bytes)) parts.push(bytes);
  }
  return Buffer.concat(parts);
}

/** The status is the result whatever happens to the body, so the wait is short and its failure is ignored. */
async function beginningOf(response: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  const { body } = response;
  const parts: Buffer[] = [];
  let length = 0;
  const isPlain = ['', 'identity'].includes((headerOf(response, 'content-encoding') ?? '').trim().toLowerCase());
  const timer = setTimeout(() => discard(body), beginningTimeoutMs);
  try {
    for await (const part of maxBytes > 0 && isPlain ? body : []) {
      // A byte stream without an encoding yields buffers.
      parts.push(part as Buffer);
      length += (part as Buffer).length;
      if (length >= maxBytes) break;
    }
  } catch {
    // Keep what has arrived.
  }
  clearTimeout(timer);
  discard(body);
  return Buffer.concat(parts).subarray(0, maxBytes);
}

function decoderOf(coding: string) {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new FetchFailed('encoding', `it is encoded as ${coding.slice(0, 50)}`);
  }
}

/** Ends the rest of a body and closes its connection. */
function discard(body: Readable): void {
  if (body.readableEnded) return;
  // Our own abort causes the error.
  body.on('error', () => undefined).destroy();
}

function headerOf(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function headersOf(response: Dispatcher.ResponseData): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  return headers;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
}
