// The write queue of one file. At the end of a turn of the event loop, all queued jobs run in one transaction, each
// rolled back separately if it throws. Then COMMIT and one sync off the main thread; only when the data is on disk are
// the jobs settled, in the order they ran. While one sync is under way the next batch runs, and later jobs queue; in a
// cluster the next batch waits, too. Knows no table, no rule and no timer.

import { type Database, monotonicMs } from '../../store/database.ts';
import { FairQueue, type Queued } from './fair-queue.ts';
import { Slices } from './slices.ts';

/**
 * One unit of work. `run` is synchronous; if it throws, its writes are rolled back. `settle` is called once, when the
 * outcome is durable.
 */
export interface Job extends Queued {
  /** Called again if its first writes were rolled back. */
  run(): void;
  /** Reverts what `run` did in memory. */
  undo(): void;
  settle(error: unknown): void;
}

/** The queue is full; the caller should retry (503). */
export class LaneFull extends Error {
  override readonly name = 'LaneFull';
}

/** The batch could not be committed; none of it happened. */
export class CommitFailed extends Error {
  override readonly name = 'CommitFailed';
}

/** The batch is on this disk, but counts no more: the file must be dropped and read again. Whether it happened is unknown. */
export class Voided extends Error {
  override readonly name = 'Voided';
}

/** What a lane needs of its file. */
export type LaneDatabase = Pick<
  Database,
  | 'begin'
  | 'commit'
  | 'rollback'
  | 'savepoint'
  | 'rollbackToSavepoint'
  | 'release'
  | 'inTransaction'
  | 'writeCount'
  | 'sync'
>;

/**
 * What a batch waits for after its COMMIT: by default the disk's sync. In a cluster also another's acknowledgement,
 * which may end with Voided; then the lane is void for good.
 */
export type Pass = (done: (error: Error | null) => void) => void;

/** Jobs in one transaction. The slice limits the time: at 25 µs a command, 512 would take 13 ms. */
const maxBatch = 512;
/** Batches being synced at once: while the disk takes one, the next runs. More would only make each smaller. */
const maxSyncing = 2;
/**
 * In a cluster, whose gate takes one commit at a time: an entry of its log costs so much that fewer and fuller batches are
 * quicker, also for whoever waits.
 */
const maxPassing = 1;
/** At 20,000 commands a second the last one waits half a second; a longer queue would not help. */
const maxQueued = 10_000;

export interface LaneHooks {
  /** Before the first job of a batch. */
  onBegin?(): void;
  /** The batch is durable and every job in it is settled. */
  onDurable?(): void;
  /** The last hold was released. */
  onReleased?(): void;
  /** Everything since the last commit was rolled back: forget all state in memory. The jobs may run again at once. */
  onUndone?(): void;
  /** A batch could not be committed. Its jobs are settled with an error, in their turn. */
  onBroken(error: unknown): void;
  /** The sync failed, so what is on disk is unknown. The process must end. */
  onSyncFailed(error: Error): void;
  onBatch?(figures: { jobs: number; commitMs: number; syncMs: number }): void;
}

/** Jobs of one transaction, on their way to the disk. */
interface Batch {
  /** In the order they ran. */
  readonly jobs: Job[];
  /** The error of each refused job. */
  readonly errors: Map<Job, unknown>;
  /** Callbacks of whenDurable() that depend on this batch. */
  readonly afterwards: { call(): void; onVoid(): void }[];
  /** When its COMMIT began, on the clock shared by all threads. Infinity before that, or if it never began. */
  committingMs: number;
  state: 'syncing' | 'durable' | 'broken';
}

export class Lane {
  readonly #db: LaneDatabase;
  readonly #hooks: LaneHooks;
  readonly #slices: Slices;
  readonly #queue = new FairQueue<Job>();
  /** Submitted by jobs of the batch that runs; they come behind all others. */
  readonly #submitted: Job[] = [];
  #isRunning = false;
  /** In the order they ran. */
  readonly #syncing: Batch[] = [];
  #scheduled = false;
  #holds = 0;
  #atRest: (() => void)[] = [];
  #voided: Voided | undefined;
  readonly #pass: Pass;
  readonly #maxUnderWay: number;

  /** Lanes of one process share its loop by sharing `slices`. */
  constructor(db: LaneDatabase, hooks: LaneHooks, slices: Slices = new Slices(), pass?: Pass) {
    this.#db = db;
    this.#hooks = hooks;
    this.#slices = slices;
    this.#pass = pass ?? ((done) => db.sync(done));
    this.#maxUnderWay = pass === undefined ? maxSyncing : maxPassing;
  }

  get depth(): number {
    return this.#queue.size + this.#submitted.length;
  }

  /** Whether jobs wait or are under way. */
  get isBusy(): boolean {
    return this.depth > 0 || this.#syncing.length > 0;
  }

  /** Whether no job waits or is under way, and the lane is not held. */
  get idle(): boolean {
    return !this.isBusy && this.#holds === 0;
  }

  /** Throws LaneFull, or Voided if the lane is void. */
  submit(job: Job): void {
    if (this.#voided !== undefined) throw this.#voided;
    if (this.depth >= maxQueued) throw new LaneFull(`${maxQueued} commands are already waiting`);
    if (this.#isRunning) this.#submitted.push(job);
    else this.#queue.push(job);
    this.#schedule();
  }

  /**
   * Calls back once everything that a reader could see at `seenMs` of monotonicMs(), by default now, is durable;
   * synchronously if it is already. `onVoid` is called instead if that is void: what was seen must not leave.
   */
  whenDurable(call: () => void, onVoid: () => void, seenMs = Number.POSITIVE_INFINITY): void {
    const newest = this.#syncing.findLast(({ committingMs }) => committingMs <= seenMs);
    if (newest !== undefined) newest.afterwards.push({ call, onVoid });
    else if (this.#voided !== undefined) onVoid();
    else call();
  }

  /** Everything that waits or is under way gets the error, and nothing runs any more. */
  void(error: Voided): void {
    if (this.#voided !== undefined) return;
    this.#voided = error;
    this.#holds += 1;
    for (const batch of this.#syncing) for (const job of batch.jobs) batch.errors.set(job, error);
    for (const batch of [...this.#syncing]) this.#land(batch, 'broken');
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) job.settle(error);
  }

  /** Resolves when no batch is under way, and keeps the next from starting until release() is called. */
  hold(): Promise<void> {
    this.#holds += 1;
    return new Promise((resolve) => this.#whenAtRest(resolve));
  }

  release(): void {
    this.#holds -= 1;
    this.#schedule();
    this.#hooks.onReleased?.();
  }

  /** Resolves when no job waits or is under way. */
  async drained(): Promise<void> {
    while (this.isBusy) {
      await new Promise<void>((resolve) => this.#whenAtRest(resolve));
      // Callers whose jobs were settled may submit more.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#syncing.length >= this.#maxUnderWay || this.#holds > 0 || this.depth === 0) return;
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
    this.#pass((error) => {
      if (error instanceof Voided) {
        this.void(error);
        return;
      }
      if (error !== null) {
        // Held for good: nothing more is written after data that may be lost, and no job is settled.
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
   * Runs queued jobs until the batch is full or its time is up; the rest wait for the next batch. Runs without
   * savepoints, which would cost a fifth of every command, because refused jobs have seldom written anything. When one
   * has, the whole batch is rolled back and run again with savepoints. Throws if SQLite rolled the whole transaction
   * back.
   */
  #runAll(batch: Batch, untilMs: number): void {
    let isCareful = false;
    this.#isRunning = true;
    try {
      this.#hooks.onBegin?.();
      this.#db.begin();
      for (let job = this.#next(batch); job !== undefined; job = this.#next(batch)) {
        if (isCareful) this.#runCarefully(batch, job);
        else if (!this.#run(batch, job)) {
          isCareful = true;
          this.#runAgain(batch);
        }
        if (performance.now() >= untilMs) break;
      }
    } catch (error) {
      while (this.#next(batch) !== undefined);
      throw error;
    } finally {
      this.#isRunning = false;
      for (const job of this.#submitted.splice(0)) this.#queue.push(job);
    }
  }

  /** Moves the next job into the batch. Undefined if the batch is full or none waits. */
  #next({ jobs }: Batch): Job | undefined {
    const job = jobs.length < maxBatch ? this.#queue.shift() : undefined;
    if (job !== undefined) jobs.push(job);
    return job;
  }

  /** Returns false if the job threw after it had written. */
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
    // Outside the try: the job's state is in memory already, so if this fails the whole batch goes.
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

  /** Settles this batch, after the batches before it. */
  #land(batch: Batch, state: 'durable' | 'broken'): void {
    // It was voided meanwhile.
    if (batch.state !== 'syncing') return;
    batch.state = state;
    for (let first = this.#syncing[0]; first !== undefined && first.state !== 'syncing'; first = this.#syncing[0]) {
      for (const job of first.jobs) job.settle(first.errors.get(job));
      if (first.state === 'durable' && this.#voided === undefined) this.#hooks.onDurable?.();
      this.#syncing.shift();
      for (const { call, onVoid } of first.afterwards) {
        if (this.#voided === undefined) call();
        else onVoid();
      }
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
