// The way to the disk as a test holds it: while held, what is committed is not durable until the test lets it be.

import { fdatasync } from 'node:fs';
import type { SyncToDisk } from '../../store/database.ts';

export class Disk {
  #held: (() => void)[] | undefined;
  #wake: (() => void)[] = [];

  readonly syncToDisk: SyncToDisk = (descriptor, done) => {
    const sync = (): void => fdatasync(descriptor, done);
    if (this.#held === undefined) {
      sync();
      return;
    }
    this.#held.push(sync);
    for (const call of this.#wake.splice(0)) call();
  };

  hold(): void {
    this.#held ??= [];
  }

  /** Resolves when something waits to become durable. */
  async asked(): Promise<void> {
    while ((this.#held?.length ?? 0) === 0) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Lets the next one through. */
  one(): void {
    this.#held?.shift()?.();
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const sync of held) sync();
  }
}
