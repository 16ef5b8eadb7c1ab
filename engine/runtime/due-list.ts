// A file beside the workspaces that lists those with the earliest deadlines. A start opens them first, so that overdue
// work runs at once, however many workspaces there are. Nothing else depends on it: the others follow, and a stale,
// truncated or missing list only names fewer.

import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import type { Clock, Timer } from './clock.ts';

/** Less than the 30 seconds of an offer, so that every offer that expired before a start is listed. */
const writeEveryMs = 5000;
/** As many as a start can process within a few seconds. */
const maxNamed = 1000;

export class DueList {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #soonest: () => string[];
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  #written = '';
  #isStopped = false;

  /** `soonest` returns workspaces, earliest deadline first. */
  constructor(options: { path: string; clock: Clock; soonest: () => string[] }) {
    ({ path: this.#path, clock: this.#clock, soonest: this.#soonest } = options);
  }

  /** Reads the list that the last process wrote. */
  read(): string[] {
    try {
      return readFileSync(this.#path, 'utf8').split('\n').slice(0, maxNamed);
    } catch {
      return [];
    }
  }

  /** Call when a deadline was set: schedules a write of the list. */
  note(): void {
    if (this.#isStopped) return;
    this.#timer ??= this.#clock.after(writeEveryMs, () => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    });
  }

  /** Leaves the file as it was last written. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#isStopped) return;
    const text = this.#soonest().slice(0, maxNamed).join('\n');
    if (text === this.#written) return;
    try {
      await writeFile(`${this.#path}.part`, text, { mode: 0o600 });
      await rename(`${this.#path}.part`, this.#path);
      this.#written = text;
    } catch {
      // A full disk is reported where it matters; the previous list stays.
    }
  }
}
