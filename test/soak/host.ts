// The machine of a soak: the service's process, its data folder, on a small disk if one can be mounted, its clock, and
// a slow disk. Starts, kills and stops the process on request; between two processes it runs `switchboard verify`.

import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type RunOfCommand, runCommand, ServiceProcess } from '../support/process.ts';
import type { Teardown } from '../support/service.ts';
import { mountSmallDisk, noSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { doneSuffix, type Orders, ordersVariable } from './inside.ts';

const root = resolve(import.meta.dirname, '../..');
const diskBytes = 1024 * 1024 * 1024;
/** What a full disk still accepts: the pages of a few commits. */
const leftBytes = 128 * 1024;
const slowSyncMicros = 15_000;
const pollMs = 5;
const settleMs = 500;
const ordersTimeoutMs = 30_000;

export interface LifeOptions {
  readonly isDiskSlow: boolean;
}

export class Host {
  readonly dataDir: string;
  /** Why a disk cannot be mounted, or a library cannot be compiled; otherwise undefined. */
  readonly cannotFill: string | undefined;
  readonly cannotSlow: string | undefined;
  readonly #t: Teardown;
  readonly #disk: SmallDisk | undefined;
  readonly #slowLibrary: string;
  readonly #orders: string;
  #process: ServiceProcess | undefined;
  #serial = 0;
  #clockOffsetMs = 0;
  #isFull = false;

  constructor(t: Teardown, folder: string) {
    this.#t = t;
    const why = noSmallDisk();
    this.#disk = why === false ? mountSmallDisk(t, { bytes: diskBytes }) : undefined;
    this.cannotFill = why === false ? undefined : why;
    this.dataDir = join(this.#disk?.path ?? folder, 'data');
    this.#slowLibrary = join(folder, 'slow-sync.so');
    this.cannotSlow = compileSlowSync(this.#slowLibrary);
    this.#orders = join(folder, 'orders.json');
  }

  get url(): string {
    return this.#running.url;
  }

  get isUp(): boolean {
    return this.#process !== undefined;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  get clockOffsetMs(): number {
    return this.#clockOffsetMs;
  }

  /** Its log so far. */
  get log(): string {
    return (
      this.#running.stdout.replace(/^.*(?:listens on|"msg":"(?:stopping|stopped)").*\n/gm, '') + this.#running.stderr
    );
  }

  /** Resolves to the milliseconds until it listened. */
  async start({ isDiskSlow }: LifeOptions): Promise<number> {
    this.#writeOrders({ releaseMemory: false });
    const env = {
      DATA_DIR: this.dataDir,
      DISK_RESERVE_BYTES: '0',
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'error',
      UV_THREADPOOL_SIZE: '32',
      [ordersVariable]: this.#orders,
      ...(isDiskSlow ? { LD_PRELOAD: this.#slowLibrary, SLOW_SYNC_US: String(slowSyncMicros) } : {}),
    };
    const startedMs = performance.now();
    this.#process = await ServiceProcess.serving(this.#t, env, [
      '--v8-pool-size=2',
      `--import=${join(import.meta.dirname, 'inside.ts')}`,
    ]);
    return performance.now() - startedMs;
  }

  /** Rejects if the process ends by itself, which must not happen; resolves at the signal. */
  async requireUp(signal: AbortSignal): Promise<void> {
    const running = this.#running;
    const { code, signal: killedBy } = await running.ended;
    if (!signal.aborted)
      throw new Error(
        `the service ended by itself with ${code ?? killedBy}: ${running.stdout.slice(-2000)}${running.stderr.slice(-2000)}`,
      );
  }

  async kill(): Promise<void> {
    const running = this.#running;
    this.#process = undefined;
    await running.kill('SIGKILL');
  }

  /** Stops it like an operator. Throws if it does not exit cleanly. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#process = undefined;
    const { code } = await running.kill('SIGTERM');
    if (code !== 0)
      throw new Error(`a stop ended with ${code}: ${running.stdout.slice(-2000)}${running.stderr.slice(-2000)}`);
  }

  verify(): Promise<RunOfCommand> {
    return runCommand(['verify'], { DATA_DIR: this.dataDir });
  }

  fillDisk(): void {
    this.#disk?.fill({ leaveBytes: leftBytes });
    this.#isFull = true;
  }

  emptyDisk(): void {
    this.#disk?.empty();
    this.#isFull = false;
  }

  /** From now on, also after a restart. */
  async setClock(offsetMs: number): Promise<void> {
    this.#clockOffsetMs = offsetMs;
    if (this.#process !== undefined) await this.#order({ releaseMemory: false });
  }

  /** Resident memory after garbage collection. */
  async settledMb(): Promise<number> {
    // Twice, since the first collection releases more; threads collect at their own time.
    for (let round = 0; round < 2; round += 1) {
      await this.#order({ releaseMemory: true });
      await pause(settleMs);
    }
    return this.#running.residentMb();
  }

  async #order(order: { releaseMemory: boolean }): Promise<void> {
    this.#writeOrders(order);
    this.#running.signal('SIGUSR2');
    const untilMs = performance.now() + ordersTimeoutMs;
    while (this.#done() < this.#serial) {
      if (performance.now() > untilMs) throw new Error('the process does not follow its orders');
      await pause(pollMs);
    }
  }

  #writeOrders({ releaseMemory }: { releaseMemory: boolean }): void {
    this.#serial += 1;
    rmSync(`${this.#orders}${doneSuffix}`, { force: true });
    writeFileSync(
      this.#orders,
      JSON.stringify({ serial: this.#serial, clockOffsetMs: this.#clockOffsetMs, releaseMemory } satisfies Orders),
    );
  }

  #done(): number {
    try {
      return Number(readFileSync(`${this.#orders}${doneSuffix}`, 'utf8'));
    } catch {
      // Not yet.
      return 0;
    }
  }

  get #running(): ServiceProcess {
    if (this.#process === undefined) throw new Error('the service is down');
    return this.#process;
  }
}

/** Why a slow disk is not possible here; undefined if it is. */
function compileSlowSync(to: string): string | undefined {
  if (process.platform !== 'linux') return "LD_PRELOAD is Linux's";
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-o', to, join(root, 'bench/slow-sync.c')], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'there is no C compiler';
  }
}
