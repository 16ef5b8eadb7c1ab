// A disk whose syncs a test ends by hand, to look at what happens between a COMMIT and the moment it is durable.

import { fstatSync } from 'node:fs';
import type { SyncToDisk } from '../../store/database.ts';

interface Waiting {
  readonly kind: 'log' | 'folder';
  done(error: Error | null): void;
}

export class HeldDisk {
  readonly #waiting: Waiting[] = [];
  readonly kinds: ('log' | 'folder')[] = [];
  /** While false, those that are asked for end by themselves at the end of the turn. */
  isHeld = true;
  #wake: (() => void)[] = [];

  readonly sync: SyncToDisk = (descriptor, done, kind) => {
    // A descriptor that was closed meanwhile throws here, as the kernel would refuse it.
    if (fstatSync(descriptor).isDirectory() !== (kind === 'folder')) throw new Error(`asked to sync a ${kind} that is none`);
    this.kinds.push(kind);
    if (!this.isHeld) {
      setImmediate(() => done(null));
      return;
    }
    this.#waiting.push({ kind, done });
    const wake = this.#wake;
    this.#wake = [];
    for (const call of wake) call();
  };

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves when a sync waits. */
  async asked(): Promise<void> {
    while (this.#waiting.length === 0) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Ends the oldest sync that waits, if there is one. */
  complete(error: Error | null = null): void {
    this.#waiting.shift()?.done(error);
  }

  /** Waits for the sync of a log, through that of its folder when the file was just opened, and ends it. */
  async completeNext(error: Error | null = null): Promise<void> {
    await this.asked();
    while (this.#waiting[0]?.kind === 'folder') {
      this.complete();
      await this.asked();
    }
    this.complete(error);
  }

  /** Ends those that wait, and lets every one end by itself from here on. */
  letGo(): void {
    this.isHeld = false;
    while (this.#waiting.length > 0) this.complete();
  }
}
