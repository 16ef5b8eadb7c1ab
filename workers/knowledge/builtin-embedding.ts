// An embedding without a model: hashes words, their stems, their pieces and their meanings in customer service into a
// vector. Deterministic: the same text gives the same vector on every machine, so any change here needs a new name in
// models.ts. bench/retrieval.ts measures its quality and cost. A pure function.

import { frequentWords } from './frequent-words.ts';
import { languageOf } from './language.ts';
import { relatedWords } from './related-words.ts';
import { isStopWord, stemOf } from './stems.ts';
import { isParticle, withoutMarks, wordsOf } from './terms.ts';

/** Dimensions: one for each meaning, one for the missing mass, the rest for hashed features. A power of two. */
const builtinDimensions = 1024;
const meaningDimensions = 127;
const massDimension = meaningDimensions;
const hashedFrom = meaningDimensions + 1;
/** Dimensions that each hashed feature is added to. */
const placesPerFeature = 2;

/**
 * Weights relative to a whole word's, which is 1. Tuned with bench/retrieval.ts on questions about a shop and about
 * packages.
 */
const meaningWeight = 1;
const piecesWeight = 0.35;
const titleWeight = 2;
const headingWeight = 2;
const pieceChars = 4;
/** A repeated word counts less than twice. */
const repetition = 0.45;
/**
 * A passage with less mass is padded instead of scaled up, because scaling would prefer headings and half sentences to
 * answers. The padding goes to a dimension that no question uses.
 */
const fullMass = 8;
/** Shorter words of languages outside frequentWords mostly carry little meaning. */
const shortWord = { chars: 2, weight: 0.5 };
const stopWeight = 0.12;
const particleWeight = 0.25;
const lightest = 0.2;

/** Scripts without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Languages whose related words are looked for within the text: no spaces, or particles joined to the words. */
const lookedForWithin: readonly string[] = ['ja', 'zh', 'ko', 'hi', 'th'];

const weights = new Map<string, number>();
for (const { weight, words } of frequentWords)
  for (const word of wordsOf(words)) if (!weights.has(word)) weights.set(word, weight);

interface Meanings {
  readonly byStem: ReadonlyMap<string, readonly number[]>;
  readonly within: readonly (readonly [string, number])[];
}

const meaningNumbers = new Map<string, number>();
const meaningsByLanguage = new Map(
  Object.entries(relatedWords).map(([language, lines]) => [language, meaningsOf(language, lines)]),
);
if (meaningNumbers.size > meaningDimensions)
  throw new Error(`${meaningNumbers.size} meanings, but only ${meaningDimensions} dimensions for them`);

function meaningsOf(language: string, lines: string): Meanings {
  const byStem = new Map<string, number[]>();
  const within: [string, number][] = [];
  for (const line of lines.trim().split('\n')) {
    const [name = '', words = ''] = line.split(': ');
    const meaning = meaningNumbers.get(name) ?? meaningNumbers.size;
    meaningNumbers.set(name, meaning);
    if (lookedForWithin.includes(language)) {
      for (const word of words.split(' ')) within.push([word.normalize('NFKC').toLowerCase(), meaning]);
      continue;
    }
    for (const word of wordsOf(words)) {
      if (weightOf(word, language) < lightest) continue;
      const stem = stemOf(word, language);
      const known = byStem.get(stem);
      if (known === undefined) byStem.set(stem, [meaning]);
      else if (!known.includes(meaning)) known.push(meaning);
    }
  }
  return { byStem, within };
}

/** For a passage: signed bytes; the direction of the vector carries its meaning. */
export function embedPassage(passage: {
  title: string;
  headings: readonly string[];
  text: string;
  language: string | null;
}): Int8Array {
  const features = new Map<string, number>();
  const { title, headings, text, language } = passage;
  addFeatures(features, text, { scale: 1, language });
  addFeatures(features, title, { scale: titleWeight, language });
  for (const heading of headings) addFeatures(features, heading, { scale: headingWeight, language });
  return toBytes(rotated(toVector(features, fullMass)));
}

/** For a question. */
export function embedQuestion(text: string): Int8Array {
  const features = new Map<string, number>();
  addFeatures(features, text, { scale: 1, language: languageOf(text) });
  return toBytes(rotated(toVector(features, 0)));
}

/** Approximates a model's word pieces: one token per six letters. */
export function countTokens(text: string): number {
  let count = 0;
  for (const [part] of text.matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu))
    count += unspaced.test(part) ? part.length : Math.ceil(part.length / 6);
  return count;
}

function weightOf(word: string, language: string | null): number {
  const known = weights.get(word);
  if (known !== undefined) return known;
  if (isParticle(word)) return particleWeight;
  if (isStopWord(word, language)) return stopWeight;
  return word.length <= shortWord.chars && /^\p{Script=Latin}+$/u.test(word) ? shortWord.weight : 1;
}

function addFeatures(
  features: Map<string, number>,
  text: string,
  { scale, language }: { scale: number; language: string | null },
): void {
  const add = (name: string, weight: number): void =>
    void features.set(name, (features.get(name) ?? 0) + weight * scale);
  const own = meaningsByLanguage.get(language ?? 'en');
  const english = language === 'en' ? undefined : meaningsByLanguage.get('en');
  for (const word of wordsOf(text)) {
    const weight = weightOf(word, language);
    const unmarked = withoutMarks(word);
    const stem = roughStem(unmarked);
    add(`w${stem}`, unmarked === word ? weight : weight / 2);
    if (unmarked !== word) add(`w${roughStem(word)}`, weight / 2);
    if (weight < lightest) continue;
    const known = own?.byStem.get(stemOf(word, language)) ?? english?.byStem.get(stemOf(word, 'en'));
    if (known !== undefined)
      for (const meaning of known) add(`m${meaning}`, (meaningWeight * weight) / Math.sqrt(known.length));
    if (word.length < pieceChars) continue;
    const edged = `<${unmarked}>`;
    const count = edged.length - pieceChars + 1;
    for (let at = 0; at < count; at += 1)
      add(`p${edged.slice(at, at + pieceChars)}`, (piecesWeight * weight) / Math.sqrt(count));
  }
  if (own === undefined || own.within.length === 0) return;
  const whole = text.normalize('NFKC').toLowerCase();
  for (const [word, meaning] of own.within) if (whole.includes(word)) add(`m${meaning}`, meaningWeight);
}

/**
 * Reduces an English word's singular, plural and tenses to one form. Rough: the result need not be a word, only the
 * same for all.
 */
function roughStem(word: string): string {
  if (word.length < 4) return word;
  let stem = word;
  if (stem.endsWith('ies')) stem = `${stem.slice(0, -3)}y`;
  else if (/(?:sh|ch|x|z|s)es$/.test(stem)) stem = stem.slice(0, -2);
  else if (/[^siu]s$/.test(stem)) stem = stem.slice(0, -1);
  if (stem.length > 5 && stem.endsWith('ing')) stem = stem.slice(0, -3);
  else if (stem.length > 4 && stem.endsWith('ed')) stem = stem.slice(0, -2);
  else if (stem.length > 5 && stem.endsWith('ly')) stem = stem.slice(0, -2);
  if (stem.length > 3 && /([bdfgklmnprt])\1$/.test(stem)) stem = stem.slice(0, -1);
  if (stem.length > 4 && stem.endsWith('e')) stem = stem.slice(0, -1);
  return stem.length > 3 && stem.endsWith('y') ? `${stem.slice(0, -1)}i` : stem;
}

function toVector(features: ReadonlyMap<string, number>, mass: number): Float64Array {
  const vector = new Float64Array(builtinDimensions);
  const add = (dimension: number, value: number): void => {
    vector[dimension] = (vector[dimension] ?? 0) + value;
  };
  let squares = 0;
  for (const [name, sum] of features) {
    const value = sum ** repetition;
    squares += value * value;
    if (name.startsWith('m')) {
      add(Number(name.slice(1)), value);
      continue;
    }
    for (let place = 0; place < placesPerFeature; place += 1) {
      const hash = hashOf(name, place);
      add(
        hashedFrom + (hash % (builtinDimensions - hashedFrom)),
        (hash & 0x8000_0000) === 0 ? -value / Math.sqrt(placesPerFeature) : value / Math.sqrt(placesPerFeature),
      );
    }
  }
  add(massDimension, Math.sqrt(Math.max(0, mass * mass - squares)));
  return vector;
}

/** FNV-1a over the UTF-16 units, mixed at the end so that every bit depends on every other. */
function hashOf(text: string, seed: number): number {
  let hash = 0x811c_9dc5 ^ Math.imul(seed + 1, 0x9e37_79b1);
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a_2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}

const flips = [0, 1].map((round) =>
  Float64Array.from(
    { length: builtinDimensions },
    (_, dimension) => (hashOf(String(dimension), round + 10) & 1) * 2 - 1,
  ),
);

/**
 * Applies a fixed rotation (random signs and a Walsh-Hadamard transform, twice). It changes no angle but spreads a
 * question's few features over every dimension; only then do the signs alone separate near from far.
 */
function rotated(vector: Float64Array): Float64Array {
  let turned = vector;
  for (const signs of flips) {
    turned = turned.map((value, dimension) => value * (signs[dimension] ?? 1));
    for (let half = 1; half < turned.length; half *= 2) {
      for (let block = 0; block < turned.length; block += 2 * half) {
        for (let at = block; at < block + half; at += 1) {
          const [a, b] = [turned[at] ?? 0, turned[at + half] ?? 0];
          turned[at] = a + b;
          turned[at + half] = a - b;
        }
      }
    }
  }
  return turned;
}

/** Scales to bytes: the largest component becomes 127. */
export function toBytes(vector: Float64Array | Float32Array): Int8Array {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const scale = largest === 0 ? 0 : 127 / largest;
  return Int8Array.from(vector, (value) => Math.round(value * scale));
}
