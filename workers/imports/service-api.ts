// Asks the API of another service: JSON over HTTP, bounded in time and size, only at public addresses (the fetcher sees
// to it). Failures say whether to wait, to try again, or to ask a person. What it answers is untrusted: read it with the
// functions below, which never throw.

import { type Fetcher, FetchFailed, type FetchProblem } from '../providers/fetcher.ts';
import { SourceFailed } from './foreign.ts';

export interface ServiceApi {
  /** What follows belongs to another page or conversation, with bounds of its own. */
  begin(): void;
  /** `path` below the service's address, or a whole address that it named there. */
  get(path: string, query?: Readonly<Record<string, string>>): Promise<unknown>;
}

const timeoutMs = 30_000;
/** Of a page. Those of a hundred mails have less than one. */
const maxAnswerBytes = 4 * 1024 * 1024;
/** For one page of the list, or one conversation: 2000 messages in pages of 25, and who wrote them. */
const maxRequests = 100;
const maxBytes = 16 * 1024 * 1024;
/** Of a list in an answer: pages have a hundred at most, and agents some hundreds. */
const maxListed = 5000;
const maxTextChars = 10_000;
/** Of a message, before it is shown: far more than is kept of it. */
const maxBodyChars = 500_000;
const defaultWaitMs = 60_000;
const longestWaitMs = 60 * 60_000;
/** The problems that may pass. */
const passing: ReadonlySet<FetchProblem> = new Set(['time', 'network']);

export function createServiceApi(options: {
  fetcher: Fetcher;
  name: string;
  url: string;
  headers: Readonly<Record<string, string>>;
}): ServiceApi {
  const { name, headers } = options;
  const base = options.url.replace(/\/+$/, '');
  let [requests, bytes] = [0, 0];
  return {
    begin() {
      [requests, bytes] = [0, 0];
    },
    async get(path, query = {}) {
      const url = new URL(path.startsWith('/') ? `${base}${path}` : path);
      // The token is for this service alone.
      if (url.origin !== new URL(base).origin)
        throw new SourceFailed('final', `${name} named an address of another host: ${url.host}`);
      for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
      requests += 1;
      if (requests > maxRequests) throw new SourceFailed('this', `it takes more than ${maxRequests} requests`);
      const answer = await ask(options.fetcher, { name, url: url.href, headers });
      bytes += answer.bytes;
      if (bytes > maxBytes) throw new SourceFailed('this', `it has more than ${maxBytes / 1024 / 1024} MiB`);
      return answer.value;
    },
  };
}

/** A form is posted for a token. */
export async function ask(
  fetcher: Fetcher,
  {
    name,
    url,
    headers,
    form,
  }: { name: string; url: string; headers: Readonly<Record<string, string>>; form?: URLSearchParams },
): Promise<{ value: unknown; bytes: number }> {
  const answer = await fetcher
    .fetch({
      url,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form === undefined ? {} : { method: 'POST' as const, body: form.toString() }),
      maxBytes: maxAnswerBytes,
      timeoutMs,
      maxRedirects: 0,
    })
    .catch((cause: unknown): never => {
      if (cause instanceof FetchFailed && cause.problem === 'size')
        throw new SourceFailed('this', `an answer has more than ${maxAnswerBytes / 1024 / 1024} MiB`, { cause });
      const isPassing = cause instanceof FetchFailed && passing.has(cause.problem);
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new SourceFailed(isPassing ? 'passing' : 'final', `${name} could not be asked: ${reason}`, { cause });
    });
  const { status } = answer;
  if (status === 429)
    throw new SourceFailed('wait', `${name} asks to wait.`, { retryAfterMs: waitOf(answer.headers['retry-after']) });
  if (status >= 500 || status === 408) throw new SourceFailed('passing', `${name} answered ${status}.`);
  if (status === 401 || status === 403)
    throw new SourceFailed('final', `${name} refused the access (${status}). Check the token and what it may read.`);
  if (status === 404) throw new SourceFailed('this', `${name} has nothing at ${new URL(url).pathname} (404).`);
  if (status !== 200) throw new SourceFailed('final', `${name} answered ${status}.`);
  try {
    return { value: JSON.parse(Buffer.from(answer.body).toString('utf8')), bytes: answer.body.length };
  } catch (cause) {
    throw new SourceFailed('this', `${name} answered something other than JSON.`, { cause });
  }
}

/** Seconds or a date (RFC 9110 §10.2.3). */
function waitOf(value: string | undefined): number {
  const seconds = Number(value);
  const ms =
    value === undefined ? defaultWaitMs : Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? defaultWaitMs : Math.min(longestWaitMs, Math.max(1000, ms));
}

export type Json = Readonly<Record<string, unknown>>;

export function objectIn(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function listIn(value: unknown): Json[] {
  return Array.isArray(value) ? value.slice(0, maxListed).map(objectIn) : [];
}

/** Also of a number; null for an empty text. A longer one is cut. */
export function textIn(value: unknown, maxChars = maxTextChars): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value.trim() === '') return null;
  return value.length > maxChars ? value.slice(0, maxChars).toWellFormed() : value;
}

/** What someone wrote. */
export function bodyIn(value: unknown): string | null {
  return textIn(value, maxBodyChars);
}

/** `known` are its words there, by ours. */
export function statusIn<Status extends string>(
  value: unknown,
  known: Readonly<Record<string, Status>>,
): Status | 'open' {
  const status = textIn(value) ?? '';
  return (Object.hasOwn(known, status) ? known[status] : undefined) ?? 'open';
}

export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, maxListed).flatMap((one) => textIn(one) ?? []) : [];
}

export function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Of seconds since 1970, or a text; what is no time is left for the import to refuse. */
export function timeIn(value: unknown): string {
  if (typeof value === 'number' && Math.abs(value) < 1e11) return new Date(value * 1000).toISOString();
  return textIn(value) ?? '';
}

/** Numbers in E.164 only. */
export function phoneIn(value: unknown): string | null {
  const digits = (textIn(value) ?? '').replace(/[\s().-]/g, '');
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : null;
}
