// Owns every workspace's file, open or not: opens it when it is first asked for, closes it when it has been idle, routes
// commands to its lane, and runs what is due in it. It knows no noun of the specification; the rules come in as definitions.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Database, makeFolder, type SyncToDisk } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Clock } from './clock.ts';
import type { CommandDefinition, CommandRequest } from './command.ts';
import type { PublishedEvent } from './context.ts';
import { type DeadlineCommands, Deadlines } from './deadlines.ts';
import type { Ids } from './ids.ts';
import type { Log } from './log.ts';
import { Outbox, type OutboxKinds } from './outbox.ts';
import { Workspace } from './workspace.ts';

/** The workspace's file is damaged or cannot be opened. Only that workspace is concerned (503). */
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
  readonly outbox: OutboxKinds;
  readonly random?: () => number;
  /** Files open at once. */
  readonly maxOpen?: number;
  readonly syncToDisk?: SyncToDisk;
  /** What is on disk is unknown: end the process. */
  onSyncFailed(error: Error): void;
  onBatch?(figures: { jobs: number; commitMs: number; syncMs: number }): void;
}

export type Publish = (workspaceId: string, events: readonly PublishedEvent[]) => void;

/** Files open at once: four descriptors and about 2 MiB each. Beyond it the least recently used idle one is closed. */
const defaultMaxOpen = 200;
/** What nobody used for one of these, or two, is forgotten: memory follows the work of the last minutes. Each is read again from its row. */
const ageEveryMs = 60_000;
/** Closing every file may take so long at a stop. What is left open is recovered from its log when it is opened next. */
const closeForMs = 2000;
/** A file that could not be opened is tried again after so long, so that a broken one costs one attempt, not one per request. */
const reopenAfterMs = 10_000;
/** And at the latest after so long, whether or not somebody asks. */
const wakeAfterMs = 60_000;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export class Engine {
  readonly #options: EngineOptions;
  readonly #folder: string;
  readonly #maxOpen: number;
  /** In the order of their last use. */
  readonly #open = new Map<string, Workspace>();
  readonly #broken = new Map<string, number>();
  readonly #deadlines: Deadlines;
  readonly #outbox: Outbox;
  /** On their way to be closed. */
  readonly #closing = new Set<string>();
  #publish: Publish = () => {};
  /** No command is taken any more; what is under way may still be recorded. */
  #isStopping = false;
  /** Every file is closed, or about to be. */
  #stopped = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#folder = join(options.dataDir, 'workspaces');
    this.#maxOpen = options.maxOpen ?? defaultMaxOpen;
    makeFolder(this.#folder);
    const { clock, log } = options;
    const random = options.random ?? Math.random;
    const workspace = (workspaceId: string): Workspace | undefined => this.workspace(workspaceId);
    this.#deadlines = new Deadlines({ clock, log, commands: options.deadlines, workspace });
    this.#outbox = new Outbox({ clock, log, kinds: options.outbox, workspace, random });
    this.#ageLater();
  }

  /** Who is told of durable events. One listener: the sockets. */
  onPublish(publish: Publish): void {
    this.#publish = publish;
  }

  /**
   * Runs a command and resolves when its outcome is durable. Rejects with what the command threw, CommitFailed, LaneFull or
   * WorkspaceUnavailable. The workspace must exist.
   */
  execute<Params, Result>(definition: CommandDefinition<Params, Result>, request: CommandRequest<Params>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#isStopping) throw new WorkspaceUnavailable('the service is stopping');
      const workspace = this.workspace(request.workspaceId);
      if (workspace === undefined) throw new WorkspaceUnavailable(`workspace ${request.workspaceId} has no file`);
      workspace.submit(definition, request, (error, result) => {
        if (error === undefined) resolve(result as Result);
        else reject(error);
      });
    });
  }

  /** The open workspace, opened if need be; undefined when there is none. Throws WorkspaceUnavailable. */
  workspace(workspaceId: string): Workspace | undefined {
    const open = this.#open.get(workspaceId);
    if (open !== undefined) {
      if (this.#open.size > this.#maxOpen / 2) {
        this.#open.delete(workspaceId);
        this.#open.set(workspaceId, open);
      }
      return open;
    }
    // Not undefined, which would say that there is no such workspace.
    if (this.#stopped) throw new WorkspaceUnavailable('the service is stopping');
    if (!uuid.test(workspaceId) || !existsSync(this.#pathOf(workspaceId))) return undefined;
    return this.#openFile(workspaceId);
  }

  /** Makes the file of a new workspace. Throws WorkspaceUnavailable. */
  create(workspaceId: string): Workspace {
    if (this.#isStopping) throw new WorkspaceUnavailable('the service is stopping');
    return this.#open.get(workspaceId) ?? this.#openFile(workspaceId);
  }

  /** Removes the file of a workspace that never came to be. Whatever is in it is lost. */
  async discard(workspaceId: string): Promise<void> {
    const workspace = this.#open.get(workspaceId);
    await workspace?.drained();
    this.#open.delete(workspaceId);
    workspace?.db.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${this.#pathOf(workspaceId)}${suffix}`, { force: true });
  }

  /** Calls back once what could be seen of the workspace at `seenMs` of monotonicMs(), or can be seen at this moment, is durable. */
  whenDurable(workspaceId: string, call: () => void, seenMs?: number): void {
    const workspace = this.#open.get(workspaceId);
    if (workspace === undefined) call();
    else workspace.lane.whenDurable(call, seenMs);
  }

  /** Sets the alarms of every workspace from its rows and shows each to `visit`, a file per turn of the loop, so that requests are served meanwhile. */
  async wakeAll(visit: (workspace: Workspace) => void = () => {}): Promise<void> {
    for (const name of readdirSync(this.#folder)) {
      const workspaceId = name.replace(/\.db$/, '');
      if (!name.endsWith('.db') || !uuid.test(workspaceId)) continue;
      if (this.#stopped) return;
      try {
        const workspace = this.workspace(workspaceId);
        if (workspace !== undefined) visit(workspace);
      } catch {
        // Logged where it was opened; the others go on.
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  get figures(): { openWorkspaces: number; laneDepth: number; actors: number; outboxUnderWay: number } {
    let laneDepth = 0;
    let actors = 0;
    for (const workspace of this.#open.values()) {
      laneDepth += workspace.lane.depth;
      actors += workspace.registry.size;
    }
    return { openWorkspaces: this.#open.size, laneDepth, actors, outboxUnderWay: this.#outbox.underWay };
  }

  openWorkspaces(): IterableIterator<Workspace> {
    return this.#open.values();
  }

  /** From here on nothing happens by itself: no deadline fires, no outside work starts. Resolves when what is under way has ended. */
  rest(): Promise<void> {
    this.#deadlines.stop();
    this.#outbox.stop();
    return this.#outbox.idle();
  }

  /** Resolves when every command that came so far is durable, and what followed from it has been told. */
  async drained(): Promise<void> {
    for (let busy = this.#busy(); busy.length > 0; busy = this.#busy()) await Promise.all(busy.map((workspace) => workspace.drained()));
  }

  /** Finishes what is queued, makes it durable, and closes every file. Refuses new commands from here on. */
  async stop(): Promise<void> {
    const { clock, log } = this.#options;
    this.#isStopping = true;
    void this.rest();
    await this.drained();
    this.#stopped = true;
    const open = [...this.#open.values()];
    this.#open.clear();
    const endMs = clock.now() + closeForMs;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      next.db.close();
      if (clock.now() > endMs) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (open.length > 0) log.warn({ files: open.length }, 'files were left open for want of time; nothing in them is lost');
  }

  #busy(): Workspace[] {
    return [...this.#open.values()].filter((workspace) => workspace.isBusy);
  }

  #openFile(workspaceId: string): Workspace {
    const { clock, log } = this.#options;
    const brokenUntil = this.#broken.get(workspaceId) ?? 0;
    if (clock.now() < brokenUntil) throw new WorkspaceUnavailable(`workspace ${workspaceId} cannot be opened`);
    let workspace: Workspace;
    try {
      workspace = this.#read(workspaceId);
    } catch (cause) {
      this.#broken.set(workspaceId, clock.now() + reopenAfterMs);
      log.error({ workspaceId, err: cause }, 'a workspace cannot be opened; the others go on');
      // Its deadlines and mails wait too, and nobody may ask for it before they are due.
      this.#deadlines.watch(workspaceId, clock.now() + wakeAfterMs);
      throw new WorkspaceUnavailable(`workspace ${workspaceId} cannot be opened`, { cause });
    }
    this.#broken.delete(workspaceId);
    this.#open.set(workspaceId, workspace);
    const { deadlineMs, outboxMs } = workspace.earliest();
    this.#deadlines.watch(workspaceId, deadlineMs);
    this.#outbox.watch(workspaceId, outboxMs);
    if (this.#open.size > this.#maxOpen) this.#closeIdle(workspaceId);
    return workspace;
  }

  #read(workspaceId: string): Workspace {
    const { clock, ids, log } = this.#options;
    const db = Database.openWriter(this.#pathOf(workspaceId), workspaceMigrations, this.#options.syncToDisk);
    try {
      const workspace: Workspace = new Workspace({
        workspaceId,
        db,
        clock,
        ids,
        log,
        hooks: {
          publish: (id, events) => {
            try {
              this.#publish(id, events);
            } catch (error) {
              // The events are durable and can be asked for again; a listener's bug must not stop the lane.
              log.error({ workspaceId: id, err: error }, 'events could not be published');
            }
          },
          deadlineSet: (id, dueMs) => this.#deadlines.watch(id, dueMs),
          outboxFilled: (id, nextMs) => this.#outbox.watch(id, nextMs),
          onSyncFailed: this.#options.onSyncFailed,
          onBatch: (figures) => {
            this.#options.checkpoints.watch(workspace);
            this.#options.onBatch?.(figures);
          },
        },
      });
      // The rows that alarms are set from; a file whose first pages are damaged shows it here.
      workspace.earliest();
      return workspace;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Closes the least recently used files that have nothing under way, down to the bound. Their alarms stay set. */
  #closeIdle(justOpened: string): void {
    for (const [workspaceId, workspace] of this.#open) {
      if (this.#open.size - this.#closing.size <= this.#maxOpen) return;
      if (workspaceId === justOpened || !workspace.idle || this.#closing.has(workspaceId)) continue;
      const { logFrames, copiedFrames } = workspace.db.logLength();
      if (logFrames === copiedFrames) {
        this.#open.delete(workspaceId);
        workspace.db.close();
      } else {
        // Closing it as it is would copy its log back here, on the loop.
        this.#closing.add(workspaceId);
        void this.#options.checkpoints.copyBack(workspace).then(() => this.#closeCopied(workspaceId, workspace));
      }
    }
  }

  /** Unless it came back into use meanwhile. */
  #closeCopied(workspaceId: string, workspace: Workspace): void {
    this.#closing.delete(workspaceId);
    if (this.#stopped || this.#open.get(workspaceId) !== workspace || !workspace.idle || this.#open.size <= this.#maxOpen) return;
    this.#open.delete(workspaceId);
    workspace.db.close();
  }

  #ageLater(): void {
    this.#options.clock.after(ageEveryMs, () => {
      for (const workspace of this.#open.values()) workspace.registry.age();
      if (!this.#stopped) this.#ageLater();
    });
  }

  #pathOf(workspaceId: string): string {
    return join(this.#folder, `${workspaceId}.db`);
  }
}
