// The parts of a text that match a search, by the service's rules: words without case and diacritics; the last one also
// as a prefix; one wrong letter in words of five letters or more; pairs of characters in scripts without spaces. It
// only marks what was found, so a difference to the service merely leaves a word unmarked.

import { folded } from '../folding.ts';

export interface Part {
  readonly text: string;
  readonly isHit: boolean;
}

const wordPattern = /[\p{L}\p{N}\p{M}]+/gu;
const pairedScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const typoLetters = 5;
const prefixLetters = 2;

/** Splits the text at the matches, in order; the parts joined are the text. */
export function partsOf(text: string, query: string): Part[] {
  const sought = (query.match(wordPattern) ?? []).map(folded);
  if (sought.length === 0) return text === '' ? [] : [{ text, isHit: false }];
  const parts: Part[] = [];
  let at = 0;
  for (const match of text.matchAll(wordPattern)) {
    for (const { from, to } of hitsIn(match[0], sought)) {
      const start = match.index + from;
      if (start > at) parts.push({ text: text.slice(at, start), isHit: false });
      parts.push({ text: text.slice(start, match.index + to), isHit: true });
      at = match.index + to;
    }
  }
  if (at < text.length) parts.push({ text: text.slice(at), isHit: false });
  return parts;
}

function hitsIn(word: string, sought: readonly string[]): { from: number; to: number }[] {
  const text = folded(word);
  if (pairedScripts.test(word)) {
    const places = sought.filter((one) => pairedScripts.test(one)).flatMap((one) => placesOf(text, one));
    // Characters that fold into a different number of characters, such as half-width ones, lose their positions.
    if (text.length !== word.length) return places.length === 0 ? [] : [{ from: 0, to: word.length }];
    return places.sort((a, b) => a.from - b.from).filter(isFree());
  }
  return sought.some((one, index) => meets(text, one, index === sought.length - 1))
    ? [{ from: 0, to: word.length }]
    : [];
}

/** Keeps the places that begin after the previous one ended. */
function isFree(): (place: { from: number; to: number }) => boolean {
  let end = 0;
  return ({ from, to }) => {
    if (from < end) return false;
    end = to;
    return true;
  };
}

function placesOf(word: string, sought: string): { from: number; to: number }[] {
  const places = [];
  for (let from = word.indexOf(sought); from >= 0; from = word.indexOf(sought, from + sought.length))
    places.push({ from, to: from + sought.length });
  return places;
}

function meets(word: string, sought: string, isLast: boolean): boolean {
  if (word === sought) return true;
  if (isLast && sought.length >= prefixLetters && word.startsWith(sought)) return true;
  return sought.length >= typoLetters && isOneOff(word, sought);
}

/** One letter wrong, missing, added or swapped with its neighbour. */
export function isOneOff(word: string, other: string): boolean {
  if (Math.abs(word.length - other.length) > 1) return false;
  let same = 0;
  while (same < word.length && word[same] === other[same]) same += 1;
  const [a, b] = [word.slice(same), other.slice(same)];
  if (a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1)) return true;
  return a.length > 1 && a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
}
