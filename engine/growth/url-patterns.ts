// Conditions on the address of a page, for campaigns and goals. An address is compared as people read and write it
// (page-address.ts). The only importer of re2js: patterns are the customer's, addresses the whole world's, so they run
// on an engine whose time is linear in both, and a bound on a pattern's size bounds the factor.

import { RE2JS } from 're2js';
import type { UrlMatch } from '../../store/growth/campaigns.ts';
import { refuse, refuseField } from '../errors.ts';
import { namesOf, plainAddress, readableAddress } from './page-address.ts';
import { costOf } from './pattern-cost.ts';

/**
 * Instructions of a compiled pattern. The longest address (2048 characters) takes such a one 10 ms at the worst, twice
 * that when it has encoded letters, a common one 50 µs.
 */
const maxPatternSize = 200;
/**
 * What is not even compiled: no pattern of maxPatternSize is written longer. With these bounds compiling takes 10 ms at
 * the worst, a common pattern 0.1 ms.
 */
const maxWrittenSize = 700;
/** The Han characters are 20,902. */
const maxRanged = 25_000;
const maxNamed = 20;
/**
 * All patterns that one page view is held against: 50 ms at the worst, twice that for an address with encoded letters.
 */
const maxTotalSize = 1000;
/** What is active of one kind. The plain operators take 0.1 µs each. */
const maxActive = 100;

export interface UrlPattern {
  /** What it may cost: instructions of a pattern, 0 for what is no pattern. */
  readonly size: number;
  matches(url: string): boolean;
}

const everything: UrlPattern = { size: 0, matches: () => true };

/**
 * Of a condition that requireUrlMatch() let pass. None: every page. Upper and lower case differ, except in the host.
 * Where an end matters, what a
 * campaign's link or a browser adds to an address does not: tracking parameters, a fragment, a slash at the end of the
 * path; unless the
 * condition has them itself.
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

/** As the browser has it, and as people read it. */
function formsOf(url: string): string[] {
  const readable = readableAddress(url);
  return readable === url ? [url] : [url, readable];
}

/** Refuses invalid_body for a regex that is none, by RE2's syntax, or that would be too large. */
export function requireUrlMatch(match: UrlMatch | undefined, path: string): void {
  if (match === undefined) return;
  if (match.operator === 'regex') {
    const { size, ranged, named } = costOf(match.value);
    if (size > maxWrittenSize)
      refuseField('invalid_body', `${path}.value`, 'is too large once its repetitions are written out');
    if (ranged > maxRanged || named > maxNamed)
      refuseField('invalid_body', `${path}.value`, 'names too many letters in its classes');
  }
  if (sizeOf(match, path) > maxPatternSize)
    refuseField('invalid_body', `${path}.value`, 'is too large once its repetitions are written out');
}

/** Refuses semantic_error when what is active already and one more would be too much for a page view. */
export function requireRoom(active: readonly UrlPattern[], added: UrlPattern, what: string): void {
  if (active.length >= maxActive)
    refuse('semantic_error', { message: `At most ${maxActive} ${what} may be active at a time.` });
  if (active.reduce((sum, { size }) => sum + size, added.size) > maxTotalSize)
    refuse('semantic_error', { message: `The regular expressions of the active ${what} are too large together.` });
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
