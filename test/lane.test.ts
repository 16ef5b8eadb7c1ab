// The way to one file's disk, with a disk that the test completes by hand.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Lane } from '../engine/runtime/lane.ts';
import { Database, type SyncToDisk } from '../store/database.ts';

const table = { version: 1, name: 'numbers', sql: 'CREATE TABLE number (value INTEGER PRIMARY KEY) STRICT' };

/** A lane over a new file. `said` is what left it, in order; `disk` holds the syncs that wait for the test. */
function open(t: { teardown(call: () => void): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-lane-'));
  const disk: (() => void)[] = [];
  const syncToDisk: SyncToDisk = (_, done) => void disk.push(() => done(null));
  const db = Database.openWriter(join(folder, 'a.db'), [table], syncToDisk);
  const said: string[] = [];
  const batches: number[] = [];
  const lane = new Lane(db, { onDurable: () => said.push('durable'), onUndone: () => said.push('all undone'), onBroken: () => said.push('broken'), onSyncFailed: () => said.push('sync failed'), onBatch: ({ jobs }) => batches.push(jobs) });
  t.teardown(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });
  const write = (value: number): void => void db.run('INSERT INTO number (value) VALUES (?)', [value]);
  return {
    db,
    lane,
    disk,
    said,
    batches,
    values: () => db.all<{ value: number }>('SELECT value FROM number ORDER BY value').map(({ value }) => value),
    write,
    submit: (name: string, run: () => void) => lane.submit({ run, undo: () => said.push(`${name} undone`), settle: (error) => said.push(error === undefined ? name : `${name} failed`) }),
  };
}

/** Until everything that was queued before has been run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('[architecture 4] nothing leaves before the disk has it', async (t) => {
  const { submit, write, disk, said, lane } = open(t);
  submit('a', () => write(1));
  await turn();
  lane.whenDurable(() => said.push('read'));
  t.same(said, []);
  disk[0]?.();
  t.same(said, ['a', 'durable', 'read']);
  lane.whenDurable(() => said.push('read again'));
  t.equal(said.at(-1), 'read again', 'at once when nothing is under way');
});

t.test('[architecture 4] while the disk takes a batch the next runs, and a third waits', async (t) => {
  const { submit, write, disk, values, batches, lane } = open(t);
  submit('a', () => write(1));
  await turn();
  submit('b', () => write(2));
  await turn();
  submit('c', () => write(3));
  submit('d', () => write(4));
  await turn();
  t.same(values(), [1, 2]);
  t.equal(disk.length, 2);
  t.equal(lane.depth, 2);
  disk[0]?.();
  await turn();
  t.same(values(), [1, 2, 3, 4]);
  disk[1]?.();
  disk[2]?.();
  t.same(batches, [1, 1, 2]);
});

t.test('[architecture 4] outcomes leave in the order the commands ran, whatever the order the disk answers in', async (t) => {
  const { submit, write, disk, said, lane } = open(t);
  submit('a', () => write(1));
  await turn();
  lane.whenDurable(() => said.push('read after a'));
  submit('b', () => write(2));
  await turn();
  lane.whenDurable(() => said.push('read after b'));
  disk[1]?.();
  t.same(said, [], 'the second answer alone lets nothing out');
  disk[0]?.();
  t.same(said, ['a', 'durable', 'read after a', 'b', 'durable', 'read after b']);
});

t.test('[architecture 4] a batch that cannot be committed answers after the one before it, and leaves that alone', async (t) => {
  const { submit, write, disk, said, values, db } = open(t);
  submit('a', () => write(1));
  await turn();
  submit('b', () => {
    write(2);
    db.rollback();
    throw new Error('the disk is full');
  });
  submit('c', () => write(3));
  await turn();
  t.same(said, ['broken', 'all undone']);
  disk[0]?.();
  t.same(said, ['broken', 'all undone', 'a', 'durable', 'b failed', 'c failed']);
  t.same(values(), [1]);
  submit('d', () => write(4));
  await turn();
  disk[1]?.();
  t.same(values(), [1, 4], 'and the lane goes on');
});

t.test('[architecture 4] whoever holds the lane waits for all that is under way', async (t) => {
  const { submit, write, disk, said, lane, values } = open(t);
  submit('a', () => write(1));
  await turn();
  submit('b', () => write(2));
  await turn();
  const held = lane.hold().then(() => said.push('held'));
  submit('c', () => write(3));
  disk[0]?.();
  await turn();
  t.notOk(said.includes('held'));
  disk[1]?.();
  await held;
  t.equal(said.at(-1), 'held');
  await turn();
  t.same(values(), [1, 2], 'nothing starts meanwhile');
  lane.release();
  await turn();
  t.same(values(), [1, 2, 3]);
  disk[2]?.();
});

t.test('[architecture 3] a command that is refused before it wrote leaves the others as they are', async (t) => {
  const { submit, write, disk, said, values } = open(t);
  const ran: string[] = [];
  submit('a', () => { ran.push('a'); write(1); });
  submit('b', () => { ran.push('b'); throw new Error('no'); });
  submit('c', () => { ran.push('c'); write(3); });
  await turn();
  t.same(ran, ['a', 'b', 'c'], 'each runs once');
  disk[0]?.();
  t.same(said, ['b undone', 'a', 'b failed', 'c', 'durable']);
  t.same(values(), [1, 3]);
});

t.test('[architecture 3] what a command wrote before it was refused is undone, and only that', async (t) => {
  const { submit, write, disk, said, values } = open(t);
  const ran: string[] = [];
  submit('a', () => { ran.push('a'); write(1); });
  submit('b', () => { ran.push('b'); write(2); throw new Error('no'); });
  submit('c', () => { ran.push('c'); t.same(values(), [1]); write(3); });
  submit('d', () => { ran.push('d'); write(1); });
  await turn();
  t.same(ran, ['a', 'b', 'a', 'b', 'c', 'd'], 'all of it again, from the beginning');
  disk[0]?.();
  t.same(said, ['all undone', 'b undone', 'd undone', 'a', 'b failed', 'c', 'd failed', 'durable']);
  t.same(values(), [1, 3]);
});
