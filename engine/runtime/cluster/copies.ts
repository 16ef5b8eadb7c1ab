// The warm copies of this node: files of workspaces that it does not own and follows entry by entry, so that it can
// serve them within a moment. A copy that fails is tried again; nothing else depends on it.

import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { Limited } from './limited.ts';
import type { Files, WorkspaceLogs } from './ports.ts';
import type { Restorer } from './restore.ts';
import type { Rush } from './rush.ts';

/** Copies that are read from snapshot and log at once: a node that joins reads its whole share. */
const readingAtOnce = 4;
const retryMs = 1000;
/** What a newer version writes, this one may never be able to read. */
const maxRetryMs = 60_000;
/** After what is under way. */
const atOnceMs = 1;
/** Between two writes to a copy. */
const restMs = 500;

interface Copy {
  readonly abort: AbortController;
  /** Resolves when nothing is applied any more. */
  ended: Promise<void>;
  /** `reading`: from its log, by one reader. */
  state: 'waiting' | 'reading' | 'following';
  /** In a row. */
  failures: number;
}

export class Copies {
  readonly #ports: { readonly logs: WorkspaceLogs; readonly files: Files; readonly restorer: Restorer };
  readonly #isTaken: (workspaceId: string) => boolean;
  readonly #isUrgent: (workspaceId: string) => boolean;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #copies = new Map<string, Copy>();
  /** What was stopped, and may still be applying its last entry. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #reading: Limited;
  readonly #rush: Rush;

  /** `isTaken`: the file is being taken or served, and not ours to touch. */
  constructor(options: {
    logs: WorkspaceLogs;
    files: Files;
    restorer: Restorer;
    clock: Clock;
    log: Log;
    isTaken: (workspaceId: string) => boolean;
    /** Whether somebody waits for the copy to have what comes. */
    isUrgent?: (workspaceId: string) => boolean;
    /** Until it is over, no copy begins to be read. */
    rush: Rush;
  }) {
    this.#isTaken = options.isTaken;
    this.#isUrgent = options.isUrgent ?? (() => false);
    this.#ports = options;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#rush = options.rush;
    this.#reading = new Limited(readingAtOnce, async (workspaceId) => {
      await this.#rush.whenOver();
      await this.#read(workspaceId);
    });
  }

  /** Those that are not brought to the newest entry yet, or fell behind. */
  get behind(): number {
    return [...this.#copies.values()].filter(({ state }) => state !== 'following').length;
  }

  /** Follows the workspace from now on. */
  keep(workspaceId: string): void {
    if (this.#copies.has(workspaceId)) return;
    this.#copies.set(workspaceId, {
      abort: new AbortController(),
      ended: this.#ending.get(workspaceId) ?? Promise.resolve(),
      state: 'waiting',
      failures: 0,
    });
    this.#readSoon(workspaceId);
  }

  /** Resolves when nothing is applied to the copy any more; it stays as it is. */
  async stop(workspaceId: string): Promise<void> {
    const copy = this.#copies.get(workspaceId);
    if (copy !== undefined) {
      this.#copies.delete(workspaceId);
      copy.abort.abort();
      const ending = copy.ended.then(() => {
        if (this.#ending.get(workspaceId) === ending) this.#ending.delete(workspaceId);
      });
      this.#ending.set(workspaceId, ending);
    }
    await this.#ending.get(workspaceId);
  }

  /** Nobody needs the copy here. */
  async remove(workspaceId: string): Promise<void> {
    await this.stop(workspaceId);
    if (this.#isFree(workspaceId)) this.#ports.files.remove(workspaceId);
  }

  /** Resolves when the copy equals the newest entry of now, and follows it. Rejects if that fails. */
  async warm(workspaceId: string): Promise<void> {
    // What changes meanwhile may have it followed again.
    do await this.stop(workspaceId);
    while (this.#copies.has(workspaceId) || this.#ending.has(workspaceId));
    if (!this.#isFree(workspaceId)) throw new Error('the copy is in use');
    const copy: Copy = { abort: new AbortController(), ended: Promise.resolve(), state: 'reading', failures: 0 };
    this.#copies.set(workspaceId, copy);
    const restored = this.#ports.restorer.restore(workspaceId);
    copy.ended = restored.then(
      () => undefined,
      () => undefined,
    );
    void copy.ended.then(() => this.#followLater(workspaceId, copy));
    await restored;
  }

  stopAll(): void {
    this.#reading.clear();
    for (const workspaceId of [...this.#copies.keys()]) void this.stop(workspaceId);
  }

  #readSoon(workspaceId: string): void {
    if (this.#isUrgent(workspaceId)) void this.#read(workspaceId);
    else this.#reading.add(workspaceId);
  }

  /** One at a time of the few; following then costs nothing until something comes. */
  async #read(workspaceId: string): Promise<void> {
    const copy = this.#copies.get(workspaceId);
    // Somebody who waited for it has read it.
    if (copy?.state !== 'waiting') return;
    copy.state = 'reading';
    await this.#readCopy(workspaceId, copy);
    // It was stopped and is kept again, which the limit took for this one.
    if (this.#copies.has(workspaceId) && this.#copies.get(workspaceId) !== copy)
      this.#clock.after(atOnceMs, () => this.#readSoon(workspaceId));
  }

  async #readCopy(workspaceId: string, copy: Copy): Promise<void> {
    await copy.ended;
    if (copy.abort.signal.aborted) return;
    const read = this.#ports.restorer.restore(workspaceId).then(
      () => true,
      (error: unknown) => {
        this.#failed(workspaceId, error);
        return false;
      },
    );
    copy.ended = read.then(() => undefined);
    if (await read) this.#followLater(workspaceId, copy);
    else this.#again(workspaceId, copy);
  }

  #followLater(workspaceId: string, copy: Copy): void {
    if (copy.abort.signal.aborted) return;
    copy.state = 'following';
    copy.ended = this.#follow(workspaceId, copy).then(
      () => this.#again(workspaceId, copy),
      (error: unknown) => {
        this.#failed(workspaceId, error);
        this.#again(workspaceId, copy);
      },
    );
  }

  async #follow(workspaceId: string, copy: Copy): Promise<void> {
    const { abort } = copy;
    const { logs, files, restorer } = this.#ports;
    await files.current(workspaceId);
    const entries = logs.follow(workspaceId, files.sequence(workspaceId), abort.signal);
    for await (const batch of restorer.batches(entries)) {
      if (abort.signal.aborted) return;
      await restorer.apply(workspaceId, batch);
      copy.failures = 0;
      await files.current(workspaceId);
      // What comes meanwhile is applied together. Whoever takes the workspace reads the last moment from the log.
      if (!this.#isUrgent(workspaceId)) await this.#rest(abort.signal);
    }
  }

  /** Nobody who stops the copy waits for it. */
  #rest(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(restMs, end);
      function end(): void {
        timer.cancel();
        signal.removeEventListener('abort', end);
        resolve();
      }
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
    });
  }

  #isFree(workspaceId: string): boolean {
    return !this.#copies.has(workspaceId) && !this.#ending.has(workspaceId) && !this.#isTaken(workspaceId);
  }

  #failed(workspaceId: string, error: unknown): void {
    this.#log.warn({ workspaceId, err: error }, 'the copy of a workspace fell behind; it is read again');
  }

  #again(workspaceId: string, copy: Copy): void {
    if (copy.abort.signal.aborted) return;
    copy.state = 'waiting';
    const pauseMs = Math.min(retryMs * 2 ** copy.failures, maxRetryMs);
    copy.failures += 1;
    this.#clock.after(pauseMs, () => {
      if (this.#copies.get(workspaceId) === copy) this.#readSoon(workspaceId);
    });
  }
}
