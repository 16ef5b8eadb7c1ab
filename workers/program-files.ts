// Locates the program's own files: beside this one when it runs from source, inside the executable otherwise. The only
// module that knows which; every start of a thread and read of a program file goes through here.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { brotliDecompressSync } from 'node:zlib';

/** True in the executable. */
export const isExecutable = isSea();

/**
 * `file` is the thread's source, such as `new URL('./reader/reader-thread.ts', import.meta.url)`. The executable holds
 * a bundle of each under its name.
 */
export function startThread(file: URL, options: WorkerOptions): Worker {
  if (!isExecutable) return new Worker(file, options);
  return new Worker(assetText(threadAsset(file.pathname)), { ...options, eval: true });
}

/** The text of a program file. `name` is its path in the project, which is its name in the executable. */
export function readProgramFile(name: string): string {
  return isExecutable ? assetText(name) : readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8');
}

/** Texts are compressed in the executable (http/packaging/build.ts). */
function assetText(name: string): string {
  return brotliDecompressSync(getRawAsset(name)).toString();
}

/** The name, in the executable, of the bundle of a thread's source. */
export function threadAsset(path: string): string {
  return `threads/${basename(path).replace(/\.ts$/, '')}.cjs`;
}

/** From package.json. */
export function programVersion(): string {
  // The manifest has this shape.
  return (JSON.parse(readProgramFile('package.json')) as { version: string }).version;
}
