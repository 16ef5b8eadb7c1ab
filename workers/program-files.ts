// Where the program's own files are: beside this one when it runs from source, inside the executable when it is one.
// The only place that knows which; whoever starts a thread or reads a file of the program asks here with the file's
// address in the source.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** True in the executable. */
export const isExecutable = isSea();

/**
 * `file` is the thread's source, such as `new URL('./reader/reader-thread.ts', import.meta.url)`. The executable holds
 * a bundle of each under its name.
 */
export function startThread(file: URL, options: WorkerOptions): Worker {
  if (!isExecutable) return new Worker(file, options);
  return new Worker(getAsset(threadAsset(file.pathname), 'utf8'), { ...options, eval: true });
}

/**
 * The text of a file that belongs to the program. `name` is its path in the project, which is its name in the
 * executable.
 */
export function readProgramFile(name: string): string {
  return isExecutable
    ? getAsset(name, 'utf8')
    : readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8');
}

/** What the executable calls the bundle of a thread's source. */
export function threadAsset(path: string): string {
  return `threads/${basename(path).replace(/\.ts$/, '')}.cjs`;
}

/** Of package.json. */
export function programVersion(): string {
  // As its manifest has it.
  return (JSON.parse(readProgramFile('package.json')) as { version: string }).version;
}
