// One SQLite file: its connection, its prepared statements, its transaction and its sync to disk. The only importer of
// better-sqlite3. It knows no table and no rule; store/*.ts holds the queries, engine/runtime/lane.ts decides when to
// begin, commit and sync. A COMMIT here does not wait for the disk: what must be durable waits for sync().

import {
  accessSync,
  close,
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fsync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { getLoadablePath } from 'sqlite-vec';
import { contactQuestion, meetsQuestion, textOfContact, wordsOfContact } from './contact-text.ts';
import { folded, nameKey } from './folding.ts';

export type Value = string | number | bigint | Uint8Array | null;
export type Values = readonly Value[] | Readonly<Record<string, Value>>;

/** A step of the schema. Applied once, in order, in a transaction of its own. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/**
 * Asks the disk to keep what was written to a log, the names in a folder, or the log that an ended process left: then
 * `done` is
 * called before it returns. The kernel's own calls, unless a test stands in.
 */
export type SyncToDisk = (
  descriptor: number,
  done: (error: Error | null) => void,
  kind: 'log' | 'folder' | 'found log',
) => void;

const askDisk: SyncToDisk = (descriptor, done, kind) => {
  if (kind === 'folder') fsync(descriptor, done);
  else if (kind === 'log') fdatasync(descriptor, done);
  else {
    fdatasyncSync(descriptor);
    done(null);
  }
};

/** Frames are pages of 4 KiB. A log whose frames are all copied starts over with the next write. */
export interface LogLength {
  readonly logFrames: number;
  readonly copiedFrames: number;
}

/** The file cannot be used: damaged, not a database, or written by a newer version. `cause` says which. */
export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable';
}

/** What was read of a file as of one moment. */
export interface Seen<Result> {
  readonly result: Result;
  /** By monotonicMs(): no commit that began later is in it. One that began before may not be durable yet. */
  readonly seenMs: number;
}

interface Prepared {
  readonly statement: Sqlite.Statement;
  readonly writes: boolean;
}

/** Rows held in memory per connection: 2 MiB, enough for the inner pages of every index of a busy workspace. */
export const cacheKib = 2048;

/** In a database's header: which way of writing it is meant for, and which of reading (SQLite's file format 1.3.3). */
const formatBytes = [18, 19];
const writeAheadFormat = 2;

/** Larger than SQLite's own, so that a row of a kilobyte does not overflow its page. */
const derivedPageBytes = 8192;

/** 1 MiB of a backup at a time. */
const backupPages = 256;

/**
 * Milliseconds of a clock that never goes back and is one for all threads, so that each can say what it saw before
 * what.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A reader waits this long for a checkpoint to let go. The writer is alone on its file and never waits. */
const busyTimeoutMs = 2000;

export class Database {
  readonly path: string;
  /** Undefined while it is parked, and when it is closed. */
  #sqlite: Sqlite.Database | undefined;
  #statements = new Map<string, Prepared>();
  /** Not asked for since the last call of age(). */
  #oldStatements = new Map<string, Prepared>();
  #unusedAges = 0;
  readonly #valueStatements = new Map<string, Sqlite.Statement>();
  readonly #syncToDisk: SyncToDisk;
  #isParked = false;
  /** The folder has been asked to keep the name of the log. */
  #isLogNamed = false;
  #onWake: () => void = () => {};
  #cacheKib = cacheKib;
  #beforeStatement: (() => void) | undefined;
  #walDescriptor: number | undefined;
  #writeCount = 0;

  private constructor(path: string, sqlite: Sqlite.Database, syncToDisk: SyncToDisk) {
    this.path = path;
    this.#sqlite = sqlite;
    this.#syncToDisk = syncToDisk;
  }

  /**
   * Makes the file of a database with nothing in it but its schema: whole under its name, or not there. Off the loop,
   * and a
   * tenth of the work of taking every step of the schema again, which only the first file of a process takes.
   */
  static async makeFile(path: string, migrations: readonly Migration[]): Promise<void> {
    const part = `${path}.part`;
    const file = await open(part, 'w');
    try {
      await file.writeFile(emptyFile(migrations));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  }

  /**
   * Opens the one writing connection of a file, made if missing, and brings its schema up to date. Throws
   * DatabaseUnusable.
   */
  static openWriter(path: string, migrations: readonly Migration[], syncToDisk: SyncToDisk = askDisk): Database {
    let sqlite: Sqlite.Database | undefined;
    try {
      // SQLite opens what may not be written to all the same, for reading, and leaves a log beside it that may not be
      // written to either.
      if (existsSync(path)) accessSync(path, constants.W_OK);
      syncFoundLog(path, syncToDisk);
      sqlite = new Sqlite(path);
      const mode = sqlite.pragma('journal_mode = WAL', { simple: true });
      if (mode !== 'wal') throw new Error(`its file system takes no write-ahead log (journal mode ${String(mode)})`);
      prepareWriter(sqlite, cacheKib);
      migrate(sqlite, migrations);
      // Its log may be such a one. Nothing is written.
      sqlite.exec('BEGIN; PRAGMA user_version = 0; ROLLBACK');
    } catch (cause) {
      sqlite?.close();
      throw new DatabaseUnusable(`${path} cannot be used: ${messageOf(cause)}`, { cause });
    }
    return new Database(path, sqlite, syncToDisk);
  }

  /**
   * Opens a connection that cannot write, for a thread that reads while the writer goes on. Throws DatabaseUnusable.
   */
  static openReader(path: string): Database {
    let sqlite: Sqlite.Database | undefined;
    try {
      sqlite = new Sqlite(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
      sqlite.pragma(`cache_size = -${cacheKib}`);
      sqlite.pragma('temp_store = MEMORY');
      addFunctions(sqlite);
      return new Database(path, sqlite, askDisk);
    } catch (cause) {
      sqlite?.close();
      throw new DatabaseUnusable(`${path} cannot be read: ${messageOf(cause)}`, { cause });
    }
  }

  /**
   * Opens the one connection of a file that can be made again from others, made if missing. A process that dies leaves
   * it as of
   * its last COMMIT. Throws DatabaseUnusable when it is damaged or of another version: remove it with removeDatabase().
   */
  static openDerived(path: string, schema: Migration): Database {
    let sqlite: Sqlite.Database | undefined;
    try {
      sqlite = new Sqlite(path);
      sqlite.pragma(`page_size = ${derivedPageBytes}`);
      sqlite.pragma('journal_mode = WAL');
      sqlite.pragma('synchronous = NORMAL');
      sqlite.pragma(`cache_size = -${cacheKib}`);
      const version = Number(sqlite.pragma('user_version', { simple: true }));
      if (version !== 0 && version !== schema.version)
        throw new Error(`its schema is version ${version}, not ${schema.version}`);
      migrate(sqlite, [schema]);
    } catch (cause) {
      sqlite?.close();
      throw new DatabaseUnusable(`${path} cannot be used: ${messageOf(cause)}`, { cause });
    }
    return new Database(path, sqlite, fdatasync);
  }

  /** Opens a connection that only copies the log back, for the thread that does that. The file must exist. */
  static openCheckpointer(path: string): Database {
    const sqlite = new Sqlite(path, { fileMustExist: true, timeout: busyTimeoutMs });
    sqlite.pragma('synchronous = NORMAL');
    return new Database(path, sqlite, askDisk);
  }

  /**
   * Closes the file of a writer until it is used again, without copying its log back, for which the disk would have to
   * be waited
   * for. True when a log was left. All that was committed must be durable.
   */
  park(): boolean {
    const { logFrames, copiedFrames } = this.logLength();
    if (logFrames === copiedFrames) {
      // Nothing is left to be copied, so that its log is removed.
      this.#disconnect();
      this.#isParked = true;
      return false;
    }
    // Whoever closes a log last copies it back, unless it may not write.
    const witness = new Sqlite(this.path, { readonly: true, fileMustExist: true, timeout: 0 });
    try {
      witness.pragma('user_version');
      this.#disconnect();
      this.#isParked = true;
      return true;
    } finally {
      witness.close();
    }
  }

  get isParked(): boolean {
    return this.#isParked;
  }

  /** Opens it again, if it is parked. Throws what keeps it closed. */
  wake(): void {
    this.#open();
  }

  /** Called whenever it is used again after park(), once its file is open. */
  onWake(call: () => void): void {
    this.#onWake = call;
  }

  /** How much of the file is held in memory. */
  limitCache(kib: number): void {
    if (kib === this.#cacheKib) return;
    this.#cacheKib = kib;
    this.#sqlite?.pragma(`cache_size = -${kib}`);
  }

  /**
   * Called now and then: forgets the statements that were not used since the call before. Returns how many calls ago
   * any was used.
   */
  age(): number {
    this.#unusedAges = this.#statements.size === 0 ? this.#unusedAges + 1 : 0;
    this.#oldStatements = this.#statements;
    this.#statements = new Map();
    this.#valueStatements.clear();
    return this.#unusedAges;
  }

  /** Runs one writing statement and returns how many rows it changed. */
  run(sql: string, values: Values = []): number {
    return this.#statement(sql).run(values).changes;
  }

  /** The first row, or undefined. The caller names the row's shape, which the schema in store/migrations guarantees. */
  get<Row>(sql: string, values: Values = []): Row | undefined {
    return this.#statement(sql).get(values) as Row | undefined;
  }

  all<Row>(sql: string, values: Values = []): Row[] {
    return this.#statement(sql).all(values) as Row[];
  }

  /**
   * The same as lists of values in the order of their columns: half the cost of a row, for reads of thousands of them.
   */
  allValues(sql: string, values: Values = []): unknown[][] {
    this.#beforeStatement?.();
    let statement = this.#valueStatements.get(sql);
    if (statement === undefined) {
      statement = this.#open().prepare(sql).raw();
      this.#valueStatements.set(sql, statement);
    }
    return statement.all(values) as unknown[][];
  }

  /** Rows one by one, for results that must not be held whole. The connection is busy until the loop ends. */
  iterate<Row>(sql: string, values: Values = []): IterableIterator<Row> {
    return this.#statement(sql).iterate(values) as IterableIterator<Row>;
  }

  /** Grows with every statement that may write, held or not: while it stays the same, nothing was written. */
  get writeCount(): number {
    return this.#writeCount;
  }

  /** Runs reads that must all see the file as of one moment. */
  snapshot<Result>(read: () => Result): Result {
    this.run('BEGIN');
    try {
      return read();
    } finally {
      this.rollback();
    }
  }

  /** False when the file's pages do not hold together. Reads all of it. */
  isSound(): boolean {
    try {
      return this.#open().pragma('quick_check(1)', { simple: true }) === 'ok';
    } catch {
      return false;
    }
  }

  /** From here on every read sees the file as it is now, until rollback(). */
  beginReading(): void {
    this.run('BEGIN');
    this.get('SELECT 1 FROM sqlite_schema');
  }

  begin(): void {
    this.run('BEGIN IMMEDIATE');
  }

  commit(): void {
    this.run('COMMIT');
  }

  rollback(): void {
    if (this.inTransaction) this.run('ROLLBACK');
  }

  /**
   * Reads that all see the same moment. What they write to the connection's own temporary tables is undone when one of
   * them throws.
   * `beforeStatement` is called before each of them, and must not ask for any.
   */
  readTogether<Result>(read: () => Result, beforeStatement?: () => void): Seen<Result> {
    try {
      this.beginReading();
      const seenMs = monotonicMs();
      const result = this.#reading(read, beforeStatement);
      this.run('COMMIT');
      return { result, seenMs };
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  #reading<Result>(read: () => Result, beforeStatement: (() => void) | undefined): Result {
    this.#beforeStatement = beforeStatement;
    try {
      return read();
    } finally {
      this.#beforeStatement = undefined;
    }
  }

  savepoint(): void {
    this.run('SAVEPOINT command');
  }

  release(): void {
    this.run('RELEASE command');
  }

  /** Undoes everything since savepoint(). */
  rollbackToSavepoint(): void {
    this.run('ROLLBACK TO command');
    this.run('RELEASE command');
  }

  /** False after a failure so grave (disk full, I/O error) that SQLite itself undid the whole transaction. */
  get inTransaction(): boolean {
    return this.#sqlite?.inTransaction === true;
  }

  /** Makes every COMMIT so far durable, off the main thread. An error means that what is on disk is unknown. */
  sync(done: (error: Error | null) => void): void {
    let folder: number | undefined;
    try {
      this.#walDescriptor ??= openSync(`${this.path}-wal`, 'r+');
      if (!this.#isLogNamed) folder = openSync(dirname(this.path), 'r');
    } catch (error) {
      done(asError(error));
      return;
    }
    const log = this.#walDescriptor;
    if (folder === undefined) {
      this.#syncToDisk(log, done, 'log');
      return;
    }
    // SQLite makes the log when it opens a file that was closed, so the log's name may be as new as what is in it.
    this.#isLogNamed = true;
    const opened = folder;
    this.#syncToDisk(
      opened,
      (error) => {
        close(opened);
        if (error === null) this.#syncToDisk(log, done, 'log');
        else done(error);
      },
      'folder',
    );
  }

  /** Copies write-ahead frames into the file without waiting for anybody. */
  checkpoint(): LogLength {
    return this.#logPragma('PASSIVE');
  }

  /** How long the write-ahead log is. Not inside a transaction. */
  logLength(): LogLength {
    return this.#logPragma('NOOP');
  }

  #logPragma(mode: 'PASSIVE' | 'NOOP'): LogLength {
    const row = this.get<{ log: number; checkpointed: number }>(`PRAGMA wal_checkpoint(${mode})`);
    return { logFrames: Math.max(0, row?.log ?? 0), copiedFrames: Math.max(0, row?.checkpointed ?? 0) };
  }

  /** Makes vector functions and vec0 tables known to this connection. */
  loadVectors(): void {
    this.#open().loadExtension(getLoadablePath());
  }

  /** Writes a consistent copy to `path`, which must not exist. Reads may go on meanwhile. */
  copyTo(path: string): void {
    this.run('VACUUM INTO ?', [path]);
  }

  /**
   * Copies the file as of one moment to `path`, which must not exist, as one durable file without a log. Others may
   * write
   * meanwhile. Each piece waits for the disk, so that theirs are not held up by one long sync; for processes of their
   * own.
   */
  async backupTo(path: string, onProgress: (share: number) => void): Promise<void> {
    let descriptor: number | undefined;
    this.beginReading();
    try {
      await this.#open().backup(path, {
        progress: ({ totalPages, remainingPages }) => {
          descriptor ??= openSync(path, 'r');
          fdatasyncSync(descriptor);
          onProgress(totalPages === 0 ? 1 : 1 - remainingPages / totalPages);
          return backupPages;
        },
      });
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
      this.rollback();
    }
    Database.makeSingleFile(path);
    syncFile(path);
  }

  /**
   * Does away with the log of a file that lies by itself, so that looking into it leaves nothing beside it. Nobody may
   * have it open.
   */
  static makeSingleFile(path: string): void {
    const sqlite = new Sqlite(path, { fileMustExist: true });
    try {
      sqlite.pragma('journal_mode = DELETE');
    } finally {
      sqlite.close();
    }
  }

  /** What SQLite finds wrong with pages, indexes and constraints; all of the file is read. */
  integrityFaults(): string[] {
    return this.all<{ integrity_check: string }>('PRAGMA integrity_check').flatMap(({ integrity_check: text }) =>
      text === 'ok' ? [] : [text],
    );
  }

  foreignKeyFaults(): string[] {
    return this.all<{ table: string; rowid: number | null; parent: string }>('PRAGMA foreign_key_check').map(
      ({ table, rowid, parent }) =>
        `${table}${rowid === null ? '' : ` row ${rowid}`} names a ${parent} that is not there`,
    );
  }

  /** The last step of the schema that it has. */
  get version(): number {
    return Number(this.#open().pragma('user_version', { simple: true }));
  }

  /**
   * Its tables, indexes and triggers, each as the statement that made it, without comments and line breaks, or as kind
   * and name of what SQLite made by itself.
   */
  schema(): Set<string> {
    const rows = this.all<{ text: string }>(
      `SELECT coalesce(sql, type || ' ' || name) AS text FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'`,
    );
    return new Set(
      rows.map(({ text }) =>
        text
          .replace(/--[^\n]*/g, '')
          .replace(/\s+/g, ' ')
          .trim(),
      ),
    );
  }

  /** Makes what is deleted from here on unreadable in the file, too. */
  overwriteDeleted(): void {
    this.#open().pragma('secure_delete = ON');
  }

  /** Writes the file anew without what was deleted, and empties the log. Nobody else may have it open. */
  compact(): void {
    this.run('VACUUM');
    this.get('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.#isParked = false;
    this.#disconnect();
  }

  #disconnect(): void {
    this.#sqlite?.close();
    this.#sqlite = undefined;
    this.#statements.clear();
    this.#oldStatements.clear();
    this.#valueStatements.clear();
    this.#unusedAges = 0;
    if (this.#walDescriptor !== undefined) closeSync(this.#walDescriptor);
    this.#walDescriptor = undefined;
  }

  /** The connection, made again when the file was parked. */
  #open(): Sqlite.Database {
    if (this.#sqlite !== undefined) return this.#sqlite;
    if (!this.#isParked) throw new TypeError(`${this.path} is closed`);
    // Somebody else may have copied it back, and removed it.
    this.#isLogNamed &&= existsSync(`${this.path}-wal`);
    const sqlite = new Sqlite(this.path, { fileMustExist: true });
    try {
      prepareWriter(sqlite, this.#cacheKib);
    } catch (error) {
      sqlite.close();
      throw error;
    }
    this.#sqlite = sqlite;
    this.#isParked = false;
    this.#onWake();
    return sqlite;
  }

  #statement(sql: string): Sqlite.Statement {
    this.#beforeStatement?.();
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      prepared = this.#oldStatements.get(sql) ?? this.#prepare(sql);
      this.#statements.set(sql, prepared);
    }
    if (prepared.writes) this.#writeCount += 1;
    return prepared.statement;
  }

  #prepare(sql: string): Prepared {
    const statement = this.#open().prepare(sql);
    return { statement, writes: !statement.readonly };
  }
}

/**
 * Holds the kernel's lock on `path` until the process ends, however it ends. Undefined when another process holds it.
 */
export function lockFile(path: string): { release(): void } | undefined {
  const sqlite = new Sqlite(path, { timeout: 0 });
  try {
    sqlite.pragma('locking_mode = EXCLUSIVE');
    sqlite.exec('BEGIN EXCLUSIVE');
    return { release: () => sqlite.close() };
  } catch (error) {
    sqlite.close();
    if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
}

/** Removes a file that can be made again, with its log. Nobody may have it open. */
export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
}

/** True when the failure is the disk's (full, failing, read-only), not the statement's. */
export function isStorageFailure(error: unknown): boolean {
  return (
    error instanceof Sqlite.SqliteError &&
    /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|NOMEM|BUSY|PROTOCOL)/.test(error.code)
  );
}

/** True when a UNIQUE or PRIMARY KEY constraint refused the row. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(error.code);
}

/** What statements and triggers ask of texts; SQLite's own lower() knows ASCII alone. */
function addFunctions(sqlite: Sqlite.Database): void {
  const add = (name: string, answer: (...texts: (string | null)[]) => string | number | null): void => {
    sqlite.function(name, { deterministic: true, varargs: true }, (...values) =>
      answer(...values.map((value) => (typeof value === 'string' ? value : null))),
    );
  };
  add('fold', (text = null) => (text === null ? null : folded(text)));
  add('nameKey', (name = null) => (name === null ? null : nameKey(name)));
  add('textOfContact', textOfContact);
  add('wordsOfContact', wordsOfContact);
  add('meetsContact', (text = null, search = null) =>
    Number(text !== null && search !== null && meetsQuestion(text, contactQuestion(search))),
  );
}

/** What holds of the connection alone, not of the file. */
function prepareWriter(sqlite: Sqlite.Database, kib: number): void {
  sqlite.pragma('synchronous = NORMAL');
  sqlite.pragma('wal_autocheckpoint = 0');
  sqlite.pragma('foreign_keys = ON');
  sqlite.pragma(`cache_size = -${kib}`);
  sqlite.pragma('temp_store = MEMORY');
  addFunctions(sqlite);
}

const emptyFiles = new WeakMap<readonly Migration[], Buffer>();

/** The bytes of a file with nothing in it but its schema. */
function emptyFile(migrations: readonly Migration[]): Buffer {
  const known = emptyFiles.get(migrations);
  if (known !== undefined) return known;
  const sqlite = new Sqlite(':memory:');
  try {
    addFunctions(sqlite);
    migrate(sqlite, migrations);
    const bytes = sqlite.serialize();
    for (const at of formatBytes) bytes[at] = writeAheadFormat;
    emptyFiles.set(migrations, bytes);
    return bytes;
  } finally {
    sqlite.close();
  }
}

function migrate(sqlite: Sqlite.Database, migrations: readonly Migration[]): void {
  const current = Number(sqlite.pragma('user_version', { simple: true }));
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest)
    throw new Error(`its schema is version ${current}, this program knows up to ${newest}: install a newer one`);
  for (const migration of migrations) {
    if (migration.version <= current) continue;
    sqlite.transaction(() => {
      sqlite.exec(migration.sql);
      sqlite.pragma(`user_version = ${migration.version}`);
    })();
  }
}

/**
 * A process that was killed leaves commits that its disk may not have yet. From here on they are read and told as
 * durable, so
 * they must outlast the power too. Waits for the disk: once per file, and only after an end without a stop.
 */
function syncFoundLog(path: string, syncToDisk: SyncToDisk): void {
  const logPath = `${path}-wal`;
  if ((statSync(logPath, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  const descriptor = openSync(logPath, 'r+');
  let failure: Error | null = null;
  try {
    syncToDisk(descriptor, (error) => (failure = error), 'found log');
  } finally {
    closeSync(descriptor);
  }
  if (failure !== null) throw failure;
  syncFolder(dirname(path));
}

/** Makes the folder at `path` and those above it, for this user alone and as durable as what will be put into it. */
export function makeFolder(path: string): void {
  const highest = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (highest === undefined) return;
  for (let folder = path; folder.length >= highest.length; folder = dirname(folder)) syncFolder(dirname(folder));
}

/** A new name in a folder is durable only once the folder is. */
export function syncFolder(path: string): void {
  syncFile(path);
}

/**
 * Makes what was written to a file durable. Not for a database that this process has open: closing it drops SQLite's
 * locks.
 */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function messageOf(error: unknown): string {
  return asError(error).message;
}
