// Time until the service listens, the size of its executable, and what it uses while idle. Each start has an empty data
// folder; a first start has an empty cache folder, too. The result of `npm run build` is measured if it exists; otherwise
// its rows are missing.

import { createReadStream, existsSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { leastResident } from './memory.ts';
import { makeDataDir, type Program, startByNpm, startExecutable, startService } from './process.ts';

const executable = resolve(import.meta.dirname, '../dist/switchboard');
const starts = 9;
const looks = 20;
/** After this long, what belongs to the start is over, such as two collections that V8 makes 8 to 30 s after it. */
const startedMs = 40_000;
/** The limits for an installation. */
const targets = {
  npmFirstMs: { below: 1500 },
  npmMs: { below: 1000 },
  mb: { below: 180 },
  gzippedMb: { below: 65 },
  listensMs: { below: 300 },
  idleMb: { below: 130 },
  idlePercent: { below: 0.1 },
};

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const count = quick ? 3 : starts;
  const idleMs = quick ? 10_000 : 60_000;
  const cacheDir = makeDataDir();
  try {
    const npmFirst = await middleStart(count, (dataDir) => startByNpm({ dataDir, cacheDir: join(dataDir, 'cache') }));
    const npmLater = await middleStart(count, (dataDir) => startByNpm({ dataDir, cacheDir }));
    const rows = [
      row({
        name: 'npm start: first start to listening, p50',
        value: npmFirst,
        unit: 'ms',
        target: targets.npmFirstMs,
      }),
      row({
        name: 'npm start: a start after it to listening, p50',
        value: npmLater,
        unit: 'ms',
        target: targets.npmMs,
      }),
      row({
        name: 'npm start: CPU while idle, of a core',
        value: await idlePercent(startService, idleMs),
        unit: '%',
        target: targets.idlePercent,
      }),
    ];
    if (!existsSync(executable)) {
      process.stderr.write('there is no dist/switchboard; npm run build makes it\n');
      return rows;
    }
    const first = await middleStart(count, (dataDir) =>
      startExecutable(executable, { dataDir, cacheDir: join(dataDir, 'cache') }),
    );
    const later = await middleStart(count, (dataDir) => startExecutable(executable, { dataDir, cacheDir }));
    rows.push(
      row({ name: 'executable', value: statSync(executable).size / 1e6, unit: 'MB', target: targets.mb }),
      row({
        name: 'executable, gzipped',
        value: (await gzippedBytes(executable)) / 1e6,
        unit: 'MB',
        target: targets.gzippedMb,
      }),
      row({ name: 'executable: first start to listening, p50', value: first, unit: 'ms', target: targets.listensMs }),
      row({
        name: 'executable: a start after it to listening, p50',
        value: later,
        unit: 'ms',
        target: targets.listensMs,
      }),
      row({
        name: 'executable: resident memory after start',
        value: await idleMb(cacheDir),
        unit: 'MB',
        target: targets.idleMb,
      }),
      row({
        name: 'executable: CPU while idle, of a core',
        value: await idlePercent((dataDir) => startExecutable(executable, { dataDir, cacheDir }), idleMs),
        unit: '%',
        target: targets.idlePercent,
      }),
    );
    return rows;
  } finally {
    rmSync(cacheDir, { recursive: true, force: true });
  }
}

/** Each on its own folder, after a warm-up that loads the files into the system's cache. */
async function middleStart(count: number, start: (dataDir: string) => Promise<Program>): Promise<number> {
  const timesMs: number[] = [];
  for (let index = 0; index <= count; index += 1) {
    const dataDir = makeDataDir();
    try {
      const startedMs = performance.now();
      const program = await start(dataDir);
      if (index > 0) timesMs.push(performance.now() - startedMs);
      await program.stop();
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
  return percentile(timesMs, 0.5);
}

async function idleMb(cacheDir: string): Promise<number> {
  const dataDir = makeDataDir();
  const program = await startExecutable(executable, { dataDir, cacheDir });
  try {
    return (await leastResident(program, looks)) / 1e6;
  } finally {
    await program.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Of all its threads, in the time after the start, which includes what the start left for later. */
async function idlePercent(start: (dataDir: string) => Promise<Program>, idleMs: number): Promise<number> {
  const dataDir = makeDataDir();
  const program = await start(dataDir);
  try {
    await pause(startedMs);
    const before = program.cpuSeconds();
    await pause(idleMs);
    return ((program.cpuSeconds() - before) * 1000 * 100) / idleMs;
  } finally {
    await program.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function gzippedBytes(path: string): Promise<number> {
  let bytes = 0;
  for await (const chunk of createReadStream(path).pipe(createGzip({ level: 6 }))) bytes += (chunk as Buffer).length;
  return bytes;
}

await runAlone(import.meta.url, run);
