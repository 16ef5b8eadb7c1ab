// A small `npm run bench -- --only peer`, where Postgres is installed, and which Postgres it takes.

import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compare } from '../../bench/peer.ts';
import { findPostgres, startPostgres } from '../../bench/postgres.ts';
import { tempFolder } from '../support/folder.ts';

// Starts a database and a process twice.
t.setTimeout(300_000);

const folder = tempFolder(t);
// Postgres runs as another user if the tests run as root.
chmodSync(folder, 0o755);
process.env['BENCH_DIR'] = folder;

const found = findPostgres();
t.test(
  '[peer] searches, the inbox and sends beside Postgres, at one client and eight: every figure, nothing left',
  { skip: typeof found === 'string' ? found : false },
  async (t) => {
    if (typeof found === 'string') return;
    const rows = await compare(found, { messages: 1600, turns: 2, turnMs: 1 });
    const searches = ['common', 'rare'].flatMap((kind) =>
      ['the newest messages', 'conversations and total'].map((what) => `search for a ${kind} word, beside ${what}`),
    );
    t.same(
      rows.map(({ name, unit, target }) => [name, unit, target]),
      [...searches, 'inbox, first page', 'send'].flatMap((question) => {
        const isSearch = searches.includes(question);
        return [
          [`${question}, 1 client: p50`, 'ms', isSearch ? { below: 0.67 } : undefined],
          [`${question}, 1 client: p99`, 'ms', undefined],
          [`${question}, 1 client: CPU each`, 'ms', undefined],
          [`${question}, 1 client: each second`, '/s', undefined],
          [`${question}, 8 clients: p50`, 'ms', undefined],
          [`${question}, 8 clients: p99`, 'ms', undefined],
          [`${question}, 8 clients: CPU each`, 'ms', undefined],
          [`${question}, 8 clients: each second`, '/s', isSearch ? { atLeast: 1.5 } : undefined],
        ];
      }),
    );
    for (const { name, value, reference, ratio } of rows) {
      t.equal(reference?.name, `Postgres ${found.version}`, name);
      for (const figure of [value, reference?.value ?? 0])
        t.ok(Number.isFinite(figure) && (figure > 0 || name.endsWith('CPU each')), name);
      // A clock of 10 ms may see nothing of a short turn.
      t.same(ratio, value / (reference?.value ?? 0), name);
    }
    t.same(readdirSync(folder), []);
  },
);

t.test('[peer] the newest version that is complete is taken, and none is a reason', async (t) => {
  const versions = tempFolder(t);
  t.match(findPostgres(versions), `there is no Postgres in ${versions}`);
  t.match(findPostgres(join(versions, 'absent')), 'there is no Postgres in');
  for (const version of ['9', '15', '16', 'notes']) mkdirSync(join(versions, version, 'bin'), { recursive: true });
  t.match(findPostgres(versions), 'there is no Postgres in', 'empty folders');
  for (const version of ['9', '15']) writeFileSync(join(versions, version, 'bin', 'initdb'), '');
  const newest = findPostgres(versions);
  // As root, it depends on whether there is a user for it.
  if (typeof newest === 'string') t.match(newest, 'does not run as root');
  else t.match(newest, { version: 15, bin: join(versions, '15', 'bin') });
});

t.test('[peer] a Postgres that does not start is an error and leaves no folder', async (t) => {
  const bin = tempFolder(t);
  const program = (name: string, script: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  program('initdb', 'echo no >&2; exit 1');
  await t.rejects(startPostgres({ version: 15, bin }), { message: /initdb/ });
  program('initdb', 'exit 0');
  program('postgres', 'echo "FATAL: no data" >&2; exit 2');
  await t.rejects(startPostgres({ version: 15, bin }), { message: /Postgres ended with 2: .*no data/ });
  t.same(readdirSync(folder), []);
});
