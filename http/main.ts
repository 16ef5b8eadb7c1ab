// The entry of `npm start` and of the executable: sizes libuv's thread pool, makes glibc return large blocks to the
// system, lets the service collect garbage on request, then runs the command line.

/** Bytes. Freed blocks of this size or more go back to the system instead of staying with their thread. */
const givenBackFrom = 1024 * 1024;
const allocatorSetting = 'MALLOC_MMAP_THRESHOLD_';

// glibc keeps the last large block of each pool thread, 19 MiB after hashing a password: 300 MB after a minute of
// sign-ins. It reads its settings when the process starts, as V8 does its flags, so the service executes itself once
// more, as the same process, with both set. An operator's own settings are kept.
const [, , command = 'serve'] = process.argv;
if (
  process.platform === 'linux' &&
  command === 'serve' &&
  process.env[allocatorSetting] === undefined &&
  process.execve !== undefined
) {
  const { isSea } = process.getBuiltinModule('node:sea');
  const args = isSea() ? process.argv.slice(2) : [...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, [process.execPath, ...args], {
    ...process.env,
    [allocatorSetting]: String(givenBackFrom),
    // For http/process/memory.ts.
    NODE_OPTIONS: [process.env['NODE_OPTIONS'] ?? '', '--expose-gc'].join(' ').trim(),
  });
}

// Password hashes, file access and the syncs of every workspace share the pool. Its size is read on first use, so this
// comes before any import.
process.env['UV_THREADPOOL_SIZE'] ??= '32';

void import('./cli/program.ts').then(async ({ runProgram }) => {
  // Not process.exit(): pending output is still written.
  process.exitCode = await runProgram(process.argv.slice(2));
});
