// What the page log refuses: pieces lost, swapped, repeated or damaged on the way, a copy that is not the file's, and a
// log that does not go on from where it was read last.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Database, type Migration } from '../../store/database.ts';
import { AddedFrames, type Change, LogUnreadable, PositionLost } from '../../store/page-log/added-frames.ts';
import { applyPieces } from '../../store/page-log/apply.ts';
import { changedRanges } from '../../store/page-log/byte-ranges.ts';
import { ChangeTooLarge, encodeChange } from '../../store/page-log/encode.ts';
import { writeRecord } from '../../store/page-log/page-records.ts';
import {
  endsChange,
  firstLink,
  maxPieces,
  openPiece,
  type PieceHead,
  PiecesRefused,
  sealPiece,
} from '../../store/page-log/pieces.ts';
import { tempFolder } from '../support/folder.ts';
import { Copy, Shipper, WatchedFile } from '../support/page-copy.ts';
import { randomFrom } from '../support/seeded.ts';

const schema: Migration = {
  version: 7,
  name: 'schema',
  sql: 'CREATE TABLE line (id INTEGER PRIMARY KEY, text TEXT);',
};

/** A file, its copy, and the changes of a few commits that the copy does not have: each changes the same page. */
function threeChanges(t: Parameters<typeof tempFolder>[0]) {
  const folder = tempFolder(t);
  const db = Database.openWriter(join(folder, 'a.db'), [schema]);
  t.teardown(() => db.close());
  const file = new WatchedFile(t, db.path);
  const copy = new Copy(join(folder, 'copy.db'), { bytes: file.bytes() });
  const shipper = new Shipper(db);
  const write = (text: string): Buffer[] => {
    db.run('INSERT INTO line (text) VALUES (?)', [text]);
    return shipper.ship();
  };
  const start = shipper.ship();
  return { folder, db, file, copy, shipper, write, start, changes: [write('one'), write('two'), write('three')] };
}

/** What it was refused for, or undefined. Nothing may have been written. */
async function refusalOf(copy: Copy, pieces: readonly Buffer[]): Promise<string | undefined> {
  const before = copy.bytes();
  try {
    await copy.apply(pieces);
    return undefined;
  } catch (error) {
    if (!(error instanceof PiecesRefused)) throw error;
    if (!copy.bytes().equals(before)) throw new Error('it was written to', { cause: error });
    return error.reason;
  }
}

t.test('two changes swapped, one applied twice and one missing are noticed by the link', async (t) => {
  const { copy, file, start, changes } = threeChanges(t);
  const [one = [], two = [], three = []] = changes;
  t.equal(await refusalOf(copy, one), 'order', 'the first is missing');
  t.equal(await refusalOf(copy, start), undefined);
  t.equal(await refusalOf(copy, start), 'order', 'twice');
  t.equal(await refusalOf(copy, [...two, ...one]), 'order', 'swapped');
  t.equal(await refusalOf(copy, [...one, ...three]), 'order', 'one missing in the middle');
  t.equal(await refusalOf(copy, [...one, ...one, ...two]), 'order', 'twice at once');
  t.equal(await refusalOf(copy, []), 'incomplete', 'nothing');
  t.equal(await refusalOf(copy, [...one, ...two]), undefined);
  t.equal(await refusalOf(copy, three), undefined);
  t.ok(copy.bytes().equals(file.bytesWithLog()), 'refusals did no harm');
});

t.test('a change applied again from the link before it, as after a crash, is harmless', async (t) => {
  const { copy, file, start, changes } = threeChanges(t);
  const [one = [], two = [], three = []] = changes;
  await copy.apply([...start, ...one]);
  const { link } = copy;
  await copy.apply([...two, ...three]);
  copy.link = link;
  t.equal(await refusalOf(copy, two), 'page', 'not so far as it had come');
  t.equal(await refusalOf(copy, [...two, ...three]), undefined);
  t.ok(copy.bytes().equals(file.bytesWithLog()));
});

t.test('a lost range is noticed by the checksum of its page', async (t) => {
  const { copy, start, changes } = threeChanges(t);
  await copy.apply(start);
  const [piece] = changes[0] ?? [];
  if (piece === undefined) throw new Error('no piece');
  const { head, body } = openPiece(piece, copy.link);
  // The last range of the last page: its bytes become those that were there, which are zeros in a new row's place.
  const lost = Buffer.from(body);
  const at = lost.lastIndexOf('one');
  t.ok(at > 0, 'the row is in a range');
  lost.fill(0, at, at + 3);
  t.equal(await refusalOf(copy, [sealPiece(head, lost, copy.link).piece]), 'page');
  t.equal(await refusalOf(copy, [sealPiece(head, body.subarray(0, -1), copy.link).piece]), 'damaged', 'cut off');
  t.equal(await refusalOf(copy, [piece]), undefined, 'the piece itself fits');
});

t.test('a copy with other bytes on a page is noticed, and one with a log is left alone', async (t) => {
  const { copy, start, changes } = threeChanges(t);
  await copy.apply(start);
  const right = copy.bytes();
  const wrong = Buffer.from(right);
  // In the middle of page 2, which is empty there.
  wrong[6000] = 1;
  writeFileSync(copy.path, wrong);
  t.equal(await refusalOf(copy, changes[0] ?? []), 'page');
  writeFileSync(copy.path, right);
  appendFileSync(`${copy.path}-wal`, 'frames');
  t.equal(await refusalOf(copy, changes[0] ?? []), 'log');
});

t.test('every damaged byte of a piece, and every cut, is noticed', async (t) => {
  const { copy, start } = threeChanges(t);
  const [piece = Buffer.alloc(0)] = start;
  const opened = (bytes: Buffer): unknown => openPiece(bytes, copy.link);
  for (let at = 0; at < piece.length; at += 1) {
    const damaged = Buffer.from(piece);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    if (!isRefused(() => opened(damaged), at === 0 ? 'format' : 'damaged')) t.fail(`byte ${at}`);
    if (at > 0 && !isRefused(() => opened(piece.subarray(0, at)), 'damaged')) t.fail(`cut at ${at}`);
  }
  t.ok(piece.length > 100);
  const head: PieceHead = { pageBytes: 4096, sizePages: 1, commits: 1, schemaVersion: 1, isLast: true };
  const bomb = sealPiece(head, Buffer.alloc(2_000_000), firstLink).piece;
  t.ok(
    isRefused(() => opened(bomb), 'damaged'),
    'larger than a piece may be once unpacked',
  );
});

function isRefused(run: () => unknown, reason: string): boolean {
  try {
    run();
    return false;
  } catch (error) {
    return error instanceof PiecesRefused && error.reason === reason;
  }
}

t.test('pages of another size are refused', async (t) => {
  const { copy } = threeChanges(t);
  const seal = (pageBytes: number, body = Buffer.alloc(0)): Buffer =>
    sealPiece({ pageBytes, sizePages: 1, commits: 1, schemaVersion: 1, isLast: true }, body, copy.link).piece;
  t.equal(await refusalOf(copy, [seal(8192)]), 'page size');
  const past = Buffer.alloc(14);
  writeRecord(past, 0, { page: 1, before: Buffer.alloc(4), after: Buffer.alloc(4) });
  past.writeUInt16LE(4096, 10);
  past.writeUInt16LE(1, 12);
  t.equal(await refusalOf(copy, [seal(4096, past)]), 'damaged', 'a range behind the end of its page');
  past.writeUInt32LE(0, 0);
  t.equal(await refusalOf(copy, [seal(4096, past)]), 'damaged', 'a record of no page');
  t.equal(await refusalOf(copy, new Array<Buffer>(maxPieces + 1).fill(Buffer.alloc(0))), 'too large');
});

t.test('a large change comes in pieces of at most 1 MiB, which apply together only', async (t) => {
  const { db, file, copy, shipper, start, changes } = threeChanges(t);
  await copy.apply([start, ...changes].flat());
  const random = randomFrom(1);
  const noise = Buffer.alloc(600_000);
  random.fill(noise);
  db.begin();
  for (let at = 0; at < 5; at += 1) db.run('INSERT INTO line (text) VALUES (?)', [noise]);
  db.commit();
  const pieces = shipper.ship();
  t.ok(pieces.length > 2 && pieces.every(({ length }) => length <= 1024 * 1024), `${pieces.length} pieces`);
  t.same(
    pieces.map((piece) => endsChange(piece)),
    pieces.map((_, at) => at === pieces.length - 1),
  );
  t.equal(await refusalOf(copy, pieces.slice(0, -1)), 'incomplete');
  t.equal(await refusalOf(copy, pieces.slice(1)), 'order');
  t.equal(await refusalOf(copy, pieces.toSpliced(1, 1)), 'order');
  t.equal(await refusalOf(copy, pieces), undefined);
  t.ok(copy.bytes().equals(file.bytesWithLog()));
  db.run('DELETE FROM line');
  db.run('VACUUM');
  t.equal(await refusalOf(copy, shipper.ship()), undefined);
  t.ok(copy.bytes().equals(file.bytesWithLog()), 'a file that became shorter');
  t.ok(copy.bytes().length < 100_000);
});

t.test('a change says how large the file is after it, its commits and the version of its schema', async (t) => {
  const { copy, db, file, shipper, start, write } = threeChanges(t);
  write('four');
  const applied = await applyPieces(copy, start);
  t.equal(applied.schemaVersion, 7);
  t.equal(applied.link, openPiece(start[0] ?? Buffer.alloc(0), firstLink).link);
  db.run('INSERT INTO line (text) VALUES (?)', ['x']);
  db.run('INSERT INTO line (text) VALUES (?)', ['y']);
  const change = shipper.added.next();
  t.match(change, { commits: 2, sizePages: file.bytesWithLog().length / 4096, pageBytes: 4096, schemaVersion: 7 });
  t.equal(shipper.added.next(), undefined, 'nothing twice');
  db.begin();
  db.run('INSERT INTO line (text) VALUES (?)', ['z']);
  db.rollback();
  t.equal(shipper.added.next(), undefined, 'nothing of what rolled back');
  db.run('PRAGMA user_version = 8');
  t.equal(shipper.added.next()?.schemaVersion, 8);
  db.run('INSERT INTO line (text) VALUES (?)', ['long'.repeat(10_000)]);
  db.run('DELETE FROM line');
  db.run('VACUUM');
  const shrunk = shipper.added.next();
  t.match(shrunk, { commits: 3, sizePages: 2 });
  t.same(
    shrunk?.pages.map(({ page }) => page),
    [1, 2],
    'no page behind its end',
  );
});

t.test('a change beyond what one log should hold is refused, before it is read', async (t) => {
  const page = { page: 1, at: 56, baseAt: undefined };
  const change: Change = {
    pageBytes: 4096,
    sizePages: 100_000,
    commits: 1,
    schemaVersion: 1,
    pages: new Array(maxPieces * 250).fill(page),
    kept: [],
  };
  const read = (): number => {
    throw new Error('it was read');
  };
  t.throws(() => encodeChange(change, { read, link: firstLink }), ChangeTooLarge);
  const short = { ...change, pages: [page] };
  t.throws(() => encodeChange(short, { read: () => 10, link: firstLink }), LogUnreadable);
});

t.test('a file that was migrated delivers everything since a position, if its log still has it', async (t) => {
  const { db, file, copy, shipper, start, changes, write } = threeChanges(t);
  await copy.apply([start, ...changes].flat());
  const { position } = shipper.added;
  write('not delivered');
  shipper.link = copy.link;
  shipper.added = new AddedFrames(db, position);
  await copy.apply(shipper.ship());
  t.ok(copy.bytes().equals(file.bytesWithLog()));
  t.throws(() => new AddedFrames(db, { ...position, frames: 1000 }), PositionLost, 'the log ends before it');
  db.checkpoint();
  write('into the beginning of the log');
  t.throws(() => new AddedFrames(db, { ...position, frames: 1 }), PositionLost, 'the log restarted');
  db.get('PRAGMA wal_checkpoint(TRUNCATE)');
  t.throws(() => new AddedFrames(db, { ...position, frames: 0 }), PositionLost, 'the log is empty');
});

t.test('frames whose memory other files have taken meanwhile are read from the log again', async (t) => {
  const { db, file, copy, shipper, start, changes } = threeChanges(t);
  await copy.apply([start, ...changes].flat());
  db.run('INSERT INTO line (text) VALUES (?)', ['four']);
  const change = shipper.added.next();
  if (change === undefined) throw new Error('nothing changed');
  const other = threeChanges(t);
  // More than the memory that all files share.
  for (let at = 0; at < 12; at += 1) other.write('x'.repeat(900_000));
  t.same(change.kept.map(({ isIntact }) => isIntact()).includes(true), false);
  const { pieces } = encodeChange(change, { read: (into, at) => db.readLog(into, at), link: shipper.link });
  await copy.apply(pieces);
  t.ok(copy.bytes().equals(file.bytesWithLog()));
});

t.test('a log that is not as SQLite says is refused, and nothing is delivered twice after it', async (t) => {
  const { db, shipper } = threeChanges(t);
  db.run('INSERT INTO line (text) VALUES (?)', ['x']);
  const path = `${db.path}-wal`;
  const log = readFileSync(path);
  const damage = (at: number, bytes: Buffer): void => {
    const wrong = Buffer.from(log);
    bytes.copy(wrong, at);
    writeFileSync(path, wrong);
    t.throws(() => shipper.added.next(), LogUnreadable);
    writeFileSync(path, log);
  };
  const lastFrame = log.length - 4096 - 24;
  damage(0, Buffer.from('xxxx'));
  damage(lastFrame + 8, Buffer.from('salt'));
  damage(lastFrame + 4, Buffer.alloc(4));
  t.equal(shipper.added.next()?.commits, 1);
});

t.test('the ranges of two pages are what differs, and near ones are one', async (t) => {
  const before = Buffer.alloc(64);
  const ranges = (...at: number[]) => {
    const after = Buffer.from(before);
    for (const byte of at) after[byte] = 1;
    return changedRanges(before, after);
  };
  t.same(ranges(), []);
  t.same(ranges(5), [5, 6]);
  t.same(ranges(0, 63), [0, 1, 63, 64]);
  t.same(ranges(3, 8), [3, 9], 'one equal word between them');
  t.same(ranges(3, 12), [3, 4, 12, 13]);
  for (let byte = 0; byte < 64; byte += 1) t.same(ranges(byte), [byte, byte + 1]);
});
