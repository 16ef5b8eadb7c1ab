// Pieces of a page log as entries of a log, and a whole file as one.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { applyPieces } from '../../store/page-log/apply.ts';
import { joinPieces, piecesOf, piecesTogether } from '../../store/page-log/entries.ts';
import { firstLink, PiecesRefused } from '../../store/page-log/pieces.ts';
import { encodeFile } from '../../store/page-log/whole-file.ts';
import { tempFolder } from '../support/folder.ts';

t.test('entries that are joined have the pieces of all', async (t) => {
  const pieces = ['one', '', 'the third of them'].map((text) => Buffer.from(text));
  const entry = Buffer.concat([joinPieces(pieces.slice(0, 1)), joinPieces([]), joinPieces(pieces.slice(1))]);
  t.same(piecesOf(entry), pieces);
  t.same(piecesOf(new Uint8Array()), []);
  for (const length of [2, 5, entry.length - 1])
    t.throws(() => piecesOf(entry.subarray(0, length)), PiecesRefused, `cut off after ${length} bytes`);
});

t.test('a whole file is made from nothing, byte for byte', async (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'new.db');
  await Database.makeFile(path, workspaceMigrations);
  const bytes = readFileSync(path);
  const { pieces, link } = encodeFile(bytes);
  const copy = join(folder, 'copy.db');
  writeFileSync(copy, '');
  const applied = await applyPieces({ path: copy, link: firstLink }, piecesOf(joinPieces(pieces)));
  t.equal(applied.link, link);
  t.equal(applied.schemaVersion, workspaceMigrations.at(-1)?.version);
  t.ok(readFileSync(copy).equals(bytes));
  t.ok(joinPieces(pieces).length < bytes.length / 8, `packed to ${joinPieces(pieces).length} of ${bytes.length} bytes`);
  t.throws(() => encodeFile(bytes.subarray(0, bytes.length - 1)), /cut off/);
});

t.test('as many pieces are applied together as can be', async (t) => {
  const entryOf = (sequence: number, count: number) => ({
    sequence,
    bytes: joinPieces(Array.from({ length: count }, () => Buffer.from(`${sequence}`))),
  });
  const entries = [entryOf(3, 100), entryOf(5, 0), entryOf(8, 156), entryOf(9, 1), entryOf(10, 256), entryOf(12, 0)];
  const found = [...piecesTogether(entries)].map(({ sequence, pieces }) => [sequence, pieces.length]);
  t.same(found, [
    [8, 256],
    [9, 1],
    [12, 256],
  ]);
  t.same([...piecesTogether([entryOf(4, 0)])], [{ sequence: 4, pieces: [] }], 'an entry without any is one, too');
  t.same([...piecesTogether([])], []);
});
