// Clients that write while nodes die or hand over: each workspace has one, which goes to the next node while one does not
// answer, and notes when its writes left and were acknowledged.

import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import type { Random } from '../test/support/seeded.ts';

/** A client gives up a request after this, and asks the next node. */
const answerMs = 10_000;
const retryMs = 100;

export interface WriterOptions {
  /** Where it may go, now. */
  urls(): readonly string[];
  readonly token: string;
  readonly path: string;
  readonly body: string;
  /** Its pause after each acknowledged write is drawn up to twice this. */
  readonly thinkMs: number;
  readonly random: Random;
}

export interface Write {
  readonly sentMs: number;
  readonly acknowledgedMs: number;
}

export class Writer {
  readonly #options: WriterOptions;
  readonly #writing: Promise<void>;
  #isOver = false;
  #rest = new AbortController();
  #acknowledged = 0;
  #failures = 0;
  /** Since forget(): of the write that took the longest, and of the first one that left later. */
  #longestMs = 0;
  #sinceMs = 0;
  #first: Write | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#writing = this.#write();
  }

  /** Writes, in all. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Refused or cut off, since forget(). */
  get failures(): number {
    return this.#failures;
  }

  /** From a write's first attempt to its acknowledgement, the longest since forget(). */
  get longestMs(): number {
    return this.#longestMs;
  }

  /** The first acknowledged write that left since forget(). */
  get first(): Write | undefined {
    return this.#first;
  }

  /** Begins a measurement: writes under way count by their acknowledgement alone. */
  forget(): void {
    this.#failures = 0;
    this.#longestMs = 0;
    this.#sinceMs = performance.now();
    this.#first = undefined;
  }

  /** Ends its pause, if it is in one. */
  hurry(): void {
    this.#rest.abort();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.hurry();
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { random, thinkMs } = this.#options;
    let door = random.below(this.#options.urls().length);
    // Not all at once.
    await this.#pause(random.next() * thinkMs);
    while (!this.#isOver) {
      const begunMs = performance.now();
      for (;;) {
        const sentMs = performance.now();
        if (await this.#attempt(door)) {
          this.#note({ sentMs, acknowledgedMs: performance.now() }, begunMs);
          break;
        }
        this.#failures += 1;
        door += 1;
        if (this.#isOver) return;
        await pause(retryMs);
      }
      if (thinkMs > 0) await this.#pause(random.next() * 2 * thinkMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isOver) return;
    this.#rest = new AbortController();
    await pause(ms, undefined, { signal: this.#rest.signal }).catch(() => undefined);
  }

  #note(write: Write, begunMs: number): void {
    this.#acknowledged += 1;
    this.#longestMs = Math.max(this.#longestMs, write.acknowledgedMs - begunMs);
    if (write.sentMs >= this.#sinceMs) this.#first ??= write;
  }

  async #attempt(door: number): Promise<boolean> {
    const { token, path, body } = this.#options;
    const urls = this.#options.urls();
    try {
      const answer = await request(`${urls[door % urls.length]}${path}`, {
        method: 'POST',
        headers: { Accept: 'application/json', 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body,
        signal: AbortSignal.timeout(answerMs),
      });
      await answer.body.dump();
      return answer.statusCode < 400;
    } catch {
      // Counted by the caller; the node is gone or does not answer.
      return false;
    }
  }
}
