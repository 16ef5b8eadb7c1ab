// What a commit of one workspace waits for in a cluster: the log's acknowledgement and the own disk's sync. One commit
// is under way, and is an entry. The first entry that the log refuses, or does not acknowledge in time, breaks the gate
// for good: it is void, and all that comes.

import type { Clock } from '../clock.ts';
import { Voided } from '../lane.ts';
import type { CommitGate, WorkspaceLogs } from './ports.ts';

/** Longer than an election of the log's servers, 4 to 9 s. */
const patienceMs = 10_000;

type Done = (error: Error | null) => void;

/** A commit on its way. */
interface Passing {
  readonly done: Done;
  isLogged: boolean;
  isSynced: boolean;
}

export interface GateOptions {
  readonly workspaceId: string;
  readonly logs: WorkspaceLogs;
  readonly clock: Clock;
  /** A new id for each entry, of no other node and no other start. */
  readonly newId: () => string;
  /** Whether this node may answer from the file. */
  readonly isHeld: () => boolean;
  /** Before anybody who waits gets an error. */
  readonly onBroken: (cause: unknown) => void;
  readonly onLogged?: (bytes: number, durationMs: number) => void;
  /** A commit of this disk that the log did not take. */
  readonly onVoided?: () => void;
}

export class Gate implements CommitGate {
  readonly #options: GateOptions;
  #passing: Passing | undefined;
  #sequence: number;
  #isLogging = false;
  /** The disk failed: what the file holds is unknown. */
  #isUnsynced = false;
  #abort = new AbortController();
  #broken: Voided | undefined;

  /** `sequence`: the entry that the file equals. */
  constructor(options: GateOptions & { readonly sequence: number }) {
    this.#options = options;
    this.#sequence = options.sequence;
  }

  /** The newest acknowledged entry. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Whether the file holds nothing that the log does not. */
  get isAtRest(): boolean {
    return this.#broken === undefined && !this.#isUnsynced && !this.#isLogging && this.#passing === undefined;
  }

  /** Appends the first entry of an owner, perhaps an empty one: once the log has it, nobody else's can follow. */
  open(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      const done: Done = (error) => (error === null ? resolve() : reject(error));
      void this.#log(this.#begin({ isSynced: true, done }), bytes);
    });
  }

  /**
   * Call after each COMMIT with what it changed; `sync` makes it durable on the own disk. A call before the last commit is
   * done voids both. `done` is called once: with null when both are done, with Voided, or with the disk's error. A commit
   * that changed nothing needs no entry, but the lease: its outcome is what was read.
   */
  pass({ bytes, sync }: { readonly bytes: Uint8Array; readonly sync: (done: Done) => void }, done: Done): void {
    if (this.#passing !== undefined) this.break(new Error('a commit is under way already'));
    if (this.#broken !== undefined) {
      done(this.#broken);
      return;
    }
    const passing = this.#begin({ isSynced: false, done });
    if (bytes.length > 0) void this.#log(passing, bytes);
    sync((error) => {
      passing.isSynced = true;
      this.#isUnsynced ||= error !== null;
      if (error === null && bytes.length === 0) this.#logNothing(passing);
      this.#settle(passing, error);
    });
  }

  /** Voids what is not acknowledged, and all that comes. */
  break(cause: unknown): void {
    if (this.#broken !== undefined) return;
    const broken = new Voided('the log has not acknowledged it', { cause });
    const passing = this.#passing;
    this.#broken = broken;
    if (passing !== undefined) this.#options.onVoided?.();
    this.#options.onBroken(cause);
    this.#abort.abort();
    if (passing !== undefined) this.#finish(passing, broken);
  }

  #begin(passing: Omit<Passing, 'isLogged'>): Passing {
    this.#passing = { ...passing, isLogged: false };
    return this.#passing;
  }

  async #log(passing: Passing, bytes: Uint8Array): Promise<void> {
    this.#isLogging = true;
    try {
      await this.#append(bytes);
    } catch (cause) {
      this.break(cause);
    }
    this.#isLogging = false;
    if (this.#broken !== undefined) return;
    passing.isLogged = true;
    this.#settle(passing, null);
  }

  /** At the moment when the outcome leaves: the process may have been paused since it was read. */
  #logNothing(passing: Passing): void {
    if (this.#options.isHeld()) passing.isLogged = true;
    else this.break(new Error('the lease of this node has ended'));
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const { workspaceId, logs, clock, newId, onLogged } = this.#options;
    const abort = this.#abort;
    const startedMs = clock.now();
    const timer = clock.after(patienceMs, () => abort.abort());
    try {
      this.#sequence = await logs.append(workspaceId, { id: newId(), expected: this.#sequence, bytes }, abort.signal);
    } finally {
      timer.cancel();
    }
    onLogged?.(bytes.length, clock.now() - startedMs);
  }

  #settle(passing: Passing, error: Error | null): void {
    if (error !== null || (passing.isLogged && passing.isSynced)) this.#finish(passing, error);
  }

  #finish(passing: Passing, error: Error | null): void {
    if (this.#passing !== passing) return;
    this.#passing = undefined;
    passing.done(error);
  }
}
