// npm run cluster:chaos -- [--rounds 30] [--seed N] [--workspaces 12] [--alone]: nodes and NATS servers that are killed,
// paused and cut off while clients work at all of them. Prints a row per round, and exits with 1 if anything is lost,
// doubled, unordered or otherwise wrong.

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { gridOf } from '../../../bench/frame.ts';
import { Ends, interrupted } from '../../support/ends.ts';
import { skip } from '../../support/nats.ts';
import { type ChaosOptions, type ChaosReport, type RoundReport, runChaos } from './chaos.ts';

const usage = `usage: npm run cluster:chaos -- [--rounds 30] [--seed N] [--workspaces 12] [--alone]

Starts three NATS servers and three nodes, with clients of every workspace at all of them: agents and visitors who write over HTTP and
sockets, offers with deadlines, tickets that are mailed, webhooks, settings, new workspaces and invitations. In each round one fault:
kill -9 of a node, in half of these with its data folder; kill -9 of a NATS server; SIGSTOP of a node for longer than its lease; a
node cut off from NATS and not from its clients. After each round every node must have everything acknowledged once and in order, and
every socket must have told it once and in order.

  --rounds      1 to 500
  --seed        plans the same faults and choices as another run that printed it
  --workspaces  1 to 200
  --alone       one ordinary node without NATS, which is killed and paused: whether the run itself works

Exits with 1 when anything was not as it must be, with 2 for a command line like none of these.
`;
const alone = { nodes: 1, nats: 0 };
const whole = { nodes: 3, nats: 3 };

process.exitCode = await main();

async function main(): Promise<number> {
  let values: { rounds: string; seed?: string | undefined; workspaces: string; alone: boolean; help: boolean };
  try {
    ({ values } = parseArgs({
      options: {
        rounds: { type: 'string', default: '30' },
        seed: { type: 'string' },
        workspaces: { type: 'string', default: '12' },
        alone: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }));
  } catch (error) {
    return misused(error instanceof Error ? error.message : String(error));
  }
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const [rounds, workspaces] = [Number(values.rounds), Number(values.workspaces)];
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 500)
    return misused('--rounds is a whole number from 1 to 500');
  if (!Number.isInteger(workspaces) || workspaces < 1 || workspaces > 200)
    return misused('--workspaces is a whole number from 1 to 200');
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0) return misused('--seed is a whole number');
  if (!values.alone && skip !== false) {
    process.stderr.write(`cluster:chaos: ${skip}\n`);
    return 1;
  }
  process.stdout.write(`seed ${seed}, ${rounds} rounds, ${workspaces} workspaces\n`);
  return run({
    seed,
    rounds,
    workspaces,
    size: values.alone ? alone : whole,
    thinkMs: 500,
    pausedMs: 12_000,
    lastsMs: { least: 2000, most: 15_000 },
    patienceMs: 45_000,
    offersMs: 75_000,
    outsideMs: 400_000,
    onRound: (report) => process.stdout.write(`round ${cellsOf(report).join(', ')}\n`),
  });
}

async function run(options: ChaosOptions): Promise<number> {
  const ends = new Ends();
  try {
    const report = await Promise.race([runChaos(ends, options), interrupted()]);
    if (report === 'interrupted') return 1;
    print(report);
    const isSound = report.findings.total === 0;
    process.stdout.write(
      `\n${isSound ? 'everything was as it must be' : 'NOT everything was as it must be'}; --rounds ${options.rounds} --workspaces ${options.workspaces} --seed ${options.seed} plans the same\n`,
    );
    return isSound ? 0 : 1;
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\nseed ${options.seed}\n`,
    );
    return 1;
  } finally {
    await ends.close();
  }
}

function print({ rounds, findings, totals }: ChaosReport): void {
  const head = [
    'round',
    'fault',
    'first write p50',
    'p99',
    'max',
    'acknowledged',
    'refused',
    'lost',
    'doubled',
    'unordered',
    'wrong',
  ];
  const counted = Object.entries(totals).map(([what, count]) => [what, count.toLocaleString('en-US')]);
  process.stdout.write(
    `\n${gridOf([head, ...rounds.map(cellsOf)])}\n\n${gridOf([['what', 'how much'], ...counted])}\n\n`,
  );
  for (const text of findings.texts) process.stdout.write(`${text}\n`);
  if (findings.total > findings.texts.length)
    process.stdout.write(`… and ${findings.total - findings.texts.length} more\n`);
}

function cellsOf({
  round,
  fault,
  firstMs,
  acknowledged,
  refused,
  lost,
  doubled,
  unordered,
  wrong,
}: RoundReport): string[] {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
  return [
    `${round}`,
    fault,
    seconds(firstMs.p50),
    seconds(firstMs.p99),
    seconds(firstMs.max),
    ...[acknowledged, refused, lost, doubled, unordered, wrong].map((count) => count.toLocaleString('en-US')),
  ];
}

function misused(problem: string): number {
  process.stderr.write(`cluster:chaos: ${problem}\n${usage}`);
  return 2;
}
