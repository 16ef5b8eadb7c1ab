// Stems and stop words by language (Snowball's algorithms). The only importer of the two libraries of Orama that hold
// them. A language without a stemmer keeps its words as they are.

import { stemmer as arabic } from '@orama/stemmers/arabic';
import { stemmer as armenian } from '@orama/stemmers/armenian';
import { stemmer as bulgarian } from '@orama/stemmers/bulgarian';
import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as english } from '@orama/stemmers/english';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as greek } from '@orama/stemmers/greek';
import { stemmer as hungarian } from '@orama/stemmers/hungarian';
import { stemmer as hindi } from '@orama/stemmers/indian';
import { stemmer as indonesian } from '@orama/stemmers/indonesian';
import { stemmer as irish } from '@orama/stemmers/irish';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as lithuanian } from '@orama/stemmers/lithuanian';
import { stemmer as nepali } from '@orama/stemmers/nepali';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as romanian } from '@orama/stemmers/romanian';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as serbian } from '@orama/stemmers/serbian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { stemmer as tamil } from '@orama/stemmers/tamil';
import { stemmer as turkish } from '@orama/stemmers/turkish';
import { stemmer as ukrainian } from '@orama/stemmers/ukrainian';
import { stopwords as arabicStops } from '@orama/stopwords/arabic';
import { stopwords as armenianStops } from '@orama/stopwords/armenian';
import { stopwords as bulgarianStops } from '@orama/stopwords/bulgarian';
import { stopwords as danishStops } from '@orama/stopwords/danish';
import { stopwords as dutchStops } from '@orama/stopwords/dutch';
import { stopwords as englishStops } from '@orama/stopwords/english';
import { stopwords as finnishStops } from '@orama/stopwords/finnish';
import { stopwords as frenchStops } from '@orama/stopwords/french';
import { stopwords as germanStops } from '@orama/stopwords/german';
import { stopwords as greekStops } from '@orama/stopwords/greek';
import { stopwords as hungarianStops } from '@orama/stopwords/hungarian';
import { stopwords as hindiStops } from '@orama/stopwords/indian';
import { stopwords as indonesianStops } from '@orama/stopwords/indonesian';
import { stopwords as irishStops } from '@orama/stopwords/irish';
import { stopwords as italianStops } from '@orama/stopwords/italian';
import { stopwords as japaneseStops } from '@orama/stopwords/japanese';
import { stopwords as lithuanianStops } from '@orama/stopwords/lithuanian';
import { stopwords as chineseStops } from '@orama/stopwords/mandarin';
import { stopwords as nepaliStops } from '@orama/stopwords/nepali';
import { stopwords as norwegianStops } from '@orama/stopwords/norwegian';
import { stopwords as portugueseStops } from '@orama/stopwords/portuguese';
import { stopwords as romanianStops } from '@orama/stopwords/romanian';
import { stopwords as russianStops } from '@orama/stopwords/russian';
import { stopwords as serbianStops } from '@orama/stopwords/serbian';
import { stopwords as slovenianStops } from '@orama/stopwords/slovenian';
import { stopwords as spanishStops } from '@orama/stopwords/spanish';
import { stopwords as swedishStops } from '@orama/stopwords/swedish';
import { stopwords as tamilStops } from '@orama/stopwords/tamil';
import { stopwords as turkishStops } from '@orama/stopwords/turkish';
import { stopwords as ukrainianStops } from '@orama/stopwords/ukrainian';

const stemmers: Readonly<Record<string, (word: string) => string>> = {
  ar: arabic,
  bg: bulgarian,
  da: danish,
  de: german,
  el: greek,
  en: english,
  es: spanish,
  fi: finnish,
  fr: french,
  ga: irish,
  hi: hindi,
  hu: hungarian,
  hy: armenian,
  id: indonesian,
  it: italian,
  lt: lithuanian,
  ne: nepali,
  nl: dutch,
  no: norwegian,
  pt: portuguese,
  ro: romanian,
  ru: russian,
  sr: serbian,
  sv: swedish,
  ta: tamil,
  tr: turkish,
  uk: ukrainian,
};

const stopLists: Readonly<Record<string, readonly string[]>> = {
  ar: arabicStops,
  bg: bulgarianStops,
  da: danishStops,
  de: germanStops,
  el: greekStops,
  en: englishStops,
  es: spanishStops,
  fi: finnishStops,
  fr: frenchStops,
  ga: irishStops,
  hi: hindiStops,
  hu: hungarianStops,
  hy: armenianStops,
  id: indonesianStops,
  it: italianStops,
  ja: japaneseStops,
  lt: lithuanianStops,
  ne: nepaliStops,
  nl: dutchStops,
  no: norwegianStops,
  pt: portugueseStops,
  ro: romanianStops,
  ru: russianStops,
  sl: slovenianStops,
  sr: serbianStops,
  sv: swedishStops,
  ta: tamilStops,
  tr: turkishStops,
  uk: ukrainianStops,
  zh: chineseStops,
};

/** A stem takes some microseconds, and most words of a text are repeated. */
const maxCached = 20_000;
const cache = new Map<string, string>();
const stops = new Map<string, ReadonlySet<string>>();

/** `word` is in lower case. */
export function stemOf(word: string, language: string | null): string {
  const stem = language === null ? undefined : stemmers[language];
  if (stem === undefined) return word;
  const key = `${language} ${word}`;
  let found = cache.get(key);
  if (found === undefined) {
    found = stem(word) || word;
    if (cache.size >= maxCached) cache.clear();
    cache.set(key, found);
  }
  return found;
}

/** True for words that every text of the language has. */
export function isStopWord(word: string, language: string | null): boolean {
  if (language === null) return false;
  let list = stops.get(language);
  if (list === undefined) {
    list = new Set((stopLists[language] ?? []).flatMap((one) => one.normalize('NFKC').toLowerCase().split(/['’]/)));
    stops.set(language, list);
  }
  return list.has(word);
}
