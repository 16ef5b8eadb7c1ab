// A range cut into buckets, as series have them, and which quarters of an hour lie whole in each. What does not, at the
// edges of a range that is cut anywhere, is read from the rows themselves. Pure.

import type { Days } from './changes.ts';
import { decodeQuarters, quarterMs, quartersPerDay } from './quarters.ts';
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

/** Quarters in a row since 1970. */
interface Quarters {
  readonly first: number;
  readonly next: number;
}

/** What of the buckets lies in one month (UTC): some of its days, and the buckets that they have whole quarters of. */
export interface PlannedMonth {
  readonly days: Days;
  readonly firstBucket: number;
  readonly nextBucket: number;
  /** Tells of which quarters it is, and which of them lie in which bucket, from the first on. */
  readonly key: string;
}

export class BucketPlan {
  /** All that a bucket has anything of. */
  readonly days: Days;
  readonly months: readonly PlannedMonth[];
  /** What lies in a bucket but in no whole quarter of it. */
  readonly edges: readonly Edge[];
  /** Of each bucket; none when the first is not before the next. */
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

  /**
   * Sums of what the quarters of a month's days hold, `figures` numbers each: those of its first bucket, and so on in
   * one list.
   */
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

  /** How many of these moments of a month's days lie in each of its buckets. */
  countsOf(month: PlannedMonth, moments: readonly number[]): Int32Array {
    const counts = new Int32Array(month.nextBucket - month.firstBucket);
    const buckets = this.#bucketsOf(month);
    for (const ms of moments) {
      const bucket = buckets[Math.floor(ms / quarterMs) - month.days.first * quartersPerDay] ?? -1;
      if (bucket !== -1) counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    return counts;
  }

  /** Of each quarter of a month's days, how far its bucket is from the month's first; -1 is none. */
  #bucketsOf({ days, firstBucket, nextBucket }: PlannedMonth): Int32Array {
    const buckets = new Int32Array((days.next - days.first) * quartersPerDay).fill(-1);
    const firstQuarter = days.first * quartersPerDay;
    for (let bucket = firstBucket; bucket < nextBucket; bucket += 1) {
      const { first, next } = this.#whole[bucket] ?? none;
      buckets.fill(bucket - firstBucket, Math.max(0, first - firstQuarter), Math.max(0, next - firstQuarter));
    }
    return buckets;
  }

  /** By the buckets, not by the quarters: a year has 365 of the ones and 35,000 of the others. */
  #planned(): PlannedMonth[] {
    const months: PlannedMonth[] = [];
    let bucket = 0;
    for (const days of monthsIn(this.days)) {
      const of = { first: days.first * quartersPerDay, next: days.next * quartersPerDay };
      const key: number[] = [days.first, days.next];
      let [firstBucket, nextBucket] = [-1, -1];
      // Buckets of one length that follow each other are told together: where they begin, their length, how many.
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
        // The rest of it lies in the next month.
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
