// npm run abuse -- [--seconds N] [--only a,b] [--list]: runs every known attack, each against a newly started service
// with a small heap and its limits on, while customers and agents of another workspace work. Prints how these were
// affected.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gridOf } from '../../bench/frame.ts';
import { attacks } from './attacks.ts';
import { judge, row, tableHead } from './judgement.ts';
import { Range } from './range.ts';

const usage = `usage: npm run abuse -- [--seconds 5] [--only name,name] [--list]

Runs each attack for this many seconds against its own service (heap of 256 MB, default limits), from one address, as fast as it can,
and watches 24 customers, an agent with a socket, a health check and sign-ins from other addresses. An attack passes if their p99 is
within three times the one before or 100 ms, nothing is refused to or broken for them, and the process stays alive and below 400 MB.
An attack that is answered by closed connections alone, or never as expected, attacked nothing and fails.

Exits with 1 if an attack fails, with 2 for a usage error.
`;
const idleSeconds = 3;

let values: { seconds: string; only?: string | undefined; list: boolean; help: boolean };
try {
  ({ values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '5' },
      only: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  process.exit(2);
}
const seconds = Number(values.seconds);
const named = values.only?.split(',');
const unknown = named?.filter((one) => !attacks.some(({ name }) => name === one)) ?? [];
if (values.help || !(seconds >= 0.5 && seconds <= 600) || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`there is no attack ${unknown.join(', ')}\n`);
  (values.help ? process.stdout : process.stderr).write(usage);
  process.exit(values.help ? 0 : 2);
}
if (values.list) {
  for (const { name, what } of attacks) process.stdout.write(`${name.padEnd(20)} ${what}\n`);
  process.exit(0);
}

const rows: string[][] = [];
let notHeld = 0;
for (const attack of attacks) {
  const { name, what } = attack;
  if (named !== undefined && !named.includes(name)) continue;
  const ends: (() => void | Promise<void>)[] = [];
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-abuse-'));
  ends.push(() => rmSync(dataDir, { recursive: true, force: true }));
  try {
    const range = await Range.open({ teardown: (end: () => void | Promise<void>) => void ends.push(end) }, { dataDir });
    await range.prepare([attack]);
    const outcome = await range.drive([attack], { idleSeconds, seconds });
    const problems = judge(outcome);
    notHeld += problems.length === 0 ? 0 : 1;
    rows.push(row(name, outcome, problems));
    process.stdout.write(`${name}: ${what}: ${problems.length === 0 ? 'held' : `NOT HELD: ${problems.join('; ')}`}\n`);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
process.stdout.write(`\n${gridOf([tableHead, ...rows])}\n\n${rows.length - notHeld} of ${rows.length} held\n`);
process.exitCode = notHeld === 0 ? 0 : 1;
