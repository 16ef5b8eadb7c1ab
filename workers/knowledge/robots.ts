// A site's robots.txt (RFC 9309). The file is untrusted: it is parsed in one pass that keeps only rules for us, and
// each query takes bounded time.

import { type Fetcher, FetchFailed } from '../providers/fetcher.ts';

export interface Robots {
  allows(url: URL): boolean;
  /** The pause that the site asks for between two requests. */
  readonly delayMs: number | undefined;
  /** Addresses of its sitemaps, as written. */
  readonly sitemaps: readonly string[];
}

/** §2.5: at least 500 KiB are read. */
const maxBytes = 512 * 1024;
const timeoutMs = 10_000;
/** §2.3.1.2: at least five. */
const maxRedirects = 5;
/**
 * For one robot: large shops have some hundreds. The worst case takes 15 ms per link, a real file some microseconds.
 */
const maxRules = 1000;
const maxRulesChars = 32 * 1024;
const maxSitemaps = 10;
const everything: Robots = { allows: () => true, delayMs: undefined, sitemaps: [] };
const nothing: Robots = { allows: () => false, delayMs: undefined, sitemaps: [] };

/** A missing file allows everything, an unreadable one nothing (§2.3.1.3, §2.3.1.4). `agent` is our name in it. */
export async function readRobots(
  fetcher: Fetcher,
  at: { origin: string; agent: string; signal: AbortSignal },
): Promise<Robots> {
  try {
    const { status, body } = await fetcher.fetch({
      url: `${at.origin}/robots.txt`,
      maxBytes,
      timeoutMs,
      maxRedirects,
      signal: at.signal,
    });
    if (status >= 500) return nothing;
    if (status >= 400) return everything;
    return robotsOf(Buffer.from(body).toString('utf8'), at.agent);
  } catch (error) {
    if (error instanceof FetchFailed && !at.signal.aborted) return nothing;
    throw error;
  }
}

interface Rule {
  readonly allow: boolean;
  readonly pattern: string;
}

/** The rules for one robot. */
interface Group {
  readonly rules: Rule[];
  /** Total length of its patterns. */
  chars: number;
  delayMs: number | undefined;
}

/** The rules for `agent`, or else for all robots. Too many rules allow nothing, like an unreadable file. */
export function robotsOf(text: string, agent: string): Robots {
  const own = groupFor(text, (token) => token === agent.toLowerCase()) ?? groupFor(text, (token) => token === '*');
  const sitemaps = [...text.matchAll(/^[ \t]*sitemap[ \t]*:[ \t]*(\S{1,2000})/gim)]
    .slice(0, maxSitemaps)
    .flatMap(([, address = '']) => address);
  if (own === undefined) return { ...everything, sitemaps };
  if (isTooLong(own)) return nothing;
  // The longest match wins; among equals, the one that allows (§2.2.2).
  const rules = own.rules
    .sort((a, b) => b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow))
    .map(({ allow, pattern }) => ({ allow, fits: matcherOf(pattern) }));
  return {
    // Compares only the path: a link may use the other scheme of the same host.
    allows(url) {
      const path = normalized(`${url.pathname}${url.search}`);
      return rules.find(({ fits }) => fits(path))?.allow ?? true;
    },
    delayMs: own.delayMs,
    sitemaps,
  };
}

/** All groups for matching names, merged (§2.2.1). Undefined if there is none. */
function groupFor(text: string, isMeant: (token: string) => boolean): Group | undefined {
  let group: Group | undefined;
  let [isOurs, isNaming] = [false, false];
  for (const line of text.split(/[\r\n]+/)) {
    const [, name = '', value = ''] = /^\s*([\w-]+)\s*:([^#]*)/.exec(line) ?? [];
    const field = name.toLowerCase();
    if (field === 'user-agent') {
      isOurs = (isNaming && isOurs) || isMeant(tokenOf(value.trim()));
      isNaming = true;
      if (isOurs) group ??= { rules: [], chars: 0, delayMs: undefined };
    } else if (field === 'allow' || field === 'disallow' || field === 'crawl-delay') {
      isNaming = false;
      if (isOurs && group !== undefined) add(group, field, value.trim());
    }
  }
  return group;
}

function add(group: Group, field: 'allow' | 'disallow' | 'crawl-delay', value: string): void {
  if (field === 'crawl-delay') {
    const seconds = value === '' ? Number.NaN : Number(value);
    if (seconds >= 0) group.delayMs = seconds * 1000;
  } else if (/^[/*]/.test(value) && !isTooLong(group)) {
    group.chars += value.length;
    group.rules.push({ allow: field === 'allow', pattern: normalized(value) });
  }
}

function isTooLong({ rules, chars }: Group): boolean {
  return rules.length > maxRules || chars > maxRulesChars;
}

/** Without the version and other suffixes. */
function tokenOf(name: string): string {
  return /^(?:\*|[\w-]+)/.exec(name)?.[0].toLowerCase() ?? '';
}

/**
 * `*` matches anything, a final `$` the end. Taking the first match of each part between two stars is always right, so
 * there is no backtracking.
 */
function matcherOf(pattern: string): (path: string) => boolean {
  const endsThere = pattern.endsWith('$');
  const [first = '', ...others] = (endsThere ? pattern.slice(0, -1) : pattern).split('*');
  const last = endsThere ? others.pop() : undefined;
  const parts = others.filter((part) => part !== '');
  return (path) => {
    if (!path.startsWith(first)) return false;
    if (endsThere && last === undefined) return path.length === first.length;
    let end = first.length;
    for (const part of parts) {
      const start = path.indexOf(part, end);
      if (start === -1) return false;
      end = start + part.length;
    }
    return last === undefined || (path.endsWith(last) && path.length - last.length >= end);
  };
}

/**
 * One form for patterns and addresses: unreserved characters plain, delimiters as written, everything else escaped in
 * upper case (RFC 3986 section 6.2.2, RFC 9309 section 2.2.2).
 */
function normalized(text: string): string {
  return text
    .replace(/[^!#$%&()*+,/:;=?@\w.~-]/gu, (sign) => (sign === "'" ? '%27' : encodeURIComponent(sign)))
    .replace(/%[0-9a-f]{2}/gi, (escaped) => {
      const sign = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
      return /[\w.~-]/.test(sign) ? sign : escaped.toUpperCase();
    });
}
