// What a commit of one workspace waits for in a cluster: the log's acknowledgement and the own disk's sync. One append
// is under way; what is committed meanwhile goes into the next entry together. The first entry that the log refuses, or
// does not acknowledge in time, breaks the gate for good: everything since the last acknowledged one is void.

import type { Clock } from '../clock.ts';
import { Voided } from '../lane.ts';
import type { CommitGate, WorkspaceLogs } from './ports.ts';

/** Longer than an election of the log's servers, 4 to 9 s. */
const patienceMs = 10_000;
/** Bytes that are joined to one entry: what the log takes in one message. A larger commit is an entry by itself. */
const joinedBytes = 1024 * 1024;
/** Commits that wait. A lane has two; more than this would be a mistake of ours. */
const maxPassing = 64;

type Done = (error: Error | null) => void;

/** A commit on its way. */
interface Passing {
  readonly bytes: Uint8Array;
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
  /** Several commits' changes as one. */
  readonly join: (changes: readonly Uint8Array[]) => Uint8Array;
  /** Whether this node may answer from the file. */
  readonly isHeld: () => boolean;
  /** Before anybody who waits gets an error. */
  readonly onBroken: (cause: unknown) => void;
  readonly onLogged?: (bytes: number, durationMs: number) => void;
  /** Commits of this disk that the log did not take. */
  readonly onVoided?: (commits: number) => void;
}

export class Gate implements CommitGate {
  readonly #options: GateOptions;
  readonly #passing = new Set<Passing>();
  #waiting: Passing[] = [];
  #sequence: number;
  #isSending = false;
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
    return this.#broken === undefined && !this.#isSending && this.#passing.size === 0;
  }

  /** Appends the first entry of an owner, perhaps an empty one: once the log has it, nobody else's can follow. */
  open(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#passing.add({
        bytes,
        isLogged: false,
        isSynced: true,
        done: (error) => (error === null ? resolve() : reject(error)),
      });
      this.#waiting = [...this.#passing];
      void this.#send({ isFirst: true });
    });
  }

  /**
   * Call after each COMMIT, in order, with what it changed; `sync` makes it durable on the own disk. `done` is called
   * once: with null when both are done, with Voided, or with the disk's error. A commit that changed nothing needs no
   * entry, but the lease: its outcome is what was read.
   */
  pass(change: { readonly bytes: Uint8Array; readonly sync: (done: Done) => void }, done: Done): void {
    if (this.#passing.size >= maxPassing) this.break(new Error(`${maxPassing} commits wait for the log`));
    if (this.#broken !== undefined) {
      done(this.#broken);
      return;
    }
    const passing: Passing = { bytes: change.bytes, isLogged: false, isSynced: false, done };
    this.#passing.add(passing);
    this.#waiting.push(passing);
    change.sync((error) => {
      passing.isSynced = true;
      this.#settle(passing, error);
    });
    if (!this.#isSending) void this.#send({ isFirst: false });
  }

  /** Voids what is not acknowledged, and all that comes. */
  break(cause: unknown): void {
    if (this.#broken !== undefined) return;
    const broken = new Voided('the log has not acknowledged it', { cause });
    this.#broken = broken;
    this.#waiting = [];
    if (this.#passing.size > 0) this.#options.onVoided?.(this.#passing.size);
    this.#options.onBroken(cause);
    this.#abort.abort();
    for (const passing of [...this.#passing]) this.#finish(passing, broken);
  }

  async #send({ isFirst }: { isFirst: boolean }): Promise<void> {
    this.#isSending = true;
    const batch = this.#next();
    try {
      await this.#log(batch, { isFirst });
    } catch (cause) {
      this.break(cause);
    }
    this.#isSending = false;
    if (this.#broken !== undefined) return;
    // The next entry is on its way before whoever waited for this one goes on.
    if (this.#waiting.length > 0) void this.#send({ isFirst: false });
    for (const passing of batch) {
      passing.isLogged = true;
      this.#settle(passing, null);
    }
  }

  async #log(batch: readonly Passing[], { isFirst }: { isFirst: boolean }): Promise<void> {
    const changes = batch.filter(({ bytes }) => bytes.length > 0).map(({ bytes }) => bytes);
    if (changes.length > 0 || isFirst) await this.#append(this.#options.join(changes));
    else if (!this.#options.isHeld()) throw new Error('the lease of this node has ended');
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

  #next(): Passing[] {
    let bytes = 0;
    let count = 0;
    for (const passing of this.#waiting) {
      bytes += passing.bytes.length;
      if (count > 0 && bytes > joinedBytes) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  #settle(passing: Passing, error: Error | null): void {
    if (error !== null || (passing.isLogged && passing.isSynced)) this.#finish(passing, error);
  }

  #finish(passing: Passing, error: Error | null): void {
    if (this.#passing.delete(passing)) passing.done(error);
  }
}
