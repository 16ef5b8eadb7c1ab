// One SQLite file: its connection, prepared statements, transaction and sync to disk. The only importer of
// better-sqlite3. It knows no table and no rule; store/*.ts holds the queries, engine/runtime/lane.ts decides when to
// begin, commit and sync. COMMIT does not wait for the disk: durability requires sync().

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
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { getLoadablePath } from 'sqlite-vec';
import { contactQuestion, meetsQuestion, textOfContact, wordsOfContact } from './contact-text.ts';
import { folded, nameKey } from './folding.ts';

export type Value = string | number | bigint | Uint8Array | null;
export type Values = readonly Value[] | Readonly<Record<string, Value>>;

/** A schema migration. Applied once, in order, in its own transaction. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/**
 * Syncs a log's data, a folder's names, or the log left by an ended process; for the last, `done` is called before it
 * returns. Replaced in tests.
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

/** Frames are pages of 4 KiB. A log whose frames have all been copied restarts with the next write. */
export interface LogLength {
  readonly logFrames: number;
  readonly copiedFrames: number;
}

/** The file cannot be used: damaged, not a database, or written by a newer version. `cause` says which. */
export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable';
}

/** A result read in one snapshot of a file. */
export interface Seen<Result> {
  readonly result: Result;
  /** By monotonicMs(): contains no commit that began later. One that began before may not be durable yet. */
  readonly seenMs: number;
}

interface Prepared {
  readonly statement: Sqlite.Statement;
  readonly writes: boolean;
}

/** Page cache per connection: 2 MiB, enough for the inner pages of every index of a busy workspace. */
export const cacheKib = 2048;

/** Offsets of the write and read format versions in a database's header (SQLite's file format 1.3.3). */
const formatBytes = [18, 19];
const writeAheadFormat = 2;

/** Larger than SQLite's default, so that a row of a kilobyte does not overflow its page. */
const derivedPageBytes = 8192;

/** 1 MiB of a backup at a time. */
const backupPages = 256;

/** Milliseconds of a monotonic clock shared by all threads, so that they can order what they saw. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Of a log that is copied back, and stays beside a file that is closed: 256 KiB. */
const maxKeptFrames = 64;

/** How long a reader waits for a checkpoint. The writer is the only one and never waits. */
const busyTimeoutMs = 2000;

export class Database {
  readonly path: string;
  /** Undefined while parked or closed. */
  #sqlite: Sqlite.Database | undefined;
  #statements = new Map<string, Prepared>();
  /** Not used since the last call of age(). */
  #oldStatements = new Map<string, Prepared>();
  #unusedAges = 0;
  readonly #valueStatements = new Map<string, Sqlite.Statement>();
  readonly #syncToDisk: SyncToDisk;
  #isParked = false;
  /** Which log's name in its folder has been synced. */
  #namedLog: string | undefined;
  #onWake: () => void = () => {};
  #cacheKib = cacheKib;
  #walDescriptor: number | undefined;
  #writeCount = 0;

  private constructor(path: string, sqlite: Sqlite.Database, syncToDisk: SyncToDisk) {
    this.path = path;
    this.#sqlite = sqlite;
    this.#syncToDisk = syncToDisk;
  }

  /**
   * Creates an empty database with its schema, complete under its name or not there. Off the loop, and ten times faster
   * than running every migration, which only a process's first file needs.
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
   * Opens the only writing connection of a file, creating it if missing, and migrates its schema. Throws
   * DatabaseUnusable.
   */
  static openWriter(path: string, migrations: readonly Migration[], syncToDisk: SyncToDisk = askDisk): Database {
    let sqlite: Sqlite.Database | undefined;
    try {
      // SQLite would open a read-only file for reading and leave a read-only log beside it.
      if (existsSync(path)) accessSync(path, constants.W_OK);
      syncFoundLog(path, syncToDisk);
      sqlite = new Sqlite(path);
      const mode = sqlite.pragma('journal_mode = WAL', { simple: true });
      if (mode !== 'wal') throw new Error(`its file system takes no write-ahead log (journal mode ${String(mode)})`);
      prepareWriter(sqlite, cacheKib);
      migrate(sqlite, migrations);
      // Its log may be read-only, too. Writes nothing.
      sqlite.exec('BEGIN; PRAGMA user_version = 0; ROLLBACK');
    } catch (cause) {
      sqlite?.close();
      throw new DatabaseUnusable(`${path} cannot be used: ${messageOf(cause)}`, { cause });
    }
    return new Database(path, sqlite, syncToDisk);
  }

  /** Opens a read-only connection, for a thread that reads while the writer goes on. Throws DatabaseUnusable. */
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
   * Opens the only connection of a file that can be rebuilt from others, creating it if missing. After a crash it
   * contains its last COMMIT. Throws DatabaseUnusable if it is damaged or of another version: remove it with
   * removeDatabase().
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

  /**
   * Opens a read-only connection of such a file, which must exist, beside the one that writes it. Throws
   * DatabaseUnusable.
   */
  static openDerivedReader(path: string, schema: Migration): Database {
    let sqlite: Sqlite.Database | undefined;
    try {
      sqlite = new Sqlite(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
      sqlite.pragma(`cache_size = -${cacheKib}`);
      const version = Number(sqlite.pragma('user_version', { simple: true }));
      if (version !== schema.version) throw new Error(`its schema is version ${version}, not ${schema.version}`);
      return new Database(path, sqlite, askDisk);
    } catch (cause) {
      sqlite?.close();
      throw new DatabaseUnusable(`${path} cannot be read: ${messageOf(cause)}`, { cause });
    }
  }

  /** Opens a connection that only copies the log back, for the thread that does so. The file must exist. */
  static openCheckpointer(path: string): Database {
    const sqlite = new Sqlite(path, { fileMustExist: true, timeout: busyTimeoutMs });
    sqlite.pragma('synchronous = NORMAL');
    return new Database(path, sqlite, askDisk);
  }

  /**
   * Copies the log of a file that is open nowhere else back into it, and removes it. Returns false if it is still there.
   * The last connection to close does so by itself, without reading the schema, which would take longer than the rest.
   */
  static removeLog(path: string): boolean {
    const sqlite = new Sqlite(path, { fileMustExist: true, timeout: busyTimeoutMs });
    try {
      // Opens the log. By default SQLite copies it back as NORMAL does, with a sync before and after.
      sqlite.exec('PRAGMA user_version');
    } finally {
      sqlite.close();
    }
    return !existsSync(`${path}-wal`);
  }

  /**
   * Closes a writer's file until it is used again. Its log stays, even an empty one: to copy it back would wait for the
   * disk, and to make both files beside it anew costs more than to find them. All commits must be durable.
   */
  park(): void {
    const { logFrames, copiedFrames } = this.logLength();
    if (logFrames === copiedFrames && logFrames > maxKeptFrames) {
      // Nothing is left to copy, and the next to open the file would read all of it.
      this.#disconnect();
      this.#isParked = true;
      return;
    }
    // The last connection to close copies the log back and removes it, unless it is read-only.
    const witness = new Sqlite(this.path, { readonly: true, fileMustExist: true, timeout: 0 });
    try {
      witness.exec('PRAGMA user_version');
      this.#disconnect();
      this.#isParked = true;
    } finally {
      witness.close();
    }
  }

  get isClosed(): boolean {
    return this.#sqlite === undefined && !this.#isParked;
  }

  get isParked(): boolean {
    return this.#isParked;
  }

  /** Reopens a parked file. Throws the error that prevents it. */
  wake(): void {
    this.#open();
  }

  /** Called after each reopening, once the file is open. */
  onWake(call: () => void): void {
    this.#onWake = call;
  }

  /** Limits the page cache. */
  limitCache(kib: number): void {
    if (kib === this.#cacheKib) return;
    this.#cacheKib = kib;
    this.#sqlite?.pragma(`cache_size = -${kib}`);
  }

  /**
   * Called periodically: finalises statements not used since the previous call. Returns how many calls ago any was
   * used.
   */
  age(): number {
    this.#unusedAges = this.#statements.size === 0 ? this.#unusedAges + 1 : 0;
    this.#oldStatements = this.#statements;
    this.#statements = new Map();
    this.#valueStatements.clear();
    return this.#unusedAges;
  }

  /** Runs one writing statement and returns the number of rows it changed. */
  run(sql: string, values: Values = []): number {
    return this.#statement(sql).run(values).changes;
  }

  /** Runs one INSERT and returns the new row's rowid, if its table has rowids. */
  insert(sql: string, values: Values = []): number {
    return Number(this.#statement(sql).run(values).lastInsertRowid);
  }

  /** The first row, or undefined. The caller names the row's type, which the schema in store/migrations guarantees. */
  get<Row>(sql: string, values: Values = []): Row | undefined {
    return this.#statement(sql).get(values) as Row | undefined;
  }

  all<Row>(sql: string, values: Values = []): Row[] {
    return this.#statement(sql).all(values) as Row[];
  }

  /** The same as lists of values in column order: half the cost per row, for reads of thousands. */
  allValues(sql: string, values: Values = []): unknown[][] {
    let statement = this.#valueStatements.get(sql);
    if (statement === undefined) {
      statement = this.#open().prepare(withOnePlan(sql)).raw();
      this.#valueStatements.set(sql, statement);
    }
    return statement.all(values) as unknown[][];
  }

  /** Yields rows one by one, for large results. The connection is busy until the loop ends. */
  iterate<Row>(sql: string, values: Values = []): IterableIterator<Row> {
    return this.#statement(sql).iterate(values) as IterableIterator<Row>;
  }

  /**
   * Increases with every statement that may write, even if rolled back: while it stays the same, nothing was written.
   */
  get writeCount(): number {
    return this.#writeCount;
  }

  /** Stays the same until another connection commits a change, as seen by the snapshot if there is one. */
  get versionOfOthers(): number {
    return this.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
  }

  /** Runs reads in one snapshot. */
  snapshot<Result>(read: () => Result): Result {
    this.run('BEGIN');
    try {
      return read();
    } finally {
      this.rollback();
    }
  }

  /** False if the file's pages are inconsistent. Reads all of it. */
  isSound(): boolean {
    try {
      return this.#open().pragma('quick_check(1)', { simple: true }) === 'ok';
    } catch {
      return false;
    }
  }

  /** Until rollback(), every read sees the file as it is now. */
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
   * Runs reads in one snapshot. Writes to the connection's own temporary tables are rolled back if one throws.
   */
  readTogether<Result>(read: () => Result): Seen<Result> {
    try {
      this.beginReading();
      const seenMs = monotonicMs();
      const result = read();
      this.run('COMMIT');
      return { result, seenMs };
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  savepoint(): void {
    this.run('SAVEPOINT command');
  }

  release(): void {
    this.run('RELEASE command');
  }

  /** Rolls back to savepoint(). */
  rollbackToSavepoint(): void {
    this.run('ROLLBACK TO command');
    this.run('RELEASE command');
  }

  /** False after a failure (disk full, I/O error) for which SQLite itself rolled the whole transaction back. */
  get inTransaction(): boolean {
    return this.#sqlite?.inTransaction === true;
  }

  /** Makes every COMMIT so far durable, off the main thread. After an error, what is on disk is unknown. */
  sync(done: (error: Error | null) => void): void {
    let log: number;
    let folder: number | undefined;
    try {
      log = this.#openLog();
      if (this.#namedLog === undefined) folder = openSync(dirname(this.path), 'r');
    } catch (error) {
      done(asError(error));
      return;
    }
    if (folder === undefined) {
      this.#syncToDisk(log, done, 'log');
      return;
    }
    // SQLite creates the log when it opens a closed file, so the log's name may be as new as its content.
    this.#namedLog = this.#logNow();
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

  /** Copies write-ahead frames into the file without waiting for other connections. */
  checkpoint(): LogLength {
    return this.#logPragma('PASSIVE');
  }

  /** The length of the write-ahead log. Not inside a transaction. */
  logLength(): LogLength {
    return this.#logPragma('NOOP');
  }

  #logPragma(mode: 'PASSIVE' | 'NOOP'): LogLength {
    const row = this.get<{ log: number; checkpointed: number }>(`PRAGMA wal_checkpoint(${mode})`);
    return { logFrames: Math.max(0, row?.log ?? 0), copiedFrames: Math.max(0, row?.checkpointed ?? 0) };
  }

  /** Reads bytes of a writer's write-ahead log at an offset, and returns how many there were. */
  readLog(into: Uint8Array, atByte: number): number {
    // Parking closes the descriptor, because the log may be removed until it is reopened.
    this.#open();
    return readSync(this.#openLog(), into, 0, into.length, atByte);
  }

  #openLog(): number {
    this.#walDescriptor ??= openSync(`${this.path}-wal`, 'r+');
    return this.#walDescriptor;
  }

  /** Differs from that of an earlier log, which may have had the same inode. */
  #logNow(): string | undefined {
    const found = statSync(`${this.path}-wal`, { throwIfNoEntry: false });
    return found && `${found.ino} ${found.birthtimeMs}`;
  }

  /** The bytes of the file and its log, as this connection sees them. */
  serialize(): Buffer {
    return this.#open().serialize();
  }

  /** Loads vector functions and vec0 tables into this connection. */
  loadVectors(): void {
    this.#open().loadExtension(getLoadablePath());
  }

  /** Writes a consistent copy to `path`, which must not exist. Reads may go on meanwhile. */
  copyTo(path: string): void {
    this.run('VACUUM INTO ?', [path]);
  }

  /**
   * Copies a snapshot of the file to `path`, which must not exist, as one durable file without a log. Other processes
   * may write meanwhile. Each piece is synced, so that their syncs do not wait for one long one; for separate
   * processes.
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
   * Removes the log of a standalone file, so that reading it creates no file beside it. It must not be open anywhere.
   */
  static makeSingleFile(path: string): void {
    const sqlite = new Sqlite(path, { fileMustExist: true });
    try {
      sqlite.pragma('journal_mode = DELETE');
    } finally {
      sqlite.close();
    }
  }

  /** SQLite's findings about pages, indexes and constraints. Reads the whole file. */
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

  /** The last migration applied. */
  get version(): number {
    return Number(this.#open().pragma('user_version', { simple: true }));
  }

  /**
   * Its tables, indexes and triggers, each as its SQL without comments and line breaks, or as kind and name for
   * automatic ones.
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

  /** From here on, deleted data is overwritten in the file. */
  overwriteDeleted(): void {
    this.#open().pragma('secure_delete = ON');
  }

  /** Rewrites the file without deleted data, by its log. */
  rewrite(): void {
    this.run('VACUUM');
  }

  /** Rewrites the file without deleted data and empties the log. It must not be open anywhere else. */
  compact(): void {
    this.rewrite();
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

  /** The connection, reopened if the file was parked. */
  #open(): Sqlite.Database {
    if (this.#sqlite !== undefined) return this.#sqlite;
    if (!this.#isParked) throw new TypeError(`${this.path} is closed`);
    // Another thread or process may have copied it back and removed it: before, or until just now.
    if (!existsSync(`${this.path}-wal`)) this.#namedLog = undefined;
    const sqlite = new Sqlite(this.path, { fileMustExist: true });
    try {
      prepareWriter(sqlite, this.#cacheKib);
      if (this.#namedLog !== undefined && this.#namedLog !== this.#logNow()) this.#namedLog = undefined;
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
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      prepared = this.#oldStatements.get(sql) ?? this.#prepare(sql);
      this.#statements.set(sql, prepared);
    }
    if (prepared.writes) this.#writeCount += 1;
    return prepared.statement;
  }

  #prepare(sql: string): Prepared {
    const statement = this.#open().prepare(withOnePlan(sql));
    return { statement, writes: !statement.readonly };
  }
}

/**
 * SQLite compiles a statement again for each value bound to a parameter that its plan may depend on, as in most reads
 * that have an order or a partial index: that takes longer than the read. No plan depends on a value behind a unary plus.
 */
function withOnePlan(sql: string): string {
  return sql.replaceAll(/'[^']*'|\?|@\w+/g, (part) => (part.startsWith("'") ? part : `+${part}`));
}

/** Holds the kernel's lock on `path` until the process ends, however it ends. Undefined if another process holds it. */
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

/** Removes a file that can be rebuilt, with its log. It must not be open anywhere. */
export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
}

/** True if the disk failed (full, failing, read-only), not the statement. */
export function isStorageFailure(error: unknown): boolean {
  return (
    error instanceof Sqlite.SqliteError &&
    /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|NOMEM|BUSY|PROTOCOL)/.test(error.code)
  );
}

/** True if a UNIQUE or PRIMARY KEY constraint refused the row. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(error.code);
}

type TextFunction = (...texts: (string | null)[]) => string | number | null;

/** For statements and triggers; SQLite's own lower() only handles ASCII. */
const textFunctions: Readonly<Record<string, TextFunction>> = {
  fold: (text = null) => (text === null ? null : folded(text)),
  nameKey: (name = null) => (name === null ? null : nameKey(name)),
  textOfContact,
  wordsOfContact,
  meetsContact: (text = null, search = null) =>
    Number(text !== null && search !== null && meetsQuestion(text, contactQuestion(search))),
};

/** Made once, because thousands of connections open. */
const sqlFunctions = Object.entries(textFunctions).map(([name, answer]) => ({
  name,
  call: (...values: unknown[]) => answer(...values.map((value) => (typeof value === 'string' ? value : null))),
}));

function addFunctions(sqlite: Sqlite.Database): void {
  for (const { name, call } of sqlFunctions) sqlite.function(name, { deterministic: true, varargs: true }, call);
}

/**
 * Settings of the connection, not of the file. In one call, and with the pages of the schema dropped once it is read:
 * a busy server opens hundreds of files a second.
 */
function prepareWriter(sqlite: Sqlite.Database, kib: number): void {
  sqlite.exec(
    `PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON; PRAGMA cache_size = -${kib};
     PRAGMA temp_store = MEMORY; PRAGMA shrink_memory`,
  );
  addFunctions(sqlite);
}

const emptyFiles = new WeakMap<readonly Migration[], Buffer>();

/** The bytes of an empty file with its schema. */
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
 * A killed process may leave commits that are not on disk yet. They will be read and reported as durable, so they must
 * be synced first. Waits for the disk: once per file, and only after an unclean end.
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

/** Creates the folder at `path` and its parents, for this user only, as durable as what will be stored in it. */
export function makeFolder(path: string): void {
  const highest = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (highest === undefined) return;
  for (let folder = path; folder.length >= highest.length; folder = dirname(folder)) syncFolder(dirname(folder));
}

/** A new name in a folder is durable only once the folder is synced. */
export function syncFolder(path: string): void {
  syncFile(path);
}

/** The most that Node.js writes at once. */
export const maxWrittenBytes = 2 ** 31 - 1;

/** Writes a new file that is whole and durable, or not there. */
export function writeDurably(path: string, bytes: Uint8Array): void {
  const part = `${path}.part`;
  writeFileSync(part, bytes, { mode: 0o600 });
  syncFile(part);
  renameSync(part, path);
  syncFolder(dirname(path));
}

/**
 * Makes a file's content durable. Not for a database that this process has open: closing the file drops SQLite's locks.
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
