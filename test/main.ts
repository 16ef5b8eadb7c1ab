// npm test: runs every test file, or the given ones, each in its own process: node test/main.ts
// test/accounts/sites.test.ts. Writes TAP, with the number of passed and failed assertions at the end. `tap run` would
// do the same, but its processes report every loaded module for coverage, which takes longer than most files.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import type { Parser } from 'tap-parser';

/** Twice the two cores of a small machine: most files wait for a clock, a disk or a browser for half of their time. */
const filesAtOnce = 4;
/** Generous enough for a busy machine: a hanging file fails later, a slow one does not fail. */
const fileTimeoutMs = 300_000;

const named = process.argv.slice(2);
const all = (): string[] =>
  readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => join('test', name));
const files = named.length > 0 ? named : all();

t.jobs = filesAtOnce;
// Each file has its own limit.
t.setTimeout(0);
const env = {
  ...process.env,
  TAP_TIMEOUT: String(fileTimeoutMs / 1000),
  // Every file loads the whole service: what V8 compiled of it for one file serves the next, a sixth of the time of most.
  NODE_COMPILE_CACHE: join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled'),
};
const node = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  '--import',
  pathToFileURL(join(import.meta.dirname, 'stripped-types.js')).href,
];
// tap requests those reports through NODE_OPTIONS.
const failures: string[] = [];
for (const file of files) {
  const run = t.spawn('env', ['-u', 'NODE_OPTIONS', ...node, file], {
    name: file,
    buffered: true,
    timeout: fileTimeoutMs,
    env,
  });
  run.subtest?.parser.on('child', noteFailures);
}
/** Names each failed assertion after the tests that it is in; those fail with it, and are not named again. */
function noteFailures(parser: Parser): void {
  let hasFailedChild = false;
  parser.on('child', (child) => {
    noteFailures(child);
    child.on('complete', ({ ok }: { readonly ok: boolean }) => {
      hasFailedChild = !ok;
    });
  });
  parser.on('assert', ({ ok, fullname, todo, skip }) => {
    if (!ok && !hasFailedChild && !todo && !skip) failures.push(fullname);
    hasFailedChild = false;
  });
}
// Who reads the end of 50,000 lines sees what failed.
process.on('exit', () => {
  for (const failure of failures) console.log(`# failed: ${failure}`);
});
