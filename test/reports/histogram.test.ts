import t from 'tap';
import { addBins, type Bins, binOf, Durations, encodeBins, relativeError } from '../../store/reports/histogram.ts';
import { randomFrom } from '../support/seeded.ts';

/** The smallest value that is not below the share q of them. */
const exact = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(q * values.length)) - 1] ?? 0;

t.test('[4.13] a quantile of counted durations is within one percent of the exact one', async (t) => {
  const random = randomFrom(7);
  const shapes: Record<string, () => number> = {
    even: () => 1 + random.below(100_000),
    'from milliseconds to years': () => Math.round(Math.exp(random.next() * 26)),
    'two humps': () => (random.chance(0.5) ? 20_000 + random.below(5000) : 80_000_000 + random.below(9_000_000)),
    'all alike': () => 61_337,
    tiny: () => random.below(4),
  };
  for (const [shape, draw] of Object.entries(shapes)) {
    for (const count of [1, 2, 3, 10, 1000]) {
      const values = Array.from({ length: count }, draw);
      const bins: Bins = new Map();
      for (const value of values) bins.set(binOf(value), (bins.get(binOf(value)) ?? 0) + 1);
      const counted = new Durations();
      counted.addEncoded(encodeBins(bins));
      const single = new Durations();
      for (const value of values) single.add(value);
      for (const q of [0, 0.1, 0.5, 0.9, 0.99, 1]) {
        const is = exact(values, q);
        t.ok(
          Math.abs((counted.medianAndQuantile(q).quantile ?? 0) - is) <= Math.max(1, is * relativeError),
          `${shape}, ${count}, ${q}: ${counted.medianAndQuantile(q).quantile} for ${is}`,
        );
        t.equal(single.medianAndQuantile(q).quantile, is, 'exact when each was added itself');
      }
    }
  }
});

t.test('[4.13] the median of an even number is the mean of the two in the middle', async (t) => {
  const medianOf = (...values: number[]): number | undefined => {
    const durations = new Durations();
    for (const value of values) durations.add(value);
    return durations.medianAndQuantile(0.5).median;
  };
  t.equal(medianOf(), undefined);
  t.equal(medianOf(7), 7);
  t.equal(medianOf(12_990, 5_551.9), 9_270.95);
  t.equal(medianOf(3, 1, 2), 2);
  t.equal(medianOf(1, 2, 3, 10), 2.5);
  const counted = new Durations();
  counted.addEncoded(
    encodeBins(
      new Map([
        [binOf(1000), 2],
        [binOf(3000), 1],
        [binOf(9000), 1],
      ]),
    ),
  );
  t.ok(
    Math.abs((counted.medianAndQuantile(0.5).median ?? 0) - 2000) <= 2000 * relativeError,
    `${counted.medianAndQuantile(0.5).median} of counted ones`,
  );
});

t.test('[4.13] none, mixed, beyond the last bin', async (t) => {
  const apart = new Durations();
  apart.add(1234);
  apart.addEncoded(' ');
  t.equal(apart.medianAndQuantile(0.5).median, 1234, 'exact beside lists without bins');
  t.equal(new Durations().medianAndQuantile(0.5).quantile, undefined);
  t.equal(new Durations().medianAndQuantile(0.5).median, undefined);
  const gone = new Durations();
  gone.addEncoded(encodeBins(new Map([[5, 0]])));
  t.equal(gone.medianAndQuantile(0.5).quantile, undefined);
  t.equal(gone.medianAndQuantile(0.5).median, undefined);
  const mixed = new Durations();
  mixed.addEncoded(encodeBins(new Map([[binOf(1000), 2]])));
  mixed.add(5000);
  t.ok(Math.abs((mixed.medianAndQuantile(0.5).quantile ?? 0) - 1000) <= 10);
  t.ok(Math.abs((mixed.medianAndQuantile(1).quantile ?? 0) - 5000) <= 50);
  const bins: Bins = new Map([
    [3, -2],
    [9, 1],
  ]);
  addBins(bins, encodeBins(new Map([[3, 2]])));
  t.equal(encodeBins(bins).length, 2, 'an empty bin takes no room');
  const wide: Bins = new Map([
    [0, 1],
    [127, 127],
    [128, 128],
    [2047, 2 ** 31 - 1],
  ]);
  const back: Bins = new Map();
  addBins(back, encodeBins(wide));
  t.strictSame([...back], [...wide], 'small and large numbers');
  const joined: Bins = new Map();
  addBins(joined, `${encodeBins(wide)} ${encodeBins(wide)}  ${encodeBins(new Map([[5, 40]]))}`);
  t.strictSame(joined.get(2047), 2 ** 32 - 2, 'lists that SQL put together');
  t.strictSame([joined.get(0), joined.get(127), joined.get(5)], [2, 254, 40]);
  t.ok(Number.isFinite(binOf(Number.MAX_SAFE_INTEGER)));
});
