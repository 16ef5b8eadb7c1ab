import t from 'tap';
import { defaultSeconds, runClusters } from './simulation/seeds.ts';
import { ClusterSimulation } from './simulation/simulation.ts';

/** A longer run, for example overnight, sets more. */
const count = Number(process.env['SIMULATION_SEEDS'] ?? 12);

t.setTimeout(1000 * Math.max(300, count));

t.test('whatever happens to a cluster, every promise is kept', { timeout: 1000 * Math.max(300, count) }, async (t) => {
  const { seeds, acknowledged, faults, failures } = await runClusters({ first: 1, count, seconds: defaultSeconds });
  for (const { message } of failures) t.fail(message);
  t.comment(`${seeds} seeds, ${acknowledged} acknowledged, ${faults} faults`);
  if (failures.length > 0) return;
  t.equal(seeds, count);
  t.ok(faults > 10 * seeds, 'much went wrong');
  t.ok(acknowledged > 100 * seeds, 'and much was done');
});

t.test('the same seed is the same run of a cluster', async (t) => {
  const prints: string[] = [];
  for (const seed of [7, 7, 8]) {
    const simulation = new ClusterSimulation(seed);
    await simulation.run(defaultSeconds);
    prints.push(simulation.fingerprint());
  }
  t.equal(prints[1], prints[0]);
  t.not(prints[2], prints[0], 'another seed is another run');
});
