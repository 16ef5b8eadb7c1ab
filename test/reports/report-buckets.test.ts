import t from 'tap';
import { bucketStarts } from '../../engine/workspace/time-zones.ts';
import { BucketPlan } from '../../store/reports/buckets.ts';
import { encodeQuarters, quarterMs, quartersPerDay } from '../../store/reports/quarters.ts';
import { dayMs } from '../../store/reports/rollups.ts';
import { type Random, randomFrom } from '../support/seeded.ts';

const fromMs = Date.UTC(2026, 0, 20);

/**
 * Random cuts: buckets from minutes to months, on quarters of an hour and off them, with ends in the middle of a day.
 */
function randomBuckets(random: Random): { starts: number[]; toMs: number } {
  const lengthMs = random.pick([5 * 60_000, quarterMs, 4 * quarterMs, 90 * 60_000, dayMs, 7 * dayMs, 40 * dayMs]);
  const starts = [
    fromMs +
      random.below(20) * dayMs +
      (random.chance(0.5) ? random.below(dayMs) : random.below(quartersPerDay) * quarterMs),
  ];
  for (let count = random.below(60); count > 0; count -= 1)
    starts.push((starts.at(-1) ?? 0) + lengthMs + (random.chance(0.1) ? random.below(2 * quarterMs) : 0));
  return { starts, toMs: (starts.at(-1) ?? 0) + 1 + random.below(lengthMs) };
}

t.test('[4.13] every moment is counted in its bucket: by whole quarters of an hour, or at an edge', async (t) => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const random = randomFrom(seed);
    const buckets = randomBuckets(random);
    const { starts, toMs } = buckets;
    const beginMs = (starts[0] ?? 0) - 2 * dayMs;
    const moments = Array.from({ length: 500 }, () => beginMs + random.below(toMs + 2 * dayMs - beginMs));
    const bucketOf = (ms: number): number => (ms >= toMs ? -1 : starts.findLastIndex((start) => start <= ms));
    const expected = starts.map((_, bucket) => moments.filter((ms) => bucketOf(ms) === bucket).length);

    const plan = new BucketPlan(buckets);
    const within = moments.filter((ms) => ms >= plan.days.first * dayMs && ms < plan.days.next * dayMs);
    const [byMoments, byQuarters] = [[...plan.countsOf(within)], [...plan.sumsOf(daysOf(within), 1)]];
    for (const edge of plan.edges)
      for (const counts of [byMoments, byQuarters])
        counts[edge.bucket] =
          (counts[edge.bucket] ?? 0) + moments.filter((ms) => ms >= edge.fromMs && ms < edge.toMs).length;
    t.strictSame([byMoments, byQuarters], [expected, expected], `seed ${seed}`);
  }
});

t.test('[4.13] buckets of hours grow, where clocks change by half an hour', async (t) => {
  for (const changeMs of [Date.UTC(2026, 3, 4, 15), Date.UTC(2026, 9, 3, 15, 30)]) {
    for (let index = 0; index < 40; index += 1) {
      const range = { fromMs: changeMs + (index - 20) * 5 * 60_000, toMs: changeMs + 20 * 3600_000 };
      const starts = bucketStarts('hour', range, 'Australia/Lord_Howe');
      const at = new Date(range.fromMs).toISOString();
      const [first = NaN, second = NaN] = starts;
      t.ok(first <= range.fromMs && second > range.fromMs, at);
      t.ok(
        starts.every((start, at) => start > (starts[at - 1] ?? 0)),
        at,
      );
    }
  }
});

function daysOf(moments: readonly number[]): [day: number, quarters: string][] {
  const days = new Map<number, Map<number, number[]>>();
  for (const ms of moments) {
    const day = Math.floor(ms / dayMs);
    const quarters = days.get(day) ?? new Map<number, number[]>();
    const quarter = Math.floor(ms / quarterMs) - day * quartersPerDay;
    days.set(day, quarters.set(quarter, [(quarters.get(quarter)?.[0] ?? 0) + 1]));
  }
  return [...days].map(([day, quarters]) => [day, encodeQuarters(quarters)]);
}
