// The thread that writes entries of a log onto copies.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { joinPieces } from '../../store/page-log/entries.ts';
import { firstLink } from '../../store/page-log/pieces.ts';
import { encodeFile } from '../../store/page-log/whole-file.ts';
import type { Copy } from '../../workers/cluster/copy-note.ts';
import { createCopyWriter } from '../../workers/cluster/copy-writer.ts';
import { tempFolder } from '../support/folder.ts';
import { Shipper, WatchedFile } from '../support/page-copy.ts';

const start: Copy = { sequence: 0, link: firstLink };

/** A part of a larger buffer, as NATS hands it out. */
function partOf(bytes: Buffer): Uint8Array {
  const received = Buffer.concat([Buffer.alloc(1000, 1), bytes, Buffer.alloc(1000, 2)]);
  return received.subarray(1000, 1000 + bytes.length);
}

t.test('[copy writer] entries are written onto a copy, and what it equals is noted', async (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'own.db');
  await Database.makeFile(path, workspaceMigrations);
  const whole = encodeFile(readFileSync(path));
  const db = Database.openWriter(path, workspaceMigrations);
  t.teardown(() => db.close());
  const shipper = new Shipper(db, whole.link);
  const onto = { path: join(folder, 'copy.db'), notePath: join(folder, 'copy.note') };
  writeFileSync(onto.path, '');
  const writer = createCopyWriter();
  t.teardown(() => writer.stop());

  const entries = [{ sequence: 3, bytes: partOf(joinPieces(whole.pieces)) }];
  for (const sequence of [7, 8, 12]) {
    db.begin();
    db.run('CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT'.replace('more', `more${sequence}`));
    db.commit();
    entries.push({ sequence, bytes: partOf(joinPieces(shipper.ship())) });
  }
  const copy = await writer.apply({ ...onto, copy: start, entries: entries.slice(0, 3) });
  t.equal(copy.sequence, 8);
  t.same(JSON.parse(readFileSync(onto.notePath, 'utf8')), copy);
  const last = await writer.apply({ ...onto, copy, entries: entries.slice(3) });
  t.same(last, { sequence: 12, link: shipper.link });
  t.same(JSON.parse(readFileSync(onto.notePath, 'utf8')), last);
  t.ok(readFileSync(onto.path).equals(new WatchedFile(t, path).bytesWithLog()), 'byte for byte');

  await t.rejects(
    writer.apply({ ...onto, copy: { sequence: 8, link: copy.link }, entries: entries.slice(2, 3) }),
    { name: 'PiecesRefused' },
    'what the copy has already',
  );
  t.same(JSON.parse(readFileSync(onto.notePath, 'utf8')), last, 'and the note stays');
});

t.test('[copy writer] what was begun is written before the thread stops', async (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'own.db');
  await Database.makeFile(path, workspaceMigrations);
  const { pieces } = encodeFile(readFileSync(path));
  const writer = createCopyWriter();
  const notes = Array.from({ length: 20 }, (_, index) => {
    const onto = { path: join(folder, `${index}.db`), notePath: join(folder, `${index}.note`) };
    writeFileSync(onto.path, '');
    void writer.apply({ ...onto, copy: start, entries: [{ sequence: 1, bytes: joinPieces(pieces) }] });
    return onto.notePath;
  });
  const stopped = writer.stop();
  await t.rejects(writer.apply({ path, notePath: join(folder, 'next.note'), copy: start, entries: [] }), {
    name: 'CopyBusy',
  });
  await stopped;
  t.ok(notes.every((note) => existsSync(note)));
  await t.rejects(
    writer.apply({ path, notePath: join(folder, 'late.note'), copy: start, entries: [] }),
    { name: 'CopyBusy' },
    'nothing is begun later',
  );
});
