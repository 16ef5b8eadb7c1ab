// The service as an operator starts it: a process of node http/main.js with an environment. For what only a process can
// show: being killed, being stopped, refusing to start.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Teardown } from './service.ts';

const root = resolve(import.meta.dirname, '../..');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessLimits {
  /** The limit of its open files and connections. */
  readonly descriptors?: number;
  /** What is kept at least of each of its two outputs, the newest. */
  readonly logChars?: number;
  /** Another copy of the program. */
  readonly program?: string | undefined;
}

const keptLogChars = 4 * 1024 * 1024;

export class ServiceProcess {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';
  url = '';
  readonly #logChars: number;
  #wake: (() => void)[] = [];
  #hasEnded = false;

  private constructor(
    env: Readonly<Record<string, string>>,
    nodeArgs: readonly string[],
    { descriptors, logChars = keptLogChars, program = root }: ProcessLimits,
  ) {
    this.#logChars = logChars;
    // Nothing of the test's environment affects the service, including the loader that tap puts into NODE_OPTIONS.
    const limited = descriptors === undefined ? [] : ['sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh'];
    this.#child = spawn('env', ['-u', 'NODE_OPTIONS', ...limited, process.execPath, ...nodeArgs, 'http/main.js'], {
      cwd: program,
      env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (chunk) => this.#note('stdout', chunk));
    this.#child.stderr?.on('data', (chunk) => this.#note('stderr', chunk));
    this.ended = new Promise((done) => {
      this.#child.on('close', (code, signal) => {
        this.#hasEnded = true;
        done({ code, signal });
        this.#wakeAll();
      });
    });
  }

  /** Starts it; it ends with the test. */
  static start(
    t: Teardown,
    env: Readonly<Record<string, string>>,
    nodeArgs: readonly string[] = [],
    limits: ProcessLimits = {},
  ): ServiceProcess {
    const started = new ServiceProcess(env, nodeArgs, limits);
    t.teardown(async () => {
      await started.kill('SIGKILL');
    });
    return started;
  }

  /** Starts it and waits until it serves. */
  static async serving(
    t: Teardown,
    env: Readonly<Record<string, string>>,
    nodeArgs: readonly string[] = [],
    limits: ProcessLimits = {},
  ): Promise<ServiceProcess> {
    const started = ServiceProcess.start(t, env, nodeArgs, limits);
    const announced = await started.line(/listens on (\S+)/);
    started.url = announced[1] ?? '';
    return started;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The first match in its stdout. Rejects if it exits first. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout);
      if (match !== null) return match;
      if (this.#hasEnded) throw new Error(`ended before it wrote ${pattern}: ${this.stdout}${this.stderr}`);
      await new Promise<void>((wake) => this.#wake.push(wake));
    }
  }

  /** Nobody reads its stdout any more. */
  loseReader(): void {
    this.#child.stdout?.destroy();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves when it has exited. */
  async kill(signal: NodeJS.Signals): Promise<Ended> {
    if (!this.#hasEnded) this.#child.kill(signal);
    return this.ended;
  }

  /** Resident memory, in MB of 1,048,576 bytes. */
  residentMb(): number {
    const [, kb = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8')) ?? [];
    return Number(kb) / 1024;
  }

  #note(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    const text = this[stream] + chunk.toString();
    // Cut seldom: each cut copies what is kept.
    this[stream] = text.length > 2 * this.#logChars ? text.slice(-this.#logChars) : text;
    this.#wakeAll();
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const call of wake) call();
  }
}

export interface RunOfCommand {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the program to its end. It is interrupted when `interrupt` resolves. */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { interrupt }: { interrupt?: Promise<unknown> } = {},
): Promise<RunOfCommand> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['http/main.js', ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const written = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (chunk) => (written[stream] += String(chunk)));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...written }));
    void interrupt?.then(() => child.kill('SIGINT'));
  });
}
