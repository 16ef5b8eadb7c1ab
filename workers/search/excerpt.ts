// The part of a message that shows why it was found.

import { eachWord, levelOf, levels, type QueryWord } from './words.ts';

/** Characters of an excerpt; a shorter message is shown whole. */
const excerptChars = 200;
/** Context before the first match. */
const leadChars = 40;
/** Enough to find where most words are close together. */
const maxHits = 100;

/** One line of at most excerptChars, cut with an ellipsis, around the place with the most matches. */
export function excerptOf(body: string, words: readonly QueryWord[]): string {
  if (body.length <= excerptChars) return oneLine(body);
  const start = startOf(body, words);
  const end = Math.min(body.length, start + excerptChars);
  const [from, to] = [wordBoundary(body, start), end === body.length ? end : wordBoundaryBefore(body, end)];
  return `${from > 0 ? '…' : ''}${oneLine(body.slice(from, to))}${to < body.length ? '…' : ''}`;
}

function startOf(body: string, words: readonly QueryWord[]): number {
  const hits: { at: number; word: number }[] = [];
  eachWord(body, (found, at) => {
    if (hits.length >= maxHits) return;
    const word = words.findIndex((asked) => levelOf(asked, found) !== levels.none);
    if (word >= 0) hits.push({ at, word });
  });
  let best = { at: 0, count: 0 };
  for (const [index, { at }] of hits.entries()) {
    const near = new Set<number>();
    for (let next = index; next < hits.length; next += 1) {
      const hit = hits[next];
      if (hit === undefined || hit.at > at + excerptChars - 2 * leadChars) break;
      near.add(hit.word);
    }
    if (near.size > best.count) best = { at, count: near.size };
  }
  return Math.max(0, Math.min(best.at - leadChars, body.length - excerptChars));
}

/** The next start of a word, if one is near; never inside a surrogate pair. */
function wordBoundary(body: string, at: number): number {
  if (at === 0) return 0;
  const space = body.slice(at, at + leadChars).search(/\s/);
  return space >= 0 ? at + space + 1 : isInsideCharacter(body, at) ? at + 1 : at;
}

function wordBoundaryBefore(body: string, at: number): number {
  const tail = body.slice(at - leadChars, at);
  const space = tail.search(/\s\S*$/);
  return space >= 0 ? at - leadChars + space : isInsideCharacter(body, at) ? at - 1 : at;
}

function isInsideCharacter(body: string, at: number): boolean {
  const unit = body.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Most texts are one line already, and to look is quicker than to replace. */
function oneLine(text: string): string {
  return /\s\s|[^\S ]/.test(text) ? text.trim().replace(/\s+/g, ' ') : text.trim();
}
