// Which saved replies answer a customer's question: by their words, since there are few and they are short. The score is
// between 0 and 1, so that it can be compared with those of chunks (ranking.ts).

import { questionTerms, termsOf } from './terms.ts';

export interface RankableReply {
  readonly title: string;
  readonly body: string;
}

/** From this score on a reply probably answers the question. */
export const replyThreshold = 0.5;
/** Of a reply's text: its beginning says what it is about, and five hundred replies are read for one question. */
const readChars = 600;
/** A question with all words of a title is about it. */
const wholeTitle = 0.9;

/**
 * Best first, without those below the threshold. Pure: `languages` are the codes by which words are stemmed, such as
 * `en`.
 */
export function rankedReplies<Reply extends RankableReply>(
  replies: readonly Reply[],
  { text, languages, limit }: { text: string; languages: readonly (string | null)[]; limit: number },
): (Reply & { readonly score: number })[] {
  const asked = questionTerms(text, languages).filter(({ isStop }) => !isStop);
  if (asked.length === 0) return [];
  const askedSpellings = new Set(asked.flatMap(({ spellings }) => spellings));
  const held = replies.map(
    ({ title, body }) => new Set(languages.flatMap((code) => termsOf(`${title} ${body.slice(0, readChars)}`, code))),
  );
  const holds = (terms: ReadonlySet<string>, spellings: readonly string[]): boolean =>
    spellings.some((spelling) => terms.has(spelling));
  // A word that few replies have says more about which one is meant.
  const weights = asked.map(({ spellings }) => {
    const having = held.filter((terms) => holds(terms, spellings)).length;
    return Math.log(1 + (replies.length - having + 0.5) / (having + 0.5));
  });
  const most = sumOf(weights);
  return replies
    .map((reply, index) => {
      const terms = held[index] ?? new Set();
      const covered = sumOf(asked.map(({ spellings }, at) => (holds(terms, spellings) ? (weights[at] ?? 0) : 0)));
      const ofTitle = questionTerms(reply.title, languages).filter(({ isStop }) => !isStop);
      const named = ofTitle.filter(({ spellings }) => holds(askedSpellings, spellings)).length;
      const share = ofTitle.length === 0 ? 0 : named / ofTitle.length;
      return { ...reply, score: Math.max(most === 0 ? 0 : covered / most, wholeTitle * share) };
    })
    .filter(({ score }) => score >= replyThreshold)
    .sort((a, b) => b.score - a.score || a.title.localeCompare(b.title))
    .slice(0, limit);
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
