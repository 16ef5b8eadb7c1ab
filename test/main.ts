// npm test: every test file in a process of its own, or those that are named: node test/main.ts
// test/accounts/sites.test.ts. Writes TAP, and last how many assertions passed and failed. `tap run` would do the same,
// but has each process report every module that it loads for coverage, which nobody asks for and which takes longer
// than most files do.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

/** Many wait for a clock, a disk or a browser. */
const filesAtOnce = 2;
/** For a machine on which everything else is busy, too: who hangs fails later, who is slow does not fail. */
const fileTimeoutMs = 300_000;

const named = process.argv.slice(2);
const all = (): string[] =>
  readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => join('test', name));
const files = named.length > 0 ? named : all();

t.jobs = filesAtOnce;
// Each file has a limit of its own.
t.setTimeout(0);
const env = { ...process.env, TAP_TIMEOUT: String(fileTimeoutMs / 1000) };
// NODE_OPTIONS is how tap asks for those reports.
for (const file of files) {
  void t.spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, file], {
    name: file,
    buffered: true,
    timeout: fileTimeoutMs,
    env,
  });
}
