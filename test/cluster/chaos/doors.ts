// How clients reach the service: at the node that they prefer, and at the next one while that does not answer, as behind
// a load balancer. Every request ends within seconds. Answers are judged here: a refusal by the rules and a 503 may be,
// anything else is a fault.

import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type CallOptions, callApi } from '../../support/api.ts';
import type { Place } from '../../support/line.ts';
import type { Random } from '../../support/seeded.ts';
import type { ServiceNode } from '../processes/service-node.ts';
import type { Findings } from './findings.ts';

const answerMs = 12_000;
/** A node that did not answer is left out for so long. */
const suspectedMs = 1000;
const betweenAttemptsMs = 100;
/** A rule refused: another actor was faster, or it is over. */
const allowedRefusals: readonly number[] = [403, 409, 410, 422];

/** How a request ended that is repeated until it is answered. `sentMs`: when the answered attempt left. */
export type Outcome =
  | { readonly kind: 'done'; readonly body: any; readonly sentMs: number }
  /** `isFirst`: no attempt before may have had an effect. */
  | { readonly kind: 'refused'; readonly status: number; readonly isFirst: boolean }
  /** It may have had an effect, or may still have. */
  | { readonly kind: 'unknown' };

export interface Request extends Pick<CallOptions, 'body' | 'token'> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  /** The node that the client prefers, by its index. */
  readonly door: number;
  /** False: an attempt whose effect is unknown is not repeated. */
  readonly isRepeatable: boolean;
  /** A further refusal that may be. */
  readonly alsoAllowed?: number;
}

export class Doors {
  readonly #nodes: readonly ServiceNode[];
  readonly #random: Random;
  readonly #findings: Findings;
  readonly #suspectedUntilMs: number[] = [];
  /** How long a client goes on trying. */
  readonly #patienceMs: number;

  constructor(options: {
    nodes: readonly ServiceNode[];
    random: Random;
    findings: Findings;
    patienceMs: number;
  }) {
    this.#nodes = options.nodes;
    this.#random = options.random;
    this.#findings = options.findings;
    this.#patienceMs = options.patienceMs;
  }

  get count(): number {
    return this.#nodes.length;
  }

  nameOf(door: number): string {
    return this.#node(door).name;
  }

  /** For a socket: the preferred node mostly, and another one sometimes and while that is down. */
  place(door: number): Place {
    const up = (): ServiceNode[] => this.#nodes.filter(({ isUp }) => isUp);
    const pick = (): ServiceNode => {
      const preferred = this.#node(door);
      const isPreferred = preferred.isUp && !this.#isSuspected(door) && this.#random.chance(0.7);
      return isPreferred ? preferred : this.#random.pick(up());
    };
    return {
      get isUp() {
        return up().length > 0;
      },
      get url() {
        return pick().url;
      },
    };
  }

  /** Tries until it is answered by success or by a refusal, or until the client's patience ends. */
  async ask(request: Request): Promise<Outcome> {
    const untilMs = performance.now() + this.#patienceMs;
    let isFirst = true;
    for (;;) {
      const sentMs = performance.now();
      const door = this.#choose(request.door);
      const answer = await this.#attempt(door, request);
      if (answer !== 'away' && answer !== 'silent') {
        if (answer.status < 300) return { kind: 'done', body: answer.body, sentMs };
        this.#findings.count('refused');
        if (answer.status !== 503) {
          if (answer.status !== request.alsoAllowed) this.#judge(door, request, answer);
          return { kind: 'refused', status: answer.status, isFirst };
        }
      }
      if (answer !== 'away') {
        isFirst = false;
        if (!request.isRepeatable) return { kind: 'unknown' };
      }
      if (performance.now() > untilMs) return { kind: 'unknown' };
      await pause(betweenAttemptsMs);
    }
  }

  /** What this very node answers to a read, once it can. Rejects if it cannot within the client's patience. */
  async readAt(door: number, path: string, token: string): Promise<any> {
    const untilMs = performance.now() + this.#patienceMs;
    for (;;) {
      const answer = await this.#attempt(door, { method: 'GET', path, token });
      if (answer !== 'away' && answer !== 'silent' && answer.status === 200) return answer.body;
      if (performance.now() > untilMs)
        throw new Error(
          `${this.nameOf(door)} does not answer GET ${path}: ${typeof answer === 'string' ? answer : `${answer.status} ${JSON.stringify(answer.body)}`}`,
        );
      await pause(betweenAttemptsMs);
    }
  }

  /** The same for a socket's call. */
  judgeReply(what: string, { status, body }: { readonly status: number; readonly body: unknown }): void {
    this.#findings.count('refused');
    if (status !== 503 && !allowedRefusals.includes(status))
      this.#findings.surprise(`${what} on a socket was answered with ${status} ${JSON.stringify(body)}`, 'wrong');
  }

  async #attempt(
    door: number,
    { method, path, body, token }: Pick<Request, 'method' | 'path' | 'body' | 'token'>,
  ): Promise<Answer | 'away' | 'silent'> {
    const node = this.#node(door);
    // Refused by its machine at once.
    if (!node.isUp) return 'away';
    try {
      return await callApi(node.url, method, path, { body, token, signal: AbortSignal.timeout(answerMs) });
    } catch (error) {
      this.#suspectedUntilMs[door] = performance.now() + suspectedMs;
      const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
      this.#findings.count('cut off');
      // Nothing was sent.
      return cause?.code === 'ECONNREFUSED' ? 'away' : 'silent';
    }
  }

  #judge(door: number, { method, path }: Request, { status, body }: Answer): void {
    if (!allowedRefusals.includes(status))
      this.#findings.surprise(
        `${method} ${path} was answered by ${this.nameOf(door)} with ${status} ${JSON.stringify(body)}`,
        'wrong',
      );
  }

  /** The preferred node, or the next one that is up and answered lately; any that is up if none did. */
  #choose(preferred: number): number {
    const doors = Array.from({ length: this.count }, (_, step) => (preferred + step) % this.count);
    const up = doors.filter((door) => this.#node(door).isUp);
    return up.find((door) => !this.#isSuspected(door)) ?? up[0] ?? preferred % this.count;
  }

  #isSuspected(door: number): boolean {
    return performance.now() < (this.#suspectedUntilMs[door % this.count] ?? 0);
  }

  #node(door: number): ServiceNode {
    const node = this.#nodes[door % this.count];
    if (node === undefined) throw new Error('there is no node');
    return node;
  }
}
