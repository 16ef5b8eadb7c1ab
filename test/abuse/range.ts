// The setup of attacks: the service in its own process with a small heap and its limits on, bystanders, and the
// attacker in another process.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { folderBytes } from '../support/folder.ts';
import { ServiceProcess } from '../support/process.ts';
import type { Teardown } from '../support/service.ts';
import type { Told, Word } from './attacker.ts';
import { Bystanders, type Figures } from './bystanders.ts';

const heapMb = 256;
const sampleMs = 50;
const prepareTimeoutMs = 120_000;
/** The time for a service that is stopped under attack to exit. */
const overTimeoutMs = 60_000;

export interface Outcome {
  /** Undefined if nothing was measured before. */
  readonly idle: Figures | undefined;
  readonly attacked: Figures;
  readonly answers: ReadonlyMap<number, number>;
  readonly peakMb: number;
  readonly diskMb: number;
  /** How the service ended, if it did. */
  readonly end: string | undefined;
}

export class Range {
  readonly #service: ServiceProcess;
  readonly #smtpPort: number;
  readonly #dataDir: string;
  readonly #bystanders: Bystanders;
  readonly #attacker: ChildProcess;
  #attacks = 0;

  private constructor(
    service: ServiceProcess,
    smtpPort: number,
    dataDir: string,
    bystanders: Bystanders,
    attacker: ChildProcess,
  ) {
    this.#service = service;
    this.#smtpPort = smtpPort;
    this.#dataDir = dataDir;
    this.#bystanders = bystanders;
    this.#attacker = attacker;
  }

  /** Everything is removed at the teardown; `dataDir` belongs to the caller. */
  static async open(t: Teardown, dataDir: string): Promise<Range> {
    const env = {
      DATA_DIR: dataDir,
      LOG_LEVEL: 'silent',
      MAIL_HOST: 'help.example',
      SMTP_LISTEN: '127.0.0.1:0',
      ALLOW_PRIVATE_CRAWL: '1',
      ALLOW_PRIVATE_WEBHOOKS: '1',
    };
    const service = await ServiceProcess.serving(t, env, ['--v8-pool-size=2', `--max-old-space-size=${heapMb}`]);
    const [, smtpPort] = await service.line(/SMTP on port (\d+)/);
    const bystanders = await Bystanders.make(service.url);
    t.teardown(() => bystanders.close());
    const attacker = fork(join(import.meta.dirname, 'attacker.ts'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    t.teardown(() => void attacker.kill('SIGKILL'));
    return new Range(service, Number(smtpPort), dataDir, bystanders, attacker);
  }

  /** Runs one attack for this many seconds. Rejects if it could not be prepared. */
  async drive(name: string, { idleSeconds, seconds }: { idleSeconds: number; seconds: number }): Promise<Outcome> {
    this.#attacks += 1;
    const before = folderBytes(this.#dataDir);
    const target = {
      url: this.#service.url,
      smtpPort: this.#smtpPort,
      victim: this.#bystanders.victim,
      from: `127.66.${this.#attacks}.1`,
    };
    await this.#say({ do: 'prepare', name, target }, prepareTimeoutMs);
    const idle = idleSeconds === 0 ? undefined : await this.#bystanders.measure(after(idleSeconds));
    let peakMb = 0;
    const sampler = setInterval(() => (peakMb = Math.max(peakMb, this.#residentMb())), sampleMs);
    const over = this.#say({ do: 'attack', seconds }, seconds * 1000 + overTimeoutMs);
    const ended = this.#service.ended.then(({ code, signal }) => `ended with ${code ?? signal}`);
    const whileAttacked = Promise.race([over.then(() => {}), ended.then(() => {})]);
    const attacked = await this.#bystanders.measure(whileAttacked);
    clearInterval(sampler);
    const end = await Promise.race([ended, over.then(() => undefined)]);
    const told = end === undefined ? await over : undefined;
    return {
      idle,
      attacked,
      answers: new Map(told?.told === 'over' ? told.answers : []),
      peakMb,
      diskMb: (folderBytes(this.#dataDir) - before) / 1024 / 1024,
      end,
    };
  }

  async #say(word: Word, timeoutMs: number): Promise<Told> {
    this.#attacker.send(word);
    const [told] = (await once(this.#attacker, 'message', { signal: AbortSignal.timeout(timeoutMs) })) as [Told];
    if (told.told === 'failed') throw new Error(told.problem);
    return told;
  }

  #residentMb(): number {
    try {
      return this.#service.residentMb();
    } catch {
      // It has exited, which is reported elsewhere.
      return 0;
    }
  }
}

function after(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
