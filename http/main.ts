// The process: sizes libuv's pool, has glibc give back what is large, then does what the command line asks. Both `npm
// start` and the executable begin here.

/**
 * Bytes. Blocks from this size on go back to the system when they are freed, instead of staying with the thread that
 * had them.
 */
const givenBackFrom = 1024 * 1024;
const allocatorSetting = 'MALLOC_MMAP_THRESHOLD_';

// Of each of the pool's threads glibc keeps what it had last, 19 MiB where it hashed a password: 300 MB after a minute
// of sign-ins. It reads its settings when the process starts, so a service starts itself once more, as the same
// process, with that one set. An operator's own setting is left alone.
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
  });
}

// Password hashes, file work and the syncs of every workspace share the pool; its size is read when it is first used,
// so this comes before everything that is imported.
process.env['UV_THREADPOOL_SIZE'] ??= '32';

void import('./cli/program.ts').then(async ({ runProgram }) => {
  // Set, not exited with: what is still to be written is written.
  process.exitCode = await runProgram(process.argv.slice(2));
});
