// Starts the service, as `npm start` does, and the reference server as processes with their own folders. The measured
// program never shares a process with the measuring one.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const root = resolve(import.meta.dirname, '..');
const startTimeoutMs = 30_000;
/** To profile a program: `BENCH_NODE_ARGS='--cpu-prof --cpu-prof-dir=/tmp/profile' node bench/sends.ts`. */
const nodeArgs = (process.env['BENCH_NODE_ARGS'] ?? '').split(' ').filter((arg) => arg !== '');

export interface Program {
  /** http://host:port */
  readonly url: string;
  readonly dataDir: string;
  /** Resident memory by the kernel's count. Linux only. */
  residentBytes(): number;
  /** User and system time of all threads so far, in seconds. Linux only. */
  cpuSeconds(): number;
  /** Kills it, as a power failure would; its folder stays. */
  kill(): Promise<void>;
  /** Stops it as an operator would, and removes its folder if it created it. */
  stop(): Promise<void>;
}

export interface ServiceProgram extends Program {
  /** Its Prometheus metrics by name, without those with labels. Reading them resets the event loop's. */
  metrics(): Promise<ReadonlyMap<string, number>>;
}

/** A data folder on the measured disk; the caller removes it. */
export function makeDataDir(): string {
  return mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'switchboard-bench-'));
}

/**
 * The service as `npm start` runs it, without rate limits, on its own folder, or on a given one, which stays. `env`:
 * further settings.
 */
export async function startService(
  dataDir?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ServiceProgram> {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  const [, args = ''] = scripts.start.split('exec node ');
  const program = await start(args.split(' '), { env: { RATE_LIMITS: 'off', ...env }, dataDir });
  return {
    ...program,
    async metrics() {
      const text = await (await fetch(`${program.url}/metrics`)).text();
      return new Map(
        text.split('\n').flatMap((line) => {
          const found = /^(\w+) ([-+.\de]+)$/.exec(line);
          return found === null ? [] : [[found[1] ?? '', Number(found[2])] as const];
        }),
      );
    },
  };
}

/** `npm start` itself, which takes a while before the service begins. */
export function startByNpm(options: { dataDir: string; cacheDir: string }): Promise<Program> {
  return start(['start'], {
    program: 'npm',
    env: { RATE_LIMITS: 'off', SWITCHBOARD_CACHE_DIR: options.cacheDir },
    dataDir: options.dataDir,
  });
}

/** The executable of `npm run build`, which does not use this Node or its arguments. */
export function startExecutable(path: string, options: { dataDir: string; cacheDir: string }): Promise<Program> {
  return start(['serve'], {
    program: path,
    env: { RATE_LIMITS: 'off', SWITCHBOARD_CACHE_DIR: options.cacheDir },
    dataDir: options.dataDir,
  });
}

export function startReference(): Promise<Program> {
  return start(['bench/reference-server.ts'], { env: { UV_THREADPOOL_SIZE: '32' } });
}

/** On a Postgres of the bench, by its folder. */
export function startHelpDesk(postgresFolder: string): Promise<Program> {
  return start(['bench/help-desk-server.ts'], { env: { POSTGRES_FOLDER: postgresFolder } });
}

async function start(
  args: readonly string[],
  options: { program?: string; env: Readonly<Record<string, string>>; dataDir?: string | undefined },
): Promise<Program> {
  const dataDir = options.dataDir ?? makeDataDir();
  const { program } = options;
  const [file, given] = program === undefined ? [process.execPath, [...nodeArgs, ...args]] : [program, args];
  // npm passes on that it is to stop, but not that it is killed.
  const isGroup = program === 'npm';
  const child = spawn(file, given, {
    cwd: root,
    detached: isGroup,
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir, ...options.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const signal = (name: 'SIGTERM' | 'SIGKILL'): void => {
    if (name === 'SIGKILL' && isGroup && child.pid !== undefined && child.exitCode === null)
      process.kill(-child.pid, name);
    else child.kill(name);
  };
  const remove = (): void => {
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const url = await urlOf(child);
    const { pid } = child;
    return {
      url,
      dataDir,
      residentBytes: () => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024,
      cpuSeconds: () => cpuSecondsOf(readFileSync(`/proc/${pid}/stat`, 'utf8')),
      async kill() {
        const ended = once(child, 'exit');
        signal('SIGKILL');
        await ended;
      },
      async stop() {
        const ended = child.exitCode === null ? once(child, 'exit') : undefined;
        signal('SIGTERM');
        await ended;
        remove();
        // The reference server ends by the signal if it has not come to handle it.
        if (child.exitCode !== 0 && child.signalCode !== 'SIGTERM')
          throw new Error(`${args.join(' ')} ended with ${child.exitCode}`);
      },
    };
  } catch (error) {
    signal('SIGKILL');
    remove();
    throw error;
  }
}

/** Both programs print their address when they listen. */
async function urlOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the program has no output');
  const lines = createInterface({ input: child.stdout });
  const found = new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const [, url] = /listens on (http:\S+)/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`it ended with ${code} before it listened`)));
    setTimeout(() => reject(new Error(`it did not listen within ${startTimeoutMs} ms`)), startTimeoutMs).unref();
  });
  return found;
}

/** Fields 14 and 15, in ticks of 10 ms, counted after the name in brackets, which may contain spaces. */
export function cpuSecondsOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
