// Scores how well typed letters match a name. Every typed word must match: the start of a word, a part of one, or
// letters of one in the same order. Knows nothing about what is named.

import { folded } from '../folding.ts';

const letters = /[\p{L}\p{N}]+/gu;

/** The words of a text in comparable form. */
export function wordsOf(text: string): string[] {
  return folded(text).match(letters) ?? [];
}

const whole = 100;
const beginning = 80;
const inside = 40;
const scattered = 15;
/** A match in the additional words counts less than one in the title. */
const besideFactor = 0.5;

/** Higher is better; undefined if a word does not match. Empty input matches everything, with 0. */
export function scoreOf(typed: string, title: string, beside = ''): number | undefined {
  const titleWords = wordsOf(title);
  const besideWords = wordsOf(beside);
  let total = 0;
  for (const word of wordsOf(typed)) {
    const best = Math.max(bestOf(word, titleWords), bestOf(word, besideWords) * besideFactor);
    if (best === 0) return undefined;
    total += best;
  }
  // A title that starts with the input ranks first.
  return folded(title).startsWith(folded(typed).trim()) && typed.trim() !== '' ? total + whole : total;
}

function bestOf(typed: string, words: readonly string[]): number {
  return Math.max(0, ...words.map((word, index) => wordScore(typed, word) - Math.min(index, 5)));
}

function wordScore(typed: string, word: string): number {
  if (word === typed) return whole;
  if (word.startsWith(typed)) return beginning;
  if (typed.length > 1 && word.includes(typed)) return inside;
  return typed.length > 2 && isScattered(typed, word) ? scattered : 0;
}

function isScattered(typed: string, word: string): boolean {
  if (typed[0] !== word[0]) return false;
  let at = 0;
  for (const letter of typed) {
    at = word.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** The matching items, best first; ties keep their order. */
export function rank<Item>(
  typed: string,
  items: readonly Item[],
  nameOf: (item: Item) => { readonly title: string; readonly beside?: string | undefined },
): Item[] {
  return items
    .map((item) => {
      const { title, beside } = nameOf(item);
      return { item, score: scoreOf(typed, title, beside) };
    })
    .filter((one): one is { item: Item; score: number } => one.score !== undefined)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);
}
