// Locates the program's own files: in the project's folder when it runs from its sources or from a bundle of them, inside
// the executable otherwise. The only module that knows which; every start of a thread and read of a program file goes
// through here.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { brotliDecompressSync } from 'node:zlib';
import { KeptBundle, projectPath } from './kept-bundle.js';

/** True in the executable. */
export const isExecutable = isSea();

/**
 * `file` is the thread's source, such as `workers/reader/reader-thread.ts`. The executable and a bundle of the sources
 * hold a bundle of each under its name: a thread that strips types for itself takes 40 MB more.
 */
export function startThread(file: string, options: WorkerOptions): Worker {
  if (isExecutable) return new Worker(assetText(threadAsset(file)), { ...options, eval: true });
  const name = basename(file).replace(/\.ts$/, '.js');
  if (KeptBundle.running?.has(name) !== true) return new Worker(projectPath(file), options);
  const [runner, module] = [projectPath('workers/kept-bundle.js'), name].map((one) => JSON.stringify(one));
  return new Worker(`require(${runner}).runInThread(${module})`, { ...options, eval: true });
}

/** The text of a program file. `name` is its path in the project, which is its name in the executable. */
export function readProgramFile(name: string): string {
  return isExecutable ? assetText(name) : readFileSync(projectPath(name), 'utf8');
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
