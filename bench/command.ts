// Runs the service's commands as an operator would (`switchboard backup`), in a process of their own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

/**
 * Runs the command on this data folder, with its output on stderr. Resolves to the milliseconds it took. Rejects on any
 * exit code but 0.
 */
export async function runCommand(args: readonly string[], dataDir: string): Promise<number> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, ['http/main.js', ...args], {
    cwd: root,
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', process.stderr, 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`switchboard ${args[0]} ended with ${code}`);
  return performance.now() - startedMs;
}
