// How workspaces share the event loop. Slices of length zero make each piece the only one of its turn.

import { join } from 'node:path';
import t from 'tap';
import { Lane } from '../../engine/runtime/lane.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import { Database } from '../../store/database.ts';
import { tempFolder } from '../support/folder.ts';
import { HeldDisk } from '../support/held-disk.ts';
import type { Teardown } from '../support/service.ts';
import { turns } from '../support/toy.ts';

const none = { turnMs: 0, batchMs: 0 };

/** A lane on its own file that records what it runs, and the sizes of its batches. */
function startLane(
  t: Teardown,
  options: { name: string; slices: Slices; ran: string[]; sizes?: number[] },
): (text: string, fail?: Error) => Promise<void> {
  const { name, slices, ran, sizes } = options;
  const db = Database.openWriter(
    join(tempFolder(t), 'lane.db'),
    [{ version: 1, name: 'lines', sql: 'CREATE TABLE line (text TEXT NOT NULL)' }],
    new HeldDisk({ isHeld: false }).sync,
  );
  t.teardown(() => db.close());
  const lane = new Lane(
    db,
    {
      onBroken: () => undefined,
      onSyncFailed: (error) => {
        throw error;
      },
      onBatch: ({ jobs }) => void sizes?.push(jobs),
    },
    slices,
  );
  return (text, fail) =>
    new Promise((resolve, reject) => {
      lane.submit({
        run() {
          db.run('INSERT INTO line (text) VALUES (?)', [text]);
          ran.push(`${name} ${text}`);
          if (fail !== undefined) throw fail;
        },
        undo: () => {},
        settle: (error) => (error === undefined ? resolve() : reject(error as Error)),
      });
    });
}

t.test('a lane with a long queue does not hold up another: both have their turns', async (t) => {
  const slices = new Slices(none);
  const ran: string[] = [];
  const hostile = startLane(t, { name: 'long', slices, ran });
  const other = startLane(t, { name: 'short', slices, ran });
  const all = [...Array.from({ length: 50 }, (_, index) => hostile(`${index}`)), other('0'), other('1')];
  await Promise.all(all);
  t.equal(ran.length, 52);
  t.ok(ran.indexOf('short 0') <= 2, `it ran as the ${ran.indexOf('short 0') + 1}th`);
  t.ok(ran.indexOf('short 1') < 10, `it ran as the ${ran.indexOf('short 1') + 1}th`);
  t.same(
    ran.filter((one) => one.startsWith('long')),
    Array.from({ length: 50 }, (_, index) => `long ${index}`),
    'in order',
  );
});

t.test('a batch ends when its time is over; the rest is the next one, in order and once', async (t) => {
  const sizes: number[] = [];
  const ran: string[] = [];
  const submit = startLane(t, { name: 'a', slices: new Slices(none), ran, sizes });
  await Promise.all(Array.from({ length: 5 }, (_, index) => submit(`${index}`)));
  t.same(sizes, [1, 1, 1, 1, 1]);
  t.same(ran, ['a 0', 'a 1', 'a 2', 'a 3', 'a 4']);
});

t.test(
  'if there is time, everything queued is one batch, also behind a job that is refused after writing',
  async (t) => {
    const sizes: number[] = [];
    const ran: string[] = [];
    const submit = startLane(t, {
      name: 'a',
      slices: new Slices({ turnMs: Number.POSITIVE_INFINITY, batchMs: Number.POSITIVE_INFINITY }),
      ran,
      sizes,
    });
    const outcomes = await Promise.allSettled([submit('0'), submit('1', new Error('no')), submit('2')]);
    t.same(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    t.same(sizes, [3]);
    t.same(ran, ['a 0', 'a 1', 'a 0', 'a 1', 'a 2']);
  },
);

t.test('sockets are read and timers run between two pieces, however much waits', async () => {
  const slices = new Slices(none);
  const order: string[] = [];
  for (let piece = 0; piece < 3; piece += 1) slices.add(() => void order.push(`piece ${piece}`));
  setImmediate(() => order.push('something else'));
  await turns(4);
  t.same(order, ['piece 0', 'something else', 'piece 1', 'piece 2']);
});

t.test('a job that asks for more within its turn gets it in the next one', async () => {
  const slices = new Slices({ turnMs: Number.POSITIVE_INFINITY, batchMs: 0 });
  const order: string[] = [];
  const again = (left: number) => (): void => {
    order.push(`greedy ${left}`);
    if (left > 0) slices.add(again(left - 1));
  };
  slices.add(again(2));
  slices.add(() => void order.push('modest'));
  setImmediate(() => order.push('a socket'));
  await turns(5);
  t.same(order, ['greedy 2', 'modest', 'a socket', 'greedy 1', 'greedy 0']);
});
