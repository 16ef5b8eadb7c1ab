// Makes what a language model wrote fit to be shown: without marks of our prompt, with its sources, and without links
// that none of them has. Pure functions.

export interface CitedText {
  /** Without the numbers of sources. */
  readonly text: string;
  /** Indexes of the sources that it names, in the order in which it does. */
  readonly cited: readonly number[];
}

const citation = /\s*\[(\d{1,2}(?:\s*,\s*\d{1,2})*)\]/g;
const markdownLink = /\[([^\]\n]{1,200})\]\(([^()\s]{1,2000})\)/g;
const webAddress = /\b(?:https?:\/\/|www\.)[^\s<>"']*[^\s<>"'.,;:!?)\]}]/gi;

/** Takes the numbers of sources out of the text. Numbers without a source are not cited. */
export function citedText(text: string, sourceCount: number): CitedText {
  const cited = new Set<number>();
  const plain = text.replaceAll(citation, (_, numbers: string) => {
    for (const number of numbers.split(',')) {
      const index = Number(number) - 1;
      if (index >= 0 && index < sourceCount) cited.add(index);
    }
    return '';
  });
  return { text: plain.trim(), cited: [...cited] };
}

/** Removes links that the allowed text does not have; a link's words stay. */
export function withoutForeignLinks(text: string, allowed: string): string {
  const isKnown = (url: string): boolean => allowed.includes(url);
  return text
    .replaceAll(markdownLink, (link, words: string, url: string) => (isKnown(url) ? link : words))
    .replaceAll(webAddress, (url) => (isKnown(url) ? url : ''))
    .replaceAll(/[^\S\n]{2,}/g, ' ')
    .trim();
}

/** Whether it repeats what only the prompt says. */
export function leaksPrompt(text: string, fence: string): boolean {
  return text.includes(fence);
}

const mailAddress = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const figure = /\d(?:[\d.,:'\s\u00a0\u202f/-]*\d)?/g;
const listMark = /^\s*\d{1,2}[.)]\s/gm;

/**
 * The first figure or mail address that the known text does not have, in whatever way it is written there. A model that
 * invents something invents these, and they are what does harm.
 */
export function unknownFigure(text: string, source: string): string | undefined {
  const known = withAsciiDigits(source);
  const prose = withAsciiDigits(text).replaceAll(listMark, '');
  const addresses = prose.match(mailAddress) ?? [];
  const unknown = addresses.find((address) => !known.toLowerCase().includes(address.toLowerCase()));
  if (unknown !== undefined) return unknown;
  const knownDigits = new Set([...known.matchAll(figure)].flatMap(([one]) => [digitsOf(one), ...one.split(/\D+/)]));
  return [...prose.matchAll(figure)]
    .map(([one]) => one)
    .find((one) => !knownDigits.has(digitsOf(one)) && !one.split(/\D+/).every((part) => knownDigits.has(part)));
}

/** Digits of every script as 0 to 9. Their blocks begin at a code that ends in 0 or 6. */
function withAsciiDigits(text: string): string {
  return text.normalize('NFKC').replaceAll(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    const low = code & 0xf;
    return String(/\p{Nd}/u.test(String.fromCodePoint(code - low)) ? low : low - 6);
  });
}

function digitsOf(figure: string): string {
  return figure.replaceAll(/\D/g, '');
}
