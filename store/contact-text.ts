// What a contact is found by, made of its row when it is written, and what a search asks of it. Pure: contacts.ts and
// the triggers of its table, which know these as functions of SQL, see to the rows. How texts are folded, folding.ts
// says.

import { domainToUnicode } from 'node:url';
import { folded, pairsOf, stretchesOf } from './folding.ts';

/** What contacts must have all of. */
export interface ContactQuestion {
  /** Of each, one is in the text, wherever: three characters or more. */
  readonly parts: readonly (readonly string[])[];
  /** Each begins a word, or stands anywhere in a script without spaces: shorter ones. */
  readonly beginnings: readonly string[];
}

/** The shortest part that the index of parts knows. */
const partChars = 3;
/** A search has so many words at the most; what follows is not looked at. */
const maxWords = 10;
/** So many digits in words of their own are one phone number, however it is cut. */
const phoneDigits = 7;
/** A domain with letters beyond ASCII, as an address has it. */
const inDns = /(?<=@)\S*xn--\S*/;
const apostrophes = /['’‘ʼ`´′]/g;
const figureWord = /^[()+./-]*\d[\d()+./-]*$/;
const letterOrDigit = /[\p{L}\p{N}]/u;

/**
 * Name, email, phone and company, folded, one a line, domains also as people write them; once more without apostrophes
 * where there are any.
 */
export function textOfContact(...fields: readonly (string | null)[]): string {
  const given = fields.filter((field) => field !== null);
  const text = folded(
    [
      ...given,
      ...given.filter((field) => inDns.test(field)).map((field) => field.replace(inDns, domainToUnicode)),
    ].join('\n'),
  );
  const bare = text.replace(apostrophes, '');
  return bare === text ? text : `${text}\n${bare}`;
}

/** Its words, and the pairs of what does not say where its words end. */
export function wordsOfContact(...fields: readonly (string | null)[]): string {
  return [...stretchesOf(textOfContact(...fields))]
    .flatMap(({ text, isUnspaced }) => (isUnspaced ? pairsOf(text) : text))
    .join(' ');
}

/** Empty of what has no letter and no digit. */
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

/** Whether a contact's text has all that is asked. */
export function meetsQuestion(text: string, { parts, beginnings }: ContactQuestion): boolean {
  return (
    parts.every((alternatives) => alternatives.some((part) => text.includes(part))) &&
    beginnings.every((beginning) => hasBeginning(text, beginning))
  );
}

/** Each word by all that it may stand for. */
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

/**
 * A number as it is dialled within its country: contacts have it with the country's before it, and without the zero.
 */
function withoutTrunk(number: string): string[] {
  return /^0+[1-9]\d{2,}$/.test(number) ? [number.replace(/^0+/, '')] : [];
}

function hasBeginning(text: string, beginning: string): boolean {
  for (const { text: stretch, isUnspaced } of stretchesOf(text))
    if (isUnspaced ? stretch.includes(beginning) : stretch.startsWith(beginning)) return true;
  return false;
}
