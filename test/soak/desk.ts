// How the actors of a soak behave: one call at a time, after a pause, and not while the soak holds them. Answers are
// judged here: refusals by the rules are counted, refusals of a full disk are expected while it is full, and anything
// else is a surprise.

import { type Answer, type CallOptions, callApi } from '../support/api.ts';
import { Crew } from '../support/crew.ts';
import type { Place, Reply } from '../support/line.ts';
import type { Random } from '../support/seeded.ts';
import type { Ledger } from './ledger.ts';

/** Answers to calls in progress may arrive for this long after a fault has ended. */
const graceMs = 3000;
/** A rule refused: another actor was faster, or it is over. */
const allowedRefusals: readonly number[] = [403, 409, 422];

export class Desk {
  readonly host: Place;
  readonly ledger: Ledger;
  readonly #crew: Crew;
  #troubleUntilMs = 0;

  constructor(options: { host: Place; ledger: Ledger; thinkMs: number }) {
    ({ host: this.host, ledger: this.ledger } = options);
    this.#crew = new Crew({
      thinkMs: options.thinkMs,
      onError: (error) => this.ledger.surprise(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    });
  }

  get isOver(): boolean {
    return this.#crew.isOver;
  }

  /** Runs an actor repeatedly until the end. */
  employ(random: Random, act: () => Promise<void>, options: { pace?: number } = {}): void {
    this.#crew.employ(random, act, options);
  }

  /** Resolves when no actor is active. */
  hold(): Promise<void> {
    return this.#crew.hold();
  }

  goOn(): void {
    this.#crew.goOn();
  }

  end(): Promise<void> {
    return this.#crew.end();
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
}
