// Checks once a minute whether files can be stored. A bucket that is unreachable, or that rejects the key, is logged
// and reported by /readyz before anyone uploads. Refuses nothing: each upload finds out by itself.

import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import type { Log } from '../../engine/runtime/log.ts';
import type { ObjectStore } from '../../workers/providers/objects.ts';

const lookEveryMs = 60_000;

export interface StorageWatchOptions {
  /** Undefined when there is no storage. Disks are not checked here. */
  readonly objects: Pick<ObjectStore, 'check'> | undefined;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
}

export class StorageWatch {
  readonly #options: StorageWatchOptions;
  #isUsable = true;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: StorageWatchOptions) {
    this.#options = options;
  }

  /** As /readyz reports it to anyone: without the location of the files. */
  get lines(): readonly string[] {
    return this.#isUsable ? [] : ['Files cannot be stored: uploads return 503. The log says why.'];
  }

  watch(): void {
    void this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    const { objects, clock, log } = this.#options;
    if (objects?.check === undefined) return;
    const failure = await objects.check().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (this.#isStopped) return;
    if (this.#isUsable && failure !== undefined)
      log.error({ err: failure.error }, 'files cannot be stored; uploads return 503');
    if (!this.#isUsable && failure === undefined) log.info({}, 'files can be stored again');
    this.#isUsable = failure === undefined;
    this.#timer = clock.after(lookEveryMs, () => void this.#look());
  }
}
