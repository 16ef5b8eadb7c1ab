// Describes the machine of a run, without which its figures mean nothing.

import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { percentile } from './frame.ts';
import { makeDataDir } from './process.ts';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly kernel: string;
  readonly disk: { readonly fileSystem: string; readonly syncP50Ms: number; readonly syncP99Ms: number };
  readonly node: string;
  readonly packages: Readonly<Record<string, string>>;
  /** The writer connection's pragma; the sync is a separate step, which every answer waits for. */
  readonly synchronous: string;
  readonly commit: string;
  /** Over the last minute, before the measurement. Other work makes the figures worse. */
  readonly loadBefore: number;
}

const packages = ['uWebSockets.js', 'better-sqlite3', 'autocannon', 'typebox'] as const;
/** The magic numbers of statfs(2). */
const fileSystems: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs',
  2035054128: 'overlayfs',
  801189825: 'zfs',
};
const syncs = 500;

export function describeMachine(): Machine {
  const folder = makeDataDir();
  try {
    return {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGib: Math.round(totalmem() / 2 ** 30),
      kernel: release(),
      disk: { fileSystem: fileSystems[statfsSync(folder).type] ?? 'unknown', ...timeSyncs(folder) },
      node: process.version,
      packages: Object.fromEntries(packages.map((name) => [name, versionOf(name)])),
      synchronous: 'NORMAL, fdatasync of the log before each answer',
      commit: commitOf(),
      loadBefore: loadavg()[0] ?? 0,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Appends and syncs a page repeatedly, as consecutive commands would. */
function timeSyncs(folder: string): { syncP50Ms: number; syncP99Ms: number } {
  const page = Buffer.alloc(4096, 1);
  const descriptor = openSync(join(folder, 'sync'), 'w');
  const timesMs = Array.from({ length: syncs }, () => {
    writeSync(descriptor, page);
    const startedMs = performance.now();
    fdatasyncSync(descriptor);
    return performance.now() - startedMs;
  });
  closeSync(descriptor);
  return { syncP50Ms: percentile(timesMs, 0.5), syncP99Ms: percentile(timesMs, 0.99) };
}

/** The share of CPU time since the call that the host gave to others, 0 to 1; 0 if unknown. */
export function watchStolen(): () => number {
  const before = cpuTicks();
  return () => {
    const now = cpuTicks();
    return now.all === before.all ? 0 : (now.stolen - before.stolen) / (now.all - before.all);
  };
}

/**
 * The first line of proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal. The remaining fields are
 * included in user and nice.
 */
function cpuTicks(): { all: number; stolen: number } {
  if (process.platform !== 'linux') return { all: 0, stolen: 0 };
  const ticks = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]?.split(' ').map(Number) ?? [];
  return { all: ticks.slice(0, 8).reduce((sum, count) => sum + count, 0), stolen: ticks[7] ?? 0 };
}

function versionOf(name: string): string {
  const { version } = JSON.parse(
    readFileSync(resolve(import.meta.dirname, '..', 'node_modules', name, 'package.json'), 'utf8'),
  ) as { version: string };
  return version;
}

function commitOf(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
