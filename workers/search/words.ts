// Splits text into words and compares query words with them, in pure functions. Case and diacritics are ignored.
// Scripts without spaces between words are cut into pairs of characters.

import { folded, isUnspaced, pairsOf, stretchesOf } from '../../store/folding.ts';

/** Match levels, higher is better: `named` is a ticket's number. Summed over the words of a query. */
export const levels = { named: 4, exact: 3, beginning: 2, misspelt: 1, none: 0 } as const;
export type Level = (typeof levels)[keyof typeof levels];

export interface QueryWord {
  readonly text: string;
  /** Also matches every word that begins with it. */
  readonly isPrefix: boolean;
}

/** Of a longer run, such as a key or an encoded file, only this much counts. */
const maxWordChars = 64;
/** One typo is allowed if the longer of the two words has this many letters. */
const minMisspeltLetters = 5;
/** A longer run of letters is hardly a word, and each letter costs a row of the dictionary. */
const maxMisspeltLetters = 32;
const minPrefixChars = 2;
/** Prefixes of these lengths are listed like words; longer ones have few enough words to scan. */
const listedPrefixChars = [2, 3];
/** No word contains it, so a listed prefix is never taken for a word. */
const prefixMark = '*';

/** Includes invisible characters that may be inside a word. */
const wordRun = /[\p{L}\p{N}][\p{L}\p{N}\p{M}\u00ad\u200c\u200d\u2060]*/gu;
const plain = /^[A-Za-z0-9]+$/;
const onlyLetters = /^[\p{L}\p{M}]+$/u;
/** The longest ticket numbers. */
const ticketNumber = /^\d{1,9}$/;

/** Calls with every word of a text as indexed, and its approximate position. */
export function eachWord(text: string, call: (word: string, at: number) => void): void {
  eachPart(text, (part, at, isUnspaced) => {
    if (!isUnspaced) {
      call(part, at);
      return;
    }
    pairsOf(part).forEach((pair, index) => call(pair, at + index));
  });
}

/** The words of a query, without duplicates. All must match. */
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
    // A single character matches wherever it occurs: every pair that begins with it, or the end of a text.
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

/** True if one letter was omitted, added, replaced, or swapped with its neighbour. */
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

/** Only words of letters can be misspelt; numbers are right or wrong. */
export function canBeMisspelt(word: string): boolean {
  return word.length >= minMisspeltLetters - 1 && word.length <= maxMisspeltLetters && onlyLetters.test(word);
}

/** Hashes of a word and of it without each of its letters. Two words one typo apart share at least one. */
export function spellings(word: string): number[] {
  const hashes = [hashWithout(word, -1)];
  for (let index = 0; index < word.length; index += 1) hashes.push(hashWithout(word, index));
  return hashes;
}

/** The prefixes under which a word is listed besides itself. */
export function listedPrefixes(word: string): string[] {
  const lengths = isUnspaced(word) ? [String.fromCodePoint(word.codePointAt(0) ?? 0).length] : listedPrefixChars;
  return lengths.filter((length) => length < word.length).map((length) => word.slice(0, length) + prefixMark);
}

/** The key under which a prefix's longer words are listed; undefined if it is too long. */
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
      // Folding may change the length; the position is exact enough for an excerpt.
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
