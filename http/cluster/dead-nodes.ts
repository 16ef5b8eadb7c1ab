// Notices that the process of another node has ended sooner than its lease does: its machine refuses the connection. A
// node that is stopped on purpose leaves by itself, and one that is paused, cut off or on a machine that is gone refuses
// nothing: there the lease decides. One that refuses and does not answer over NATS either has its record removed, so that
// the others share its workspaces. If it lived after all, cut off in both ways at once, the log's fence would keep it from
// acknowledging anything, and until its lease ends it could answer reads that are some seconds old.

import { connect } from 'node:net';
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import type { NodeRecord, Nodes } from '../../engine/runtime/cluster/ports.ts';
import type { Log } from '../../engine/runtime/log.ts';

const lookEveryMs = 250;
/** After a first refusal. */
const lookAgainMs = 50;
const connectMs = 2000;
/** Refusals in a row. A process that starts again under its name has another record by then. */
const enough = 2;

export interface DeadNodesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly nodes: Nodes;
  others(): readonly NodeRecord[];
  /** Whether it answers over NATS. */
  isAlive(node: string): Promise<boolean>;
}

export class DeadNodes {
  readonly #options: DeadNodesOptions;
  /** By incarnation. */
  #refusals = new Map<string, number>();
  #timer: Timer | undefined;
  #isOver = false;

  constructor(options: DeadNodesOptions) {
    this.#options = options;
  }

  start(): void {
    const isFirst = [...this.#refusals.values()].some((times) => times < enough);
    this.#timer = this.#options.clock.after(isFirst ? lookAgainMs : lookEveryMs, () => {
      void this.#look().finally(() => {
        if (!this.#isOver) this.start();
      });
    });
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    const refusals = new Map<string, number>();
    const look = async (record: NodeRecord): Promise<void> => {
      if (!(await isRefused(record.url))) return;
      const times = (this.#refusals.get(record.incarnation) ?? 0) + 1;
      refusals.set(record.incarnation, times);
      if (times >= enough && !(await this.#options.isAlive(record.node))) await this.#remove(record);
    };
    await Promise.all(this.#options.others().map(look));
    this.#refusals = refusals;
  }

  async #remove(record: NodeRecord): Promise<void> {
    const { log, nodes } = this.#options;
    log.warn({ node: record.node }, 'a node has ended without a word: the others share its workspaces');
    await nodes.leave(record).catch((error: unknown) => log.warn({ err: error }, 'its record could not be removed'));
  }
}

/** By the machine, which is there. */
function isRefused(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? defaultPort : Number(port),
      timeout: connectMs,
    });
    const end = (isDead: boolean): void => {
      socket.destroy();
      resolve(isDead);
    };
    socket.once('connect', () => end(false));
    socket.once('timeout', () => end(false));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'));
  });
}
