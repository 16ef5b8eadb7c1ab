// One node: a process of the service at an address and with a data folder that it keeps over its lives. It can be
// killed, paused, and cut off from NATS.

import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Ended, ServiceProcess } from '../../support/process.ts';
import type { Teardown } from '../../support/service.ts';
import type { Cut, NatsLines } from './nats-lines.ts';

export interface NodeOptions {
  readonly name: string;
  readonly port: number;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Undefined: an ordinary node, without NATS. */
  readonly lines: NatsLines | undefined;
}

/** Three servers and three nodes that start on two cores, with an election between. */
const readyWithinMs = 180_000;
const pollMs = 50;
const answerMs = 2000;
const logChars = 32 * 1024;

export class ServiceNode {
  readonly name: string;
  readonly dataDir: string;
  readonly url: string;
  /** What the process gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly #t: Teardown;
  readonly #lines: NatsLines | undefined;
  #process: ServiceProcess | undefined;
  #isPaused = false;

  constructor(t: Teardown, { name, port, dataDir, env, lines }: NodeOptions) {
    this.#t = t;
    this.name = name;
    this.dataDir = dataDir;
    this.url = `http://127.0.0.1:${port}`;
    this.#lines = lines;
    this.env = { ...env, HOST: '127.0.0.1', PORT: `${port}`, DATA_DIR: dataDir };
  }

  /** A connection would be accepted: also of a node that is paused. */
  get isUp(): boolean {
    return this.#process !== undefined;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get pid(): number {
    return this.#running.pid;
  }

  /** `program`: the folder of another version. */
  begin(program?: string): void {
    if (this.#process !== undefined) throw new Error(`${this.name} runs already`);
    this.#process = ServiceProcess.start(this.#t, this.env, ['--v8-pool-size=2'], { logChars, program });
  }

  /** Resolves when /readyz says so. Rejects, with what it wrote, if the process ends first or takes too long. */
  async ready(): Promise<void> {
    const untilMs = performance.now() + readyWithinMs;
    while (!(await this.isReady())) {
      if (this.#running.hasEnded) throw new Error(`${this.name} ended instead of starting: ${this.log}`);
      if (performance.now() > untilMs)
        throw new Error(`${this.name} was not ready within ${readyWithinMs / 1000} s: ${this.log}`);
      await pause(pollMs);
    }
  }

  async isReady(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(answerMs) });
      await answer.arrayBuffer();
      return answer.status === 200;
    } catch {
      // Not yet, or no longer.
      return false;
    }
  }

  /** As by a power failure; with `losesData`, its disk is gone as well. */
  async kill({ losesData }: { readonly losesData: boolean }): Promise<void> {
    const running = this.#leave();
    await running.kill('SIGKILL');
    if (losesData) rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** As an operator stops it. */
  stop(): Promise<Ended> {
    return this.#leave().kill('SIGTERM');
  }

  /** It does nothing until it is resumed, and does not know. */
  pause(): void {
    this.#running.signal('SIGSTOP');
    this.#isPaused = true;
  }

  resume(): void {
    this.#running.signal('SIGCONT');
    this.#isPaused = false;
  }

  cutOff(how: Cut): void {
    if (this.#lines === undefined) throw new Error(`${this.name} has no line to NATS that could be cut`);
    this.#lines.cut(how);
  }

  mend(): void {
    this.#lines?.mend();
  }

  /** The process ended without anybody's doing: what it wrote. */
  get crash(): string | undefined {
    return this.#process?.hasEnded === true ? this.log : undefined;
  }

  /** The newest of what the process wrote. */
  get log(): string {
    const { stdout = '', stderr = '' } = this.#process ?? {};
    return `${stdout}${stderr}`;
  }

  get #running(): ServiceProcess {
    if (this.#process === undefined) throw new Error(`${this.name} is down`);
    return this.#process;
  }

  #leave(): ServiceProcess {
    const running = this.#running;
    this.#process = undefined;
    this.#isPaused = false;
    return running;
  }
}
