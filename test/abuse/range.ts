// The setup of attacks: the service in its own process with a small heap and its limits on, bystanders, and the
// attacker in another process.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { folderBytes } from '../support/folder.ts';
import { ServiceProcess } from '../support/process.ts';
import type { Teardown } from '../support/service.ts';
import type { Attack, Deeds } from './attack.ts';
import type { Told, Word } from './attacker.ts';
import { Bystanders, type Figures } from './bystanders.ts';

const heapMb = 256;
const sampleMs = 50;
const prepareTimeoutMs = 120_000;
/** The time for a service that is stopped under attack to exit. */
const overTimeoutMs = 120_000;
const allCustomers = 24;

export interface Shot extends Deeds {
  readonly attack: Pick<Attack, 'name' | 'reaches' | 'isClosed'>;
}

export interface Outcome {
  /** Undefined if nothing was measured before. */
  readonly idle: Figures | undefined;
  readonly attacked: Figures;
  /** Empty if the service ended. */
  readonly shots: readonly Shot[];
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
  static async open(
    t: Teardown,
    { dataDir, customers = allCustomers }: { dataDir: string; customers?: number },
  ): Promise<Range> {
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
    const bystanders = await Bystanders.make(service.url, customers);
    t.teardown(() => bystanders.close());
    const attacker = fork(join(import.meta.dirname, 'attacker.ts'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    t.teardown(() => void attacker.kill('SIGKILL'));
    return new Range(service, Number(smtpPort), dataDir, bystanders, attacker);
  }

  /** Must come before they are driven. Rejects if one could not be prepared. */
  async prepare(attacks: readonly Pick<Attack, 'name'>[]): Promise<void> {
    const all = attacks.map(({ name }) => {
      this.#attacks += 1;
      const target = {
        url: this.#service.url,
        smtpPort: this.#smtpPort,
        victim: this.#bystanders.victim,
        from: `127.66.${this.#attacks}.1`,
      };
      return { name, target };
    });
    await this.#say({ do: 'prepare', all }, prepareTimeoutMs);
  }

  /** Runs attacks one after another, each for this many seconds, and longer if it is not answered by then. */
  async drive(
    attacks: readonly Pick<Attack, 'name' | 'reaches' | 'isClosed'>[],
    { idleSeconds, seconds }: { idleSeconds: number; seconds: number },
  ): Promise<Outcome> {
    const before = folderBytes(this.#dataDir);
    const idle = idleSeconds === 0 ? undefined : await this.#bystanders.measure(after(idleSeconds));
    let peakMb = 0;
    const sampler = setInterval(() => (peakMb = Math.max(peakMb, this.#residentMb())), sampleMs);
    const names = attacks.map(({ name }) => name);
    const ended = this.#service.ended.then(({ code, signal }) => `ended with ${code ?? signal}`);
    const over = this.#say({ do: 'attack', names, seconds }, attacks.length * (seconds * 1000 + overTimeoutMs)).catch(
      async (error: unknown) => {
        // An attacker whose connections break fails; whether the service ended is what matters.
        if (await this.#isListening()) throw error;
        throw new Error(`the service ${await ended}`, { cause: error });
      },
    );
    const whileAttacked = Promise.race([over.then(() => {}), ended.then(() => {})]);
    const attacked = await this.#bystanders.measure(whileAttacked);
    clearInterval(sampler);
    const end = await Promise.race([ended, over.then(() => undefined)]);
    const told = end === undefined ? await over : undefined;
    const deeds = told?.told === 'over' ? told.deeds : [];
    return {
      idle,
      attacked,
      shots: attacks.flatMap((attack, index) => {
        const done = deeds[index];
        return done === undefined ? [] : [{ attack, ...done }];
      }),
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

  async #isListening(): Promise<boolean> {
    return fetch(`${this.#service.url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
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
