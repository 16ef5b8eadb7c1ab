// The words of a segment in memory, with the documents of each: found by themselves, by their beginning, or in spite of
// a typo, without looking at all of them.

import { canBeMisspelt, isMisspelt } from './words.ts';

/** Words of one length, with a bit for each letter in them. */
interface SameLength {
  readonly words: string[];
  readonly letters: number[];
}

/** A typo changes one letter into another, at most. */
const maxLettersApart = 2;

export class Lexicon {
  readonly #docs = new Map<string, number[]>();
  readonly #byFirst = new Map<number, string[]>();
  /** Those that can be misspelt. */
  readonly #byLength: (SameLength | undefined)[] = [];

  /** Adds a document, none of which may be less than the last. */
  add(word: string, doc: number): void {
    const docs = this.#docs.get(word);
    if (docs === undefined) this.#learn(word, doc);
    else if (docs.at(-1) !== doc) docs.push(doc);
  }

  docsOf(word: string): readonly number[] | undefined {
    return this.#docs.get(word);
  }

  [Symbol.iterator](): IterableIterator<[word: string, docs: number[]]> {
    return this.#docs[Symbol.iterator]();
  }

  /** Longer words that begin with it. */
  longerThan(prefix: string): string[] {
    const sameFirst = this.#byFirst.get(prefix.charCodeAt(0)) ?? [];
    return sameFirst.filter((word) => word.startsWith(prefix) && word !== prefix);
  }

  /** Words one typo away. */
  spelledAlike(asked: string): string[] {
    if (!canBeMisspelt(asked)) return [];
    const letters = lettersOf(asked);
    const alike: string[] = [];
    for (const length of [asked.length - 1, asked.length, asked.length + 1]) {
      const same = this.#byLength[length];
      if (same === undefined) continue;
      for (const [index, others] of same.letters.entries()) {
        if (bitsIn(letters ^ others) > maxLettersApart) continue;
        const word = same.words[index] ?? '';
        if (isMisspelt(asked, word)) alike.push(word);
      }
    }
    return alike;
  }

  #learn(word: string, doc: number): void {
    this.#docs.set(word, [doc]);
    const first = word.charCodeAt(0);
    const sameFirst = this.#byFirst.get(first);
    if (sameFirst === undefined) this.#byFirst.set(first, [word]);
    else sameFirst.push(word);
    if (!canBeMisspelt(word)) return;
    const { words, letters } = (this.#byLength[word.length] ??= { words: [], letters: [] });
    words.push(word);
    letters.push(lettersOf(word));
  }
}

/** Letters 32 apart share a bit, which only makes words look closer. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index += 1) letters |= 1 << (word.charCodeAt(index) & 31);
  return letters;
}

function bitsIn(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
