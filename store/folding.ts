// Text folding for every search: one folding for conversations, contacts, saved replies and the pages' own filters, so
// that they all find the same. Pure, and the only module of this folder that browsers load.

const plain = /^[\x00-\x7f]*$/;
/**
 * Marks of pronunciation, drawing or joining: accents, the points of Hebrew and Arabic, the nukta, the tatweel,
 * joiners, soft hyphens. Not the vowel signs of Indic scripts and Thai, nor the voicing marks of kana, which make other
 * letters.
 */
const marks =
  /(?![\u3099\u309a])(?:\p{Script=Inherited}|(?=\p{Mn})[\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}]|[\u0640\u093c\u09bc\u0a3c\u0abc\u0b3c\u0cbc\u0c3c]|\p{Cf})/gu;
/**
 * Single letters that are commonly typed as others: strokes and ligatures, a final sigma, variants on Arabic and
 * Persian keyboards.
 */
const likenesses = new Map(
  Object.entries({
    ß: 'ss',
    æ: 'ae',
    œ: 'oe',
    ø: 'o',
    đ: 'd',
    ð: 'd',
    þ: 'th',
    ł: 'l',
    ħ: 'h',
    ŧ: 't',
    ŋ: 'n',
    ı: 'i',
    ə: 'a',
    ς: 'σ',
    ґ: 'г',
    ى: 'ي',
    ی: 'ي',
    ک: 'ك',
    ة: 'ه',
    ہ: 'ه',
    ھ: 'ه',
    ە: 'ه',
  }),
);
const alike = new RegExp(`[${[...likenesses.keys()].join('')}]`, 'gu');
const katakana = /[\u30a1-\u30f6\u30fd\u30fe]/g;
const hiraganaBelow = 0x60;
const foreignDigit = /(?![0-9])\p{Nd}/gu;

/** Ignores case, accents and widths; katakana becomes hiragana, digits of any script become 0 to 9. */
export function folded(text: string): string {
  if (plain.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(marks, '')
    .replace(alike, (letter) => likenesses.get(letter) ?? letter)
    .replace(katakana, (sign) => String.fromCharCode(sign.charCodeAt(0) - hiraganaBelow))
    .replace(foreignDigit, asciiDigit)
    .normalize('NFC');
}

/** A key for comparing names: ignores case and the encoding of accents, but not accents. */
export function nameKey(name: string): string {
  return name.toLowerCase().normalize('NFC').replaceAll('ς', 'σ');
}

/** Without duplicates, in their first spelling. */
export function distinctNames(names: readonly string[]): string[] {
  const distinct = new Map<string, string>();
  for (const name of names) if (!distinct.has(nameKey(name))) distinct.set(nameKey(name), name);
  return [...distinct.values()];
}

/** Scripts without spaces between words, and Hangul, whose words take endings. */
const unspacedSign =
  '(?:(?=[\\p{L}\\p{N}\\p{M}])[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}])';
const beginsUnspaced = new RegExp(`^${unspacedSign}`, 'u');
const stretches = new RegExp(`${unspacedSign}+|(?:(?!${unspacedSign})[\\p{L}\\p{N}\\p{M}])+`, 'gu');

export function isUnspaced(text: string): boolean {
  return beginsUnspaced.test(text);
}

/** The words of a folded text, and its stretches without word boundaries. */
export function* stretchesOf(
  text: string,
): Generator<{ readonly text: string; readonly at: number; readonly isUnspaced: boolean }> {
  for (const { 0: stretch, index: at } of text.matchAll(stretches))
    yield { text: stretch, at, isUnspaced: isUnspaced(stretch) };
}

/** Every pair of neighbours in an unspaced stretch, and its last character: its search terms. */
export function pairsOf(stretch: string): string[] {
  const signs = Array.from(stretch);
  return signs.map((sign, index) => sign + (signs[index + 1] ?? ''));
}

/** A script's digits are consecutive from its zero, and scripts' digit ranges are aligned to tens. */
function asciiDigit(digit: string): string {
  const value = digit.codePointAt(0) ?? 0;
  let zero = value;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((value - zero) % 10);
}
