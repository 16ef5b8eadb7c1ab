// Owns every workspace's file, open or not: opens it on first use, routes commands to its lane and runs its deadlines
// and outbox. It knows none of the specification's nouns; the rules come in as definitions.

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Database, makeFolder, type SyncToDisk } from '../../store/database.ts';
import { type Glance, glanceAt } from '../../store/glance.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Clock } from './clock.ts';
import type { CommandDefinition, CommandRequest } from './command.ts';
import type { Ceilings, Settings } from './context.ts';
import { type DeadlineCommands, Deadlines } from './deadlines.ts';
import { DueList } from './due-list.ts';
import type { Ids } from './ids.ts';
import { type Lane, type Pass, Voided } from './lane.ts';
import type { Log } from './log.ts';
import { OpenFiles } from './open-files.ts';
import { Outbox, type OutboxJobs } from './outbox.ts';
import { OutsideActs } from './outside-acts.ts';
import { type ForeignPart, type Placement, ServedElsewhere } from './placement.ts';
import type { PublishedEvent } from './published-event.ts';
import { Slices } from './slices.ts';
import { Workspace } from './workspace.ts';

/** The workspace's file is damaged or cannot be opened. Affects only that workspace (503). */
export class WorkspaceUnavailable extends Error {
  override readonly name = 'WorkspaceUnavailable';
}

export interface EngineOptions {
  /** Holds workspaces/<id>.db. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly checkpoints: Checkpoints;
  readonly deadlines: DeadlineCommands;
  readonly outbox: OutboxJobs;
  readonly settings: Settings;
  /** Per workspace. Undefined: no limits. */
  readonly ceilings?: Ceilings | undefined;
  readonly random?: () => number;
  /** Files open at once. */
  readonly maxOpen?: number | undefined;
  /** Shared with other work that takes turns on the loop. */
  readonly slices?: Slices;
  /** Reads the file at a path, off the loop. */
  readonly glance?: (path: string) => Promise<Glance>;
  /** Whether this workspace must have a file. If it has none, it is unavailable. */
  readonly isKnown?: (workspaceId: string) => boolean;
  /** Of several nodes. Files are then opened by serve() only. */
  readonly placement?: Placement | undefined;
  readonly syncToDisk?: SyncToDisk;
  /** What is on disk is unknown: end the process. */
  onSyncFailed(error: Error): void;
  onBatch?(figures: { jobs: number; commitMs: number; syncMs: number }): void;
}

export type Publish = (workspaceId: string, events: readonly PublishedEvent[]) => void;

/** Files open at once. Each takes four descriptors, 0.6 MiB and its share of the caches. */
const defaultMaxOpen = 200;
/**
 * States unused for one to two of these periods are evicted, so memory follows the work of the last minutes. They are
 * read again from their rows.
 */
const ageEveryMs = 60_000;
/** Time to close every file at a stop. A file left open is recovered from its log when it is next opened. */
const closeForMs = 2000;
/** Concurrent stat calls while all files are sorted by their times. */
const statsAtOnce = 64;
/** Wait before opening a broken file again, so that it costs one attempt per period and not one per request. */
const reopenAfterMs = 10_000;
/** And the latest retry, even without a request. */
const wakeAfterMs = 60_000;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export class Engine {
  readonly #options: EngineOptions;
  readonly #folder: string;
  /** Every workspace used since the start, its file open or parked. */
  readonly #workspaces = new Map<string, Workspace>();
  readonly #files: OpenFiles;
  readonly #slices: Slices;
  readonly #broken = new Map<string, number>();
  readonly #deadlines: Deadlines;
  readonly #dueList: DueList;
  readonly #outbox: Outbox;
  readonly #acts: OutsideActs;
  #publish: Publish = () => {};
  #isWaking = false;
  /** No new commands; outcomes of work under way may still be recorded. */
  #isStopping = false;
  /** Every file is closed or about to be. */
  #stopped = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#folder = join(options.dataDir, 'workspaces');
    makeFolder(this.#folder);
    // Files that an ended process left half made.
    for (const name of readdirSync(this.#folder))
      if (/\.part(?:-wal|-shm)?$/.test(name)) rmSync(join(this.#folder, name));
    const { clock, log, checkpoints, slices = new Slices(), maxOpen = defaultMaxOpen } = options;
    const random = options.random ?? Math.random;
    const workspace = (workspaceId: string): Workspace | undefined => this.workspaceHere(workspaceId);
    const whenOpen = (workspaceId: string): Promise<void> | undefined => this.whenOpen(workspaceId);
    this.#slices = slices;
    this.#files = new OpenFiles({ clock, log, slices, checkpoints, maxOpen });
    this.#deadlines = new Deadlines({ clock, log, commands: options.deadlines, workspace, whenOpen });
    this.#dueList = new DueList({
      path: join(options.dataDir, 'due-next'),
      clock,
      soonest: () => this.#deadlines.soonest(),
    });
    this.#outbox = new Outbox({ clock, log, kinds: options.outbox, workspace, whenOpen, random });
    this.#acts = new OutsideActs(clock);
    this.#ageLater();
  }

  /** Sets the listener for durable events. There is one: the sockets. */
  onPublish(publish: Publish): void {
    this.#publish = publish;
  }

  /**
   * Runs a command and resolves when its outcome is durable. Rejects with the command's error, CommitFailed, LaneFull,
   * WorkspaceUnavailable, ServedElsewhere or Voided. The workspace must exist.
   */
  execute<Params, Result>(
    definition: CommandDefinition<Params, Result>,
    request: CommandRequest<Params>,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const submit = (): void => {
        if (this.#isStopping) throw new WorkspaceUnavailable('the service is stopping');
        const workspace = this.workspace(request.workspaceId);
        if (workspace === undefined) throw new WorkspaceUnavailable(`workspace ${request.workspaceId} has no file`);
        workspace.submit(definition, request, (error, result) => {
          if (error === undefined) resolve(result as Result);
          else reject(error);
        });
      };
      const opening = this.#isStopping ? undefined : this.whenOpen(request.workspaceId);
      if (opening === undefined) submit();
      else opening.then(submit).catch(reject);
    });
  }

  /**
   * Returns the workspace, or undefined if there is none. Opens its file synchronously if needed; a caller that can
   * wait calls whenOpen() first. Throws WorkspaceUnavailable, ServedElsewhere.
   */
  workspace(workspaceId: string): Workspace | undefined {
    const { placement } = this.#options;
    const known = this.#workspaces.get(workspaceId);
    if (known !== undefined && !this.#stopped && placement?.takes(workspaceId) !== false) {
      this.#files.touch(known);
      return known;
    }
    // Undefined would mean that the workspace does not exist.
    if (this.#stopped) throw new WorkspaceUnavailable('the service is stopping');
    if (placement !== undefined) {
      if (known === undefined && !this.#mayExist(workspaceId, placement)) return undefined;
      throw new ServedElsewhere(workspaceId);
    }
    if (!this.#isThere(workspaceId)) {
      if (this.#options.isKnown?.(workspaceId) !== true) return undefined;
      throw this.#unavailable(workspaceId, new Error('its file is missing'));
    }
    return this.#openFile(workspaceId);
  }

  /** As workspace(); undefined also for one that another node serves, for work that goes on there. */
  workspaceHere(workspaceId: string): Workspace | undefined {
    if (this.#options.placement === undefined) return this.workspace(workspaceId);
    const workspace = this.#stopped ? undefined : this.#workspaces.get(workspaceId);
    return workspace !== undefined && this.#options.placement.takes(workspaceId) ? workspace : undefined;
  }

  /**
   * Undefined if the workspace can be used at once, or not at all. Otherwise resolves when its queued open succeeded or
   * failed.
   */
  whenOpen(workspaceId: string): Promise<void> | undefined {
    if (this.#files.isOpen(workspaceId) || this.#stopped) return undefined;
    const path = this.#pathOf(workspaceId);
    const parked = this.#workspaces.get(workspaceId);
    if (parked !== undefined)
      return this.#files.whenOpen(workspaceId, { path, isFound: false, open: () => parked.db.wake() });
    if (this.#options.placement !== undefined) return undefined;
    if (this.#isBroken(workspaceId) || !this.#isThere(workspaceId)) return undefined;
    return this.#files.whenOpen(workspaceId, { path, isFound: true, open: () => void this.workspace(workspaceId) });
  }

  /** Whether the workspace's file has content, at this node or another. */
  hasFile(workspaceId: string): boolean {
    const { placement } = this.#options;
    if (placement !== undefined) return placement.hasOwner(workspaceId);
    return this.#isThere(workspaceId) && statSync(this.#pathOf(workspaceId)).size > 0;
  }

  /** Creates the file of a new workspace. Rejects with WorkspaceUnavailable. */
  async create(workspaceId: string): Promise<Workspace> {
    if (this.#isStopping) throw new WorkspaceUnavailable('the service is stopping');
    const { placement } = this.#options;
    if (placement !== undefined) {
      await placement.begin(workspaceId).catch((cause: unknown) => {
        throw new WorkspaceUnavailable('a new workspace cannot be taken', { cause });
      });
    } else if (!this.#isThere(workspaceId)) {
      await Database.makeFile(this.#pathOf(workspaceId), workspaceMigrations).catch((cause: unknown) => {
        throw new WorkspaceUnavailable('the file of a new workspace cannot be made', { cause });
      });
    }
    await this.whenOpen(workspaceId);
    return this.workspace(workspaceId) ?? this.#openFile(workspaceId);
  }

  /** Deletes the file of a workspace whose creation failed, with everything in it. */
  async discard(workspaceId: string): Promise<void> {
    if (this.#options.placement !== undefined) return this.#options.placement.discard(workspaceId);
    const workspace = this.#workspaces.get(workspaceId);
    await workspace?.drained();
    this.#workspaces.delete(workspaceId);
    this.#files.forget(workspaceId);
    workspace?.db.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${this.#pathOf(workspaceId)}${suffix}`, { force: true });
  }

  /**
   * Calls back once the state visible at `seenMs` of monotonicMs(), by default now, is durable; or `onVoid`, if that
   * state counts no more, or another node may have gone on from it meanwhile: what was seen must not leave.
   */
  whenDurable(workspaceId: string, call: () => void, onVoid: () => void, seenMs?: number): void {
    const workspace = this.#workspaces.get(workspaceId);
    const { placement } = this.#options;
    if (workspace === undefined) {
      // It was served here a moment ago, or is served elsewhere.
      if (placement?.hasOwner(workspaceId) === true) onVoid();
      else call();
    } else if (placement === undefined) workspace.lane.whenDurable(call, onVoid, seenMs);
    else {
      const isServed = this.watchServed(workspaceId);
      workspace.lane.whenDurable(() => (isServed() ? call() : onVoid()), onVoid, seenMs);
    }
  }

  /** As durable(), for what is read after this is called. Rejects with Voided also if it was served elsewhere meanwhile. */
  watchDurable(workspaceId: string): (seenMs: number) => Promise<void> {
    const isServed = this.watchServed(workspaceId);
    return async (seenMs) => {
      await this.durable(workspaceId, seenMs);
      if (!isServed()) throw new Voided('what was read counts no more');
    };
  }

  /** Resolves as whenDurable() calls back. Rejects with Voided. */
  durable(workspaceId: string, seenMs?: number): Promise<void> {
    return new Promise((resolve, reject) =>
      this.whenDurable(workspaceId, resolve, () => reject(new Voided('what was read counts no more')), seenMs),
    );
  }

  /**
   * Whether this node has served the workspace all the while since this was called; for answers that are read outside
   * of its thread.
   */
  watchServed(workspaceId: string): () => boolean {
    const { placement } = this.#options;
    if (placement === undefined || !this.#workspaces.has(workspaceId)) return () => true;
    const epoch = placement.epochServed(workspaceId);
    return () => epoch !== undefined && placement.epochServed(workspaceId) === epoch;
  }

  /** As Placement.foreign(), after workspace() threw ServedElsewhere. */
  foreign(part: ForeignPart): unknown {
    if (this.#options.placement === undefined) throw new TypeError('one node serves all');
    return this.#options.placement.foreign(part);
  }

  /** Serves the file that `db` writes, each commit of which waits for `pass`. For one node of several. */
  serve(workspaceId: string, db: Database, pass: Pass): void {
    this.#enter(this.#make(workspaceId, db, pass));
  }

  /** Calls `work`, which must not throw, in a turn of the loop that other work leaves time for. */
  later(work: () => void): void {
    this.#slices.add(work);
  }

  /** The lane of a workspace that is served. */
  laneOf(workspaceId: string): Lane | undefined {
    return this.#workspaces.get(workspaceId)?.lane;
  }

  /** Starts no deadline. Resolves when what was submitted is durable and published; nothing runs after it. */
  async restOne(workspaceId: string): Promise<void> {
    this.#deadlines.forget(workspaceId);
    const workspace = this.#workspaces.get(workspaceId);
    await workspace?.drained();
    await workspace?.lane.hold();
    // A parked file's log is copied back by who closes it.
    if (workspace?.db.isParked === true) workspace.db.wake();
    await this.#files.copied(workspaceId);
  }

  /** Resolves when no thread copies back the log of its file. */
  copied(workspaceId: string): Promise<void> {
    return this.#files.copied(workspaceId);
  }

  /**
   * Calls `work`, which acts outside between its commands, for a request: see OutsideActs. Rejects with ServedElsewhere or
   * NotServed before `work` was called, with Voided if the workspace left meanwhile.
   */
  async actOutside<Result>(workspaceId: string, work: () => Promise<Result> | Result): Promise<Result> {
    // Throws before anything is done for a workspace of another node.
    if (this.#options.placement === undefined || this.workspace(workspaceId) === undefined) return work();
    return this.#acts.run(workspaceId, work);
  }

  /**
   * Begins no request that acts outside; once those under way are over, starts no outside work of it either. Resolves when
   * what is under way is recorded, or after a while.
   */
  async settle(workspaceId: string): Promise<void> {
    const workspace = this.#workspaces.get(workspaceId);
    await this.#acts.settle(workspaceId);
    // Otherwise it was lost meanwhile, and may be served anew.
    if (this.#workspaces.get(workspaceId) === workspace) await this.#outbox.settle(workspaceId);
  }

  /** Ends serving it at once: whoever waits gets the error. Its file is closed by the caller. */
  endServing(workspaceId: string, error: Voided): void {
    const workspace = this.#workspaces.get(workspaceId);
    if (workspace === undefined) return;
    workspace.lane.void(error);
    this.#workspaces.delete(workspaceId);
    this.#files.forget(workspaceId);
    this.#deadlines.forget(workspaceId);
    this.#outbox.forget(workspaceId);
    this.#acts.forget(workspaceId);
  }

  /**
   * Sets every workspace's alarms from its rows and passes what else was read to `visit`. Workspaces with something due
   * come first, then the most recently written. A file written by an older version is opened, which migrates it; the
   * others are read off the loop. Finally, logs left by ended processes are copied back.
   */
  async wakeAll(visit: (workspaceId: string, glance: Glance) => void = () => {}): Promise<void> {
    this.#isWaking = true;
    const present = this.#fileIds();
    const first = new Set(this.#dueList.read().filter((workspaceId) => present.has(workspaceId)));
    await this.#wakeEach(first, visit);
    const ids = await this.#byRecency([...present]);
    await this.#wakeEach(
      ids.filter((workspaceId) => !first.has(workspaceId)),
      visit,
    );
    this.#isWaking = false;
    for (const workspaceId of ids) {
      if (this.#stopped) return;
      if (
        !this.#workspaces.has(workspaceId) &&
        statSync(`${this.#pathOf(workspaceId)}-wal`, { throwIfNoEntry: false }) !== undefined
      )
        await this.#options.checkpoints.tidy(this.#pathOf(workspaceId)).catch(() => undefined);
    }
  }

  async #wakeEach(ids: Iterable<string>, visit: (workspaceId: string, glance: Glance) => void): Promise<void> {
    for (const workspaceId of ids) {
      if (this.#stopped) return;
      await this.#wake(workspaceId, visit).catch(() => {
        // Logged where it was opened; the others continue.
      });
    }
  }

  async #wake(workspaceId: string, visit: (workspaceId: string, glance: Glance) => void): Promise<void> {
    const look =
      this.#options.glance ??
      ((path: string): Promise<Glance> => Promise.resolve(glanceAt({ path, model: undefined })));
    const open = async (): Promise<void> => {
      await this.whenOpen(workspaceId);
      this.workspace(workspaceId);
    };
    let glance: Glance;
    try {
      glance = await look(this.#pathOf(workspaceId));
      if (glance.state === 'old') {
        await open();
        glance = await look(this.#pathOf(workspaceId));
      }
    } catch {
      // Opening it either reports what is wrong or sets its alarms.
      await open();
      return;
    }
    if (glance.state === 'current') {
      this.#deadlines.watch(workspaceId, timeOr(glance.deadlineAt));
      this.#outbox.watch(workspaceId, timeOr(glance.outboxAt));
    }
    visit(workspaceId, glance);
  }

  #fileIds(): Set<string> {
    return new Set(
      readdirSync(this.#folder).flatMap((name) =>
        name.endsWith('.db') && uuid.test(name.slice(0, -'.db'.length)) ? [name.slice(0, -'.db'.length)] : [],
      ),
    );
  }

  /** By the times of their files and logs. */
  async #byRecency(ids: string[]): Promise<string[]> {
    const writtenMs = new Map<string, number>();
    const timeOf = (path: string): Promise<number> =>
      stat(path).then(
        ({ mtimeMs, size }) => (size === 0 ? 0 : mtimeMs),
        () => 0,
      );
    for (let first = 0; first < ids.length; first += statsAtOnce) {
      const times = ids.slice(first, first + statsAtOnce).map(async (workspaceId) => {
        const path = this.#pathOf(workspaceId);
        writtenMs.set(workspaceId, Math.max(await timeOf(path), await timeOf(`${path}-wal`)));
      });
      await Promise.all(times);
    }
    return ids.sort((a, b) => (writtenMs.get(b) ?? 0) - (writtenMs.get(a) ?? 0) || (a < b ? -1 : 1));
  }

  /** `filesWaiting` counts the files in the queue to be opened, plus one until wakeAll() has finished. */
  get figures(): {
    openWorkspaces: number;
    filesWaiting: number;
    laneDepth: number;
    actors: number;
    outboxUnderWay: number;
  } {
    let laneDepth = 0;
    for (const { lane } of this.#files.values()) laneDepth += lane.depth;
    return {
      openWorkspaces: this.#files.size,
      filesWaiting: this.#files.waiting + (this.#isWaking ? 1 : 0),
      laneDepth,
      actors: this.#files.states,
      outboxUnderWay: this.#outbox.underWay,
    };
  }

  /** Those whose file is open. */
  openWorkspaces(): IterableIterator<Workspace> {
    return this.#files.values();
  }

  /** Open workspaces with outside work under way or scheduled. */
  workspacesWithOutsideWork(): Workspace[] {
    return [...this.#files.values()].filter(({ workspaceId }) => this.#outbox.isAtWork(workspaceId));
  }

  /** Stops background work: no deadline fires and no outside work starts. Resolves when what is under way has ended. */
  rest(): Promise<void> {
    // First, because once the alarms are cleared it would write an empty list.
    void this.#dueList.stop();
    this.#deadlines.stop();
    this.#outbox.stop();
    return this.#outbox.idle();
  }

  /** Resolves when every command submitted so far is durable and its events have been published. */
  async drained(): Promise<void> {
    for (let busy = this.#busy(); busy.length > 0; busy = this.#busy())
      await Promise.all(busy.map((workspace) => workspace.drained()));
  }

  /** Finishes what is queued, makes it durable and closes every file. Refuses new commands from here on. */
  async stop(): Promise<void> {
    const { clock, log } = this.#options;
    this.#isStopping = true;
    void this.rest();
    await this.#dueList.stop();
    await this.drained();
    this.#stopped = true;
    const endMs = clock.now() + closeForMs;
    const left = await this.#files.close(() => clock.now() <= endMs);
    // Nothing wakes them any more.
    for (const { db } of this.#workspaces.values()) if (db.isParked) db.close();
    if (left > 0) log.warn({ files: left }, 'files were left open because time ran out; no data is lost');
  }

  /** What this node knows is a moment late. */
  #mayExist(workspaceId: string, placement: Placement): boolean {
    if (!uuid.test(workspaceId)) return false;
    return this.#options.isKnown?.(workspaceId) === true || placement.mayExist(workspaceId);
  }

  #busy(): Workspace[] {
    return [...this.#files.values()].filter((workspace) => workspace.isBusy);
  }

  #isThere(workspaceId: string): boolean {
    return uuid.test(workspaceId) && existsSync(this.#pathOf(workspaceId));
  }

  /** Whether the last attempt to open it failed a moment ago. */
  #isBroken(workspaceId: string): boolean {
    return this.#options.clock.now() < (this.#broken.get(workspaceId) ?? 0);
  }

  #unavailable(workspaceId: string, cause: unknown): WorkspaceUnavailable {
    const { clock, log } = this.#options;
    if (!this.#isBroken(workspaceId)) {
      this.#broken.set(workspaceId, clock.now() + reopenAfterMs);
      log.error({ workspaceId, err: cause }, 'a workspace cannot be opened; the others are served');
      // Its deadlines and mails wait too, and a request may not come before they are due.
      this.#deadlines.watch(workspaceId, clock.now() + wakeAfterMs);
    }
    return new WorkspaceUnavailable(`workspace ${workspaceId} cannot be opened`, { cause });
  }

  #openFile(workspaceId: string): Workspace {
    if (this.#isBroken(workspaceId)) throw new WorkspaceUnavailable(`workspace ${workspaceId} cannot be opened`);
    let workspace: Workspace;
    try {
      workspace = this.#read(workspaceId);
    } catch (cause) {
      throw this.#unavailable(workspaceId, cause);
    }
    this.#broken.delete(workspaceId);
    this.#enter(workspace);
    return workspace;
  }

  #enter(workspace: Workspace): void {
    this.#workspaces.set(workspace.workspaceId, workspace);
    this.#files.add(workspace);
    this.#watch(workspace);
  }

  #watch(workspace: Workspace): void {
    const { deadlineMs, outboxMs } = workspace.earliest();
    this.#deadlines.watch(workspace.workspaceId, deadlineMs);
    this.#outbox.watch(workspace.workspaceId, outboxMs);
  }

  #read(workspaceId: string): Workspace {
    const path = this.#pathOf(workspaceId);
    // SQLite would create it afresh, as if the workspace had never existed.
    if (statSync(path).size === 0) throw new Error('its file is empty');
    return this.#make(workspaceId, Database.openWriter(path, workspaceMigrations, this.#options.syncToDisk));
  }

  /** Closes the file if it cannot be read. */
  #make(workspaceId: string, db: Database, pass?: Pass): Workspace {
    const { clock, ids, log } = this.#options;
    try {
      const workspace: Workspace = new Workspace({
        workspaceId,
        db,
        clock,
        ids,
        log,
        slices: this.#slices,
        pass,
        settings: this.#options.settings,
        ceilings: this.#options.ceilings,
        hooks: {
          publish: (id, events) => {
            try {
              this.#publish(id, events);
            } catch (error) {
              // The events are durable and can be read again; a listener's bug must not stop the lane.
              log.error({ workspaceId: id, err: error }, 'events could not be published');
            }
          },
          deadlineSet: (id, dueMs) => {
            this.#deadlines.watch(id, dueMs);
            this.#dueList.note();
          },
          outboxFilled: (id, nextMs) => this.#outbox.watch(id, nextMs),
          atRest: () => this.#files.atRest(),
          onSyncFailed: this.#options.onSyncFailed,
          onBatch: (figures) => {
            this.#options.checkpoints.watch(workspace);
            this.#options.onBatch?.(figures);
          },
        },
      });
      // Reads the rows that set alarms; a file whose first pages are damaged fails here.
      workspace.earliest();
      return workspace;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  #ageLater(): void {
    this.#options.clock.after(ageEveryMs, () => {
      if (this.#stopped) return;
      this.#files.age();
      this.#ageLater();
    });
  }

  #pathOf(workspaceId: string): string {
    return join(this.#folder, `${workspaceId}.db`);
  }
}

function timeOr(at: string | undefined): number {
  return at === undefined ? Number.POSITIVE_INFINITY : Date.parse(at);
}
