// The searchable text of a contact, and search conditions on it. Pure: contacts.ts and the triggers of its table, which
// call these as SQL functions, handle the rows. folding.ts defines how texts are folded.

import { domainToUnicode } from 'node:url';
import { folded, pairsOf, stretchesOf } from './folding.ts';

/** Conditions that must all be met. */
export interface ContactQuestion {
  /** Of each group, one must occur anywhere in the text: three characters or more. */
  readonly parts: readonly (readonly string[])[];
  /** Each must begin a word, or occur anywhere in a script without spaces: shorter ones. */
  readonly beginnings: readonly string[];
}

/** The shortest part in the index of parts. */
const partChars = 3;
/** Further words of a search are ignored. */
const maxWords = 10;
/** Consecutive words with this many digits are one phone number, however it is split. */
const phoneDigits = 7;
/** An IDNA-encoded domain in an address. */
const inDns = /(?<=@)\S*xn--\S*/;
const apostrophes = /['’‘ʼ`´′]/g;
const figureWord = /^[()+./-]*\d[\d()+./-]*$/;
const letterOrDigit = /[\p{L}\p{N}]/u;

/**
 * Name, emails, phone and company, folded, one per line, with domains also decoded; and again without apostrophes if
 * there are any.
 */
export function textOfContact(...fields: readonly (string | null)[]): string {
  const given = fields.flatMap((field) => field?.split('\n') ?? []);
  const text = folded(
    [
      ...given,
      ...given.filter((field) => inDns.test(field)).map((field) => field.replace(inDns, domainToUnicode)),
    ].join('\n'),
  );
  const bare = text.replace(apostrophes, '');
  return bare === text ? text : `${text}\n${bare}`;
}

/** Its words, and character pairs of texts without word boundaries. */
export function wordsOfContact(...fields: readonly (string | null)[]): string {
  return [...stretchesOf(textOfContact(...fields))]
    .flatMap(({ text, isUnspaced }) => (isUnspaced ? pairsOf(text) : text))
    .join(' ');
}

/** Empty for a search without letters or digits. */
export function contactQuestion(search: string): ContactQuestion {
  const words = wordsOf(folded(search).replace(apostrophes, '')).slice(0, maxWords);
  const isLong = ([word = '']: readonly string[]): boolean => Array.from(word).length >= partChars;
  return {
    parts: words.filter(isLong),
    beginnings: words
      .filter((word) => !isLong(word))
      .flatMap(([word = '']) => [...stretchesOf(word)].map(({ text: part }) => part)),
  };
}

/** Whether a contact's text meets all conditions. */
export function meetsQuestion(text: string, { parts, beginnings }: ContactQuestion): boolean {
  return (
    parts.every((alternatives) => alternatives.some((part) => text.includes(part))) &&
    beginnings.every((beginning) => hasBeginning(text, beginning))
  );
}

/** Each word with its alternatives. */
function wordsOf(text: string): string[][] {
  const words: string[][] = [];
  let figures: string[] = [];
  const endFigures = (): void => {
    const number = figures.join('').replaceAll('(0)', '').replace(/\D/g, '');
    if (number.length >= phoneDigits)
      words.push([...(figures.length === 1 ? figures : []), number, ...withoutTrunk(number)]);
    else words.push(...figures.flatMap((word) => word.split(/[()-]/)).map((word) => [word, ...withoutTrunk(word)]));
    figures = [];
  };
  for (const word of text.split(/\s+/)) {
    if (figureWord.test(word)) {
      figures.push(word);
      continue;
    }
    endFigures();
    words.push(...word.split('-').map((part) => [part.replace(/,+$/, '')]));
  }
  endFigures();
  return words.filter(([word = '']) => letterOrDigit.test(word));
}

/** Variants of a nationally dialled number: contacts store it with the country code and without the leading zero. */
function withoutTrunk(number: string): string[] {
  return /^0+[1-9]\d{2,}$/.test(number) ? [number.replace(/^0+/, '')] : [];
}

function hasBeginning(text: string, beginning: string): boolean {
  for (const { text: stretch, isUnspaced } of stretchesOf(text))
    if (isUnspaced ? stretch.includes(beginning) : stretch.startsWith(beginning)) return true;
  return false;
}
