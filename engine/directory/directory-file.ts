// The file of the directory, and who changes it. One node alone has its own, opened at once. Among several, one serves it
// and the others read copies that follow its log: until this node has either, reads and changes are refused, and a change
// that comes to a node that does not serve it is asked of the one that does.

import { join } from 'node:path';
import { Database, type SyncToDisk } from '../../store/database.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { Refusal } from '../errors.ts';
import type { Checkpoints } from '../runtime/checkpoints.ts';
import { type Clock, isoTime } from '../runtime/clock.ts';
import { Lane, type LaneHooks, type Pass, type Voided } from '../runtime/lane.ts';
import type { Log } from '../runtime/log.ts';
import type { Slices } from '../runtime/slices.ts';
import { type ChangeName, type ChangeParams, type ChangeResult, changes } from './changes.ts';

/** There is neither file nor copy here, or whoever serves the file did not answer: whether it made a change is unknown. */
export class DirectoryUnavailable extends Error {
  override readonly name = 'DirectoryUnavailable';
}

/**
 * Has the change made by the node that serves the file, and resolves to its result once this node's copy has it.
 * Rejects with the Refusal that it met there; any other error leaves it unknown whether it was made.
 */
export type RemoteChange = (name: ChangeName, params: unknown) => Promise<unknown>;

export interface DirectoryFileOptions {
  readonly dataDir: string;
  /** `own`, the default: directory.db in the data folder. `cluster`: given later, by serve() and follow(). */
  readonly file?: 'own' | 'cluster';
  /** Undefined with a file of its own. */
  readonly remote?: RemoteChange;
  /** Whether what is here may be answered from now. */
  readonly mayRead?: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly checkpoints: Checkpoints;
  readonly syncToDisk?: SyncToDisk;
  readonly slices?: Slices;
  onSyncFailed(error: Error): void;
  onBatch?: NonNullable<LaneHooks['onBatch']>;
}

const newestVersion = directoryMigrations.at(-1)?.version ?? 0;

type State =
  | { readonly state: 'none' }
  | { readonly state: 'served'; readonly db: Database; readonly lane: Lane; isResting: boolean }
  | { readonly state: 'copy'; readonly path: string; reader: Database | undefined };

export class DirectoryFile {
  readonly #options: DirectoryFileOptions;
  readonly #isOwn: boolean;
  #file: State = { state: 'none' };

  constructor(options: DirectoryFileOptions) {
    this.#options = options;
    this.#isOwn = options.file !== 'cluster';
    if (!this.#isOwn) return;
    this.#serve(
      Database.openWriter(join(options.dataDir, 'directory.db'), directoryMigrations, options.syncToDisk),
      undefined,
    );
  }

  /**
   * For reads. In a file that is served they may see changes before they are durable. Throws DirectoryUnavailable while
   * there is neither file nor copy. Another object when another file, or another state of the copy, is read.
   */
  get db(): Database {
    const file = this.#file;
    if (file.state !== 'none' && this.#options.mayRead?.() === false)
      throw new DirectoryUnavailable('this node cannot know whether its directory is current');
    if (file.state === 'served') return file.db;
    if (file.state === 'none') throw new DirectoryUnavailable('this node has no copy of the directory yet');
    file.reader ??= openCopy(file.path);
    return file.reader;
  }

  get isReadable(): boolean {
    return this.#file.state !== 'none' && this.#options.mayRead?.() !== false;
  }

  /** Whether another node serves the file. */
  get isCopy(): boolean {
    return this.#file.state === 'copy';
  }

  /** Of the file that is served. */
  get lane(): Lane | undefined {
    return this.#file.state === 'served' ? this.#file.lane : undefined;
  }

  /**
   * Resolves when the change is durable. An exception rolls it back. Rejects with a Refusal, or with
   * DirectoryUnavailable or Voided, after which it is unknown whether it was made.
   */
  change<Name extends ChangeName>(name: Name, params: ChangeParams<Name>): Promise<ChangeResult<Name>> {
    const file = this.#file;
    if (file.state !== 'served' || file.isResting) return this.#changeElsewhere(name, params);
    // Not the union of all of them, of which one takes nobody's parameters.
    const run = changes[name] as (db: Database, at: string, params: ChangeParams<Name>) => ChangeResult<Name>;
    return new Promise((resolve, reject) => {
      let result: ChangeResult<Name>;
      file.lane.submit({
        run: () => {
          result = run(file.db, isoTime(this.#options.clock.now()), params);
        },
        undo: () => {},
        settle: (error) => (error === undefined ? resolve(result) : reject(error)),
      });
    });
  }

  /** A change that another node asks for. Rejects with DirectoryUnavailable if this node does not serve the file. */
  async changeFor(name: string, params: unknown): Promise<unknown> {
    const file = this.#file;
    if (file.state !== 'served' || file.isResting)
      throw new DirectoryUnavailable('this node does not serve the directory');
    if (!isChangeName(name)) throw new Error(`this version knows no change of the directory named ${name}`);
    // The asking node's type.
    return this.change(name, params as ChangeParams<typeof name>);
  }

  async #changeElsewhere<Name extends ChangeName>(name: Name, params: ChangeParams<Name>): Promise<ChangeResult<Name>> {
    const { remote } = this.#options;
    if (remote === undefined) throw new DirectoryUnavailable('no node serves the directory');
    try {
      // The answering node's type.
      return (await remote(name, params)) as ChangeResult<Name>;
    } catch (cause) {
      if (cause instanceof Refusal) throw cause;
      throw new DirectoryUnavailable('the node that serves the directory did not answer', { cause });
    }
  }

  /** This node serves the file from now on. `pass`: what each commit waits for. */
  serve(db: Database, pass: Pass): void {
    if (this.#file.state === 'served') throw new Error('this node serves the directory already');
    this.#closeReader();
    this.#serve(db, pass);
  }

  #serve(db: Database, pass: Pass | undefined): void {
    const { log, checkpoints, slices, onSyncFailed, onBatch } = this.#options;
    const lane: Lane = new Lane(
      db,
      {
        onBroken: (error) => log.error({ err: error }, 'a change of the directory could not be committed'),
        onSyncFailed,
        onBatch: (figures) => {
          checkpoints.watch(file);
          onBatch?.(figures);
        },
      },
      slices,
      pass,
    );
    const file = { state: 'served' as const, db, lane, isResting: false };
    this.#file = file;
  }

  /** Takes no more changes: those that come are asked elsewhere. Resolves when none waits or is under way. */
  async rest(): Promise<void> {
    const file = this.#file;
    if (file.state !== 'served') return;
    file.isResting = true;
    await file.lane.drained();
  }

  /** Ends serving at once: changes that still wait get the error. The file is closed by whoever gave it. */
  endServing(error: Voided): void {
    const file = this.#file;
    if (file.state !== 'served') return;
    this.#file = { state: 'none' };
    file.lane.void(error);
  }

  /**
   * Reads the copy at `path` from now on. It is for this alone: nobody may write to it while it is open, so one that
   * follows the log is copied for each state that is read. One of an older version is migrated. Not while this node
   * serves the file.
   */
  follow(path: string): void {
    if (this.#file.state === 'served') throw new Error('this node serves the directory');
    this.#closeReader();
    this.#file = { state: 'copy', path, reader: undefined };
  }

  #closeReader(): void {
    if (this.#file.state !== 'copy') return;
    this.#file.reader?.close();
    this.#file.reader = undefined;
  }

  /** Resolves when everything that was asked of this node is durable and nothing is open that it has opened. */
  async stop(): Promise<void> {
    const file = this.#file;
    if (file.state === 'served') await file.lane.drained();
    if (file.state === 'served' && this.#isOwn) file.db.close();
    this.#closeReader();
  }
}

function openCopy(path: string): Database {
  try {
    const copy = Database.openReader(path);
    if (copy.version >= newestVersion) return copy;
    copy.close();
    Database.openWriter(path, directoryMigrations).close();
    return Database.openReader(path);
  } catch (cause) {
    throw new DirectoryUnavailable('the copy of the directory cannot be read', { cause });
  }
}

function isChangeName(name: string): name is ChangeName {
  return Object.hasOwn(changes, name);
}
