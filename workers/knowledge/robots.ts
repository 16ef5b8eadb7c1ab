// What a site lets robots do (RFC 9309). The file is a stranger's: one pass over it keeps what is said to us alone, and
// each question takes a time that has a bound, however it is written.

import { type Fetcher, FetchFailed } from '../providers/fetcher.ts';

export interface Robots {
  allows(url: URL): boolean;
  /** The pause that the site asks for between two requests. */
  readonly delayMs: number | undefined;
}

/** §2.5: at least 500 KiB are read. */
const maxBytes = 512 * 1024;
const timeoutMs = 10_000;
/** §2.3.1.2: at least five. */
const maxRedirects = 5;
/**
 * For one robot: large shops have some hundreds. The worst that fits in here takes 15 ms of every link, what people
 * write some microseconds.
 */
const maxRules = 1000;
const maxRulesChars = 32 * 1024;
const everything: Robots = { allows: () => true, delayMs: undefined };
const nothing: Robots = { allows: () => false, delayMs: undefined };

/**
 * A file that is not there allows everything, one that cannot be read nothing (§2.3.1.3, §2.3.1.4). `agent` is our name
 * in it.
 */
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

/** What is said to one robot. */
interface Group {
  readonly rules: Rule[];
  /** Of the patterns together. */
  chars: number;
  delayMs: number | undefined;
}

/**
 * What a file says to `agent`, else to everybody. One that says more than anybody would read allows nothing, as one
 * that cannot be read.
 */
export function robotsOf(text: string, agent: string): Robots {
  const own = groupFor(text, (token) => token === agent.toLowerCase()) ?? groupFor(text, (token) => token === '*');
  if (own === undefined) return everything;
  if (isTooLong(own)) return nothing;
  // The longest that fits counts; of two as long, the one that allows (§2.2.2).
  const rules = own.rules
    .sort((a, b) => b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow))
    .map(({ allow, pattern }) => ({ allow, fits: matcherOf(pattern) }));
  return {
    // Asked by path alone: a link may name the other scheme of the same host.
    allows(url) {
      const path = withUpperEscapes(`${url.pathname}${url.search}`);
      return rules.find(({ fits }) => fits(path))?.allow ?? true;
    },
    delayMs: own.delayMs,
  };
}

/** All that is said to robots with such a name, of however many groups (§2.2.1). Undefined when none is meant. */
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
    group.rules.push({ allow: field === 'allow', pattern: withUpperEscapes(encodeURI(value).replaceAll('%25', '%')) });
  }
}

function isTooLong({ rules, chars }: Group): boolean {
  return rules.length > maxRules || chars > maxRulesChars;
}

/** Without the version and whatever else stands behind the name. */
function tokenOf(name: string): string {
  return /^(?:\*|[\w-]+)/.exec(name)?.[0].toLowerCase() ?? '';
}

/**
 * `*` is anything, `$` at the end the end. Of each part between two stars the first place is as good as any, so that
 * nothing is tried twice.
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

/** %2a and %2A are one (RFC 3986 §6.2.2.1). */
function withUpperEscapes(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (escape) => escape.toUpperCase());
}
