import t from 'tap';
import { defects, rareDefects } from './simulation/defects.ts';
import { defaultSeconds, runClusters } from './simulation/seeds.ts';

/** Each is found before. */
const maxSeeds = 200;

/** Set for a longer run, for example overnight. */
const isLong = process.env['SIMULATION_SEEDS'] !== undefined;

t.setTimeout(600_000);

t.test('deliberate defects of a cluster are found', { timeout: 600_000 }, async (t) => {
  for (const { name, finding, plant } of [...defects, ...(isLong ? rareDefects : [])]) {
    const remove = plant();
    try {
      const { seeds, failures } = await runClusters({
        first: 1,
        count: maxSeeds,
        seconds: defaultSeconds,
        maxFailures: 1,
      });
      t.match(failures[0]?.message, finding, `${name}: after ${seeds} seeds`);
    } finally {
      remove();
    }
  }
});
