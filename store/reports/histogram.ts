// Durations counted in bins that grow by two percent, so that a median or a percentile of any number of them, over any
// range, can be told with an error of at most one percent. Pure functions; rollups store what encodeBins() makes.

import { NumeralReader, numeralsOf } from './numerals.ts';

/** Of a quantile, at the most. */
export const relativeError = 0.01;

const growth = Math.log((1 + relativeError) / (1 - relativeError));
/** Counts by bin, in the order of bins. */
export type Bins = Map<number, number>;

/** Bin 0 holds what took a millisecond or less; ten years are bin 1321, and the last one a hundred million. */
const maxBins = 2048;

export function binOf(durationMs: number): number {
  return durationMs <= 1 ? 0 : Math.min(maxBins - 1, Math.ceil(Math.log(durationMs) / growth));
}

/** The value that is at most the relative error away from whatever is in the bin. */
function middleOf(bin: number): number {
  return bin === 0 ? 1 : (2 * Math.exp(bin * growth)) / (Math.exp(growth) + 1);
}

/** For each bin that is not empty, how far it is from the one before, and its count. */
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

/** Adds what was encoded to `bins`: one list, or several with separators between them. */
export function addBins(bins: Bins, encoded: string): void {
  const list = decodeBins(encoded);
  for (let index = 0; index < list.length; index += 2)
    bins.set(list[index] ?? 0, (bins.get(list[index] ?? 0) ?? 0) + (list[index + 1] ?? 0));
}

/** A bin and its count, and so on, in one list. */
function decodeBins(encoded: string): number[] {
  const numbers = new NumeralReader(encoded);
  const list: number[] = [];
  for (let bin = 0; !numbers.isAtEnd; ) {
    if (numbers.startsAnew()) bin = 0;
    else {
      bin += numbers.next();
      list.push(bin, numbers.next());
    }
  }
  return list;
}

/** Bins that are not empty and their counts, one after the other: what a sum of durations is kept as. */
export type CountedDurations = Int32Array;

const none: CountedDurations = new Int32Array(0);

interface Counted {
  readonly list: ArrayLike<number>;
  readonly times: 1 | -1;
}

/** Where the lists of one sum after the other come together; all zero in between. */
const counts = new Int32Array(maxBins);

/** Durations of which quantiles are asked: single ones, or counted ones. */
export class Durations {
  readonly #values: number[] = [];
  readonly #counted: Counted[] = [];

  add(durationMs: number): void {
    this.#values.push(durationMs);
  }

  /** As addBins() has them. */
  addEncoded(encoded: string): void {
    this.addCounted(decodeBins(encoded));
  }

  /** What counted() returned elsewhere; `times` -1 takes away what was added with others. */
  addCounted(list: ArrayLike<number>, times: 1 | -1 = 1): void {
    if (list.length > 0) this.#counted.push({ list, times });
  }

  counted(): CountedDurations {
    if (this.#counted.length === 0 && this.#values.length === 0) return none;
    return this.#together((first, next) => {
      const list: number[] = [];
      for (let bin = first; bin < next; bin += 1) if (counts[bin] !== 0) list.push(bin, counts[bin] ?? 0);
      return Int32Array.from(list);
    });
  }

  /** The middle one, or the mean of the middle two, in ms. Undefined when there are none. */
  median(): number | undefined {
    return this.#read((count, at) => meanOf(at(Math.max(1, Math.ceil(count / 2))), at(Math.floor(count / 2) + 1)));
  }

  /**
   * The shortest duration that at least a share `q` of them does not exceed (nearest rank), in ms. Undefined when there
   * are none.
   */
  quantile(q: number): number | undefined {
    return this.#read((count, at) => at(Math.max(1, Math.ceil(q * count))));
  }

  /**
   * `at` gives the duration of a rank from 1 on: exact when all were added one by one, else within the relative error.
   */
  #read(figure: (count: number, at: (rank: number) => number | undefined) => number | undefined): number | undefined {
    if (this.#counted.length === 0) {
      const sorted = this.#values.toSorted((a, b) => a - b);
      return figure(sorted.length, (rank) => sorted[rank - 1]);
    }
    return this.#together((first, next) => {
      let count = 0;
      for (let bin = first; bin < next; bin += 1) count += counts[bin] ?? 0;
      return figure(count, (rank) => durationAt(rank, first, next));
    });
  }

  /** Has all of them stand in `counts`, none before the bin `first` or from `next` on. */
  #together<Result>(read: (first: number, next: number) => Result): Result {
    let [first, last] = [maxBins, -1];
    const add = (bin: number, count: number): void => {
      counts[bin] = (counts[bin] ?? 0) + count;
      if (bin < first) first = bin;
      if (bin > last) last = bin;
    };
    for (const { list, times } of this.#counted)
      for (let index = 0; index < list.length; index += 2) add(list[index] ?? 0, times * (list[index + 1] ?? 0));
    for (const value of this.#values) add(binOf(value), 1);
    try {
      return read(first, last + 1);
    } finally {
      counts.fill(0, first, last + 1);
    }
  }
}

function meanOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : (a + b) / 2;
}

/** Of what stands in `counts`. */
function durationAt(rank: number, first: number, next: number): number | undefined {
  let seen = 0;
  for (let bin = first; bin < next; bin += 1) {
    seen += counts[bin] ?? 0;
    if (seen >= rank) return middleOf(bin);
  }
  return undefined;
}
