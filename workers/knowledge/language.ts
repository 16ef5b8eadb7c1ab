// Recognises the language of a text. The only importer of tinyld.

import { detectAll } from 'tinyld';

/** Enough to be sure; more only takes longer. */
const sampleChars = 4000;
/** Letters below which a page's own word is better than a guess. */
const fewLetters = 60;
/** Languages whose script decides, whatever else is near. */
const byScript: readonly (readonly [RegExp, string])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, 'ja'],
  [/\p{Script=Hangul}/gu, 'ko'],
  [/\p{Script=Thai}/gu, 'th'],
  [/\p{Script=Hebrew}/gu, 'he'],
  [/\p{Script=Greek}/gu, 'el'],
  [/\p{Script=Khmer}/gu, 'km'],
  [/\p{Script=Lao}/gu, 'lo'],
  [/\p{Script=Myanmar}/gu, 'my'],
  [/\p{Script=Armenian}/gu, 'hy'],
  [/\p{Script=Georgian}/gu, 'ka'],
  [/\p{Script=Tamil}/gu, 'ta'],
  [/\p{Script=Bengali}/gu, 'bn'],
];
/** Share of the letters that must be in the script. Japanese is mostly Han, with kana between. */
const scriptShare = 0.2;
/** ISO 639-1 codes of one written language. */
/** How sure the guess must be to count more than what a page says. */
const sureFrom = 0.5;
/** That it knows, and no customer writes. */
const invented: ReadonlySet<string> = new Set(['tlh', 'vo']);
const same: Readonly<Record<string, string>> = { nb: 'no', nn: 'no', iw: 'he', in: 'id' };

/** ISO 639-1, or null. `declared`: what the page says, such as `en-GB`; it decides if the text is too short. */
export function languageOf(text: string, declared?: string | undefined): string | null {
  const named = /^[a-z]{2}(?![a-z])/.exec(declared?.trim().toLowerCase() ?? '')?.[0];
  const said = named === undefined ? null : (same[named] ?? named);
  const sample = text.slice(0, sampleChars);
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  if (letters === 0) return said;
  for (const [script, language] of byScript)
    if ((sample.match(script)?.length ?? 0) >= letters * scriptShare) return language;
  if (letters < fewLetters && said !== null) return said;
  const found = detectAll(sample).find(({ lang }) => !invented.has(lang));
  // Neighbours such as Danish and Norwegian are told apart better by the page than by a guess.
  if (found === undefined || (said !== null && found.accuracy < sureFrom)) return said;
  return same[found.lang] ?? found.lang;
}
