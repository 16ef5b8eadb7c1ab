import {
  chmodSync,
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import {
  Database,
  DatabaseUnusable,
  isDuplicate,
  isStorageFailure,
  lockFile,
  type Migration,
  makeFolder,
  monotonicMs,
} from '../../store/database.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { tempFolder } from '../support/folder.ts';

const first: Migration = {
  version: 1,
  name: 'first',
  sql: 'CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);',
};
const second: Migration = {
  version: 2,
  name: 'second',
  sql: 'CREATE TABLE b (id INTEGER); INSERT INTO b SELECT id FROM a; DELETE FROM a;',
};

const versionOf = (db: Database): unknown => db.get<{ user_version: number }>('PRAGMA user_version')?.user_version;
const tablesOf = (db: Database): string[] =>
  db.all<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).map(({ name }) => name);

t.test('migrations run once, in order, from any earlier version', async (t) => {
  const path = join(tempFolder(t), 'a.db');
  const old = Database.openWriter(path, [first]);
  t.equal(versionOf(old), 1);
  old.run('INSERT INTO a VALUES (2)');
  old.close();
  const now = Database.openWriter(path, [first, second]);
  t.equal(versionOf(now), 2);
  t.same(now.all('SELECT id FROM b ORDER BY id'), [{ id: 1 }, { id: 2 }]);
  now.close();
  const again = Database.openWriter(path, [first, second]);
  t.same(again.all('SELECT id FROM b ORDER BY id'), [{ id: 1 }, { id: 2 }], 'not a second time');
  again.close();
});

t.test('a migration that ends at any of its statements leaves the old version, whole', async (t) => {
  const statements = second.sql
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  for (let count = 0; count <= statements.length; count += 1) {
    const path = join(tempFolder(t), 'a.db');
    Database.openWriter(path, [first]).close();
    const cut: Migration = {
      ...second,
      sql: [...statements.slice(0, count), 'SELECT * FROM missing', ...statements.slice(count)].join(';'),
    };
    t.throws(() => Database.openWriter(path, [first, cut]), DatabaseUnusable);
    const db = Database.openWriter(path, [first]);
    t.equal(versionOf(db), 1);
    t.same(tablesOf(db), ['a']);
    t.same(db.all('SELECT id FROM a'), [{ id: 1 }], `after ${count} statements`);
    db.close();
  }
});

t.test("a killed process's log is made durable before it is read; after a clean stop nothing is synced", async (t) => {
  const folder = tempFolder(t);
  const dying = Database.openWriter(join(folder, 'a.db'), [first]);
  dying.run('INSERT INTO a VALUES (2)');
  for (const suffix of ['', '-wal']) copyFileSync(join(folder, `a.db${suffix}`), join(folder, `left.db${suffix}`));
  dying.close();
  const asked: string[] = [];
  const open = (): Database =>
    Database.openWriter(join(folder, 'left.db'), [first], (descriptor, done, kind) => {
      asked.push(
        `${kind}: ${fstatSync(descriptor).ino === statSync(join(folder, 'left.db-wal')).ino ? 'its log' : 'another file'}`,
      );
      done(null);
    });
  const db = open();
  t.same(asked, ['found log: its log']);
  t.same(db.all('SELECT id FROM a ORDER BY id'), [{ id: 1 }, { id: 2 }]);
  db.close();
  open().close();
  t.equal(asked.length, 1, 'a file without a log is as durable as it will be');
});

t.test('a log that the disk does not keep is not read', async (t) => {
  const folder = tempFolder(t);
  const dying = Database.openWriter(join(folder, 'a.db'), [first]);
  for (const suffix of ['', '-wal']) copyFileSync(join(folder, `a.db${suffix}`), join(folder, `left.db${suffix}`));
  dying.close();
  t.throws(() => Database.openWriter(join(folder, 'left.db'), [first], (_, done) => done(new Error('EIO'))), {
    name: 'DatabaseUnusable',
    message: /EIO/,
  });
});

t.test(
  'a process that is killed within a migration: the next start finds the old version and makes the new one',
  async (t) => {
    const statements = second.sql
      .split(';')
      .map((text) => text.trim())
      .filter((text) => text !== '');
    for (let count = 0; count <= statements.length; count += 1) {
      const folder = tempFolder(t);
      const dying = Database.openWriter(join(folder, 'a.db'), [first]);
      dying.begin();
      for (const sql of statements.slice(0, count)) dying.run(sql);
      if (count === statements.length) dying.run('PRAGMA user_version = 2');
      // The disk's state at the moment of its death.
      for (const suffix of ['', '-wal']) copyFileSync(join(folder, `a.db${suffix}`), join(folder, `left.db${suffix}`));
      dying.rollback();
      dying.close();
      const db = Database.openWriter(join(folder, 'left.db'), [first, second]);
      t.equal(versionOf(db), 2);
      t.same(tablesOf(db), ['a', 'b']);
      t.same(db.all('SELECT id FROM b'), [{ id: 1 }], `after ${count} statements`);
      db.close();
    }
  },
);

t.test('each migration is separate: the ones before a failing one stay', async (t) => {
  const path = join(tempFolder(t), 'a.db');
  t.throws(
    () =>
      Database.openWriter(path, [
        first,
        second,
        { version: 3, name: 'bad', sql: 'CREATE TABLE c (id INTEGER); SELECT * FROM missing' },
      ]),
    /a\.db cannot be used: no such table/,
  );
  const db = Database.openWriter(path, [first, second]);
  t.equal(versionOf(db), 2);
  t.same(tablesOf(db), ['a', 'b']);
  db.close();
});

t.test('a file of a newer version is refused and left alone', async (t) => {
  const path = join(tempFolder(t), 'a.db');
  Database.openWriter(path, [first, second]).close();
  const before = readFileSync(path);
  t.throws(() => Database.openWriter(path, [first]), {
    name: 'DatabaseUnusable',
    message: /schema is version 2, this program knows up to 1/,
  });
  t.same(readFileSync(path), before);
});

t.test("the service's own migrations are numbered from 1 without a gap, and make sound files", async (t) => {
  for (const migrations of [workspaceMigrations, directoryMigrations]) {
    t.same(
      migrations.map(({ version }) => version),
      migrations.map((_, index) => index + 1),
    );
    const db = Database.openWriter(join(tempFolder(t), 'a.db'), migrations);
    t.same(db.all('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    t.same(db.all('PRAGMA foreign_key_check'), []);
    db.close();
  }
});

t.test('a file that is not a database is refused and left alone', async (t) => {
  const path = join(tempFolder(t), 'a.db');
  writeFileSync(path, Buffer.alloc(10_000, 'no database'));
  t.throws(() => Database.openWriter(path, [first]), DatabaseUnusable);
  t.throws(() => Database.openReader(path).get('SELECT 1 FROM sqlite_schema'));
  t.equal(readFileSync(path, 'utf8').slice(0, 11), 'no database');
});

t.test(
  'a file that may not be written to is refused, not opened to fail at its first sync',
  { skip: process.platform === 'win32' },
  async (t) => {
    const folder = tempFolder(t);
    const path = join(folder, 'x.db');
    Database.openWriter(path, [first]).close();
    // Root may write everything, so the test runs as another user.
    chmodSync(folder, 0o777);
    chmodSync(path, 0o444);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      t.throws(() => Database.openWriter(path, [first]), {
        name: 'DatabaseUnusable',
        message: /readonly|permission denied/,
      });
      const reader = Database.openReader(path);
      t.ok(reader.all('SELECT 1'));
      reader.close();
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    chmodSync(path, 0o600);
    Database.openWriter(path, [first]).close();
  },
);

t.test('a reader sees committed rows, as of when it began to read, and cannot write', async (t) => {
  const path = join(tempFolder(t), 'a.db');
  const writer = Database.openWriter(path, [first]);
  const reader = Database.openReader(path);
  const count = (): unknown => reader.get<{ count: number }>('SELECT count(*) AS count FROM a')?.count;
  writer.begin();
  writer.run('INSERT INTO a VALUES (2)');
  t.equal(count(), 1, 'not one in progress');
  writer.commit();
  t.equal(count(), 2);
  writer.begin();
  writer.run('DELETE FROM a');
  writer.rollback();
  t.equal(count(), 2, 'not a rolled-back one');
  t.throws(() => reader.run('INSERT INTO a VALUES (3)'), /readonly/);
  t.throws(() => Database.openReader(join(tempFolder(t), 'none.db')), DatabaseUnusable);
  reader.close();
  writer.close();
});

t.test('a savepoint undoes later changes and no earlier ones', async (t) => {
  const db = Database.openWriter(join(tempFolder(t), 'a.db'), [first]);
  db.begin();
  db.run('INSERT INTO a VALUES (2)');
  db.savepoint();
  db.run('INSERT INTO a VALUES (3)');
  db.rollbackToSavepoint();
  db.savepoint();
  db.run('INSERT INTO a VALUES (4)');
  db.release();
  db.commit();
  t.same(db.all('SELECT id FROM a ORDER BY id'), [{ id: 1 }, { id: 2 }, { id: 4 }]);
  t.notOk(db.inTransaction);
  db.rollback();
  db.close();
});

t.test('reads in a snapshot see the file as of the reported moment', async (t) => {
  const path = join(tempFolder(t), 'a.db');
  const writer = Database.openWriter(path, [first]);
  const reader = Database.openReader(path);
  let committingMs = 0;
  const { result, seenMs } = reader.readTogether(() => {
    committingMs = monotonicMs();
    writer.run('INSERT INTO a VALUES (2)');
    return reader.all('SELECT id FROM a');
  });
  t.same(result, [{ id: 1 }], 'nothing that was written since, though nothing had been read before');
  t.ok(seenMs < committingMs);
  t.same(reader.readTogether(() => reader.all('SELECT id FROM a')).result, [{ id: 1 }, { id: 2 }]);
  t.throws(
    () =>
      reader.readTogether(() => {
        throw new Error('no');
      }),
    { message: 'no' },
  );
  t.notOk(reader.inTransaction);
  reader.close();
  writer.close();
});

t.test("the log's length, and a copy back from another connection", async (t) => {
  const path = join(tempFolder(t), 'a.db');
  const db = Database.openWriter(path, [first]);
  const before = db.logLength();
  t.ok(before.logFrames > 0);
  for (let id = 2; id < 100; id += 1) db.run('INSERT INTO a VALUES (?)', [id]);
  t.ok(db.logLength().logFrames > before.logFrames);
  t.equal(db.logLength().copiedFrames, 0, 'asking copies nothing');
  const other = Database.openCheckpointer(path);
  const { logFrames, copiedFrames } = other.checkpoint();
  other.close();
  t.equal(logFrames, copiedFrames);
  t.same(db.logLength(), { logFrames, copiedFrames });
  db.run('INSERT INTO a VALUES (1000)');
  t.ok(db.logLength().logFrames < logFrames, 'it started over');
  db.close();
  t.notOk(existsSync(`${path}-wal`));
});

t.test('a log is removed once it is in the file, unless the file is open elsewhere', async (t) => {
  const path = join(tempFolder(t), 'a.db');
  const db = Database.openWriter(path, [first]);
  db.run('INSERT INTO a VALUES (2)');
  t.notOk(Database.removeLog(path));
  const { logFrames, copiedFrames } = db.logLength();
  t.ok(logFrames > 0);
  t.equal(copiedFrames, 0, 'nothing was copied');
  db.park();
  t.ok(existsSync(`${path}-wal`));
  t.ok(Database.removeLog(path));
  t.same(readdirSync(dirname(path)), ['a.db']);
  t.same(db.all('SELECT * FROM a WHERE id = 2'), [{ id: 2 }]);
  db.close();
  t.throws(() => Database.removeLog(`${path}.none`));
});

t.test('a parked file keeps its log, even one that it did not write to', async (t) => {
  const path = join(tempFolder(t), 'a.db');
  Database.openWriter(path, [first]).close();
  const db = Database.openWriter(path, [first]);
  db.park();
  t.equal(statSync(`${path}-wal`).size, 0);
  t.same(db.all('SELECT count(*) AS count FROM a'), [{ count: 1 }]);
  db.run('INSERT INTO a VALUES (2)');
  db.park();
  t.ok(statSync(`${path}-wal`).size > 0);
  t.same(db.all('SELECT count(*) AS count FROM a'), [{ count: 2 }]);
  db.close();
  t.same(readdirSync(dirname(path)), ['a.db']);
});

t.test('a long log that is copied back already is not left to be read by the next opening', async (t) => {
  const path = join(tempFolder(t), 'a.db');
  const db = Database.openWriter(path, [first]);
  for (let at = 0; at < 100; at += 1) db.run('INSERT INTO a (id) SELECT max(id) + 1 FROM a');
  db.checkpoint();
  db.park();
  t.same(readdirSync(dirname(path)), ['a.db']);
  t.same(db.all('SELECT count(*) AS count FROM a'), [{ count: 101 }]);
  db.close();
});

t.test("a log's name is synced once, also after parking, and again for the next log", async (t) => {
  const path = join(tempFolder(t), 'a.db');
  let kinds: string[] = [];
  const db = Database.openWriter(path, [first], (_, done, kind) => {
    kinds.push(kind);
    done(null);
  });
  const synced = async (): Promise<string[]> => {
    kinds = [];
    db.run('INSERT INTO a (id) SELECT max(id) + 1 FROM a');
    t.equal(await new Promise((resolve) => db.sync(resolve)), null);
    return kinds;
  };
  t.same(await synced(), ['folder', 'log']);
  t.same(await synced(), ['log']);
  db.park();
  t.same(await synced(), ['log']);
  db.park();
  t.ok(Database.removeLog(path));
  t.same(await synced(), ['folder', 'log']);
  db.close();
});

t.test('a failed sync is reported; so is a missing log', async (t) => {
  const path = join(tempFolder(t), 'a.db');
  const failing = Database.openWriter(path, [first], (_, done) => done(new Error('EIO')));
  t.match(await new Promise((resolve) => failing.sync(resolve)), { message: 'EIO' });
  failing.close();
  const db = Database.openWriter(path, [first]);
  t.equal(await new Promise((resolve) => db.sync(resolve)), null);
  t.equal(await new Promise((resolve) => db.sync(resolve)), null);
  db.close();
});

t.test('failures of the disk are distinguished from those of a statement, and duplicates from both', async (t) => {
  const path = join(tempFolder(t), 'a.db');
  const db = Database.openWriter(path, [first]);
  const errorOf = (act: () => void): unknown => {
    try {
      act();
    } catch (error) {
      return error;
    }
    return undefined;
  };
  db.get('PRAGMA max_page_count = 1');
  const full = errorOf(() => db.run('CREATE TABLE wide AS SELECT zeroblob(100000) AS bytes'));
  t.ok(isStorageFailure(full));
  t.notOk(isDuplicate(full));
  const duplicate = errorOf(() => db.run('INSERT INTO a VALUES (1)'));
  t.ok(isDuplicate(duplicate));
  t.notOk(isStorageFailure(duplicate));
  const wrong = errorOf(() => db.run('SELECT nonsense'));
  t.notOk(isStorageFailure(wrong) || isDuplicate(wrong));
  t.notOk(isStorageFailure(new Error('SQLITE_FULL')));
  db.close();
});

t.test('a copy is whole, made while the writer is open, and never over a file', async (t) => {
  const folder = tempFolder(t);
  const db = Database.openWriter(join(folder, 'a.db'), [first]);
  db.copyTo(join(folder, 'copy.db'));
  db.run('INSERT INTO a VALUES (2)');
  const copy = Database.openReader(join(folder, 'copy.db'));
  t.same(copy.all('SELECT id FROM a'), [{ id: 1 }]);
  copy.close();
  t.throws(() => db.copyTo(join(folder, 'copy.db')), /already exists/);
  db.close();
});

t.test('a lock is held once, and let go', async (t) => {
  const path = join(tempFolder(t), 'lock');
  const lock = lockFile(path);
  t.ok(lock);
  t.equal(lockFile(path), undefined, 'taken');
  lock?.release();
  const again = lockFile(path);
  t.ok(again);
  again?.release();
  t.throws(() => lockFile(join(path, 'no', 'folder')));
});

t.test('makeFolder creates what is missing and accepts what exists', async (t) => {
  const folder = tempFolder(t);
  makeFolder(join(folder, 'a', 'b', 'c'));
  t.ok(statSync(join(folder, 'a', 'b', 'c')).isDirectory());
  makeFolder(join(folder, 'a', 'b', 'c'));
  mkdirSync(join(folder, 'd'));
  makeFolder(join(folder, 'd', 'e'));
  t.ok(statSync(join(folder, 'd', 'e')).isDirectory());
  writeFileSync(join(folder, 'file'), '');
  t.throws(() => makeFolder(join(folder, 'file')));
});
