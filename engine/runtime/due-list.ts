// A list, in a file beside the workspaces, of those in which something is due soonest. A start looks into them first,
// so that what ran out while no process was there is done at once, however many workspaces there are. Nothing else
// depends on it: the others are looked into after them, and a list that is old, cut off or missing names fewer.

import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import type { Clock, Timer } from './clock.ts';

/** Less than the thirty seconds of an offer, so that whatever ran out at a start is in it. */
const writeEveryMs = 5000;
/** What is due later has time until all were looked into. */
const withinMs = 120_000;
/** As many as can be carried out within some seconds. */
const maxNamed = 1000;

export class DueList {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #dueBefore: (ms: number) => string[];
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  #written = '';
  #isStopped = false;

  /** `dueBefore` names workspaces in the order in which they are due. */
  constructor(options: { path: string; clock: Clock; dueBefore: (ms: number) => string[] }) {
    ({ path: this.#path, clock: this.#clock, dueBefore: this.#dueBefore } = options);
  }

  /** As the last process left it. */
  read(): string[] {
    try {
      return readFileSync(this.#path, 'utf8').split('\n').slice(0, maxNamed);
    } catch {
      return [];
    }
  }

  /** Something was put onto the clock: the list is written anew in a while. */
  note(): void {
    if (this.#isStopped) return;
    this.#timer ??= this.#clock.after(writeEveryMs, () => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    });
  }

  /** Leaves it as it was written last. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#isStopped) return;
    const text = this.#dueBefore(this.#clock.now() + withinMs)
      .slice(0, maxNamed)
      .join('\n');
    if (text === this.#written) return;
    try {
      await writeFile(`${this.#path}.part`, text, { mode: 0o600 });
      await rename(`${this.#path}.part`, this.#path);
      this.#written = text;
    } catch {
      // A full disk is told of by those who need it; the former list stays.
    }
  }
}
