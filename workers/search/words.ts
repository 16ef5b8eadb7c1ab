// What a word is, and when a word that was asked for is the one that stands in a text: the whole meaning of a search,
// in pure functions. Case and diacritics do not count. Scripts that write no spaces between words are cut into pairs of
// characters.

import { folded, isUnspaced, pairsOf, stretchesOf } from '../../store/folding.ts';

/**
 * How well a word was met, the better the greater: `named` is the number of a ticket. Added up over the words of a
 * query.
 */
export const levels = { named: 4, exact: 3, beginning: 2, misspelt: 1, none: 0 } as const;
export type Level = (typeof levels)[keyof typeof levels];

export interface QueryWord {
  readonly text: string;
  /** Also meets every word that begins with it. */
  readonly isPrefix: boolean;
}

/** Of a longer run, such as a key or an encoded file, only so much counts. */
const maxWordChars = 64;
/** One typo is forgiven where the longer of the two words has so many letters. */
const minMisspeltLetters = 5;
/** Beyond it a run of letters is hardly a word, and each of them costs a row of the dictionary. */
const maxMisspeltLetters = 32;
const minPrefixChars = 2;
/** Beginnings of so many characters are listed like words; longer ones are few enough words to look through. */
const listedPrefixChars = [2, 3];
/** No word holds it, so that a listed beginning is never taken for a word. */
const prefixMark = '*';

/** With what may stand inside a word unseen. */
const wordRun = /[\p{L}\p{N}][\p{L}\p{N}\p{M}\u00ad\u200c\u200d\u2060]*/gu;
const plain = /^[A-Za-z0-9]+$/;
const onlyLetters = /^[\p{L}\p{M}]+$/u;
/** As large as numbers of tickets become. */
const ticketNumber = /^\d{1,9}$/;

/** Calls with every word of a text as the index holds it, and about where it stands. */
export function eachWord(text: string, call: (word: string, at: number) => void): void {
  eachPart(text, (part, at, isUnspaced) => {
    if (!isUnspaced) {
      call(part, at);
      return;
    }
    pairsOf(part).forEach((pair, index) => call(pair, at + index));
  });
}

/** The words of a query, each once. All of them must be met. */
export function queryWords(query: string): QueryWord[] {
  const words = new Map<string, QueryWord>();
  const add = (text: string, isPrefix: boolean): void =>
    void words.set(text, { text, isPrefix: isPrefix || words.get(text)?.isPrefix === true });
  let last: string | undefined;
  eachPart(query, (part, _at, isUnspaced) => {
    last = isUnspaced ? undefined : part;
    if (!isUnspaced) {
      add(part, false);
      return;
    }
    const chars = Array.from(part);
    // A character alone is met wherever it stands: every pair that begins with it, or the end of a text.
    if (chars.length === 1) add(part, true);
    for (let index = 0; index + 1 < chars.length; index += 1) add(`${chars[index]}${chars[index + 1]}`, false);
  });
  if (last !== undefined && last.length >= minPrefixChars) add(last, true);
  return [...words.values()];
}

/** The ticket that a word of a query may name. */
export function ticketNumberOf({ text }: QueryWord): number | undefined {
  return ticketNumber.test(text) ? Number(text) : undefined;
}

export function levelOf(asked: QueryWord, word: string): Level {
  if (word === asked.text) return levels.exact;
  if (asked.isPrefix && word.startsWith(asked.text)) return levels.beginning;
  return isMisspelt(asked.text, word) ? levels.misspelt : levels.none;
}

/** True when one letter was left out, added, replaced, or exchanged with its neighbour. */
export function isMisspelt(asked: string, word: string): boolean {
  const [short, long] = asked.length < word.length ? [asked, word] : [word, asked];
  if (long.length < minMisspeltLetters || long.length - short.length > 1 || asked === word) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  const isOneStep =
    short.length < long.length
      ? isSameFrom(short, at, long, at + 1)
      : isSameFrom(short, at + 1, long, at + 1) ||
        (short[at] === long[at + 1] && short[at + 1] === long[at] && isSameFrom(short, at + 2, long, at + 2));
  return isOneStep && canBeMisspelt(asked) && canBeMisspelt(word);
}

function isSameFrom(a: string, fromA: number, b: string, fromB: number): boolean {
  for (let index = 0; fromA + index < a.length; index += 1) if (a[fromA + index] !== b[fromB + index]) return false;
  return true;
}

/** Numbers are right or wrong; only words of letters are misspelt. */
export function canBeMisspelt(word: string): boolean {
  return word.length >= minMisspeltLetters - 1 && word.length <= maxMisspeltLetters && onlyLetters.test(word);
}

/** Hashes of a word and of it less each of its letters. Two words one typo apart share at least one. */
export function spellings(word: string): number[] {
  const hashes = [hashWithout(word, -1)];
  for (let index = 0; index < word.length; index += 1) hashes.push(hashWithout(word, index));
  return hashes;
}

/** The beginnings under which a word is listed beside itself: those shorter than it. */
export function listedPrefixes(word: string): string[] {
  const lengths = isUnspaced(word) ? [String.fromCodePoint(word.codePointAt(0) ?? 0).length] : listedPrefixChars;
  return lengths.filter((length) => length < word.length).map((length) => word.slice(0, length) + prefixMark);
}

/** How the longer words of a beginning are listed; undefined when it is too long to be. */
export function listedPrefix(prefix: string): string | undefined {
  return isUnspaced(prefix) || listedPrefixChars.includes(prefix.length) ? prefix + prefixMark : undefined;
}

function eachPart(text: string, call: (part: string, at: number, isUnspaced: boolean) => void): void {
  for (const { 0: run, index: at } of text.matchAll(wordRun)) {
    if (plain.test(run)) {
      call(run.slice(0, maxWordChars).toLowerCase(), at, false);
      continue;
    }
    const text = folded(run);
    for (const stretch of stretchesOf(text)) {
      // What was folded may have another length; its place is then near enough for an excerpt.
      const place = at + Math.floor((stretch.at * run.length) / text.length);
      call(stretch.isUnspaced ? stretch.text : stretch.text.slice(0, maxWordChars), place, stretch.isUnspaced);
    }
  }
}

/** FNV-1a over UTF-16 units, leaving out the one at `left`. */
function hashWithout(word: string, left: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < word.length; index += 1) {
    if (index === left) continue;
    hash = Math.imul(hash ^ word.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
