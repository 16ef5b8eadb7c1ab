// The path to one file's disk, with syncs that the test completes by hand.

import { join } from 'node:path';
import t from 'tap';
import { CommitFailed, type Job, Lane, LaneFull, type Pass, Voided } from '../../engine/runtime/lane.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import { Database, monotonicMs } from '../../store/database.ts';
import { tempFolder } from '../support/folder.ts';
import { HeldDisk } from '../support/held-disk.ts';
import type { Teardown } from '../support/service.ts';
import { never, turns } from '../support/toy.ts';

/** A lane on a file with one table; events are recorded in order. */
function startLane(t: Teardown, options: { isHeld?: boolean; pass?: Pass } = {}) {
  const disk = new HeldDisk({ isHeld: options.isHeld ?? true });
  const path = join(tempFolder(t), 'lane.db');
  const db = Database.openWriter(
    path,
    [{ version: 1, name: 'lines', sql: 'CREATE TABLE line (text TEXT NOT NULL UNIQUE)' }],
    disk.sync,
  );
  const seen: string[] = [];
  const syncErrors: Error[] = [];
  const sizes: number[] = [];
  const lane = new Lane(
    db,
    {
      onDurable: () => void seen.push('durable'),
      onUndone: () => void seen.push('all undone'),
      onBroken: () => void seen.push('broken'),
      onSyncFailed: (error) => void syncErrors.push(error),
      onBatch: ({ jobs }) => void sizes.push(jobs),
    },
    // What is in a batch does not depend on the machine's speed.
    new Slices({ turnMs: Number.POSITIVE_INFINITY, batchMs: Number.POSITIVE_INFINITY }),
    options.pass,
  );
  t.teardown(() => db.close());

  const job = (text: string, fail?: unknown): Job => ({
    run() {
      db.run('INSERT INTO line (text) VALUES (?)', [text]);
      seen.push(`run ${text}`);
      if (fail !== undefined) throw fail;
    },
    undo: () => void seen.push(`undo ${text}`),
    settle: (error) =>
      void seen.push(
        error === undefined ? `kept ${text}` : `${error === fail ? 'refused' : (error as Error).name} ${text}`,
      ),
  });
  const submit = (text: string, fail?: unknown): void => lane.submit(job(text, fail));
  /** What another connection reads: committed rows only. */
  const committed = (): string[] => {
    const reader = Database.openReader(path);
    const rows = reader.all<{ text: string }>('SELECT text FROM line ORDER BY rowid');
    reader.close();
    return rows.map(({ text }) => text);
  };
  const taken = (): string[] => seen.splice(0);
  return { lane, db, disk, job, submit, taken, committed, syncErrors, sizes };
}

t.test(
  '[architecture 4] the commands of one turn are one transaction; no reply leaves before the disk has it',
  async (t) => {
    const { disk, submit, taken, committed, sizes } = startLane(t);
    for (const text of ['a', 'b', 'c']) submit(text);
    t.same(taken(), [], 'nothing runs within the turn');
    await disk.asked();
    t.same(taken(), ['run a', 'run b', 'run c']);
    t.same(committed(), ['a', 'b', 'c'], 'committed, so that readers of this process see it');
    await turns();
    t.same(taken(), [], 'not durable, so no one is notified');
    await disk.completeNext();
    t.same(taken(), ['kept a', 'kept b', 'kept c', 'durable'], 'in the order they came');
    t.same(sizes, [3]);
  },
);

t.test('[architecture 4] while a batch is being synced the next runs; later commands gather', async (t) => {
  const { lane, disk, submit, taken, committed, sizes } = startLane(t);
  submit('a');
  await disk.asked();
  submit('b');
  await disk.asked(2);
  submit('c');
  await turns();
  submit('d');
  await turns();
  t.same(committed(), ['a', 'b']);
  t.equal(lane.depth, 2);
  t.same(taken(), ['run a', 'run b']);
  await disk.completeNext();
  t.same(taken(), ['kept a', 'durable'], 'the first is reported, the second not yet');
  await disk.asked(2);
  t.same(taken(), ['run c', 'run d']);
  await disk.completeNext();
  t.same(taken(), ['kept b', 'durable']);
  await disk.completeNext();
  t.same(taken(), ['kept c', 'kept d', 'durable']);
  t.same(sizes, [1, 1, 2]);
});

t.test(
  '[architecture 4] outcomes leave in the order the commands ran, whatever the order the disk answers in',
  async (t) => {
    const { lane, disk, submit, taken } = startLane(t);
    const reads: string[] = [];
    submit('a');
    await disk.asked();
    lane.whenDurable(() => reads.push('after a'), never);
    submit('b');
    await disk.asked(2);
    lane.whenDurable(() => reads.push('after b'), never);
    taken();
    disk.completeNewest();
    await turns();
    t.same([taken(), reads], [[], []], 'the second reply releases nothing by itself');
    await disk.completeNext();
    t.same(taken(), ['kept a', 'durable', 'kept b', 'durable']);
    t.same(reads, ['after a', 'after b']);
  },
);

t.test(
  '[architecture 4] commands run in the order they came, but for what one client sends beyond its eighth',
  async (t) => {
    const { lane, disk, job, taken } = startLane(t);
    const submit = (text: string, from?: string): void => lane.submit({ ...job(text), from });
    for (let number = 1; number <= 11; number += 1) submit(`a${number}`, 'a');
    submit('timer');
    submit('b1', 'b');
    submit('b2', 'b');
    await disk.asked();
    const first = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8', 'timer', 'b1', 'b2', 'a9', 'a10', 'a11'];
    t.same(
      taken(),
      first.map((text) => `run ${text}`),
    );
  },
);

t.test('[architecture 4] what a command submits comes behind all that waits', async (t) => {
  const { lane, disk, job, taken } = startLane(t);
  const first = job('first');
  lane.submit({
    ...first,
    run() {
      first.run();
      lane.submit({ ...job('its own'), from: 'new' });
    },
  });
  lane.submit({ ...job('waits'), from: 'a' });
  lane.submit({ ...job('waits too'), from: 'a' });
  await disk.asked();
  t.same(taken(), ['run first', 'run waits', 'run waits too']);
  t.equal(lane.depth, 1);
  await disk.asked(2);
  t.same(taken(), ['run its own']);
});

t.test('[architecture 4] a failed batch is reported after the one before it, which it does not affect', async (t) => {
  const { lane, db, disk, submit, taken, committed } = startLane(t);
  const reads: string[] = [];
  submit('a');
  await disk.asked();
  lane.submit({
    run: () => {
      db.rollback();
      throw new Error('as SQLite does when the disk is full');
    },
    undo: () => {},
    settle: (error) => t.type(error, CommitFailed),
  });
  submit('b');
  await turns();
  t.same(taken(), ['run a', 'broken', 'all undone'], 'memory is dropped at once');
  lane.whenDurable(() => reads.push('what a left'), never);
  t.same(reads, [], 'which may be lost still');
  await disk.completeNext();
  t.same(taken(), ['kept a', 'durable', 'CommitFailed b']);
  t.same(reads, ['what a left']);
  t.same(committed(), ['a']);
  submit('c');
  await disk.completeNext();
  t.same(taken(), ['run c', 'kept c', 'durable'], 'and the lane continues');
});

t.test(
  '[architecture 3] only a job that is refused after writing is undone: the batch runs again, and the refusal is reported when that is durable',
  async (t) => {
    const { disk, submit, taken, committed } = startLane(t);
    const no = new Error('no');
    submit('a');
    submit('b', no);
    submit('c');
    submit('a');
    await disk.asked();
    t.same(
      taken(),
      ['run a', 'run b', 'all undone', 'run a', 'run b', 'undo b', 'run c', 'undo a'],
      'from the beginning, to its end, once',
    );
    t.same(committed(), ['a', 'c']);
    await disk.completeNext();
    t.same(
      taken(),
      ['kept a', 'refused b', 'kept c', 'SqliteError a', 'durable'],
      'a refusal waits for the disk too: it reports what it saw',
    );
  },
);

t.test(
  '[architecture 3] a job that is refused before it wrote leaves the others as they are: each runs once',
  async (t) => {
    const { lane, disk, submit, taken, committed } = startLane(t);
    const no = new Error('no');
    const told: unknown[] = [];
    submit('a');
    lane.submit({
      run: () => {
        throw no;
      },
      undo: () => told.push('undone'),
      settle: (error) => told.push(error),
    });
    submit('c');
    await disk.asked();
    t.same(taken(), ['run a', 'run c']);
    t.same(told, ['undone']);
    await disk.completeNext();
    t.same(taken(), ['kept a', 'kept c', 'durable']);
    t.same(told, ['undone', no]);
    t.same(committed(), ['a', 'c']);
  },
);

t.test('whatever a job throws counts, even nothing', async (t) => {
  const { lane, disk, taken, committed } = startLane(t, { isHeld: false });
  const errors: unknown[] = [];
  lane.submit({
    run: () => {
      throw undefined;
    },
    undo: () => {},
    settle: (error) => void errors.push(error),
  });
  await lane.drained();
  t.equal(errors.length, 1);
  t.type(errors[0], Error);
  t.same(taken(), ['durable']);
  t.same(committed(), []);
  t.equal(disk.waiting, 0);
});

t.test(
  'a batch that cannot be committed: nothing of it stays, every job gets CommitFailed, and the lane continues',
  async (t) => {
    const { lane, db, disk, submit, taken, committed } = startLane(t, { isHeld: false });
    submit('before');
    await lane.drained();
    taken();
    // A real full disk: SQLite finds no room for another page and rolls back the whole transaction.
    const pages = db.get<{ page_count: number }>('PRAGMA page_count')?.page_count ?? 0;
    db.get(`PRAGMA max_page_count = ${pages}`);
    submit('small');
    submit('large '.repeat(10_000));
    submit('other');
    await lane.drained();
    const seen = taken();
    t.ok(seen.includes('broken'));
    t.ok(seen.includes('CommitFailed small') && seen.includes('CommitFailed other'), 'also those that had run well');
    t.ok(seen.indexOf('broken') < seen.indexOf('CommitFailed small'), 'memory is dropped before anyone is notified');
    t.notOk(seen.includes('durable'));
    t.same(committed(), ['before']);
    db.get('PRAGMA max_page_count = 1000000');
    submit('after');
    await lane.drained();
    t.same(taken(), ['run after', 'kept after', 'durable']);
    t.same(committed(), ['before', 'after']);
    t.equal(disk.waiting, 0);
  },
);

t.test('a batch whose COMMIT is refused breaks as a whole', async (t) => {
  const { lane, db, taken, committed } = startLane(t, { isHeld: false });
  db.run('CREATE TABLE parent (id INTEGER PRIMARY KEY)');
  db.run('CREATE TABLE child (id INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)');
  const errors: unknown[] = [];
  const settle = (error: unknown): void => void errors.push(error);
  lane.submit({ run: () => void db.run('INSERT INTO line (text) VALUES (?)', ['x']), undo: () => {}, settle });
  lane.submit({ run: () => void db.run('INSERT INTO child (id) VALUES (1)'), undo: () => {}, settle });
  await lane.drained();
  t.equal(errors.length, 2);
  t.ok(errors.every((error) => error instanceof CommitFailed));
  t.same(taken(), ['broken', 'all undone']);
  t.same(committed(), []);
});

t.test('a job that leaves the transaction in disorder takes its batch with it', async (t) => {
  const { lane, db, submit, taken, committed } = startLane(t, { isHeld: false });
  // A job that writes and then refuses: from the second run on, each job has a savepoint.
  submit('refused', new Error('no'));
  submit('a');
  // Releases its own savepoint, if it has one, so that it can no longer be undone by itself.
  lane.submit({
    run: () => db.release(),
    undo: () => t.fail('nothing to undo separately'),
    settle: (error) => t.type(error, CommitFailed),
  });
  await lane.drained();
  t.same(taken().slice(-4), ['broken', 'all undone', 'CommitFailed refused', 'CommitFailed a']);
  t.same(committed(), []);
});

t.test('a disk that refuses to sync: reported once, and no job is ever settled', async (t) => {
  const { disk, submit, taken, syncErrors } = startLane(t);
  submit('a');
  await disk.asked();
  taken();
  await disk.completeNext(new Error('EIO'));
  submit('b');
  await turns();
  t.same(
    syncErrors.map(({ message }) => message),
    ['EIO'],
  );
  t.same(taken(), [], "the disk's content is unknown, so nothing more is promised or done");
  t.equal(disk.waiting, 0);
});

t.test('a disk that refuses to sync one of two batches: neither is ever reported', async (t) => {
  for (const refusedFirst of [true, false]) {
    const { disk, submit, taken, syncErrors } = startLane(t);
    submit('a');
    await disk.asked();
    submit('b');
    await disk.asked(2);
    taken();
    if (refusedFirst) {
      await disk.completeNext(new Error('EIO'));
      await disk.completeNext();
      t.same(taken(), []);
    } else {
      await disk.completeNext();
      await disk.completeNext(new Error('EIO'));
      t.same(taken(), ['kept a', 'durable'], 'the first was on the disk before it failed');
    }
    submit('c');
    await turns();
    t.equal(syncErrors.length, 1);
    t.same(taken(), [], 'and nothing runs any more');
  }
});

t.test('a folder that cannot be synced is a failed sync', async (t) => {
  const { disk, submit, taken, syncErrors } = startLane(t);
  submit('a');
  await disk.asked();
  disk.complete(new Error('folder'));
  await turns();
  t.same(
    syncErrors.map(({ message }) => message),
    ['folder'],
  );
  t.same(taken(), ['run a']);
});

t.test('a reader waits for what it may have seen, and no longer', async (t) => {
  const { lane, disk, submit } = startLane(t);
  const seen: string[] = [];
  lane.whenDurable(() => seen.push('at rest'), never);
  t.same(seen, ['at rest'], 'at once, when all is durable');
  submit('a');
  lane.whenDurable(() => seen.push('before it ran'), never);
  t.same(seen, ['at rest', 'before it ran'], 'what has not run was not seen');
  await disk.asked();
  lane.whenDurable(() => seen.push('after a'), never);
  submit('b');
  await disk.asked(2);
  lane.whenDurable(() => seen.push('after b'), never);
  t.same(seen.slice(2), []);
  await disk.completeNext();
  t.same(seen.slice(2), ['after a'], 'not for b, which it did not see');
  await disk.completeNext();
  t.same(seen.slice(2), ['after a', 'after b']);
});

t.test('a reader that gives its moment waits for earlier commits, whatever came since', async (t) => {
  const { lane, disk, submit } = startLane(t);
  const seen: string[] = [];
  const beforeAny = monotonicMs();
  submit('a');
  await disk.asked();
  const afterA = monotonicMs();
  submit('b');
  await disk.asked(2);
  lane.whenDurable(() => seen.push('before any'), never, beforeAny);
  t.same(seen, ['before any'], 'at once, with both under way');
  lane.whenDurable(() => seen.push('after a'), never, afterA);
  lane.whenDurable(() => seen.push('after b'), never, monotonicMs());
  t.same(seen, ['before any']);
  disk.completeNewest();
  await turns();
  t.same(seen, ['before any'], 'nothing leaves before earlier commands');
  await disk.completeNext();
  t.same(seen, ['before any', 'after a', 'after b']);
  lane.whenDurable(() => seen.push('at rest'), never, monotonicMs());
  t.same(seen.at(-1), 'at rest');
});

t.test('at most 10,000 jobs wait; one more is turned away and nothing else changes', async (t) => {
  const { lane, disk } = startLane(t, { isHeld: false });
  let settled = 0;
  const job: Job = { run: () => {}, undo: () => {}, settle: () => void (settled += 1) };
  for (let count = 0; count < 10_000; count += 1) lane.submit(job);
  t.equal(lane.depth, 10_000);
  t.throws(() => lane.submit(job), LaneFull);
  await lane.drained();
  t.equal(settled, 10_000, 'each that was taken is settled once');
  t.doesNotThrow(() => lane.submit(job), 'there is room again');
  await lane.drained();
  t.equal(disk.waiting, 0);
});

t.test('a batch has at most 512 jobs', async (t) => {
  const { lane, sizes } = startLane(t, { isHeld: false });
  for (let count = 0; count < 513; count += 1) lane.submit({ run: () => {}, undo: () => {}, settle: () => {} });
  await lane.drained();
  t.same(sizes, [512, 1]);
});

t.test('hold: begins when no batch is under way, and keeps the next from starting until it is released', async (t) => {
  const { lane, disk, submit, taken } = startLane(t);
  submit('a');
  await disk.asked();
  submit('b');
  await disk.asked(2);
  let holds = 0;
  void lane.hold().then(() => (holds += 1));
  void lane.hold().then(() => (holds += 1));
  await turns();
  t.equal(holds, 0, 'two batches are under way');
  await disk.completeNext();
  await turns();
  t.equal(holds, 0, 'one still is');
  await disk.completeNext();
  await turns();
  t.equal(holds, 2);
  t.notOk(lane.idle, 'held is not idle');
  taken();
  submit('c');
  lane.release();
  await turns();
  t.same(taken(), [], 'one still holds it');
  lane.release();
  await disk.completeNext();
  t.same(taken(), ['run c', 'kept c', 'durable']);
  await turns();
  t.ok(lane.idle);
});

t.test('a hold that comes between a job and its turn is respected', async (t) => {
  const { lane, submit, taken } = startLane(t, { isHeld: false });
  submit('a');
  await lane.hold();
  await turns();
  t.same(taken(), []);
  lane.release();
  await lane.drained();
  t.same(taken(), ['run a', 'kept a', 'durable']);
});

t.test('drained: waits for the queue, for what follows from it, and for a hold to end', async (t) => {
  const { lane, disk, submit } = startLane(t, { isHeld: false });
  const order: string[] = [];
  lane.submit({ run: () => {}, undo: () => {}, settle: () => submit('follows') });
  await lane.drained();
  t.notOk(lane.isBusy);
  await lane.hold();
  submit('late');
  const drained = lane.drained().then(() => order.push('drained'));
  await turns();
  order.push('released');
  lane.release();
  await drained;
  t.same(order, ['released', 'drained']);
  t.equal(disk.waiting, 0);
});

t.test('the first sync of a file makes its name durable before its content; later ones only the log', async (t) => {
  const { lane, disk, submit } = startLane(t, { isHeld: false });
  submit('a');
  await lane.drained();
  submit('b');
  await lane.drained();
  t.same(disk.kinds, ['folder', 'log', 'log']);
});

t.test('what was voided elsewhere is settled with an error, and nothing runs any more', async (t) => {
  const passing: ((error: Error | null) => void)[] = [];
  const { lane, submit, job, taken, syncErrors } = startLane(t, { pass: (done) => void passing.push(done) });
  const reads: string[] = [];
  submit('a');
  submit('b', new Error('refused'));
  await turns();
  submit('c');
  await turns();
  submit('d');
  await turns();
  taken();
  lane.whenDurable(
    () => reads.push('read'),
    () => reads.push('void'),
  );
  lane.whenDurable(
    () => reads.push('leaves'),
    () => reads.push('void as well'),
  );
  t.equal(passing.length, 1, 'what came meanwhile waits for the first');
  passing[0]?.(new Voided('another has it'));
  t.same(taken(), ['Voided a', 'Voided b', 'Voided c', 'Voided d'], 'in order, refusals and what still waited too');
  t.same(reads, ['void', 'void as well'], 'nothing that was read leaves');
  t.throws(() => lane.submit(job('e')), Voided);
  lane.whenDurable(
    () => reads.push('read'),
    () => reads.push('void too'),
  );
  t.same(reads, ['void', 'void as well', 'void too']);
  await lane.drained();
  await turns();
  t.same(taken(), []);
  t.same(syncErrors, []);
});
