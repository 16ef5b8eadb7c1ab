// The entry of `npm start` and of the executable: sizes libuv's thread pool and V8's new space, makes glibc return large
// blocks to the system, then runs the command line. From the sources, it runs a bundle of them if there is one, and
// `serve` makes one after each change of a source. Plain JavaScript: what strips types takes Node 60 ms to load.

import { isSea } from 'node:sea';
import { smallNewSpace } from './packaging/node-arguments.js';
import { findProgram, makeProgram } from './packaging/program-bundle.js';

// The Node.js that runs the service is a dependency: `npm start` uses it, the machine's own may be older.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 15)) {
  console.error(
    `switchboard: Node.js 22.15 or later is needed, and this is ${process.versions.node}. Use npm start -- ${process.argv.slice(2).join(' ')}`.trim(),
  );
  process.exit(1);
}

/** Of glibc. An operator's own are kept. */
const allocatorSettings = {
  // Bytes. Freed blocks of this size or more go back to the system instead of staying with their thread.
  MALLOC_MMAP_THRESHOLD_: String(1024 * 1024),
  // What one thread has freed is used by the next: loading an embedding leaves 45 MB behind, once instead of per thread.
  MALLOC_ARENA_MAX: '2',
};

// glibc keeps the last large block of each pool thread, 19 MiB after hashing a password: 300 MB after a minute of
// sign-ins. It reads its settings when the process starts, so the service executes itself once more, as the same
// process, with them set, and Node's arguments, which the executable has from its build.
const [, , command = 'serve'] = process.argv;
if (
  process.platform === 'linux' &&
  command === 'serve' &&
  Object.keys(allocatorSettings).some((name) => process.env[name] === undefined) &&
  process.execve !== undefined
) {
  const args = isSea() ? process.argv.slice(2) : [...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, [process.execPath, ...args], {
    ...allocatorSettings,
    ...process.env,
    ...(isSea() ? {} : { NODE_OPTIONS: `${smallNewSpace} ${process.env['NODE_OPTIONS'] ?? ''}`.trim() }),
  });
}

// Password hashes, file access and the syncs of every workspace share the pool. Its size is read on first use, so this
// comes before any file is read asynchronously.
process.env['UV_THREADPOOL_SIZE'] ??= '32';

void (isSea() ? loadSources() : loadBundle()).then(async ({ runProgram }) => {
  // Not process.exit(): pending output is still written.
  process.exitCode = await runProgram(process.argv.slice(2));
});

/** @typedef {typeof import('./cli/program.ts')} Program */

/** @returns {Promise<Program>} */
function loadSources() {
  return import('./cli/program.ts');
}

/** @returns {Promise<Program>} */
async function loadBundle() {
  // Sources that cannot be bundled say why when they are run.
  const bundle = findProgram() ?? (command === 'serve' ? await makeProgram().catch(() => undefined) : undefined);
  return bundle === undefined ? loadSources() : bundle.run('program.js');
}
