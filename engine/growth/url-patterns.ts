// Conditions on page addresses, for campaigns and goals. Compares addresses in readable form (page-address.ts). The
// only importer of re2js: patterns come from customers and addresses from anyone, so they run on an engine that is
// linear in both, and a limit on a pattern's size bounds the factor.

import { RE2JS } from 're2js';
import type { UrlMatch } from '../../store/growth/campaigns.ts';
import { refuse, refuseField } from '../errors.ts';
import { namesOf, plainAddress, readableAddress } from './page-address.ts';
import { costOf } from './pattern-cost.ts';

/**
 * Instructions of a compiled pattern. Against the longest address (2048 characters) such a pattern takes at most 10 ms,
 * twice that with encoded letters; a typical one takes 50 µs.
 */
const maxPatternSize = 200;
/**
 * Larger patterns are not even compiled: no pattern within maxPatternSize is written longer. With these limits
 * compiling takes at most 10 ms, and 0.1 ms for a typical pattern.
 */
const maxWrittenSize = 700;
/** Enough for the 20,902 Han characters. */
const maxRanged = 25_000;
const maxNamed = 20;
/** Of all patterns compared with one page view: at most 50 ms, twice that for an address with encoded letters. */
const maxTotalSize = 1000;
/** Active conditions of one kind. The plain operators take 0.1 µs each. */
const maxActive = 100;

export interface UrlPattern {
  /** Its cost: instructions of a regex, 0 for other operators. */
  readonly size: number;
  matches(url: string): boolean;
}

const everything: UrlPattern = { size: 0, matches: () => true };

/**
 * Compiles a condition that requireUrlMatch() has accepted. None: every page. Case-sensitive, except for the host.
 * Where the end of an address matters, tracking parameters, the fragment and a trailing slash are ignored, unless the
 * condition itself has them.
 */
export function urlPattern(match: UrlMatch | undefined): UrlPattern {
  if (match === undefined) return everything;
  const { operator } = match;
  if (operator === 'regex') {
    const pattern = RE2JS.compile(match.value);
    return { size: pattern.programSize(), matches: (url) => formsOf(url).some((form) => pattern.test(form)) };
  }
  const value = readableAddress(match.value);
  const names = namesOf(value);
  const plainValue = plainAddress(value, names);
  switch (operator) {
    case 'contains':
      return { size: 0, matches: (url) => readableAddress(url).includes(value) };
    case 'starts-with':
      return { size: 0, matches: (url) => readableAddress(url).startsWith(value) };
    case 'equals':
      return { size: 0, matches: (url) => plainAddress(readableAddress(url), names) === plainValue };
    case 'ends-with':
      return {
        size: 0,
        matches: (url) =>
          [readableAddress(url), plainAddress(readableAddress(url), names)].some((form) => form.endsWith(value)),
      };
  }
}

/** As the browser sends it, and in readable form. */
function formsOf(url: string): string[] {
  const readable = readableAddress(url);
  return readable === url ? [url] : [url, readable];
}

/** Refuses invalid_body for an invalid regex, by RE2's syntax, or one that would be too large. */
export function requireUrlMatch(match: UrlMatch | undefined, path: string): void {
  if (match === undefined) return;
  if (match.operator === 'regex') {
    const { size, ranged, named } = costOf(match.value);
    if (size > maxWrittenSize)
      refuseField('invalid_body', `${path}.value`, 'is too large after its repetitions are expanded');
    if (ranged > maxRanged || named > maxNamed)
      refuseField('invalid_body', `${path}.value`, 'has too many characters in its classes');
  }
  if (sizeOf(match, path) > maxPatternSize)
    refuseField('invalid_body', `${path}.value`, 'is too large after its repetitions are expanded');
}

/** Refuses semantic_error if one more active condition would cost a page view too much. */
export function requireRoom(active: readonly UrlPattern[], added: UrlPattern, what: string): void {
  if (active.length >= maxActive)
    refuse('semantic_error', { message: `At most ${maxActive} ${what} may be active at a time.` });
  if (active.reduce((sum, { size }) => sum + size, added.size) > maxTotalSize)
    refuse('semantic_error', { message: `The regular expressions of the active ${what} are too large in total.` });
}

function sizeOf(match: UrlMatch, path: string): number {
  try {
    return urlPattern(match).size;
  } catch (error) {
    return refuseField(
      'invalid_body',
      `${path}.value`,
      `must be a regular expression (RE2 syntax): ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
