// A disk whose syncs a test completes by hand, to observe the time between a COMMIT and its durability. A lane allows
// two batches in progress, so a test that wants the next one to gather holds two.

import { fstatSync } from 'node:fs';
import type { SyncToDisk } from '../../store/database.ts';

interface Waiting {
  readonly kind: 'log' | 'folder';
  done(error: Error | null): void;
}

export class HeldDisk {
  readonly #waiting: Waiting[] = [];
  readonly kinds: ('log' | 'folder')[] = [];
  #isHeld: boolean;
  /** While a folder's sync ends, the log's that was asked for with it takes its place. */
  #isFolderEnding = false;
  #wake: (() => void)[] = [];

  /** Held from the start, unless told otherwise. */
  constructor(options: { isHeld?: boolean } = {}) {
    this.#isHeld = options.isHeld ?? true;
  }

  readonly sync: SyncToDisk = (descriptor, done, kind) => {
    if (kind === 'found log') {
      done(null);
      return;
    }
    // A descriptor that was closed meanwhile throws here, as the kernel would refuse it.
    if (fstatSync(descriptor).isDirectory() !== (kind === 'folder'))
      throw new Error(`asked to sync a ${kind} that is none`);
    this.kinds.push(kind);
    if (!this.#isHeld) {
      setImmediate(() => done(null));
      return;
    }
    if (this.#isFolderEnding) this.#waiting.unshift({ kind, done });
    else this.#waiting.push({ kind, done });
    for (const call of this.#wake.splice(0)) call();
  };

  hold(): void {
    this.#isHeld = true;
  }

  /** From here on they end by themselves at the end of the turn; those that wait, wait on. */
  letPass(): void {
    this.#isHeld = false;
  }

  /** From here on they end by themselves, and those that wait end now. */
  letGo(): void {
    this.letPass();
    while (this.#waiting.length > 0) this.complete();
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves when so many syncs wait. */
  async asked(count = 1): Promise<void> {
    while (this.#waiting.length < count) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Ends the oldest sync that waits, if there is one. */
  complete(error: Error | null = null): void {
    const oldest = this.#waiting.shift();
    this.#isFolderEnding = oldest?.kind === 'folder';
    oldest?.done(error);
    this.#isFolderEnding = false;
  }

  /** Ends the newest before those it came after, as a disk may. */
  completeNewest(): void {
    this.#waiting.pop()?.done(null);
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
}
