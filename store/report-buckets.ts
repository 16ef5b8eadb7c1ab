// A range cut into buckets, as series have them, and which quarters of an hour lie whole in each. What does not, at the edges of a
// range that is cut anywhere, is read from the rows themselves. Pure.

import { decodeQuarters, quarterMs, quartersPerDay } from './quarters.ts';
import type { Days } from './rollup-changes.ts';
import { dayMs, daysOfMonth, monthOf } from './rollups.ts';

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

/** What of the buckets lies in one month (UTC): some of its days, and the buckets that they have whole quarters of. */
export interface PlannedMonth {
  readonly days: Days;
  readonly firstBucket: number;
  readonly nextBucket: number;
  /** Tells of which quarters it is, and which of them lie in which bucket. */
  readonly key: string;
}

export class BucketPlan {
  readonly months: readonly PlannedMonth[];
  /** What lies in a bucket but in no whole quarter of it. */
  readonly edges: readonly Edge[];
  readonly #firstDay: number;
  /** Of each quarter from the first day on; -1 is none. */
  readonly #buckets: Int32Array;

  constructor({ starts, toMs }: Buckets) {
    const edges: Edge[] = [];
    const days = { first: Math.floor((starts[0] ?? toMs) / dayMs), next: Math.ceil(toMs / dayMs) };
    this.#firstDay = days.first;
    const firstQuarter = days.first * quartersPerDay;
    this.#buckets = new Int32Array(Math.max(0, days.next - days.first) * quartersPerDay).fill(-1);
    for (const [bucket, fromMs] of starts.entries()) {
      const endMs = starts[bucket + 1] ?? toMs;
      const first = Math.ceil(fromMs / quarterMs);
      const next = Math.floor(endMs / quarterMs);
      if (first < next) {
        this.#buckets.fill(bucket, first - firstQuarter, next - firstQuarter);
        if (fromMs < first * quarterMs) edges.push({ bucket, fromMs, toMs: first * quarterMs });
        if (next * quarterMs < endMs) edges.push({ bucket, fromMs: next * quarterMs, toMs: endMs });
      } else if (fromMs < endMs) edges.push({ bucket, fromMs, toMs: endMs });
    }
    this.edges = edges;
    this.months = monthsIn(days).map((month) => this.#planned(month)).filter(({ firstBucket, nextBucket }) => firstBucket < nextBucket);
  }

  /** Sums of what the quarters of a month's days hold, `figures` numbers each: those of its first bucket, and so on in one list. */
  sumsOf({ firstBucket, nextBucket }: PlannedMonth, days: readonly (readonly [day: number, quarters: string])[], figures: number): Int32Array {
    const sums = new Int32Array((nextBucket - firstBucket) * figures);
    for (const [day, quarters] of days) {
      const list = decodeQuarters(quarters, figures);
      const firstQuarter = (day - this.#firstDay) * quartersPerDay;
      for (let index = 0; index < list.length; index += 1 + figures) {
        const bucket = this.#buckets[firstQuarter + (list[index] ?? 0)] ?? -1;
        if (bucket === -1) continue;
        const at = (bucket - firstBucket) * figures;
        for (let figure = 0; figure < figures; figure += 1) sums[at + figure] = (sums[at + figure] ?? 0) + (list[index + 1 + figure] ?? 0);
      }
    }
    return sums;
  }

  /** How many of these moments of a month's days lie in each of its buckets. */
  countsOf({ firstBucket, nextBucket }: PlannedMonth, moments: readonly number[]): Int32Array {
    const counts = new Int32Array(nextBucket - firstBucket);
    for (const ms of moments) {
      const bucket = this.#buckets[Math.floor(ms / quarterMs) - this.#firstDay * quartersPerDay] ?? -1;
      if (bucket !== -1) counts[bucket - firstBucket] = (counts[bucket - firstBucket] ?? 0) + 1;
    }
    return counts;
  }

  #planned(days: Days): PlannedMonth {
    const key = [days.first, days.next];
    let [firstBucket, lastBucket] = [Number.POSITIVE_INFINITY, -1];
    let before = -1;
    const end = (days.next - this.#firstDay) * quartersPerDay;
    for (let quarter = (days.first - this.#firstDay) * quartersPerDay; quarter < end; quarter += 1) {
      const bucket = this.#buckets[quarter] ?? -1;
      if (bucket === before) continue;
      before = bucket;
      key.push(quarter + this.#firstDay * quartersPerDay, bucket);
      if (bucket === -1) continue;
      firstBucket = Math.min(firstBucket, bucket);
      lastBucket = bucket;
    }
    return { days, firstBucket, nextBucket: lastBucket + 1, key: key.join() };
  }
}

/** The same days, month by month. */
function monthsIn({ first, next }: Days): Days[] {
  const months: Days[] = [];
  for (let day = first; day < next; ) {
    const end = Math.min(next, daysOfMonth(monthOf(day * dayMs)).next);
    months.push({ first: day, next: end });
    day = end;
  }
  return months;
}
