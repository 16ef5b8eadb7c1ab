// A copy that is kept by the page log of a file is the file, byte for byte: over thousands of seeded steps of every kind
// that changes a log.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Database, type Migration } from '../../store/database.ts';
import { AddedFrames } from '../../store/page-log/added-frames.ts';
import { tempFolder } from '../support/folder.ts';
import { Copy, Shipper, WatchedFile } from '../support/page-copy.ts';
import { type Random, randomFrom } from '../support/seeded.ts';

const schema: Migration = {
  version: 1,
  name: 'schema',
  sql: `CREATE TABLE line (id INTEGER PRIMARY KEY, sort INTEGER, text TEXT, body BLOB);
        CREATE INDEX lineBySort ON line (sort, text);`,
};
const later: Migration = {
  version: 2,
  name: 'later',
  sql: `CREATE TABLE other (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO other SELECT id, text FROM line;`,
};

// On a slow disk.
t.setTimeout(5 * 60_000);

class Run {
  readonly #random: Random;
  readonly #shipper: Shipper;
  readonly #copy: Copy;
  readonly #file: WatchedFile;
  /** Of each change that the copy does not have. */
  #pending: Buffer[][] = [];
  #reader: Database | undefined;
  readonly seen = { changes: 0, commits: 0, pieces: 0, rebuilds: 0, torn: 0, restarts: 0 };
  migrations = [schema];
  #salts = '';

  constructor(t: Parameters<typeof tempFolder>[0], random: Random) {
    const folder = tempFolder(t);
    const path = join(folder, 'a.db');
    this.#random = random;
    this.#shipper = new Shipper(Database.openWriter(path, this.migrations));
    t.teardown(() => this.#shipper.db.close());
    this.#file = new WatchedFile(t, path);
    this.#copy = new Copy(join(folder, 'copy.db'), { bytes: this.#file.bytes() });
  }

  get #db(): Database {
    return this.#shipper.db;
  }

  readonly #steps: readonly [share: number, step: (this: Run) => void | Promise<void>][] = [
    [100, this.writeSome],
    [12, this.writeMany],
    [6, this.readOn],
    [6, this.copyBack],
    [1, this.vacuum],
    [4, this.park],
    [3, this.reopen],
    [2, this.takeUp],
    [5, this.rebuild],
  ];

  async step(): Promise<void> {
    let left = this.#random.below(this.#steps.reduce((sum, [share]) => sum + share, 0));
    for (const [share, step] of this.#steps) {
      left -= share;
      if (left >= 0) continue;
      await step.call(this);
      return;
    }
  }

  ship(): void {
    const pieces = this.#shipper.ship();
    if (pieces.length === 0) return;
    const { salts } = this.#shipper.added.position;
    if (salts !== this.#salts) this.seen.restarts += 1;
    this.#salts = salts;
    this.seen.changes += 1;
    this.seen.pieces += pieces.length;
    this.#pending.push(pieces);
  }

  /** A transaction; now and then rolled back, with a savepoint, or one of several that are read at once. */
  writeSome(): void {
    for (let more = true; more; more = this.#random.chance(0.1)) {
      this.#db.begin();
      for (let count = this.#random.below(4); count >= 0; count -= 1) this.#write();
      if (this.#random.chance(0.2)) {
        this.#db.savepoint();
        this.#write();
        if (this.#random.chance(0.5)) this.#db.rollbackToSavepoint();
        else this.#db.release();
      }
      this.#end();
    }
    this.ship();
  }

  /** More than the cache takes, so that frames are written before the end, and some of them twice. */
  writeMany(): void {
    this.#db.limitCache(16);
    this.#db.begin();
    for (let count = this.#random.below(20); count >= 0; count -= 1) this.#write();
    this.#db.savepoint();
    for (let count = this.#random.below(20); count >= 0; count -= 1) this.#write();
    if (this.#random.chance(0.3)) this.#db.rollbackToSavepoint();
    this.#end();
    this.#db.limitCache(2048);
    this.ship();
  }

  #end(): void {
    if (this.#random.chance(0.2)) this.#db.rollback();
    else {
      this.#db.commit();
      this.seen.commits += 1;
    }
  }

  #write(): void {
    const random = this.#random;
    const id = random.below(400);
    const body = new Uint8Array(random.pick([10, 100, 1000, 6000])).fill(random.below(256));
    const values = { id, sort: random.below(50), text: `line ${random.below(1e6)}`, body };
    const at = random.next();
    if (at < 0.6) this.#db.run('INSERT OR REPLACE INTO line VALUES (@id, @sort, @text, @body)', values);
    else if (at < 0.8)
      this.#db.run('UPDATE line SET sort = @sort, text = @text WHERE id = @id', { ...values, body: null });
    else if (at < 0.98) this.#db.run('DELETE FROM line WHERE id BETWEEN ? AND ?', [id, id + 10]);
    else this.#db.run(`PRAGMA application_id = ${random.below(1000)}`);
  }

  /** From here on, or no longer, the log cannot be copied back beyond this commit. */
  readOn(): void {
    if (this.#reader === undefined) {
      this.#reader = Database.openReader(this.#file.path);
      this.#reader.beginReading();
    } else this.#endReading();
  }

  #endReading(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }

  copyBack(): void {
    if (this.#random.chance(0.5)) this.#db.checkpoint();
    else if (this.#reader === undefined) this.#db.get('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  vacuum(): void {
    this.#db.run('VACUUM');
    this.seen.commits += 1;
    this.ship();
  }

  /** Another connection copies the log back and removes it, or does not. */
  park(): void {
    this.#endReading();
    this.#db.park();
    if (this.#random.chance(0.5)) {
      const other = Database.openCheckpointer(this.#file.path);
      other.checkpoint();
      other.close();
    }
    if (this.#random.chance(0.5)) this.#db.wake();
  }

  /** Ends cleanly: the log is gone. */
  reopen(): void {
    this.#endReading();
    this.#db.close();
    this.#open();
    this.#shipper.added = new AddedFrames(this.#db);
    this.ship();
  }

  /** Ends as in a crash: the log stays, and what it holds was delivered up to a position. */
  takeUp(): void {
    this.#endReading();
    const { logFrames, copiedFrames } = this.#db.logLength();
    if (logFrames === copiedFrames) return;
    this.#db.park();
    const { position } = this.#shipper.added;
    this.#open();
    this.#shipper.added = new AddedFrames(this.#db, position);
    this.ship();
  }

  #open(): void {
    this.#shipper.db = Database.openWriter(this.#file.path, this.migrations);
  }

  async rebuild(): Promise<void> {
    const before = this.#copy.bytes();
    const batches = this.#random.chance(0.1) ? this.#pending : [this.#pending.flat()];
    const { link } = this.#copy;
    for (const pieces of batches) if (pieces.length > 0) await this.#copy.apply(pieces);
    const whole = this.#file.bytesWithLog();
    if (!this.#copy.bytes().equals(whole)) throw new Error('the copy differs from the file');
    this.seen.rebuilds += 1;
    if (this.#pending.length > 0 && this.#random.chance(0.5)) {
      this.#tear(before, whole);
      this.#copy.link = link;
      await this.#copy.apply(this.#pending.flat());
      if (!this.#copy.bytes().equals(whole)) throw new Error('a copy that was left half done differs from the file');
      this.seen.torn += 1;
    }
    this.#pending = [];
  }

  /** As after a crash while it was applied: of each sector the old or the new bytes, and either length. */
  #tear(before: Buffer, after: Buffer): void {
    const sectorBytes = 512;
    const torn = Buffer.alloc(this.#random.pick([before, after]).length);
    for (let at = 0; at < torn.length; at += sectorBytes) {
      const from = this.#random.pick([before, after]);
      if (at < from.length) from.copy(torn, at, at, at + sectorBytes);
    }
    writeFileSync(this.#copy.path, torn);
  }
}

t.test('a copy is its file, byte for byte, after any 3,000 steps', { timeout: 5 * 60_000 }, async (t) => {
  for (const seed of [1, 2, 3]) {
    const run = new Run(t, randomFrom(seed));
    run.ship();
    for (let step = 1; step <= 1000; step += 1) {
      if (step === 500) run.migrations = [schema, later];
      try {
        await run.step();
      } catch (cause) {
        throw new Error(`seed ${seed}, step ${step}`, { cause });
      }
    }
    await run.rebuild();
    t.comment(`seed ${seed}: ${JSON.stringify(run.seen)}`);
    t.ok(run.seen.rebuilds > 20 && run.seen.torn > 5 && run.seen.restarts > 20, 'it was put to the test');
  }
});
