// `npm run bench`: every bench, one after the other, one table and one file of figures.

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Bench, medianOf, type Row, tableOf } from './frame.ts';
import { describeMachine } from './machine.ts';

/** In this order. A new bench is a file that exports run() and a line here. */
const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  sends: () => import('./sends.ts'),
  'socket-calls': () => import('./socket-calls.ts'),
  reads: () => import('./reads.ts'),
  latency: () => import('./latency.ts'),
  'fan-out': () => import('./fan-out.ts'),
  calls: () => import('./calls.ts'),
  search: () => import('./search.ts'),
  'search-million': () => import('./search-million.ts'),
  'large-mail': () => import('./large-mail.ts'),
  extraction: () => import('./extraction.ts'),
  retrieval: () => import('./retrieval.ts'),
  reports: () => import('./reports.ts'),
  pages: () => import('./pages.ts'),
  start: () => import('./start.ts'),
  backup: () => import('./backup.ts'),
  million: () => import('./million.ts'),
  peer: () => import('./peer.ts'),
  workspaces: () => import('./workspaces.ts'),
  mixed: () => import('./mixed.ts'),
  memory: () => import('./memory.ts'),
  cluster: () => import('./cluster.ts'),
};

const usage = `npm run bench -- [--quick] [--runs 3] [--only sends,memory] [--out figures.json]

  --quick  two seconds a measurement instead of ten: whether it works, not how fast it is
  --runs   how often each is run; the table shows the middle one, figure by figure
  --only   some of ${Object.keys(benches).join(', ')}
  --out    where the figures go as JSON, with the machine and the date
`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    runs: { type: 'string', default: '1' },
    only: { type: 'string' },
    out: { type: 'string', default: 'bench/figures.json' },
    help: { type: 'boolean', default: false },
  },
});
const names = values.only?.split(',') ?? Object.keys(benches);
const runs = Number(values.runs);
const unknown = names.filter((name) => benches[name] === undefined);
if (values.help || unknown.length > 0 || !Number.isInteger(runs) || runs < 1) {
  if (unknown.length > 0) process.stderr.write(`there is no bench ${unknown.join(', ')}\n`);
  process.stderr.write(usage);
  process.exit(values.help ? 0 : 1);
}

const machine = describeMachine();
const startedAt = new Date().toISOString();
const figures: { bench: string; rows: readonly Row[] }[] = [];
for (const name of names) {
  const bench = await benches[name]?.();
  if (bench === undefined) continue;
  const results: Row[][] = [];
  for (let count = 1; count <= runs; count += 1) {
    process.stderr.write(`${name}${runs === 1 ? '' : ` ${count} of ${runs}`} …\n`);
    results.push(await bench.run({ quick: values.quick }));
  }
  figures.push({ bench: name, rows: medianOf(results) });
}

writeFileSync(
  values.out,
  `${JSON.stringify({ startedAt, endedAt: new Date().toISOString(), quick: values.quick, runs, machine, figures }, null, 2)}\n`,
);
process.stdout.write(`${tableOf(figures.flatMap(({ rows }) => rows))}\n`);
process.stderr.write(`\n${values.out} has the figures, the machine and the date.\n`);
