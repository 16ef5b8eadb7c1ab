// The files of one node of several: each is served (its engine or its directory writes it, and every commit passes the
// gate), or is a copy that follows the log, or is not there. A file that was written to counts again only once it was
// released at rest.

import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import type { Directory } from '../../engine/directory/directory.ts';
import {
  type CommitGate,
  directoryId,
  type Files,
  type LogEntry,
  type Snapshot,
} from '../../engine/runtime/cluster/ports.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import { type Lane, type Pass, Voided } from '../../engine/runtime/lane.ts';
import type { Log } from '../../engine/runtime/log.ts';
import { Database, type Migration, removeDatabase, type SyncToDisk } from '../../store/database.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { AddedFrames } from '../../store/page-log/added-frames.ts';
import { encodeChange } from '../../store/page-log/encode.ts';
import { joinPieces } from '../../store/page-log/entries.ts';
import type { Link } from '../../store/page-log/pieces.ts';
import { encodeFile } from '../../store/page-log/whole-file.ts';
import type { Copy } from '../../workers/cluster/copy-note.ts';
import type { Packing } from '../../workers/cluster/packing.ts';
import { CopyFiles, type CopyFilesOptions, hasLog } from './copy-files.ts';

export interface NodeFilesOptions extends CopyFilesOptions {
  readonly engine: Engine;
  readonly directory: Directory;
  readonly syncToDisk?: SyncToDisk | undefined;
  readonly log: Log;
  /** Closes what other threads have open of the file, and removes what they derived from it. */
  closeReaders(workspaceId: string, path: string): Promise<void>;
  onServed(workspaceId: string): void;
  onEnded(workspaceId: string): void;
}

interface Served {
  readonly db: Database;
  readonly frames: AddedFrames;
  /** Of the last change that was made into pieces. */
  link: Link;
  lane: Lane | undefined;
}

export class NodeFiles implements Files {
  readonly #options: NodeFilesOptions;
  readonly #copies: CopyFiles;
  readonly #served = new Map<string, Served>();
  /**
   * Files that are served no more and still open: a node may end serving thousands at once, and each may copy its log
   * back. Each is closed in a turn of its own, or sooner if it is needed.
   */
  readonly #leftOpen = new Map<string, () => void>();
  #whenClosed: (() => void)[] = [];
  /** Resolves when no other thread has the file open. */
  readonly #closing = new Map<string, Promise<void>>();
  #views = 0;
  /** The entry of the log that reads of the directory have, while it is not served. */
  shownSequence = 0;
  /** What the directory is read from while it is not served. */
  #view: string | undefined;

  constructor(options: NodeFilesOptions) {
    this.#options = options;
    this.#copies = new CopyFiles(options);
  }

  sequence(workspaceId: string): number {
    return this.#copyOf(workspaceId)?.sequence ?? 0;
  }

  async load(workspaceId: string, snapshot: Snapshot): Promise<void> {
    this.#close(workspaceId);
    await this.#closeReaders(workspaceId);
    await this.#copies.load(workspaceId, snapshot);
  }

  async apply(workspaceId: string, entries: readonly LogEntry[]): Promise<void> {
    this.#close(workspaceId);
    await this.#closing.get(workspaceId);
    await this.#copies.apply(workspaceId, entries);
  }

  async current(workspaceId: string): Promise<void> {
    if (workspaceId === directoryId && this.sequence(directoryId) > 0) await this.#show();
  }

  async open(workspaceId: string): Promise<Uint8Array> {
    this.#close(workspaceId);
    // What was derived from the file may hold what the log does not.
    await this.#closeReaders(workspaceId);
    const copy = this.#copyOf(workspaceId);
    await this.#copies.doubtSoon(workspaceId);
    if (copy === undefined) return this.#openNew(workspaceId);
    // Those whose workspaces are open already have their turns between.
    return this.#inTurn(() => this.#openCopy(workspaceId, copy));
  }

  serve(workspaceId: string, gate: CommitGate): void {
    const served = this.#servedOf(workspaceId);
    const { db } = served;
    const pass: Pass = (done) => {
      let bytes: Uint8Array;
      try {
        bytes = this.#changeOf(served);
      } catch (cause) {
        gate.break(cause);
        done(new Voided('the change cannot be put into the log', { cause }));
        return;
      }
      gate.pass({ bytes, sync: (synced) => db.sync(synced) }, done);
    };
    const { engine, directory } = this.#options;
    if (workspaceId === directoryId) {
      directory.serve(db, pass);
      this.#forgetView();
    } else engine.serve(workspaceId, db, pass);
    served.lane = workspaceId === directoryId ? directory.lane : engine.laneOf(workspaceId);
    this.#options.onServed(workspaceId);
  }

  async settle(workspaceId: string): Promise<void> {
    if (workspaceId === directoryId) return;
    await this.#options.engine.settle(workspaceId);
    await this.#tryToCloseReaders(workspaceId);
  }

  async rest(workspaceId: string): Promise<void> {
    const { engine, directory } = this.#options;
    if (workspaceId === directoryId) await directory.rest();
    else await engine.restOne(workspaceId);
    await this.#tryToCloseReaders(workspaceId);
  }

  release(workspaceId: string, sequence: number | undefined): void {
    const served = this.#served.get(workspaceId);
    if (served === undefined) return;
    this.#served.delete(workspaceId);
    const { engine, directory } = this.#options;
    const error = new Voided('the workspace is served here no more');
    if (workspaceId === directoryId) directory.endServing(error);
    else engine.endServing(workspaceId, error);
    // A parked file would be opened again by whoever still has a view of it.
    if (served.db.isParked) served.db.close();
    this.#leftOpen.set(workspaceId, () => {
      served.db.close();
      if (sequence !== undefined) this.#keep(workspaceId, { sequence, link: served.link });
    });
    // Whoever reads the directory goes on with the copy.
    if (workspaceId === directoryId) this.#close(workspaceId);
    else engine.later(() => this.#close(workspaceId));
    void this.#tryToCloseReaders(workspaceId);
    if (workspaceId !== directoryId && served.lane !== undefined) this.#options.onEnded(workspaceId);
  }

  /** Resolves when every file that is served no more is closed. */
  async closed(): Promise<void> {
    while (this.#leftOpen.size > 0) await new Promise<void>((resolve) => this.#whenClosed.push(resolve));
  }

  /** If it was served and is still open. */
  #close(workspaceId: string): void {
    const close = this.#leftOpen.get(workspaceId);
    if (close === undefined) return;
    this.#leftOpen.delete(workspaceId);
    try {
      close();
    } catch (error) {
      this.#options.log.warn({ workspaceId, err: error }, 'a file that is served no more could not be closed well');
    }
    if (this.#leftOpen.size > 0) return;
    for (const resolve of this.#whenClosed.splice(0)) resolve();
  }

  /** A full disk, or a log that another thread kept from being copied back: then it is no copy. */
  #keep(workspaceId: string, copy: Copy): void {
    const path = this.#copies.pathOf(workspaceId);
    if (hasLog(path)) return;
    try {
      this.#copies.keep(workspaceId, copy);
      if (workspaceId !== directoryId) return;
      const view = this.#nextView();
      writeFileSync(view, readFileSync(path), { mode: 0o600 });
      this.#read(view, copy.sequence);
    } catch (error) {
      this.#options.log.warn({ workspaceId, err: error }, 'a file that was let go of could not be kept as a copy');
      this.#copies.doubt(workspaceId);
    }
  }

  remove(workspaceId: string): void {
    if (this.#served.has(workspaceId) || workspaceId === directoryId) return;
    this.#close(workspaceId);
    if (!existsSync(this.#copies.pathOf(workspaceId))) return;
    this.#copies.remove(workspaceId);
    void this.#tryToCloseReaders(workspaceId);
  }

  bytes(workspaceId: string): number {
    return statSync(this.#copies.pathOf(workspaceId), { throwIfNoEntry: false })?.size ?? 0;
  }

  async pack(workspaceId: string, sequence: () => number): ReturnType<Files['pack']> {
    const served = this.#servedOf(workspaceId);
    const { lane } = served;
    const { packing } = this.#options;
    if (lane === undefined) throw new Error('the file is not served yet');
    // Its start takes longer than a lane should be held.
    await packing.ready();
    await lane.hold();
    let at: Copy;
    let held: Awaited<ReturnType<Packing['hold']>>;
    try {
      if (this.#served.get(workspaceId) !== served) throw new Error('the file is served no more');
      at = { sequence: sequence(), link: served.link };
      held = await packing.hold(this.#copies.pathOf(workspaceId));
    } finally {
      lane.release();
    }
    // Another may have written to the file before its state was held.
    if (this.#served.get(workspaceId) !== served) {
      await held.drop();
      throw new Error('the file is served no more');
    }
    const path = this.#copies.workPath(`${workspaceId}.snapshot`);
    return { snapshot: { ...at, ...(await held.pack(path)) }, path, discard: () => rmSync(path, { force: true }) };
  }

  /** Copies of this node: which entry each equals. */
  copies(): Record<string, number> {
    const copies = [...this.#copies.all()].filter(([workspaceId]) => !this.#served.has(workspaceId));
    return Object.fromEntries(copies.map(([workspaceId, { sequence }]) => [workspaceId, sequence]));
  }

  #inTurn<Result>(work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) =>
      this.#options.engine.later(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      }),
    );
  }

  #openCopy(workspaceId: string, { link }: Copy): Uint8Array {
    const path = this.#copies.pathOf(workspaceId);
    const db = Database.openWriter(path, migrationsOf(workspaceId), this.#options.syncToDisk);
    try {
      const served: Served = { db, frames: new AddedFrames(db), link, lane: undefined };
      const changed = this.#changeOf(served);
      this.#served.set(workspaceId, served);
      return changed;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  async #openNew(workspaceId: string): Promise<Uint8Array> {
    const path = this.#copies.pathOf(workspaceId);
    const migrations = migrationsOf(workspaceId);
    removeDatabase(path);
    await Database.makeFile(path, migrations);
    const { pieces, link } = encodeFile(await readFile(path));
    const db = Database.openWriter(path, migrations, this.#options.syncToDisk);
    this.#served.set(workspaceId, { db, frames: new AddedFrames(db), link, lane: undefined });
    return joinPieces(pieces);
  }

  /** What was committed since the last call, as an entry's bytes; none if that is nothing. */
  #changeOf(served: Served): Uint8Array {
    const { db, frames } = served;
    const change = frames.next();
    if (change === undefined) return new Uint8Array();
    const { pieces, link } = encodeChange(change, { read: (into, at) => db.readLog(into, at), link: served.link });
    served.link = link;
    return joinPieces(pieces);
  }

  #servedOf(workspaceId: string): Served {
    const served = this.#served.get(workspaceId);
    if (served === undefined) throw new Error(`${workspaceId} is not open`);
    return served;
  }

  #copyOf(workspaceId: string): Copy | undefined {
    this.#close(workspaceId);
    return this.#served.has(workspaceId) ? undefined : this.#copies.of(workspaceId);
  }

  #closeReaders(workspaceId: string): Promise<void> {
    if (workspaceId === directoryId) return Promise.resolve();
    const { engine, closeReaders } = this.#options;
    const path = this.#copies.pathOf(workspaceId);
    const closing = Promise.all([closeReaders(workspaceId, path), engine.copied(workspaceId)]).then(() => undefined);
    const forget = (): void => {
      if (this.#closing.get(workspaceId) === closing) this.#closing.delete(workspaceId);
    };
    this.#closing.set(workspaceId, closing);
    closing.then(forget, forget);
    return closing;
  }

  async #tryToCloseReaders(workspaceId: string): Promise<void> {
    await this.#closeReaders(workspaceId).catch((error: unknown) =>
      this.#options.log.warn({ workspaceId, err: error }, 'a file stays open in another thread for a while'),
    );
  }

  /** The directory is read while its copy changes, so it is read from a copy of the copy. */
  async #show(): Promise<void> {
    const path = this.#nextView();
    const sequence = this.sequence(directoryId);
    await copyFile(this.#copies.pathOf(directoryId), path);
    if (this.#served.has(directoryId)) rmSync(path);
    else this.#read(path, sequence);
  }

  #read(path: string, sequence: number): void {
    this.#options.directory.follow(path);
    this.#forgetView();
    this.#view = path;
    this.shownSequence = sequence;
  }

  /** It is older than what is read from here on. */
  #forgetView(): void {
    if (this.#view !== undefined) removeDatabase(this.#view);
    this.#view = undefined;
  }

  #nextView(): string {
    this.#views += 1;
    return this.#copies.workPath(`directory.${this.#views}.db`);
  }
}

function migrationsOf(workspaceId: string): readonly Migration[] {
  return workspaceId === directoryId ? directoryMigrations : workspaceMigrations;
}
