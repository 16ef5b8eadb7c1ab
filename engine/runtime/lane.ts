// The way to one file's disk. Jobs queue here; at the end of a turn of the event loop all that wait run in one transaction,
// one savepoint each; then COMMIT, one sync off the main thread, and only when the disk has it do their outcomes leave, in
// the order they came. While a sync is under way the next jobs gather. Knows no table, no rule and no timer.

import type { Database } from '../../store/database.ts';

/** One unit of work. `run` is synchronous; what it throws undoes what it wrote. `settle` is called once, after the disk. */
export interface Job {
  run(): void;
  /** Takes back what `run` did in memory. */
  undo(): void;
  settle(error: unknown): void;
}

/** The queue is at its bound; the caller is told to come back (503). */
export class LaneFull extends Error {
  override readonly name = 'LaneFull';
}

/** The batch could not be committed; nothing of it happened. */
export class CommitFailed extends Error {
  override readonly name = 'CommitFailed';
}

/** One transaction at the most. Bounds how long the loop is held: at 25 µs a command, 13 ms. */
const maxBatch = 512;
/** Waiting at the most. At 20,000 commands a second the last one waits half a second; a longer queue helps nobody. */
const maxQueued = 10_000;

export interface LaneHooks {
  /** Before the first job of a batch. */
  onBegin?(): void;
  /** Inside the transaction, after the last job that held, before COMMIT. */
  beforeCommit?(): void;
  /** The batch is durable and every job in it is settled. */
  onDurable?(): void;
  /** The batch is undone: forget every state held in memory. Called before the jobs are settled. */
  onBroken(error: unknown): void;
  /** The disk refused to sync, so what it holds is unknown. There is no way on but to end the process. */
  onSyncFailed(error: Error): void;
  onBatch?(figures: { jobs: number; commitMs: number; syncMs: number }): void;
}

export class Lane {
  readonly #db: Database;
  readonly #hooks: LaneHooks;
  #queue: Job[] = [];
  #scheduled = false;
  #inFlight = false;
  #holds = 0;
  #atRest: (() => void)[] = [];
  /** Called when the batch under way is over, or, if there is none, the next one. */
  #afterSync: (() => void)[] = [];

  constructor(db: Database, hooks: LaneHooks) {
    this.#db = db;
    this.#hooks = hooks;
  }

  get depth(): number {
    return this.#queue.length;
  }

  /** Something waits or is under way. */
  get isBusy(): boolean {
    return this.#queue.length > 0 || this.#inFlight;
  }

  /** Nothing waits, nothing is under way and nobody holds it. */
  get idle(): boolean {
    return !this.isBusy && this.#holds === 0;
  }

  /** Throws LaneFull. */
  submit(job: Job): void {
    if (this.#queue.length >= maxQueued) throw new LaneFull(`${maxQueued} commands wait already`);
    this.#queue.push(job);
    this.#schedule();
  }

  /** Calls back once everything that a reader can see at this moment is durable; at once when it is. */
  whenDurable(call: () => void): void {
    if (this.#inFlight) this.#afterSync.push(call);
    else call();
  }

  /** Resolves when no batch is under way and keeps the next from starting until release() is called. */
  hold(): Promise<void> {
    this.#holds += 1;
    return new Promise((resolve) => this.#whenAtRest(resolve));
  }

  release(): void {
    this.#holds -= 1;
    this.#schedule();
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drained(): Promise<void> {
    while (this.isBusy) {
      await new Promise<void>((resolve) => this.#afterSync.push(resolve));
      // Those whose jobs were settled may have more to ask for.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight || this.#holds > 0 || this.#queue.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#holds === 0) this.#turn();
    });
  }

  #turn(): void {
    const batch = this.#queue.length <= maxBatch ? this.#queue : this.#queue.slice(0, maxBatch);
    this.#queue = this.#queue.length <= maxBatch ? [] : this.#queue.slice(maxBatch);
    const startedAt = performance.now();
    this.#inFlight = true;
    let errors: Map<Job, unknown> | undefined;
    try {
      errors = this.#runAll(batch);
      this.#hooks.beforeCommit?.();
      this.#db.commit();
    } catch (error) {
      this.#break(batch, error);
      return;
    }
    const committedAt = performance.now();
    this.#db.sync((error) => {
      if (error !== null) {
        this.#hooks.onSyncFailed(error);
        return;
      }
      for (const job of batch) job.settle(errors?.get(job));
      this.#hooks.onDurable?.();
      this.#hooks.onBatch?.({ jobs: batch.length, commitMs: committedAt - startedAt, syncMs: performance.now() - committedAt });
      this.#land();
    });
  }

  /** What each job that did not hold threw. Throws itself when SQLite gave up the whole transaction. */
  #runAll(batch: readonly Job[]): Map<Job, unknown> | undefined {
    let errors: Map<Job, unknown> | undefined;
    this.#hooks.onBegin?.();
    this.#db.begin();
    for (const job of batch) {
      this.#db.savepoint();
      try {
        job.run();
      } catch (error) {
        if (!this.#db.inTransaction) throw error;
        this.#db.rollbackToSavepoint();
        job.undo();
        errors ??= new Map();
        errors.set(job, error ?? new Error('a job threw nothing'));
        continue;
      }
      // Outside of the try: what the job left in memory stands already, so if this fails the whole batch goes.
      this.#db.release();
    }
    return errors;
  }

  #break(batch: readonly Job[], cause: unknown): void {
    try {
      this.#db.rollback();
    } finally {
      this.#hooks.onBroken(cause);
      const error = new CommitFailed('the batch could not be committed', { cause });
      for (const job of batch) job.settle(error);
      this.#land();
    }
  }

  #land(): void {
    this.#inFlight = false;
    const afterSync = this.#afterSync;
    this.#afterSync = [];
    for (const call of afterSync) call();
    if (this.#atRest.length > 0) {
      const atRest = this.#atRest;
      this.#atRest = [];
      for (const call of atRest) call();
    }
    this.#schedule();
  }

  #whenAtRest(call: () => void): void {
    if (this.#inFlight) this.#atRest.push(call);
    else call();
  }
}
