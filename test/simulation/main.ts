// npm run simulate -- SEED [--steps N]: runs one seed and prints each step.
// npm run simulate -- --seeds N [--from SEED] [--steps N]: runs this many seeds, from a random one by default.

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { defaultSteps, runSeeds } from './seeds.ts';
import { Simulation, SimulationFailed } from './simulation.ts';

const usage =
  'usage: npm run simulate -- [SEED] [--steps N]\n       npm run simulate -- --seeds N [--from SEED] [--steps N]\n';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seeds: { type: 'string' }, from: { type: 'string' }, steps: { type: 'string' } },
});
const first = numberOf(positionals[0] ?? values.from) ?? randomInt(2 ** 31);
const steps = numberOf(values.steps) ?? defaultSteps;
const count = numberOf(values.seeds);

process.exitCode = count === undefined ? await showOne() : await runMany(count);

async function showOne(): Promise<number> {
  const simulation = new Simulation(first);
  try {
    await simulation.run(steps);
    process.stdout.write(
      `${simulation.trace.join('\n')}\nseed ${first}: ${steps} steps, ${simulation.eventCount} events, ${simulation.lives} crashes, nothing wrong\n`,
    );
    return 0;
  } catch (error) {
    if (!(error instanceof SimulationFailed)) throw error;
    process.stderr.write(`${error.trace.join('\n')}\n${error.message}\n`);
    return 1;
  }
}

async function runMany(count: number): Promise<number> {
  const startedMs = performance.now();
  const { seeds, events, crashes, failures } = await runSeeds({ first, count, steps });
  const seconds = (performance.now() - startedMs) / 1000;
  for (const { message } of failures) process.stderr.write(`${message}\n`);
  process.stdout.write(
    `${seeds} seeds from ${first}, ${steps} steps each: ${events} events, ${crashes} crashes, ${failures.length} failed; ${(seeds / seconds).toFixed(1)} seeds a second\n`,
  );
  return failures.length === 0 ? 0 : 1;
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  process.stderr.write(usage);
  process.exit(2);
}
