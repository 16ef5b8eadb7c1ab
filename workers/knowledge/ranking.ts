// Finds the chunks that answer a question: by terms (BM25) and by vectors, fused by reciprocal rank. The score says how
// likely a chunk answers the question, so that "nothing here answers this" can be told from an answer.
// bench/retrieval.ts measures both.

import type { Database } from '../../store/database.ts';
import {
  chunksByRowid,
  chunksWithTerms,
  countsOfTerms,
  type KbChunkRow,
  type KbIndexFacts,
  nearestChunks,
  nearestOfArticles,
  similaritiesOfSample,
} from '../../store/knowledge/index.ts';
import { type QuestionTerm, questionTerms } from './terms.ts';

export interface Question {
  readonly text: string;
  readonly vector: Uint8Array;
  readonly topK: number;
  readonly articlesOnly?: boolean;
}

export interface RankedChunk extends Omit<KbChunkRow, 'rowid'> {
  /** How likely it answers the question, 0 to 1. */
  readonly score: number;
}

/** Candidates of each kind. */
const minCandidates = 60;
/** How fast a rank loses its value: the 20th is worth half of the first. */
const rankDecay = 20;
/** A term in the title or a heading counts as much as two in the text. */
const termWeights = { title: 2, headings: 2 };
/** The most that repetitions of a term add in BM25, with FTS5's k1 of 1.2. */
const saturation = 2.2;
/** A usual deviation counts as much as so many chunks, because a few say little about what is ordinary. */
const usual = { deviation: 0.05, chunks: 5 };
/** From the median absolute deviation to a standard deviation. */
const deviationPerMedian = 1.48;

/**
 * A logistic model, fitted on questions in eight languages about bases of 20 to 350 chunks, with and without an answer in
 * them. Its inputs do not depend on the embedding model.
 */
const model = {
  bias: -3.81,
  /** BM25, as a share of the most that the question's terms can reach. */
  terms: 3.27,
  /** Standard deviations between its similarity and an ordinary one, as a square root. */
  distinction: 1.21,
  /** Of both lists. */
  ranks: 1.16,
  /** Natural logarithm: among more chunks each is less likely the answer. */
  chunks: -0.556,
};

/** Best first; ties by chunkId. The same text is returned once. */
export function rankedChunks(
  db: Database,
  base: KbIndexFacts,
  { text, vector, topK, articlesOnly = false }: Question,
): RankedChunk[] {
  const limit = Math.max(minCandidates, topK * 2);
  const terms = termsToFind(questionTerms(text, base.languages));
  const byTerms = withTerms(db, terms, { limit, articlesOnly });
  const byVector = articlesOnly ? nearestOfArticles(db, { vector, limit }) : nearestChunks(db, { vector, limit });
  const fused = fusedRanks([byTerms.map(({ rowid }) => rowid), byVector]);
  const count = base.chunks;
  const mostBm25 = saturation * sumOf(weightsOf(db, terms, count));
  const bm25Of = new Map(byTerms.map(({ rowid, bm25 }) => [rowid, bm25]));
  const distinctionOf = distinctionIn(db, vector);
  return withoutRepeats(
    chunksByRowid(db, { rowids: [...fused.keys()], vector })
      .map(({ rowid, ...chunk }) => ({
        ...chunk,
        score: sigmoid(
          model.bias +
            model.terms * (mostBm25 === 0 ? 0 : (bm25Of.get(rowid) ?? 0) / mostBm25) +
            model.distinction * distinctionOf(chunk.similarity) +
            model.ranks * (fused.get(rowid) ?? 0) +
            model.chunks * Math.log(Math.max(1, count)),
        ),
      }))
      .sort((a, b) => b.score - a.score || (a.chunkId < b.chunkId ? -1 : 1)),
  ).slice(0, topK);
}

/** Without words that every text has, unless there are no others. */
function termsToFind(terms: readonly QuestionTerm[]): readonly QuestionTerm[] {
  const telling = terms.filter(({ isStop }) => !isStop);
  return telling.length === 0 ? terms : telling;
}

function withTerms(
  db: Database,
  terms: readonly QuestionTerm[],
  { limit, articlesOnly }: { limit: number; articlesOnly: boolean },
): readonly { readonly rowid: number; readonly bm25: number }[] {
  if (terms.length === 0) return [];
  const match = terms
    .flatMap(({ spellings }) => spellings)
    .map((spelling) => `"${spelling}"`)
    .join(' OR ');
  return chunksWithTerms(db, { match, limit, articlesOnly, weights: termWeights });
}

/** Reciprocal rank fusion: the first of a list gets 1, and the ranks of all lists add up. */
function fusedRanks(lists: readonly (readonly number[])[]): Map<number, number> {
  const fused = new Map<number, number>();
  for (const list of lists)
    for (const [rank, rowid] of list.entries())
      fused.set(rowid, (fused.get(rowid) ?? 0) + rankDecay / (rankDecay + rank));
  return fused;
}

/** Rare terms weigh more; one that is nowhere weighs most. */
function weightsOf(db: Database, terms: readonly QuestionTerm[], count: number): number[] {
  const counts = countsOfTerms(
    db,
    terms.flatMap(({ spellings }) => spellings),
  );
  return terms.map(({ spellings }) => {
    const having = Math.min(count, sumOf(spellings.map((spelling) => counts.get(spelling) ?? 0)));
    return Math.log(1 + (count - having + 0.5) / (having + 0.5));
  });
}

/**
 * How far a similarity stands out from those of a sample: the root of the standard deviations, which a few outliers do not
 * move.
 */
function distinctionIn(db: Database, vector: Uint8Array): (similarity: number) => number {
  const sample = similaritiesOfSample(db, vector);
  const ordinary = medianOf(sample);
  const measured = deviationPerMedian * medianOf(sample.map((similarity) => Math.abs(similarity - ordinary)));
  const deviation = (measured * sample.length + usual.deviation * usual.chunks) / (sample.length + usual.chunks);
  return (similarity) => Math.sqrt(Math.max(0, (similarity - ordinary) / deviation));
}

function withoutRepeats(chunks: readonly RankedChunk[]): RankedChunk[] {
  const texts = new Set<string>();
  return chunks.filter(({ text }) => {
    const key = text.replace(/\s+/g, ' ');
    if (texts.has(key)) return false;
    texts.add(key);
    return true;
  });
}

/** The lower one of two in the middle. */
function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));
