// A histogram of durations with bins that grow by two percent, from which a median or percentile over any range has an
// error of at most one percent. Pure functions; rollups store the output of encodeBins().

import { NumeralReader, numeralsOf } from './numerals.ts';

/** Of a quantile, at most. */
export const relativeError = 0.01;

const growth = Math.log((1 + relativeError) / (1 - relativeError));
/** Counts by bin, in the order of bins. */
export type Bins = Map<number, number>;

/** Bin 0 is up to a millisecond; ten years are bin 1321. */
const maxBins = 2048;

export function binOf(durationMs: number): number {
  return durationMs <= 1 ? 0 : Math.min(maxBins - 1, Math.ceil(Math.log(durationMs) / growth));
}

/** The value within the relative error of everything in the bin. */
function middleOf(bin: number): number {
  return bin === 0 ? 1 : (2 * Math.exp(bin * growth)) / (Math.exp(growth) + 1);
}

/** For each non-empty bin, its distance from the one before, and its count. */
export function encodeBins(bins: Bins): string {
  const numbers: number[] = [];
  let before = 0;
  for (const [bin, count] of [...bins].sort(([a], [b]) => a - b)) {
    if (count <= 0) continue;
    numbers.push(bin - before, count);
    before = bin;
  }
  return numeralsOf(numbers);
}

/** Adds encoded lists to `bins`: one, or several with separators between them. */
export function addBins(bins: Bins, encoded: string): void {
  readBins(encoded, (bin, count) => bins.set(bin, (bins.get(bin) ?? 0) + count));
}

function readBins(encoded: string, add: (bin: number, count: number) => void): void {
  const numbers = new NumeralReader(encoded);
  for (let bin = 0; !numbers.isAtEnd; ) {
    if (numbers.startsAnew()) bin = 0;
    else {
      bin += numbers.next();
      add(bin, numbers.next());
    }
  }
}

/** A work area where the lists of one sum at a time are merged; all zero in between. */
const counts = new Int32Array(maxBins);

/** Durations for quantiles: single or counted ones. */
export class Durations {
  readonly #values: number[] = [];
  /** As for addBins(). */
  readonly #encoded: string[] = [];

  add(durationMs: number): void {
    this.#values.push(durationMs);
  }

  /** As for addBins(). Lists without bins, only separated, leave the others exact. */
  addEncoded(encoded: string): void {
    if (encoded.trim() !== '') this.#encoded.push(encoded);
  }

  /**
   * In ms, undefined if there are none. The median is the middle one, or the mean of the middle two; the quantile is the
   * shortest duration that at least a share `q` does not exceed (nearest rank). Both at once, because merging the bins
   * costs more than reading them.
   */
  medianAndQuantile(q: number): { readonly median: number | undefined; readonly quantile: number | undefined } {
    return this.#read((count, at) => ({ median: medianOf(count, at), quantile: quantileOf(q, count, at) }));
  }

  /**
   * `at` returns the duration of a rank from 1 on: exact if all were added one by one, otherwise within the relative
   * error.
   */
  #read<Result>(figure: (count: number, at: Ranked) => Result): Result {
    if (this.#encoded.length === 0) {
      const sorted = this.#values.toSorted((a, b) => a - b);
      return figure(sorted.length, (rank) => sorted[rank - 1]);
    }
    return this.#together((first, next) => {
      let count = 0;
      for (let bin = first; bin < next; bin += 1) count += counts[bin] ?? 0;
      return figure(count, (rank) => durationAt(rank, first, next));
    });
  }

  /** Merges them into `counts`, where only bins from `first` to before `next` are non-zero. */
  #together<Result>(read: (first: number, next: number) => Result): Result {
    let [first, last] = [maxBins, -1];
    const add = (bin: number, count: number): void => {
      counts[bin] = (counts[bin] ?? 0) + count;
      if (bin < first) first = bin;
      if (bin > last) last = bin;
    };
    for (const encoded of this.#encoded) readBins(encoded, add);
    for (const value of this.#values) add(binOf(value), 1);
    try {
      return read(first, last + 1);
    } finally {
      counts.fill(0, first, last + 1);
    }
  }
}

type Ranked = (rank: number) => number | undefined;

function medianOf(count: number, at: Ranked): number | undefined {
  return meanOf(at(Math.max(1, Math.ceil(count / 2))), at(Math.floor(count / 2) + 1));
}

function quantileOf(q: number, count: number, at: Ranked): number | undefined {
  return at(Math.max(1, Math.ceil(q * count)));
}

function meanOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : (a + b) / 2;
}

/** From `counts`. */
function durationAt(rank: number, first: number, next: number): number | undefined {
  let seen = 0;
  for (let bin = first; bin < next; bin += 1) {
    seen += counts[bin] ?? 0;
    if (seen >= rank) return middleOf(bin);
  }
  return undefined;
}
