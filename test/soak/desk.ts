// How everybody in a soak acts: one call at a time, after a pause, and not while the soak holds them. What a call is
// answered is judged here: refusals that the rules allow are counted, refusals of a full disk are expected while it is
// full, and anything else is a surprise.

import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type CallOptions, callApi } from '../support/api.ts';
import type { Random } from '../support/seeded.ts';
import type { Host } from './host.ts';
import type { Ledger } from './ledger.ts';
import type { Reply } from './line.ts';

/** After there is room again, or the process was ended, so long may answers come that were under way. */
const graceMs = 3000;
/** A rule said no: somebody else was faster, or it is over. */
const allowedRefusals: readonly number[] = [403, 409, 422];

/** What of the machine people know: where the service is, and that it is down. */
export type Place = Pick<Host, 'isUp' | 'url'>;

export class Desk {
  readonly host: Place;
  readonly ledger: Ledger;
  /** Everybody's pauses are drawn from around this. */
  readonly thinkMs: number;
  #isHeld = false;
  #isOver = false;
  #acting = 0;
  #wake: (() => void)[] = [];
  readonly #actors: Promise<void>[] = [];
  #troubleUntilMs = 0;

  constructor(options: { host: Place; ledger: Ledger; thinkMs: number }) {
    ({ host: this.host, ledger: this.ledger, thinkMs: this.thinkMs } = options);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Somebody who acts again and again until it is over. */
  employ(random: Random, act: () => Promise<void>, options: { pace?: number } = {}): void {
    const { pace = 1 } = options;
    this.#actors.push(
      (async () => {
        while (!this.#isOver) {
          await pause(this.thinkMs * pace * (0.5 + random.next()));
          while (this.#isHeld && !this.#isOver) await new Promise<void>((resolve) => this.#wake.push(resolve));
          if (this.#isOver) return;
          this.#acting += 1;
          try {
            await act();
          } catch (error) {
            this.ledger.surprise(error instanceof Error ? (error.stack ?? error.message) : String(error));
          }
          this.#acting -= 1;
          this.#wakeAll();
        }
      })(),
    );
  }

  /** Resolves when nobody acts any more. */
  async hold(): Promise<void> {
    this.#isHeld = true;
    while (this.#acting > 0) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  goOn(): void {
    this.#isHeld = false;
    this.#wakeAll();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.#wakeAll();
    await Promise.all(this.#actors);
  }

  /** Calls are cut off, or refused for want of room, from now on and for a moment after it is over. */
  expectTrouble(): void {
    this.#troubleUntilMs = Number.POSITIVE_INFINITY;
  }

  troubleIsOver(): void {
    this.#troubleUntilMs = performance.now() + graceMs;
  }

  /** The answer when it was a good one. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer | undefined> {
    if (!this.host.isUp) return undefined;
    let answer: Answer;
    try {
      answer = await callApi(this.host.url, method, path, options);
    } catch (error) {
      this.#cutOff(`${method} ${path}`, error);
      return undefined;
    }
    return this.#judge(`${method} ${path}`, answer) ? answer : undefined;
  }

  /** The same of a call by socket. */
  replied(method: string, reply: Reply): NonNullable<Reply> | undefined {
    if (reply === undefined) this.ledger.count('cut off');
    return reply !== undefined && this.#judge(method, reply) ? reply : undefined;
  }

  /** One PUT of a file to a link. True when it was taken. */
  async put(url: string, bytes: Uint8Array, contentType: string): Promise<boolean> {
    try {
      const response = await fetch(url, { method: 'PUT', body: bytes, headers: { 'Content-Type': contentType } });
      return this.#judge('PUT of a file', { status: response.status, body: await response.text() });
    } catch (error) {
      this.#cutOff('PUT of a file', error);
      return false;
    }
  }

  get #isTrouble(): boolean {
    return performance.now() < this.#troubleUntilMs;
  }

  #cutOff(what: string, error: unknown): void {
    this.ledger.count('cut off');
    if (!this.#isTrouble && this.host.isUp)
      this.ledger.surprise(
        `${what} was cut off: ${error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error)}`,
      );
  }

  #judge(what: string, { status, body }: { readonly status: number; readonly body: unknown }): boolean {
    if (status < 300) return true;
    if (status === 503 && this.#isTrouble) this.ledger.count('refused for want of room');
    else if (allowedRefusals.includes(status)) this.ledger.count('refused by a rule');
    else this.ledger.surprise(`${what} was answered with ${status} ${JSON.stringify(body).slice(0, 300)}`);
    return false;
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const call of wake) call();
  }
}
