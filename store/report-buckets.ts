// A range cut into buckets, as series have them, and which quarters of an hour lie whole in each. What does not, at the edges of a
// range that is cut anywhere, is read from the rows themselves. Pure.

import { quarterMs, quartersPerDay } from './quarters.ts';
import { dayMs } from './rollups.ts';

/** Each begins at one of `starts`, which grow, and ends where the next begins, the last at `toMs`. */
export interface Buckets {
  readonly starts: readonly number[];
  readonly toMs: number;
}

interface Edge {
  readonly bucket: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export class BucketPlan {
  /** Days (UTC) that have a quarter in one of them. */
  readonly days: { readonly first: number; readonly next: number };
  /** What lies in a bucket but in no whole quarter of it. */
  readonly edges: readonly Edge[];
  readonly #buckets: Int32Array;

  constructor({ starts, toMs }: Buckets) {
    const edges: Edge[] = [];
    this.days = { first: Math.floor((starts[0] ?? toMs) / dayMs), next: Math.ceil(toMs / dayMs) };
    const firstQuarter = this.days.first * quartersPerDay;
    this.#buckets = new Int32Array(Math.max(0, this.days.next - this.days.first) * quartersPerDay).fill(-1);
    for (const [bucket, fromMs] of starts.entries()) {
      const endMs = starts[bucket + 1] ?? toMs;
      const first = Math.ceil(fromMs / quarterMs);
      const next = Math.floor(endMs / quarterMs);
      if (first < next) {
        this.#buckets.fill(bucket, first - firstQuarter, next - firstQuarter);
        edges.push({ bucket, fromMs, toMs: first * quarterMs }, { bucket, fromMs: next * quarterMs, toMs: endMs });
      } else edges.push({ bucket, fromMs, toMs: endMs });
    }
    this.edges = edges.filter((edge) => edge.fromMs < edge.toMs);
  }

  /** The bucket that the quarter lies in. */
  bucketOf(day: number, quarter: number): number | undefined {
    const bucket = this.#buckets[(day - this.days.first) * quartersPerDay + quarter] ?? -1;
    return bucket === -1 ? undefined : bucket;
  }
}
