import t from 'tap';
import { bucketStarts, isoWithOffset, labelledBuckets } from '../../engine/workspace/time-zones.ts';
import { BucketPlan } from '../../store/reports/buckets.ts';
import { encodeQuarters, quarterMs, quartersPerDay } from '../../store/reports/quarters.ts';
import { dayMs } from '../../store/reports/rollups.ts';
import { type Random, randomFrom } from '../support/seeded.ts';

const fromMs = Date.UTC(2026, 0, 20);

/**
 * Cut anywhere: buckets of minutes and of months, on quarters of an hour and beside them, with ends in the middle of a
 * day.
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

t.test('[4.13] every moment is counted in its bucket: by whole quarters of a month, or at an edge', async (t) => {
  const known = new Map<string, string>();
  for (let seed = 1; seed <= 100; seed += 1) {
    const random = randomFrom(seed);
    const buckets = randomBuckets(random);
    const { starts, toMs } = buckets;
    const beginMs = (starts[0] ?? 0) - 2 * dayMs;
    const moments = Array.from({ length: 500 }, () => beginMs + random.below(toMs + 2 * dayMs - beginMs));
    const bucketOf = (ms: number): number => (ms >= toMs ? -1 : starts.findLastIndex((start) => start <= ms));
    const expected = starts.map((_, bucket) => moments.filter((ms) => bucketOf(ms) === bucket).length);

    const plan = new BucketPlan(buckets);
    const [byMoments, byQuarters] = [starts.map(() => 0), starts.map(() => 0)] as [number[], number[]];
    const add = (counts: number[], bucket: number, count: number): void => {
      counts[bucket] = (counts[bucket] ?? 0) + count;
    };
    for (const edge of plan.edges)
      for (const counts of [byMoments, byQuarters])
        add(counts, edge.bucket, moments.filter((ms) => ms >= edge.fromMs && ms < edge.toMs).length);
    for (const month of plan.months) {
      const within = moments.filter((ms) => ms >= month.days.first * dayMs && ms < month.days.next * dayMs);
      plan.countsOf(month, within).forEach((count, index) => add(byMoments, month.firstBucket + index, count));
      plan
        .sumsOf(month, daysOf(within), 1)
        .forEach((count, index) => add(byQuarters, month.firstBucket + index, count));
      // What tells months apart tells of all that lies in them.
      const all = Array.from(
        { length: (month.days.next - month.days.first) * quartersPerDay },
        (_, quarter) => month.days.first * dayMs + quarter * quarterMs,
      );
      const told = `${all.map((ms) => bucketOfQuarter(plan, ms, buckets)).map((bucket) => (bucket === -1 ? -1 : bucket - month.firstBucket))}`;
      if ((known.get(month.key) ?? told) !== told) t.fail(`seed ${seed}: two months of the key ${month.key}`);
      known.set(month.key, told);
    }
    if (`${byMoments}` !== `${expected}` || `${byQuarters}` !== `${expected}`)
      t.fail(`seed ${seed}: ${byMoments} and ${byQuarters}, not ${expected}`);
    if (plan.months.some(({ days }) => days.first < plan.days.first || days.next > plan.days.next))
      t.fail(`seed ${seed}: a month beyond all days`);
  }
  t.ok(known.size > 150);
});

t.test(
  '[4.13] buckets of hours grow, and do not depend on what was asked for before, where clocks are set by half an hour',
  async (t) => {
    const zone = 'Australia/Lord_Howe';
    for (const changeMs of [Date.UTC(2026, 3, 4, 15), Date.UTC(2026, 9, 3, 15, 30)]) {
      const ranges = Array.from({ length: 40 }, (_, index) => ({
        fromMs: changeMs + (index - 20) * 5 * 60_000,
        toMs: changeMs + 20 * 3600_000,
      }));
      const asked = [...ranges, ...randomFrom(5).shuffled(ranges)];
      for (const range of asked) {
        const { starts } = labelledBuckets('hour', range, zone);
        const at = new Date(range.fromMs).toISOString();
        if (`${starts}` !== `${bucketStarts('hour', range, zone)}`)
          t.fail(`${at}: ${starts.slice(0, 3).map((start) => new Date(start).toISOString())}`);
        const [first = NaN, second = NaN] = starts;
        t.ok(first <= range.fromMs && second > range.fromMs, at);
        t.ok(
          starts.every((start, index) => start > (starts[index - 1] ?? 0)),
          at,
        );
        t.equal(labelledBuckets('hour', range, zone).starts, starts, 'known a moment later');
      }
    }
  },
);

t.test('[4.13] a few dozen lists of buckets are kept, the newest', async (t) => {
  const ofMonth = (month: number) =>
    labelledBuckets('day', { fromMs: Date.UTC(2020, month, 1), toMs: Date.UTC(2020, month, 20) }, 'UTC');
  const first = ofMonth(0);
  for (let month = 1; month < 32; month += 1) ofMonth(month);
  t.equal(ofMonth(0), first);
  ofMonth(32);
  t.not(ofMonth(0), first);
});

t.test('[4.13] months of other buckets have other keys', async (t) => {
  const [minuteMs, hourMs] = [60_000, 3600_000];
  // All begin at one moment, many have as many buckets, some end at one moment.
  const cuts = [
    [0, 1, 2, 4],
    [0, 1, 3, 4],
    [0, 2, 3, 4],
    [0, 1, 2, 3],
    [0, 1, 2, 3, 4],
    [0, 2, 4],
    [0, 2, 4, 6],
    [0, 1 + 1 / 60, 2, 3],
    [0, 1, 2 + 1 / 60, 3],
    [0, 1, 2 + 1 / 60, 3.25],
    [0, 1.25, 2.25, 3.25],
    [0, 1, 1 + 20 / 60, 1.5, 2.5],
    [0, 1, 1.5, 2.5],
  ];
  const keys = cuts.map((hours) => {
    const starts = hours.slice(0, -1).map((hour) => fromMs + Math.round(hour * 60) * minuteMs);
    return new BucketPlan({ starts, toMs: fromMs + (hours.at(-1) ?? 0) * hourMs }).months.map(({ key }) => key).join();
  });
  t.equal(new Set(keys).size, cuts.length, keys.join(' '));
});

/** The bucket that a whole quarter lies in. */
function bucketOfQuarter(
  plan: BucketPlan,
  ms: number,
  { starts, toMs }: { starts: readonly number[]; toMs: number },
): number {
  if (plan.edges.some((edge) => edge.fromMs < ms + quarterMs && edge.toMs > ms)) return -1;
  return ms >= toMs ? -1 : starts.findLastIndex((start) => start <= ms);
}

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

t.test('[4.13] buckets that are kept are those of the range, whatever was asked for before', async (t) => {
  const random = randomFrom(7);
  const lengths = { hour: 31 * dayMs, day: 365 * dayMs, week: 365 * dayMs, month: 365 * dayMs };
  const zones = ['Europe/Berlin', 'UTC', 'Australia/Lord_Howe', 'America/St_Johns'];
  for (let round = 0; round < 1500; round += 1) {
    const granularity = random.pick(['hour', 'day', 'week', 'month'] as const);
    const zone = random.pick(zones);
    // Few of them, so that many are asked for again: a little later, or up to the very end of a bucket.
    const beginMs = Date.UTC(2026, random.below(3), 1) + random.below(3) * 20 * 60_000 + random.below(2);
    const endMs = beginMs + Math.floor((lengths[granularity] * (1 + random.below(4))) / 4) - random.below(3);
    const range = {
      fromMs: beginMs,
      toMs: random.chance(0.3)
        ? (bucketStarts(granularity, { fromMs: beginMs, toMs: endMs }, zone).at(-1) ?? 0)
        : endMs,
    };
    if (range.toMs <= range.fromMs) continue;
    const { starts, labels } = labelledBuckets(granularity, range, zone);
    const expected = bucketStarts(granularity, range, zone);
    if (`${starts}` !== `${expected}`)
      t.strictSame(
        starts,
        expected,
        `${granularity} ${zone} ${new Date(range.fromMs).toISOString()} ${new Date(range.toMs).toISOString()}`,
      );
    if (`${labels}` !== `${expected.map((start) => isoWithOffset(start, zone))}`)
      t.fail(`labels of ${granularity} ${zone}`);
  }
  const range = { fromMs: Date.UTC(2026, 4, 1, 12), toMs: Date.UTC(2026, 4, 20, 12) };
  const first = labelledBuckets('day', range, 'UTC');
  t.equal(
    labelledBuckets('day', { fromMs: range.fromMs + 1000, toMs: range.toMs + 1000 }, 'UTC'),
    first,
    'a second later they are the same',
  );
  t.not(labelledBuckets('day', { ...range, toMs: range.toMs + dayMs }, 'UTC'), first);
});
