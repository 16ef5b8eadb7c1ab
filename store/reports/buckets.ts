// Divides a range into the buckets of a series, and finds the whole quarter-hours in each. The remainders at the edges
// are read from the rows themselves. Pure.

import type { Days } from './changes.ts';
import { decodeQuarters, quarterMs, quartersPerDay } from './quarters.ts';
import { dayMs, daysOfMonth, monthOf } from './rollups.ts';

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

/** Consecutive quarter-hours since 1970. */
interface Quarters {
  readonly first: number;
  readonly next: number;
}

/** The part of the buckets in one month (UTC): its days, and the buckets with whole quarter-hours on them. */
export interface PlannedMonth {
  readonly days: Days;
  readonly firstBucket: number;
  readonly nextBucket: number;
  /** Identifies the quarter-hours and their assignment to buckets. */
  readonly key: string;
}

export class BucketPlan {
  /** All days that overlap a bucket. */
  readonly days: Days;
  readonly months: readonly PlannedMonth[];
  /** Parts of buckets outside whole quarter-hours. */
  readonly edges: readonly Edge[];
  /** For each bucket; none if the first is not before the next. */
  readonly #whole: readonly Quarters[];

  constructor({ starts, toMs }: Buckets) {
    const edges: Edge[] = [];
    this.days = { first: Math.floor((starts[0] ?? toMs) / dayMs), next: Math.ceil(toMs / dayMs) };
    this.#whole = starts.map((fromMs, bucket) => {
      const endMs = starts[bucket + 1] ?? toMs;
      const first = Math.ceil(fromMs / quarterMs);
      const next = Math.floor(endMs / quarterMs);
      if (first < next) {
        if (fromMs < first * quarterMs) edges.push({ bucket, fromMs, toMs: first * quarterMs });
        if (next * quarterMs < endMs) edges.push({ bucket, fromMs: next * quarterMs, toMs: endMs });
      } else if (fromMs < endMs) edges.push({ bucket, fromMs, toMs: endMs });
      return { first, next };
    });
    this.edges = edges;
    this.months = this.#planned();
  }

  /** Sums of the quarter-hours of a month's days, `figures` numbers per bucket, in one list. */
  sumsOf(
    month: PlannedMonth,
    days: readonly (readonly [day: number, quarters: string])[],
    figures: number,
  ): Int32Array {
    const sums = new Int32Array((month.nextBucket - month.firstBucket) * figures);
    const buckets = this.#bucketsOf(month);
    for (const [day, quarters] of days) {
      const list = decodeQuarters(quarters, figures);
      const firstQuarter = (day - month.days.first) * quartersPerDay;
      for (let index = 0; index < list.length; index += 1 + figures) {
        const bucket = buckets[firstQuarter + (list[index] ?? 0)] ?? -1;
        if (bucket === -1) continue;
        const at = bucket * figures;
        for (let figure = 0; figure < figures; figure += 1)
          sums[at + figure] = (sums[at + figure] ?? 0) + (list[index + 1 + figure] ?? 0);
      }
    }
    return sums;
  }

  /** How many of these moments of a month's days are in each of its buckets. */
  countsOf(month: PlannedMonth, moments: readonly number[]): Int32Array {
    const counts = new Int32Array(month.nextBucket - month.firstBucket);
    const buckets = this.#bucketsOf(month);
    for (const ms of moments) {
      const bucket = buckets[Math.floor(ms / quarterMs) - month.days.first * quartersPerDay] ?? -1;
      if (bucket !== -1) counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    return counts;
  }

  /** For each quarter-hour of a month's days, its bucket relative to the month's first; -1 is none. */
  #bucketsOf({ days, firstBucket, nextBucket }: PlannedMonth): Int32Array {
    const buckets = new Int32Array((days.next - days.first) * quartersPerDay).fill(-1);
    const firstQuarter = days.first * quartersPerDay;
    for (let bucket = firstBucket; bucket < nextBucket; bucket += 1) {
      const { first, next } = this.#whole[bucket] ?? none;
      buckets.fill(bucket - firstBucket, Math.max(0, first - firstQuarter), Math.max(0, next - firstQuarter));
    }
    return buckets;
  }

  /** Iterates over buckets, not quarter-hours: a year has 365 of the former and 35,000 of the latter. */
  #planned(): PlannedMonth[] {
    const months: PlannedMonth[] = [];
    let bucket = 0;
    for (const days of monthsIn(this.days)) {
      const of = { first: days.first * quartersPerDay, next: days.next * quartersPerDay };
      const key: number[] = [days.first, days.next];
      let [firstBucket, nextBucket] = [-1, -1];
      // Consecutive buckets of the same length are encoded together: start, length, count.
      let run = { next: -1, length: -1, bucket: -1 };
      for (; bucket < this.#whole.length; bucket += 1) {
        const whole = this.#whole[bucket] ?? none;
        if (whole.first >= of.next) break;
        const [first, next] = [Math.max(whole.first, of.first), Math.min(whole.next, of.next)];
        if (first < next) {
          if (firstBucket === -1) firstBucket = bucket;
          nextBucket = bucket + 1;
          if (run.next === first && run.length === next - first && run.bucket + 1 === bucket)
            key[key.length - 1] = (key.at(-1) ?? 0) + 1;
          else key.push(bucket - firstBucket, first, next - first, 1);
          run = { next, length: next - first, bucket };
        }
        // The rest of it is in the next month.
        if (whole.next > of.next) break;
      }
      if (firstBucket !== -1) months.push({ days, firstBucket, nextBucket, key: key.join() });
    }
    return months;
  }
}

const none: Quarters = { first: 0, next: 0 };

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
