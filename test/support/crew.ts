// Actors that repeat an action, each after a pause of its own, except while they are held. Used by the soak and by the
// chaos of a cluster.

import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from './seeded.ts';

export interface CrewOptions {
  /** Actors' pauses are drawn around this. */
  readonly thinkMs: number;
  /** An action threw: a bug of the actor's, or of what it met. */
  onError(error: unknown): void;
}

export class Crew {
  readonly #options: CrewOptions;
  #isHeld = false;
  #isOver = false;
  #acting = 0;
  #wake: (() => void)[] = [];
  readonly #actors: Promise<void>[] = [];

  constructor(options: CrewOptions) {
    this.#options = options;
  }

  /** Nobody begins anything now: an action that lasts ends soon. */
  get isHeld(): boolean {
    return this.#isHeld || this.#isOver;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Runs an actor repeatedly until the end. `pace`: its pauses are so many times as long. */
  employ(random: Random, act: () => Promise<void>, { pace = 1 }: { pace?: number } = {}): void {
    this.#actors.push(
      (async () => {
        while (!this.#isOver) {
          await pause(this.#options.thinkMs * pace * (0.5 + random.next()));
          while (this.#isHeld && !this.#isOver) await new Promise<void>((resolve) => this.#wake.push(resolve));
          if (this.#isOver) return;
          this.#acting += 1;
          try {
            await act();
          } catch (error) {
            this.#options.onError(error);
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

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const call of wake) call();
  }
}
