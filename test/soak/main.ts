// npm run soak -- [--minutes N] [--seed N]: an hour of a shop's work within minutes, on a service that is killed,
// restarted and disturbed. Prints what it did, and exits with 1 if anything was wrong.

import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gridOf } from '../../bench/frame.ts';
import { growthOf } from './plan.ts';
import { runSoak, type SoakReport } from './soak.ts';

const usage = `usage: npm run soak -- [--minutes 10] [--seed N]

Runs a service as a process of its own, with customers, agents on sockets, mail, tickets, handshakes, searches, reports and uploads,
faster than people are. Kills it and starts it again, fills its disk, slows it, cuts sockets, sets its clock forward and back. After
each life switchboard verify must find nothing, everything acknowledged must be there once and told once, and in the last life, the
longest, memory must stay within 5 % once it is warm.

  --minutes  how long, 0.3 at the least; memory is watched from 8 on
  --seed     plans the same lives and faults as another run that printed it

Exits with 1 when anything was not as it must be, with 2 for a command line like none of these.
`;
const maxGrowth = 0.05;
const size = { agents: 6, customers: 24 };
const thinkMs = 120;

process.exitCode = await main();

async function main(): Promise<number> {
  let values: { minutes: string; seed?: string | undefined; help: boolean };
  try {
    ({ values } = parseArgs({
      options: {
        minutes: { type: 'string', default: '10' },
        seed: { type: 'string' },
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
  const minutes = Number(values.minutes);
  if (!(minutes >= 0.3 && minutes <= 600)) return misused('--minutes is a number from 0.3 to 600');
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0) return misused('--seed is a whole number');
  process.stdout.write(`seed ${seed}, ${minutes} minutes\n`);
  return soak({ seed, minutes });
}

async function soak({ seed, minutes }: { seed: number; minutes: number }): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-soak-'));
  const ends: (() => void | Promise<void>)[] = [() => rmSync(folder, { recursive: true, force: true })];
  // However it ends, no process and no mounted disk is left behind.
  const tidy = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void tidy().then(() => process.exit(1)));
  try {
    const report = await runSoak(
      { teardown: (end) => ends.push(end) },
      { seed, seconds: minutes * 60, size, thinkMs, folder, onLine: (line) => process.stdout.write(`${line}\n`) },
    );
    const isSound = print(report);
    process.stdout.write(
      `${isSound ? 'everything was as it must be' : 'NOT everything was as it must be'}; npm run soak -- --minutes ${minutes} --seed ${seed} plans the same\n`,
    );
    return isSound ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\nseed ${seed}\n`);
    return 1;
  } finally {
    await tidy();
  }
}

/** True if nothing was wrong. */
function print({ lives, memory, ledger, skipped }: SoakReport): boolean {
  const lines = lives.map(({ seconds, faults, end, startMs, acknowledged, wrong }, index) => [
    String(index + 1),
    `${seconds.toFixed(0)} s`,
    `${startMs.toFixed(0)} ms`,
    acknowledged.toLocaleString('en-US'),
    faults.join(', '),
    end === 'kill' ? 'killed' : 'stopped',
    wrong === '' ? 'sound' : 'NOT SOUND',
  ]);
  process.stdout.write(
    `\n${gridOf([['life', 'lasted', 'started in', 'messages', 'faults', 'end', 'verify'], ...lines])}\n\n`,
  );
  const counted = [
    'messages',
    'chats',
    'tickets',
    'mails in',
    'notes',
    'uploads',
    'offers',
    'handshakes',
    'searches',
    'reports and lists',
    'events received',
    'cut sockets',
    'resumed sockets',
    'cut off',
    'refused for want of room',
    'refused by a rule',
  ];
  const growth = growthOf(memory);
  const isFlat = growth === undefined || growth <= maxGrowth;
  const memoryText =
    growth === undefined
      ? 'too short to be watched'
      : `${memory.map(({ mb }) => mb.toFixed(0)).join(', ')} MB: ${(growth * 100).toFixed(1)} % ${isFlat ? 'met' : 'MISSED'} (≤ ${maxGrowth * 100} %)`;
  process.stdout.write(
    `${gridOf([['what', 'how much'], ...counted.map((what) => [what, ledger.of(what).toLocaleString('en-US')]), ['memory once settled, over the last life', memoryText]])}\n\n`,
  );
  for (const line of skipped) process.stdout.write(`skipped: ${line}\n`);
  for (const surprise of ledger.surprises) process.stdout.write(`not as it must be: ${surprise}\n`);
  if (ledger.of('surprises') > ledger.surprises.length)
    process.stdout.write(`… and ${ledger.of('surprises') - ledger.surprises.length} more\n`);
  return isFlat && ledger.of('surprises') === 0;
}

function misused(problem: string): number {
  process.stderr.write(`soak: ${problem}\nTry: npm run soak -- --help\n`);
  return 2;
}
