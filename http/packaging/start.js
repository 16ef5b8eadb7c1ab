// The first steps of the process, in the executable as from the sources: makes glibc return large blocks to the system,
// sizes libuv's thread pool, then runs the command line. Plain JavaScript, like main.js and executable.js, which call it.

/** Of glibc. An operator's own are kept. */
const allocatorSettings = {
  // Bytes. Freed blocks of this size or more, such as pieces of files, go back to the system instead of staying with their
  // thread. It is glibc's own value, which glibc raises with each larger block that is freed.
  MALLOC_MMAP_THRESHOLD_: String(128 * 1024),
  // What one thread has freed is used by the next: loading an embedding leaves 45 MB behind, once instead of per thread.
  MALLOC_ARENA_MAX: '2',
};

/**
 * glibc keeps the last large block of each pool thread, 19 MiB after hashing a password: 300 MB after a minute of
 * sign-ins. It reads its settings when the process starts, so the service executes itself once more, as the same
 * process, with them set. `args` and `variables` are those of the second time; every variable of the first stays.
 *
 * @param {{ args: readonly string[], variables?: Readonly<Record<string, string>> }} again
 */
export function settleProcess({ args, variables = {} }) {
  const [, , command = 'serve'] = process.argv;
  if (
    process.platform === 'linux' &&
    command === 'serve' &&
    Object.keys(allocatorSettings).some((name) => process.env[name] === undefined) &&
    process.execve !== undefined
  )
    process.execve(process.execPath, [process.execPath, ...args], {
      ...allocatorSettings,
      ...process.env,
      ...variables,
    });
  // Password hashes, file access and the syncs of every workspace share the pool. Its size is read on first use, so this
  // comes before any file is read asynchronously.
  process.env['UV_THREADPOOL_SIZE'] ??= '32';
}

/** @param {{ runProgram(args: string[]): Promise<number> }} program */
export async function runCommandLine({ runProgram }) {
  // Not process.exit(): pending output is still written.
  process.exitCode = await runProgram(process.argv.slice(2));
}
