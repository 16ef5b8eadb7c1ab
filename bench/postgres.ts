// A Postgres of its own for a bench: Debian's programs on a temporary folder, reached only through a socket file in it,
// with the settings that initdb writes. Postgres refuses to run as root, which therefore starts it as the user
// "postgres".

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { cpuSecondsOf, makeDataDir } from './process.ts';

const versionsFolder = '/usr/lib/postgresql';
const initTimeoutMs = 120_000;
const startTimeoutMs = 60_000;
const stopTimeoutMs = 30_000;
const connectTimeoutSeconds = 10;
/** Queries that are still running when it stops are dropped after this. */
const endTimeoutSeconds = 5;
/** Building the indexes is the longest. */
const statementTimeoutMs = 120_000;
/** The name of its socket file ends with it; nothing listens on a port. */
const port = 5432;
const user = 'bench';

/** Programs that can run on this machine. */
export interface PostgresFound {
  readonly version: number;
  /** The folder of initdb and postgres. */
  readonly bin: string;
  /** Of the user that runs them; absent if that is the caller. */
  readonly runAs?: { readonly uid: number; readonly gid: number };
}

export interface Postgres {
  readonly version: number;
  /** User and system time of all its processes so far, in seconds. Linux only. */
  cpuSeconds(): number;
  /** For connectPostgres(). */
  readonly folder: string;
  /** A pool of at most this many connections. `stop` closes it. */
  pool(connections: number): postgres.Sql;
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
}

/** The newest version that is installed, or the reason why there is none to start. */
export function findPostgres(folder = versionsFolder): PostgresFound | string {
  const versions = existsSync(folder) ? readdirSync(folder).map(Number).filter(Number.isInteger) : [];
  const version = versions.sort((a, b) => b - a).find((one) => existsSync(join(folder, `${one}`, 'bin', 'initdb')));
  if (version === undefined) return `there is no Postgres in ${folder} (Debian: apt-get install postgresql)`;
  const found = { version, bin: join(folder, `${version}`, 'bin') };
  if (process.getuid?.() !== 0) return found;
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  return uid === undefined || gid === undefined
    ? 'Postgres does not run as root, and there is no user "postgres"'
    : { ...found, runAs: { uid, gid } };
}

function idOf(option: '-u' | '-g'): number | undefined {
  try {
    return Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }));
  } catch {
    return undefined;
  }
}

/** Creates an empty database with pg_trgm on the disk that is measured, and starts Postgres on it. */
export async function startPostgres({ version, bin, runAs }: PostgresFound): Promise<Postgres> {
  const folder = makeDataDir();
  const data = join(folder, 'data');
  const options = { ...runAs, cwd: folder, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8' } };
  const pools: postgres.Sql[] = [];
  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    await Promise.all(pools.map((pool) => pool.end({ timeout: endTimeoutSeconds })));
    if (child !== undefined) await ended(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    if (runAs !== undefined) chownSync(folder, runAs.uid, runAs.gid);
    await promisify(execFile)(join(bin, 'initdb'), ['-D', data, '-U', user, '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
      ...options,
      timeout: initTimeoutMs,
    });
    child = spawn(join(bin, 'postgres'), ['-D', data, '-k', folder, '-p', `${port}`, '-c', 'listen_addresses='], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await isReady(child);
    const pool = (connections: number): postgres.Sql => {
      const made = connectPostgres(folder, connections);
      pools.push(made);
      return made;
    };
    await pool(1)`CREATE EXTENSION pg_trgm`;
    const { pid } = child;
    return { version, folder, pool, stop, cpuSeconds: () => cpuSecondsOfFamily(pid ?? 0) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A pool of at most this many connections to the Postgres in this folder. The caller ends it. */
export function connectPostgres(folder: string, connections: number): postgres.Sql {
  return postgres({
    path: join(folder, `.s.PGSQL.${port}`),
    user,
    database: 'postgres',
    max: connections,
    connect_timeout: connectTimeoutSeconds,
    connection: { statement_timeout: statementTimeoutMs },
    onnotice: () => {},
  });
}

/** Of a process and its children. Those that have ended are not counted. */
function cpuSecondsOfFamily(pid: number): number {
  let seconds = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, parentId] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(name) === pid || Number(parentId) === pid) seconds += cpuSecondsOf(stat);
    } catch {
      // It has just ended.
    }
  }
  return seconds;
}

/** Resolves when it accepts connections. Rejects, with the last lines of its log, if it ends before or takes too long. */
function isReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    if (child.stderr === null) throw new Error('Postgres has no log');
    const log: string[] = [];
    const fail = (why: string): void => reject(new Error(`Postgres ${why}: ${log.slice(-5).join('; ')}`));
    const timer = setTimeout(() => fail(`was not ready within ${startTimeoutMs} ms`), startTimeoutMs);
    // Also reads everything after, so that its log never blocks it.
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (log.push(line) > 20) log.shift();
      if (!line.includes('ready to accept connections')) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('error', reject);
    // Unlike exit, after the last line of the log.
    child.once('close', (code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
  });
}

/** SIGINT is Postgres' fast shutdown, which ends sessions and writes everything; SIGQUIT is the immediate one. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  const timer = setTimeout(() => child.kill('SIGQUIT'), stopTimeoutMs);
  await exit;
  clearTimeout(timer);
}
