// Divides a range into the buckets of a series, and finds the whole quarter-hours in each. The remainders at the edges
// are read from the rows themselves. Pure.

import { decodeQuarters, quarterMs, quartersPerDay } from './quarters.ts';
import { type Days, dayMs } from './rollups.ts';

/** Bucket i begins at `starts[i]`, in ascending order, and ends where the next begins; the last ends at `toMs`. */
export interface Buckets {
  readonly starts: readonly number[];
  readonly toMs: number;
}

interface Edge {
  readonly bucket: number;
  readonly fromMs: number;
  readonly toMs: number;
}

const none = -1;

export class BucketPlan {
  /** All days that overlap a bucket. */
  readonly days: Days;
  /** Parts of buckets outside whole quarter-hours. */
  readonly edges: readonly Edge[];
  readonly #count: number;
  /** For each quarter-hour of the days, its bucket or `none`. */
  readonly #bucketOf: Int32Array;

  constructor({ starts, toMs }: Buckets) {
    this.#count = starts.length;
    this.days = { first: Math.floor((starts[0] ?? toMs) / dayMs), next: Math.ceil(toMs / dayMs) };
    this.#bucketOf = new Int32Array((this.days.next - this.days.first) * quartersPerDay).fill(none);
    const firstQuarter = this.days.first * quartersPerDay;
    const edges: Edge[] = [];
    for (const [bucket, fromMs] of starts.entries()) {
      const endMs = starts[bucket + 1] ?? toMs;
      const first = Math.ceil(fromMs / quarterMs);
      const next = Math.floor(endMs / quarterMs);
      if (first < next) {
        this.#bucketOf.fill(bucket, first - firstQuarter, next - firstQuarter);
        if (fromMs < first * quarterMs) edges.push({ bucket, fromMs, toMs: first * quarterMs });
        if (next * quarterMs < endMs) edges.push({ bucket, fromMs: next * quarterMs, toMs: endMs });
      } else if (fromMs < endMs) edges.push({ bucket, fromMs, toMs: endMs });
    }
    this.edges = edges;
  }

  /** Sums of the quarter-hours of the days, `figures` numbers per bucket, in one list. */
  sumsOf(days: readonly (readonly [day: number, quarters: string])[], figures: number): Float64Array {
    const sums = new Float64Array(this.#count * figures);
    for (const [day, quarters] of days) {
      const list = decodeQuarters(quarters, figures);
      const firstQuarter = (day - this.days.first) * quartersPerDay;
      for (let index = 0; index < list.length; index += 1 + figures) {
        const bucket = this.#bucketOf[firstQuarter + (list[index] ?? 0)] ?? none;
        if (bucket === none) continue;
        const at = bucket * figures;
        for (let figure = 0; figure < figures; figure += 1)
          sums[at + figure] = (sums[at + figure] ?? 0) + (list[index + 1 + figure] ?? 0);
      }
    }
    return sums;
  }

  /** How many of these moments are in the whole quarter-hours of each bucket. */
  countsOf(moments: readonly number[]): Float64Array {
    const counts = new Float64Array(this.#count);
    for (const ms of moments) {
      const bucket = this.#bucketOf[Math.floor(ms / quarterMs) - this.days.first * quartersPerDay] ?? none;
      if (bucket !== none) counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    return counts;
  }
}
