// Keeps a bounded number of workspaces' files open. Beyond it the least recently used are parked, which costs no disk
// access, and reopened on use. A few states in memory outlast parking, so that the next request need not read them
// again. Files are opened one after the other, in the order requested, between other work; a caller that can wait calls
// whenOpen(). A thread copies back the logs of parked files later.

import { statSync } from 'node:fs';
import { cacheKib } from '../../store/database.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { Slices } from './slices.ts';
import type { Workspace } from './workspace.ts';

export interface OpenFilesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly slices: Slices;
  readonly checkpoints: Checkpoints;
  readonly maxOpen: number;
}

/** A file in the queue to be opened. */
interface Turn {
  readonly opened: Promise<void>;
  open(): void;
  end(): void;
}

/** Of all open files together. Each gets at least a fair share. */
const allCachesKib = 128 * 1024;
const leastCacheKib = 256;
/** Calls of age() after which an unused file is parked. */
const unusedAges = 5;
/** Delay before a parked file's log is copied back. A workspace that is used again sooner finds its file as it was. */
const copyBackAfterMs = 30_000;
/** Parked workspaces that keep their states, for each that may be open. */
const restingPerOpen = 10;
const maxResting = 2000;
/** Rows of about 1 KiB in the states of a parked workspace. One with more keeps none. */
const maxRestingRows = 16;

export class OpenFiles {
  readonly #options: OpenFilesOptions;
  /** In order of last use. */
  readonly #open = new Map<string, Workspace>();
  /** Parked files with a log, and since when. */
  readonly #parked = new Map<string, { readonly path: string; readonly sinceMs: number }>();
  /** Parked workspaces with states, in the order of parking. The states stay valid, as no one else writes the file. */
  readonly #resting = new Map<string, Workspace>();
  readonly #copying = new Map<string, Promise<void>>();
  readonly #turns = new Map<string, Turn>();
  /** Files that can be opened as soon as there is room, in the order requested. */
  readonly #ready: string[] = [];
  #isOpening = false;
  #cacheKib = cacheKib;
  #isStopped = false;

  constructor(options: OpenFilesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** States in memory, of open and of parked files. */
  get states(): number {
    let states = 0;
    for (const { registry } of this.#open.values()) states += registry.size;
    for (const { registry } of this.#resting.values()) states += registry.size;
    return states;
  }

  /** Files queued to be opened. */
  get waiting(): number {
    return this.#turns.size;
  }

  values(): IterableIterator<Workspace> {
    return this.#open.values();
  }

  /** Adds a file that has just been opened for the first time. */
  add(workspace: Workspace): void {
    workspace.db.onWake(() => this.#enter(workspace));
    this.#enter(workspace);
  }

  /** Marks it as used. */
  touch(workspace: Workspace): void {
    if (this.#open.size <= this.#options.maxOpen / 2 || !this.#open.delete(workspace.workspaceId)) return;
    this.#open.set(workspace.workspaceId, workspace);
  }

  /** Removes a workspace for good, before its file is deleted. */
  forget(workspaceId: string): void {
    this.#open.delete(workspaceId);
    this.#parked.delete(workspaceId);
    this.#resting.delete(workspaceId);
  }

  /** Resolves when its log is not being copied back. */
  async copied(workspaceId: string): Promise<void> {
    await this.#copying.get(workspaceId);
  }

  isOpen(workspaceId: string): boolean {
    return this.#open.has(workspaceId);
  }

  /**
   * Resolves when `open` has opened the file at `path`, or failed. `isFound`: this process has not had it open, so a
   * log beside it was left by an ended process and is copied back first, off the loop.
   */
  whenOpen(workspaceId: string, file: { path: string; isFound: boolean; open(): void }): Promise<void> {
    const waiting = this.#turns.get(workspaceId);
    if (waiting !== undefined) return waiting.opened;
    let end: () => void = () => {};
    const opened = new Promise<void>((resolve) => (end = resolve));
    this.#turns.set(workspaceId, { opened, open: file.open, end });
    void this.#prepare(workspaceId, file).finally(() => {
      this.#ready.push(workspaceId);
      this.#openNext();
    });
    return opened;
  }

  /** Call when a workspace came to rest, so that there may be room. */
  atRest(): void {
    if (this.#ready.length > 0) this.#openNext();
  }

  /**
   * Called periodically. Parks files that have not been used for a while, evicts unused states and copies back logs that
   * are old enough.
   */
  age(): void {
    for (const [workspaceId, { registry }] of this.#resting) {
      registry.age();
      if (registry.size === 0) this.#resting.delete(workspaceId);
    }
    for (const [workspaceId, workspace] of this.#open) {
      workspace.registry.age();
      if (workspace.db.age() >= unusedAges && workspace.idle) this.#park(workspaceId, workspace);
    }
    void this.#copyBackAll((sinceMs) => sinceMs + copyBackAfterMs <= this.#options.clock.now());
  }

  /** Closes every file and copies back remaining logs while `hasTime` allows. Returns how many files were left. */
  async close(hasTime: () => boolean): Promise<number> {
    this.#isStopped = true;
    for (const turn of this.#turns.values()) turn.end();
    const open = [...this.#open.values()];
    this.#open.clear();
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      next.db.close();
      if (!hasTime()) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.#copyBackAll(hasTime);
    return open.length + this.#parked.size;
  }

  #enter(workspace: Workspace): void {
    this.#parked.delete(workspace.workspaceId);
    this.#resting.delete(workspace.workspaceId);
    this.#open.set(workspace.workspaceId, workspace);
    this.#makeRoom(this.#options.maxOpen, workspace.workspaceId);
    this.#shareCaches();
    workspace.db.limitCache(this.#cacheKib);
  }

  async #prepare(workspaceId: string, { path, isFound }: { path: string; isFound: boolean }): Promise<void> {
    await this.#copying.get(workspaceId);
    // Opening it reports what is wrong.
    if (isFound && logBytes(path) > 0) await this.#options.checkpoints.recover(path).catch(() => undefined);
  }

  #openNext(): void {
    if (this.#isOpening || this.#isStopped) return;
    this.#isOpening = true;
    this.#options.slices.add(() => {
      this.#isOpening = false;
      const [workspaceId] = this.#ready;
      if (workspaceId === undefined || this.#isStopped) return;
      // Otherwise the next file that comes to rest makes room.
      if (!this.#makeRoom(this.#options.maxOpen - 1)) return;
      this.#ready.shift();
      const turn = this.#turns.get(workspaceId);
      this.#turns.delete(workspaceId);
      try {
        turn?.open();
      } catch {
        // Reported to callers of workspace().
      }
      turn?.end();
      if (this.#ready.length > 0) this.#openNext();
    });
  }

  /** Parks the least recently used files at rest until at most `count` are open. Returns false if too many are busy. */
  #makeRoom(count: number, except?: string): boolean {
    for (const [workspaceId, workspace] of this.#open) {
      if (this.#open.size <= count) return true;
      if (workspaceId !== except && workspace.idle) this.#park(workspaceId, workspace);
    }
    return this.#open.size <= count;
  }

  #park(workspaceId: string, workspace: Workspace): void {
    const { path } = workspace.db;
    try {
      workspace.db.park();
    } catch (error) {
      this.#options.log.error({ workspaceId, err: error }, 'a file could not be parked; it stays open');
      return;
    }
    this.#parked.set(workspaceId, { path, sinceMs: this.#options.clock.now() });
    this.#open.delete(workspaceId);
    this.#rest(workspaceId, workspace);
  }

  #rest(workspaceId: string, workspace: Workspace): void {
    const { registry } = workspace;
    if (registry.size > maxRestingRows || registry.rows > maxRestingRows) registry.clear();
    if (registry.size === 0) return;
    this.#resting.set(workspaceId, workspace);
    if (this.#resting.size <= Math.min(this.#options.maxOpen * restingPerOpen, maxResting)) return;
    for (const [oldestId, oldest] of this.#resting) {
      oldest.registry.clear();
      this.#resting.delete(oldestId);
      return;
    }
  }

  async #copyBackAll(isTime: (sinceMs: number) => boolean): Promise<void> {
    for (const [workspaceId, { path, sinceMs }] of this.#parked) {
      if (!isTime(sinceMs)) return;
      await (this.#copying.get(workspaceId) ?? this.#copyBack(workspaceId, path));
    }
  }

  #copyBack(workspaceId: string, path: string): Promise<void> {
    const copying = this.#options.checkpoints
      .tidy(path)
      .then(() => void this.#parked.delete(workspaceId))
      .catch((error: unknown) =>
        this.#options.log.error(
          { workspaceId, err: error },
          'an abandoned log could not be checkpointed; no data is lost',
        ),
      )
      .finally(() => this.#copying.delete(workspaceId));
    this.#copying.set(workspaceId, copying);
    return copying;
  }

  /** The share is halved each time the number of open files doubles, so it changes seldom. */
  #shareCaches(): void {
    let share = cacheKib;
    while (share > leastCacheKib && share * this.#open.size > allCachesKib) share /= 2;
    if (share === this.#cacheKib) return;
    this.#cacheKib = share;
    for (const { db } of this.#open.values()) db.limitCache(share);
  }
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
