// A disk whose syncs the test completes by hand, to observe the time between a COMMIT and its durability. A lane allows
// two batches in progress, so a test that wants the next one to fill up holds two.

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
  /** When a folder's sync completes, the sync of the log requested with it takes its place. */
  #isFolderEnding = false;
  #wake: (() => void)[] = [];

  /** Held from the start by default. */
  constructor(options: { isHeld?: boolean } = {}) {
    this.#isHeld = options.isHeld ?? true;
  }

  readonly sync: SyncToDisk = (descriptor, done, kind) => {
    if (kind === 'found log') {
      done(null);
      return;
    }
    // Throws for a descriptor that was closed meanwhile, as the kernel would refuse it.
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

  /** From now on syncs complete at the end of the turn; pending ones stay pending. */
  letPass(): void {
    this.#isHeld = false;
  }

  /** From now on syncs complete by themselves, and pending ones complete now. */
  letGo(): void {
    this.letPass();
    while (this.#waiting.length > 0) this.complete();
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves when this many syncs are pending. */
  async asked(count = 1): Promise<void> {
    while (this.#waiting.length < count) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Completes the oldest pending sync, if there is one. */
  complete(error: Error | null = null): void {
    const oldest = this.#waiting.shift();
    this.#isFolderEnding = oldest?.kind === 'folder';
    oldest?.done(error);
    this.#isFolderEnding = false;
  }

  /** Completes the newest before earlier ones, as a disk may. */
  completeNewest(): void {
    this.#waiting.pop()?.done(null);
  }

  /** Waits for the sync of a log, and for its folder's if the file was just opened, and completes it. */
  async completeNext(error: Error | null = null): Promise<void> {
    await this.asked();
    while (this.#waiting[0]?.kind === 'folder') {
      this.complete();
      await this.asked();
    }
    this.complete(error);
  }
}
