// Makes what a language model wrote fit to be shown: without marks of our prompt, with its sources, and without links
// that none of them has. Pure functions.

export interface CitedText {
  /** Without the numbers of sources. */
  readonly text: string;
  /** Indexes of the sources that it names, in the order in which it does. */
  readonly cited: readonly number[];
}

const citation = /(?<!\s)\s*\[(\d{1,2}(?:\s*,\s*\d{1,2})*)\]/g;
const markdownLink = /\[([^\]\n]{1,200})\]\(([^()\s]{1,2000})\)/g;
/** As where addresses become links, and what is one without its scheme. */
const webAddress = /(?:https?:\/\/|www\.)[^\s<>"']*[^\s<>"'.,;:!?)\]}]/gi;

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
  const known = new Set(allowed.match(webAddress));
  return text
    .replaceAll(markdownLink, (link, words: string, url: string) => (known.has(url) ? link : words))
    .replaceAll(webAddress, (url) => (known.has(url) ? url : ''))
    .replaceAll(/[^\S\n]{2,}/g, ' ')
    .trim();
}

/** Whether it repeats what only the prompt says. */
export function leaksPrompt(text: string, fence: string): boolean {
  return text.includes(fence);
}

const mailAddress = /(?<![\p{L}\p{N}_.+-])[\p{L}\p{N}_.+-]+@[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+/gu;
/** With a sign of percent or money beside it, which is a part of what it says. */
const figure = /(?:\p{Sc}\s?)?\d(?:[\d.,:'\s/-]*\d)?(?:\s?[%\p{Sc}])?/gu;

/**
 * The first figure or mail address that the source does not have, in whatever way it is written there. A model that
 * invents something invents these, and they are what does harm.
 */
export function unknownFigure(text: string, source: string): string | undefined {
  const [said, known] = [withAsciiDigits(text), withAsciiDigits(source)];
  const addresses = new Set(known.toLowerCase().match(mailAddress));
  const figures = new Set((known.match(figure) ?? []).flatMap((one) => [digitsOf(one), digitsOf(one) + signOf(one)]));
  return (
    said.match(mailAddress)?.find((address) => !addresses.has(address.toLowerCase())) ??
    said.match(figure)?.find((one) => !figures.has(digitsOf(one) + signOf(one)))
  );
}

function signOf(figure: string): string {
  return /[%\p{Sc}]/u.exec(figure)?.[0] ?? '';
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
