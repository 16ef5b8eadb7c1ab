// node test/cluster/simulation/main.ts SEED [--seconds N]: runs one seed of the cluster's simulation and prints what
// happened. With --seeds N: this many from there on.

import { parseArgs } from 'node:util';
import { defaultSeconds, runClusters } from './seeds.ts';
import { ClusterSimulation } from './simulation.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seeds: { type: 'string' }, seconds: { type: 'string' } },
});
const first = Number(positionals[0] ?? 1);
const seconds = Number(values.seconds ?? defaultSeconds);

if (values.seeds === undefined) {
  const simulation = new ClusterSimulation(first);
  await simulation.run(seconds).finally(() => process.stdout.write(`${simulation.world.trace.join('\n')}\n`));
} else {
  const startedMs = performance.now();
  const { seeds, acknowledged, faults, failures } = await runClusters({ first, count: Number(values.seeds), seconds });
  const took = (performance.now() - startedMs) / 1000;
  for (const { message } of failures) process.stderr.write(`${message}\n`);
  process.stdout.write(
    `${seeds} seeds from ${first}: ${acknowledged} acknowledged, ${faults} faults, ${failures.length} failed, ${took.toFixed(1)} s\n`,
  );
  process.exitCode = failures.length === 0 ? 0 : 1;
}
