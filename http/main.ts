// The process: sizes libuv's pool, then does what the command line asks. Both `npm start` and the executable begin here.

// Password hashes, file work and the syncs of every workspace share the pool; its size is read when it is first used, so this
// comes before everything that is imported.
process.env['UV_THREADPOOL_SIZE'] ??= '32';

void import('./cli/program.ts').then(async ({ runProgram }) => {
  // Set, not exited with: what is still to be written is written.
  process.exitCode = await runProgram(process.argv.slice(2));
});
