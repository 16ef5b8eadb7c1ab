// The words of a segment in memory, with the documents of each: found by themselves, by their beginning, or in spite of
// a typo, without looking at all of them.

import { isUnspaced } from '../../store/folding.ts';
import { canBeMisspelt, isMisspelt } from './words.ts';

interface Word {
  readonly text: string;
  /** Ascending. */
  readonly docs: number[];
}

/** Words of one length, with a bit for each letter in them. */
interface SameLength {
  readonly words: Word[];
  readonly letters: number[];
}

/** Words are looked up by so many of their first letters; no prefix that is asked for is shorter. */
const startChars = 2;

export class Lexicon {
  readonly #words = new Map<string, Word>();
  readonly #byStart = new Map<string, Word[]>();
  /** Those that can be misspelt. */
  readonly #byLength: (SameLength | undefined)[] = [];

  /** Adds a document, none of which may be less than the last. */
  add(text: string, doc: number): void {
    const docs = this.#words.get(text)?.docs;
    if (docs === undefined) this.#learn({ text, docs: [doc] });
    else if (docs.at(-1) !== doc) docs.push(doc);
  }

  docsOf(text: string): readonly number[] | undefined {
    return this.#words.get(text)?.docs;
  }

  [Symbol.iterator](): IterableIterator<Word> {
    return this.#words.values();
  }

  /** The documents of each longer word that begins with it. */
  docsBeyond(prefix: string): (readonly number[])[] {
    const found: (readonly number[])[] = [];
    for (const { text, docs } of this.#byStart.get(startOf(prefix)) ?? [])
      if (text.length > prefix.length && text.startsWith(prefix)) found.push(docs);
    return found;
  }

  /** The documents of each word one typo away. */
  docsOfAlike(asked: string): (readonly number[])[] {
    const found: (readonly number[])[] = [];
    if (!canBeMisspelt(asked)) return found;
    const letters = lettersOf(asked);
    for (const length of [asked.length - 1, asked.length, asked.length + 1]) {
      const same = this.#byLength[length];
      if (same === undefined) continue;
      for (let index = 0; index < same.letters.length; index += 1) {
        // A typo changes one letter into another, at most, so no more than two bits differ.
        let apart = letters ^ (same.letters[index] ?? 0);
        apart &= apart - 1;
        if ((apart & (apart - 1)) !== 0) continue;
        const word = same.words[index];
        if (word !== undefined && isMisspelt(asked, word.text)) found.push(word.docs);
      }
    }
    return found;
  }

  #learn(word: Word): void {
    const { text } = word;
    this.#words.set(text, word);
    const start = startOf(text);
    const sameStart = this.#byStart.get(start);
    if (sameStart === undefined) this.#byStart.set(start, [word]);
    else sameStart.push(word);
    if (!canBeMisspelt(text)) return;
    const { words, letters } = (this.#byLength[text.length] ??= { words: [], letters: [] });
    words.push(word);
    letters.push(lettersOf(text));
  }
}

/** Of a script without spaces, the first character alone. */
function startOf(text: string): string {
  return isUnspaced(text) ? String.fromCodePoint(text.codePointAt(0) ?? 0) : text.slice(0, startChars);
}

/** Letters 32 apart share a bit, which only makes words look closer. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index += 1) letters |= 1 << (word.charCodeAt(index) & 31);
  return letters;
}
