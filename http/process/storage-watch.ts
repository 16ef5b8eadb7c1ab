// Whether files can be stored now: a bucket that is gone, or that no longer takes the key, is said in the log and by
// /readyz before anybody uploads. A look a minute. Nothing is refused by it: each upload finds out for itself.

import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import type { Log } from '../../engine/runtime/log.ts';
import type { ObjectStore } from '../../workers/providers/objects.ts';

const lookEveryMs = 60_000;

export interface StorageWatchOptions {
  /** Undefined when there is no storage; a disk is not looked at by this. */
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

  /** As /readyz tells it, to whoever asks: not where the files lie. */
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
