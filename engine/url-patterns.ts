// Conditions on the address of a page, for campaigns and goals. The only importer of re2js: patterns are the customer's, addresses
// the whole world's, so they run on an engine whose time is linear in both, and a bound on a pattern's size bounds the factor.

import { RE2JS } from 're2js';
import type { UrlMatch } from '../store/campaigns.ts';
import { refuse, refuseField } from './errors.ts';

/** Instructions of a compiled pattern. The longest address (2048 characters) takes such a one 10 ms at the worst, a common one 50 µs. */
const maxPatternSize = 200;
/** All patterns that one page view is held against: 50 ms at the worst. */
const maxTotalSize = 1000;
/** What is active of one kind. The plain operators take 0.1 µs each. */
const maxActive = 100;

export interface UrlPattern {
  /** What it may cost: instructions of a pattern, 0 for what is no pattern. */
  readonly size: number;
  matches(url: string): boolean;
}

const everything: UrlPattern = { size: 0, matches: () => true };

/** Of a condition that requireUrlMatch() let pass. None: every page. Upper and lower case differ. */
export function urlPattern(match: UrlMatch | undefined): UrlPattern {
  if (match === undefined) return everything;
  const { operator, value } = match;
  switch (operator) {
    case 'contains':
      return { size: 0, matches: (url) => url.includes(value) };
    case 'equals':
      return { size: 0, matches: (url) => url === value };
    case 'starts-with':
      return { size: 0, matches: (url) => url.startsWith(value) };
    case 'ends-with':
      return { size: 0, matches: (url) => url.endsWith(value) };
    case 'regex': {
      const pattern = RE2JS.compile(value);
      return { size: pattern.programSize(), matches: (url) => pattern.test(url) };
    }
  }
}

/** Refuses invalid_body for a regex that is none, by RE2's syntax, or that would be too large. */
export function requireUrlMatch(match: UrlMatch | undefined, path: string): void {
  if (match === undefined) return;
  if (sizeOf(match, path) > maxPatternSize) refuseField('invalid_body', `${path}.value`, 'is too large once its repetitions are written out');
}

/** Refuses semantic_error when what is active already and one more would be too much for a page view. */
export function requireRoom(active: readonly UrlPattern[], added: UrlPattern, what: string): void {
  if (active.length >= maxActive) refuse('semantic_error', { message: `At most ${maxActive} ${what} may be active at a time.` });
  if (active.reduce((sum, { size }) => sum + size, added.size) > maxTotalSize) refuse('semantic_error', { message: `The regular expressions of the active ${what} are too large together.` });
}

function sizeOf(match: UrlMatch, path: string): number {
  try {
    return urlPattern(match).size;
  } catch (error) {
    return refuseField('invalid_body', `${path}.value`, `must be a regular expression (RE2 syntax): ${error instanceof Error ? error.message : String(error)}`);
  }
}
