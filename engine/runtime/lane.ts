// The way to one file's disk. Jobs queue here; at the end of a turn of the event loop all that wait run in one
// transaction, each undone alone if it throws; then COMMIT, one sync off the main thread, and only when the disk has it
// do their outcomes leave, in the order they came. While one sync is under way the next batch runs; what comes then
// gathers. Knows no table, no rule and no timer.

import { type Database, monotonicMs } from '../../store/database.ts';
import { Slices } from './slices.ts';

/**
 * One unit of work. `run` is synchronous; what it throws undoes what it wrote. `settle` is called once, after the disk.
 */
export interface Job {
  /** Called again when what it wrote the first time was undone. */
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

/**
 * One transaction at the most. How long it may hold the loop is the slice's to say: at 25 µs a command this many would
 * take 13 ms.
 */
const maxBatch = 512;
/** Batches on their way to the disk at once: while it takes one, the next runs. More would only make each smaller. */
const maxSyncing = 2;
/** Waiting at the most. At 20,000 commands a second the last one waits half a second; a longer queue helps nobody. */
const maxQueued = 10_000;

export interface LaneHooks {
  /** Before the first job of a batch. */
  onBegin?(): void;
  /** The batch is durable and every job in it is settled. */
  onDurable?(): void;
  /** Who held it has let go. */
  onReleased?(): void;
  /** What was run since the last commit is undone: forget every state held in memory. It may be run again at once. */
  onUndone?(): void;
  /** A batch could not be committed. Its jobs are settled with an error, in their turn. */
  onBroken(error: unknown): void;
  /** The disk refused to sync, so what it holds is unknown. There is no way on but to end the process. */
  onSyncFailed(error: Error): void;
  onBatch?(figures: { jobs: number; commitMs: number; syncMs: number }): void;
}

/** What was run in one transaction, on its way to the disk. */
interface Batch {
  /** In the order they ran. */
  readonly jobs: Job[];
  /** What each job that did not hold threw. */
  readonly errors: Map<Job, unknown>;
  /** Calls of whenDurable() that saw it. */
  readonly afterwards: (() => void)[];
  /** When its COMMIT began, on the clock of all threads. Infinity before, and when it never did. */
  committingMs: number;
  state: 'syncing' | 'durable' | 'broken';
}

export class Lane {
  readonly #db: Database;
  readonly #hooks: LaneHooks;
  readonly #slices: Slices;
  #queue: Job[] = [];
  /** In the order they ran. */
  readonly #syncing: Batch[] = [];
  #scheduled = false;
  #holds = 0;
  #atRest: (() => void)[] = [];

  /** Lanes of one process share its loop by sharing `slices`. */
  constructor(db: Database, hooks: LaneHooks, slices: Slices = new Slices()) {
    this.#db = db;
    this.#hooks = hooks;
    this.#slices = slices;
  }

  get depth(): number {
    return this.#queue.length;
  }

  /** Something waits or is under way. */
  get isBusy(): boolean {
    return this.#queue.length > 0 || this.#syncing.length > 0;
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

  /**
   * Calls back once everything that a reader could see at `seenMs` of monotonicMs(), or can see at this moment, is
   * durable; at once when it is.
   */
  whenDurable(call: () => void, seenMs = Number.POSITIVE_INFINITY): void {
    const newest = this.#syncing.findLast(({ committingMs }) => committingMs <= seenMs);
    if (newest === undefined) call();
    else newest.afterwards.push(call);
  }

  /** Resolves when no batch is under way and keeps the next from starting until release() is called. */
  hold(): Promise<void> {
    this.#holds += 1;
    return new Promise((resolve) => this.#whenAtRest(resolve));
  }

  release(): void {
    this.#holds -= 1;
    this.#schedule();
    this.#hooks.onReleased?.();
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drained(): Promise<void> {
    while (this.isBusy) {
      await new Promise<void>((resolve) => this.#whenAtRest(resolve));
      // Those whose jobs were settled may have more to ask for.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#syncing.length >= maxSyncing || this.#holds > 0 || this.#queue.length === 0) return;
    this.#scheduled = true;
    this.#slices.add(() => {
      this.#scheduled = false;
      if (this.#holds === 0) this.#turn();
    });
  }

  #turn(): void {
    const batch: Batch = {
      jobs: [],
      errors: new Map(),
      afterwards: [],
      committingMs: Number.POSITIVE_INFINITY,
      state: 'syncing',
    };
    this.#syncing.push(batch);
    const startedAt = performance.now();
    try {
      this.#runAll(batch, startedAt + this.#slices.batchMs);
      batch.committingMs = monotonicMs();
      this.#db.commit();
    } catch (error) {
      this.#undoAll(batch, error);
      this.#land(batch, 'broken');
      return;
    }
    const committedAt = performance.now();
    this.#db.sync((error) => {
      if (error !== null) {
        // Held for good: nothing more is written behind what may be lost, and no outcome leaves.
        this.#holds += 1;
        this.#hooks.onSyncFailed(error);
        return;
      }
      this.#hooks.onBatch?.({
        jobs: batch.jobs.length,
        commitMs: committedAt - startedAt,
        syncMs: performance.now() - committedAt,
      });
      this.#land(batch, 'durable');
    });
    this.#schedule();
  }

  /**
   * Runs what waits, until it is as much as a batch may be or its time is over; the rest waits for the next. Without
   * savepoints,
   * which would cost a fifth of every command: who is refused has seldom written before. When one has, the whole batch
   * is undone
   * and run again with them. Throws when SQLite gave up the whole transaction.
   */
  #runAll(batch: Batch, untilMs: number): void {
    // Taken out before they run: what they ask for themselves comes behind all that waits.
    const jobs = this.#queue.splice(0, maxBatch);
    let isCareful = false;
    try {
      this.#hooks.onBegin?.();
      this.#db.begin();
      for (const job of jobs) {
        batch.jobs.push(job);
        if (isCareful) this.#runCarefully(batch, job);
        else if (!this.#run(batch, job)) {
          isCareful = true;
          this.#runAgain(batch);
        }
        if (performance.now() >= untilMs) break;
      }
    } catch (error) {
      batch.jobs.push(...jobs.slice(batch.jobs.length));
      throw error;
    }
    if (batch.jobs.length < jobs.length) this.#queue.unshift(...jobs.slice(batch.jobs.length));
  }

  /** False when it threw after it had written. */
  #run(batch: Batch, job: Job): boolean {
    const { writeCount } = this.#db;
    try {
      job.run();
    } catch (error) {
      if (!this.#db.inTransaction) throw error;
      if (this.#db.writeCount !== writeCount) return false;
      this.#refuse(batch, job, error);
    }
    return true;
  }

  #runAgain(batch: Batch): void {
    this.#db.rollback();
    this.#hooks.onUndone?.();
    batch.errors.clear();
    this.#db.begin();
    for (const job of batch.jobs) this.#runCarefully(batch, job);
  }

  #runCarefully(batch: Batch, job: Job): void {
    this.#db.savepoint();
    try {
      job.run();
    } catch (error) {
      if (!this.#db.inTransaction) throw error;
      this.#db.rollbackToSavepoint();
      this.#refuse(batch, job, error);
      return;
    }
    // Outside of the try: what the job left in memory stands already, so if this fails the whole batch goes.
    this.#db.release();
  }

  #refuse(batch: Batch, job: Job, error: unknown): void {
    job.undo();
    batch.errors.set(job, error ?? new Error('a job threw nothing'));
  }

  #undoAll(batch: Batch, cause: unknown): void {
    try {
      this.#db.rollback();
    } finally {
      this.#hooks.onBroken(cause);
      this.#hooks.onUndone?.();
      const error = new CommitFailed('the batch could not be committed', { cause });
      for (const job of batch.jobs) batch.errors.set(job, error);
    }
  }

  /** Lets the outcomes of this batch out, after those of the batches before it. */
  #land(batch: Batch, state: 'durable' | 'broken'): void {
    batch.state = state;
    for (let first = this.#syncing[0]; first !== undefined && first.state !== 'syncing'; first = this.#syncing[0]) {
      for (const job of first.jobs) job.settle(first.errors.get(job));
      if (first.state === 'durable') this.#hooks.onDurable?.();
      this.#syncing.shift();
      for (const call of first.afterwards) call();
    }
    if (this.#syncing.length === 0 && this.#atRest.length > 0) {
      const atRest = this.#atRest;
      this.#atRest = [];
      for (const call of atRest) call();
    }
    this.#schedule();
  }

  #whenAtRest(call: () => void): void {
    if (this.#syncing.length > 0) this.#atRest.push(call);
    else call();
  }
}
