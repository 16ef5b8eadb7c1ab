// The terms under which a text is found: stems of its words, and in scripts without spaces pairs of characters. The same
// for texts and for questions. Any change here needs a new name of the models in models.ts, which makes the index again.

import { isStopWord, stemOf } from './stems.ts';

/** Scripts without spaces between words, read in pairs of characters. */
const pairs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々〆]/u;
/** Scripts without spaces that a dictionary divides into words. */
const divided = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const hangul = /\p{Script=Hangul}/u;
/** Letters with marks that many people type without them. */
const european = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{M}\p{N}]+$/u;
const wordShape = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;
/** Vowel points of Arabic and Hebrew, which are mostly left out, and the stroke that lengthens a word. */
const points = /[\u0591-\u05bd\u05bf\u05c1\u05c2\u064b-\u0652\u0670\u0640]/g;
/** Begins the term of a word without its marks. Not ASCII, so that it stays in one term. */
const unmarkedSign = 'ˇ';
const maxTermChars = 40;
const words = new Intl.Segmenter('th', { granularity: 'word' });

/** A term of a question: any of these spellings counts. */
export interface QuestionTerm {
  readonly spellings: readonly string[];
  /** A word that every text has, such as "how". */
  readonly isStop: boolean;
}

/** In order, with repetitions. */
export function termsOf(text: string, language: string | null): string[] {
  return wordsOf(text).flatMap((word) => {
    const stem = stemOf(word, language);
    const unmarked = withoutMarks(word);
    return unmarked === word ? [stem] : [stem, `${unmarkedSign}${stemOf(unmarked, language)}`];
  });
}

/** Without repetitions. `languages`: those of the texts that are searched. */
export function questionTerms(text: string, languages: readonly (string | null)[]): QuestionTerm[] {
  const terms = new Map<string, QuestionTerm>();
  for (const word of wordsOf(text)) {
    const unmarked = withoutMarks(word);
    const spellings = new Set<string>();
    for (const language of languages.length === 0 ? [null] : languages) {
      spellings.add(stemOf(word, language));
      // Typed without marks: the texts may have them.
      if (unmarked === word && european.test(word)) spellings.add(`${unmarkedSign}${stemOf(word, language)}`);
    }
    const key = [...spellings].join(' ');
    const isStop = isParticle(word) || languages.some((language) => isStopWord(word, language));
    if (!terms.has(key)) terms.set(key, { spellings: [...spellings], isStop });
  }
  return [...terms.values()];
}

/** Lower case, with the marks that are letters; what has no spaces is divided. */
export function wordsOf(text: string): string[] {
  const found: string[] = [];
  for (const [word] of text.normalize('NFKC').replace(points, '').toLowerCase().matchAll(wordShape)) {
    if (pairs.test(word)) addPairs(found, word);
    else if (divided.test(word)) {
      for (const { segment, isWordLike } of words.segment(word)) if (isWordLike) found.push(short(segment));
    } else {
      found.push(short(word));
      if (hangul.test(word) && word.length > 2) addPairs(found, word);
    }
  }
  return found;
}

/** A pair of characters that is grammar rather than content, such as the endings of Japanese verbs. */
export function isParticle(word: string): boolean {
  return /^\p{Script=Hiragana}{1,2}$/u.test(word);
}

/** Runs of other scripts within, such as a product's name, stay whole. */
function addPairs(found: string[], word: string): void {
  for (const run of word.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々〆]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々〆]+/gu,
  ) ?? []) {
    const signs = [...run];
    if (signs.length === 1 || !(pairs.test(run) || hangul.test(run))) found.push(short(run));
    else for (let at = 0; at + 1 < signs.length; at += 1) found.push(`${signs[at]}${signs[at + 1]}`);
  }
}

/** Marks are left out where people leave them out: of letters in Latin, Greek and Cyrillic. */
export function withoutMarks(word: string): string {
  if (!european.test(word) || /^[a-z\d]+$/.test(word)) return word;
  return word
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replaceAll('ł', 'l')
    .replaceAll('đ', 'd')
    .replaceAll('ı', 'i')
    .normalize('NFC');
}

function short(word: string): string {
  return word.length > maxTermChars ? word.slice(0, maxTermChars) : word;
}
