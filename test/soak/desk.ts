// How the actors of a soak behave: one call at a time, after a pause, and not while the soak holds them. Answers are
// judged here: refusals by the rules are counted, refusals of a full disk are expected while it is full, and anything
// else is a surprise.

import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type CallOptions, callApi } from '../support/api.ts';
import type { Random } from '../support/seeded.ts';
import type { Host } from './host.ts';
import type { Ledger } from './ledger.ts';
import type { Reply } from './line.ts';

/** Answers to calls in progress may arrive for this long after a fault has ended. */
const graceMs = 3000;
/** A rule refused: another actor was faster, or it is over. */
const allowedRefusals: readonly number[] = [403, 409, 422];

/** What actors know about the machine: its address, and whether it is up. */
export type Place = Pick<Host, 'isUp' | 'url'>;

export class Desk {
  readonly host: Place;
  readonly ledger: Ledger;
  /** Actors' pauses are drawn around this. */
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

  /** Runs an actor repeatedly until the end. */
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

  /** Resolves when no actor is active. */
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

  /** Calls may fail from now on, and for a moment after the fault has ended. */
  expectTrouble(): void {
    this.#troubleUntilMs = Number.POSITIVE_INFINITY;
  }

  troubleIsOver(): void {
    this.#troubleUntilMs = performance.now() + graceMs;
  }

  /** The answer if it was successful. */
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

  /** The same for a call over a socket. */
  replied(method: string, reply: Reply): NonNullable<Reply> | undefined {
    if (reply === undefined) this.ledger.count('cut off');
    return reply !== undefined && this.#judge(method, reply) ? reply : undefined;
  }

  /** Uploads a file to a link. True if it was accepted. */
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
