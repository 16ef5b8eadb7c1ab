// Free space on the disk of the data folder, and whether it is down to the reserve, which is kept for the work of
// existing workspaces, above all messages. Work that needs much space (new workspaces, files, crawls) checks first and
// is refused. Checked once a second, off the loop, so that far less than the reserve arrives between two checks.

import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { refuse } from '../../engine/errors.ts';
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import type { Log } from '../../engine/runtime/log.ts';

const lookEveryMs = 1000;
/**
 * Refusals end only when this share of the reserve is free beside it, so that they do not alternate with every file.
 */
const regained = 0.1;

export interface DiskReserveOptions {
  readonly folder: string;
  /** 0: no reserve. */
  readonly reserveBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}

export class DiskReserve {
  readonly #options: DiskReserveOptions;
  #freeBytes: number;
  #hasRoom = true;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
    this.#freeBytes = bytesOf(statfsSync(options.folder));
    this.#judge();
  }

  /** Bytes that this process may still write. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  get hasRoom(): boolean {
    return this.#hasRoom;
  }

  watch(): void {
    if (this.#isStopped) return;
    this.#timer = this.#options.clock.after(lookEveryMs, () => {
      // A failed check keeps the previous result.
      statfs(this.#options.folder)
        .then(
          (found) => {
            this.#freeBytes = bytesOf(found);
          },
          () => undefined,
        )
        .then(() => {
          this.#judge();
          this.watch();
        });
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Refuses service_unavailable. */
  requireRoom(): void {
    if (!this.#hasRoom)
      refuse('service_unavailable', {
        message: 'The disk is nearly full: only messages are accepted until there is more space.',
      });
  }

  #judge(): void {
    const { reserveBytes, log } = this.#options;
    const free = this.#freeBytes;
    const had = this.#hasRoom;
    this.#hasRoom = free > (had ? reserveBytes : reserveBytes * (1 + regained)) || reserveBytes === 0;
    if (had && !this.#hasRoom)
      log.error(
        { freeBytes: free, reserveBytes },
        'the disk has reached its reserve: new workspaces, files, crawls and backups are refused, messages are accepted; free some space',
      );
    if (!had && this.#hasRoom) log.info({ freeBytes: free, reserveBytes }, 'the disk has enough space again');
  }
}

function bytesOf({ bavail, bsize }: { bavail: number; bsize: number }): number {
  return bavail * bsize;
}
