import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Context } from '../../engine/runtime/context.ts';
import { outboxKind } from '../../engine/runtime/kinds.ts';
import { DeliveryError, type OutboxItem, type OutboxJob, type OutboxOutcome } from '../../engine/runtime/outbox.ts';
import { HeldDisk } from '../support/held-disk.ts';
import type { Teardown } from '../support/service.ts';
import { add, enqueue, startToy, type Toy, type ToyOptions, tallyKind, turns } from '../support/toy.ts';

interface Attempt {
  readonly item: OutboxItem;
  readonly atMs: number;
  answer(text?: string): void;
  fail(error?: Error): void;
}

/** An outside party with the test's answers. */
class OtherSide {
  readonly attempts: Attempt[] = [];
  readonly open = new Set<Attempt>();
  /** Answers immediately, unless the test does it by hand. */
  isPrompt = true;
  now: () => number = () => 0;

  deliver = (item: OutboxItem): Promise<string> =>
    new Promise((resolve, reject) => {
      const attempt: Attempt = {
        item,
        atMs: this.now(),
        answer: (text = 'thanks') => this.#end(attempt, () => resolve(text)),
        fail: (error = new Error('busy')) => this.#end(attempt, () => reject(error)),
      };
      this.attempts.push(attempt);
      this.open.add(attempt);
      if (this.isPrompt) attempt.answer();
    });

  /** The delivered items, by the name in their payload, in order. */
  get names(): unknown[] {
    return this.attempts.map(({ item }) => (item.payload as { name?: unknown }).name);
  }

  #end(attempt: Attempt, end: () => void): void {
    this.open.delete(attempt);
    end();
  }
}

function start(
  t: Teardown,
  options: Omit<ToyOptions, 'outbox'> & { kind?: Partial<OutboxJob>; side?: OtherSide } = {},
) {
  const { kind, side = new OtherSide(), ...rest } = options;
  const toy = startToy(t, {
    random: () => 0,
    outbox: { post: { deliver: side.deliver, retryDelaysMs: [1000, 10_000], ...kind } },
    ...rest,
  });
  const startMs = toy.clock.now();
  side.now = () => toy.clock.now() - startMs;
  const post = (
    workspaceId: string,
    target: string,
    name: string,
    more: { kind?: string; delayMs?: number } = {},
  ): Promise<string> =>
    toy.engine.execute(enqueue, {
      workspaceId,
      caller: systemCaller,
      params: { kind: 'post', target, payload: { name }, ...more },
    });
  return { toy, side, post };
}

interface Row {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly nextAt: string;
  readonly lastAnswer: string | null;
  readonly settledAt: string | null;
  readonly payload: string;
}

const rowsOf = (toy: Toy, workspaceId: string): Row[] =>
  toy.read<Row>(workspaceId, 'SELECT * FROM outbox ORDER BY rowid');

/** With one workspace, to which `post` and `rows` belong; the test answers by hand. */
function startHeld(t: Teardown, options: Parameters<typeof start>[1] = {}) {
  const { toy, side, post } = start(t, options);
  side.isPrompt = false;
  const { workspaceId, db } = toy.workspace();
  return {
    toy,
    side,
    workspaceId,
    db,
    post: (target: string, name: string, more?: Parameters<typeof post>[3]) => post(workspaceId, target, name, more),
    rows: () => rowsOf(toy, workspaceId),
  };
}

t.test('work leaves after the commit that requested it is durable, never before', async (t) => {
  const disk = new HeldDisk();
  const { toy, side, post } = start(t, { syncToDisk: disk.sync });
  t.teardown(() => disk.letGo());
  const { workspaceId } = toy.workspace();
  const asked = post(workspaceId, 'a', 'first');
  await disk.asked();
  toy.clock.advance(1000);
  await turns();
  t.same(side.names, []);
  disk.letGo();
  const id = await asked;
  await toy.pass(0);
  t.same(side.names, ['first']);
  t.match(side.attempts[0]?.item, { id, target: 'a', attempts: 0 });
  t.match(rowsOf(toy, workspaceId), [{ id, state: 'sent', attempts: 1, lastAnswer: 'thanks', settledAt: /Z$/ }]);
});

t.test('work that is not durable waits, also when other work of its workspace is due', async (t) => {
  const disk = new HeldDisk({ isHeld: false });
  const side = new OtherSide();
  side.isPrompt = false;
  const { toy, post } = start(t, { syncToDisk: disk.sync, side });
  t.teardown(() => disk.letGo());
  const { workspaceId } = toy.workspace();
  await post(workspaceId, 'a', 'first');
  await toy.pass(0);
  side.attempts[0]?.fail();
  await toy.pass(0);
  disk.hold();
  const asked = post(workspaceId, 'b', 'second');
  await disk.asked();
  toy.clock.advance(1000);
  await turns();
  t.same(side.names, ['first'], 'the first is due again, and what was read with it is not durable');
  disk.letGo();
  await asked;
  await toy.pass(0);
  t.same(side.names, ['first', 'second', 'first'], 'the longest due first');
});

t.test('work requested by a refused command is not done', async (t) => {
  const { toy, side } = start(t);
  const { workspaceId } = toy.workspace();
  const refused = toy.engine.execute(
    {
      name: 'refused',
      handle: (ctx) => {
        ctx.enqueue(outboxKind<object>('post', { retryDelaysMs: [] }), { target: 'a', payload: {} });
        throw new Error('no');
      },
    },
    { workspaceId, caller: systemCaller, params: {} },
  );
  await t.rejects(refused, /no/);
  await toy.pass(60_000);
  t.same(side.attempts, []);
  t.same(rowsOf(toy, workspaceId), []);
});

t.test('in order per target, side by side between targets', async (t) => {
  const { toy, side, post } = startHeld(t);
  for (const name of ['a1', 'a2', 'a3']) await post('a', name);
  await post('b', 'b1');
  await toy.engine.drained();
  await turns();
  t.same(side.names, ['a1', 'b1'], 'the second of a target waits for the first');
  side.attempts[0]?.answer();
  await toy.settled();
  t.same(side.names, ['a1', 'b1', 'a2']);
  side.attempts[2]?.fail();
  await toy.settled();
  t.same(side.names, ['a1', 'b1', 'a2'], 'one that is to be tried again holds its target up');
  side.isPrompt = true;
  side.attempts[1]?.answer();
  await toy.pass(1000);
  t.same(side.names, ['a1', 'b1', 'a2', 'a2', 'a3']);
});

t.test('the order is that of asking, even when the clock was set back between two runs', async (t) => {
  const first = start(t);
  const { workspaceId } = first.toy.workspace();
  first.side.isPrompt = false;
  await first.post(workspaceId, 'a', 'older', { delayMs: 5000 });
  await first.toy.engine.stop();
  first.toy.clock.jump(-3600_000);
  const second = start(t, { dataDir: first.toy.dataDir, clock: first.toy.clock });
  await second.toy.engine.wakeAll();
  await second.post(workspaceId, 'a', 'newer');
  await second.toy.pass(0);
  t.same(second.side.names, []);
  await second.toy.pass(2 * 3600_000);
  t.same(second.side.names, ['older', 'newer']);
});

t.test('the pauses follow the schedule, with up to a fifth more at random; then it is kept as failed', async (t) => {
  for (const [random, pauses] of [
    [0, [1000, 10_000]],
    [0.5, [1100, 11_000]],
  ] as const) {
    const { toy, side, post, rows } = startHeld(t, { random: () => random });
    await post('a', 'poor');
    await toy.settled();
    let at = 0;
    for (const [index, pauseMs] of pauses.entries()) {
      [...side.open][0]?.fail(new Error(`no ${index + 1}`));
      await toy.settled();
      t.match(rows(), [{ state: 'queued', attempts: index + 1, lastAnswer: `no ${index + 1}`, settledAt: null }]);
      toy.clock.advance(pauseMs - 1);
      await toy.settled();
      t.equal(side.attempts.length, index + 1, `not before ${pauseMs} ms`);
      toy.clock.advance(1);
      await toy.settled();
      at += pauseMs;
      t.equal(side.attempts.at(-1)?.atMs, at);
    }
    [...side.open][0]?.fail(new Error('no for good'));
    await toy.settled();
    t.match(rows(), [{ state: 'failed', attempts: 3, lastAnswer: 'no for good', settledAt: /Z$/ }]);
    t.equal(new Set(side.attempts.map(({ item }) => item.id)).size, 1, 'the same id at every attempt');
    t.same(
      side.attempts.map(({ item }) => item.attempts),
      [0, 1, 2],
    );
    toy.clock.advance(24 * 3600_000);
    await toy.settled();
    t.equal(side.attempts.length, 3);
  }
});

t.test('a permanent refusal ends it at once, and the next of its target follows', async (t) => {
  const { toy, side, post, rows } = startHeld(t);
  await post('a', 'unwanted');
  await post('a', 'next');
  await toy.settled();
  side.attempts[0]?.fail(new DeliveryError('never', { permanent: true }));
  await toy.settled();
  t.same(side.names, ['unwanted', 'next']);
  t.match(rows(), [{ state: 'failed', attempts: 1, lastAnswer: 'never' }, { state: 'queued' }]);
  side.attempts[1]?.answer();
  await toy.pass(0);
});

t.test('work of an unknown kind is kept as failed', async (t) => {
  const { toy, post } = start(t);
  const { workspaceId } = toy.workspace();
  await post(workspaceId, 'a', 'strange', { kind: 'telex' });
  await toy.pass(0);
  t.match(rowsOf(toy, workspaceId), [{ state: 'failed', lastAnswer: /telex/ }]);
});

t.test('a target that is down costs nothing while it waits, however much waits behind it', async (t) => {
  const { toy, side, post, db } = startHeld(t);
  const all = Promise.all(Array.from({ length: 50 }, (_, index) => post('down', `d${index}`)));
  await all;
  await toy.settled();
  side.attempts[0]?.fail();
  await toy.settled();
  const timers: number[] = [];
  const { clock } = toy;
  const after = clock.after.bind(clock);
  clock.after = (delayMs, call) => (timers.push(delayMs), after(delayMs, call));
  for (let ms = 0; ms < 900; ms += 1) toy.clock.advance(1);
  await toy.settled();
  t.same(timers, [], 'no check before it is time');
  t.equal(side.attempts.length, 1);
  t.match(
    db.all('EXPLAIN QUERY PLAN SELECT id FROM outbox WHERE isFirst = 1 AND nextAt <= ? ORDER BY nextAt LIMIT ?', [
      'x',
      1,
    ]),
    [{ detail: /outboxDue/ }],
  );
  side.isPrompt = true;
  await toy.pass(100);
  t.equal(side.attempts.length, 51);
});

t.test('a due item is on time, although something slow is in progress', async (t) => {
  const { toy, side, post } = startHeld(t);
  await post('slow', 'slow');
  await post('fast', 'later', { delayMs: 500 });
  await toy.settled();
  t.same(side.names, ['slow']);
  toy.clock.advance(500);
  await toy.settled();
  t.same(side.names, ['slow', 'later']);
  for (const attempt of side.open) attempt.answer();
  await toy.pass(0);
});

t.test('at most 8 of a workspace and 64 in all are under way, and every workspace gets its turn', async (t) => {
  const { toy, side, post } = start(t);
  side.isPrompt = false;
  const ids = Array.from({ length: 10 }, () => toy.workspace().workspaceId);
  for (const [index, workspaceId] of ids.entries())
    await Promise.all(Array.from({ length: 12 }, (_, count) => post(workspaceId, `t${count}`, `${index}`)));
  await toy.settled();
  t.equal(side.open.size, 64);
  t.equal(toy.engine.figures.outboxUnderWay, 64);
  const perWorkspace = (): number[] =>
    ids.map(
      (_, index) =>
        [...side.open].filter(({ item }) => (item.payload as { name: string }).name === String(index)).length,
    );
  t.same(perWorkspace(), [8, 8, 8, 8, 8, 8, 8, 8, 0, 0]);
  for (const attempt of [...side.open].slice(0, 16)) attempt.answer();
  await toy.settled();
  t.equal(side.open.size, 64);
  t.ok(perWorkspace().every((count) => count <= 8));
  t.ok((perWorkspace()[8] ?? 0) > 0 && (perWorkspace()[9] ?? 0) > 0, 'those that waited are served');
  side.isPrompt = true;
  for (const attempt of [...side.open]) attempt.answer();
  await toy.pass(0);
  t.equal(side.attempts.length, 120, 'each once');
  t.equal(toy.engine.figures.outboxUnderWay, 0);
});

t.test('a crash between the deed and its record repeats the deed under the same id', async (t) => {
  const disk = new HeldDisk();
  disk.letGo();
  const side = new OtherSide();
  const first = start(t, { syncToDisk: disk.sync, side });
  const { workspaceId } = first.toy.workspace();
  side.isPrompt = false;
  const id = await first.post(workspaceId, 'a', 'once or twice');
  await first.toy.settled();
  t.same(side.names, ['once or twice']);
  // The process dies with the answer on its way: nothing of this engine is used again.
  const second = start(t, { dataDir: first.toy.dataDir, clock: first.toy.clock, side });
  await second.toy.engine.wakeAll();
  await second.toy.settled();
  t.same(
    side.attempts.map(({ item }) => item.id),
    [id, id],
  );
  t.same(
    side.attempts.map(({ item }) => item.attempts),
    [0, 0],
  );
  side.attempts[1]?.answer();
  await second.toy.pass(0);
  t.match(rowsOf(second.toy, workspaceId), [{ id, state: 'sent', attempts: 1 }]);
  side.attempts[0]?.answer();
});

t.test('an outcome that cannot be recorded is recorded later, without doing the deed again', async (t) => {
  const { toy, side, post, rows, db } = startHeld(t);
  await post('a', 'once');
  await post('a', 'after it');
  await toy.settled();
  db.run("CREATE TEMP TRIGGER full BEFORE UPDATE ON outbox BEGIN SELECT RAISE(ROLLBACK, 'full'); END");
  side.attempts[0]?.answer();
  await toy.settled();
  t.match(rows(), [{ state: 'queued', attempts: 0 }, { state: 'queued' }]);
  t.equal(toy.engine.figures.outboxUnderWay, 1, 'it counts as under way');
  toy.clock.advance(29_999);
  await toy.settled();
  t.same(side.names, ['once']);
  db.run('DROP TRIGGER full');
  toy.clock.advance(1);
  await toy.settled();
  t.match(rows(), [{ state: 'sent', attempts: 1 }, { state: 'queued' }]);
  t.same(side.names, ['once', 'after it']);
  side.attempts[1]?.answer();
  await toy.pass(0);
});

t.test(
  'settled: in one transaction with the record; one that cannot take the outcome does not repeat the deed',
  async (t) => {
    const outcomes = new Map<string, OutboxOutcome>();
    const settled = (ctx: Context, item: OutboxItem, outcome: OutboxOutcome): void => {
      outcomes.set(item.target, outcome);
      add.handle(ctx, { id: outcome.state, by: 1 });
      if ((item.payload as { name: string }).name === 'buggy') throw new Error('a bug of the rule');
    };
    const { toy, side, post } = start(t, { kind: { settled } });
    const workspace = toy.workspace();
    const { workspaceId } = workspace;
    await post(workspaceId, 'a', 'good');
    await toy.pass(0);
    await post(workspaceId, 'b', 'buggy');
    await toy.pass(60_000);
    t.same(
      [...outcomes],
      [
        ['a', { state: 'sent', answer: 'thanks' }],
        ['b', { state: 'sent', answer: 'thanks' }],
      ],
    );
    t.same(side.names, ['good', 'buggy']);
    t.match(rowsOf(toy, workspaceId), [{ state: 'sent' }, { state: 'sent' }]);
    t.equal(workspace.view(systemCaller).state(tallyKind, 'sent')?.value, 1, "the faulty one's writes are undone");
    t.ok(
      toy.log.some(
        ({ level, text }) => level === 'error' && text === 'the outcome of outside work could not be recorded',
      ),
    );
  },
);

t.test('kept: what stays of a payload after its completion', async (t) => {
  const kept = (payload: unknown, state: string): unknown => ({ name: (payload as { name: string }).name, state });
  const { toy, side, post, rows } = startHeld(t, { kind: { kept } });
  await post('a', 'sent');
  await post('b', 'retried');
  await post('c', 'failed');
  await toy.settled();
  side.attempts[0]?.answer();
  side.attempts[1]?.fail();
  side.attempts[2]?.fail(new DeliveryError('no', { permanent: true }));
  await toy.settled();
  t.same(
    rows().map(({ payload }) => JSON.parse(payload)),
    [{ name: 'sent', state: 'sent' }, { name: 'retried' }, { name: 'failed', state: 'failed' }],
  );
});

t.test('at a stop nothing more starts; what ends in time is recorded, the rest waits for the next run', async (t) => {
  const { toy, side, post, rows } = startHeld(t);
  await post('a', 'in time');
  await post('b', 'too late');
  await post('a', 'not begun');
  await toy.settled();
  let isAtRest = false;
  const rest = toy.engine.rest().then(() => (isAtRest = true));
  side.attempts[0]?.answer();
  await toy.settled();
  t.notOk(isAtRest, 'one is under way still');
  t.same(side.names, ['in time', 'too late']);
  await toy.engine.stop();
  side.attempts[1]?.answer();
  await rest;
  t.match(rows(), [{ state: 'sent' }, { state: 'queued', attempts: 0 }, { state: 'queued' }]);
  const again = start(t, { dataDir: toy.dataDir, clock: toy.clock });
  await again.toy.engine.wakeAll();
  await again.toy.pass(0);
  t.same(again.side.names.sort(), ['not begun', 'too late']);
});

t.test(
  'work that takes minutes ends when its workspace goes to another node, and is performed again there',
  async (t) => {
    const { toy, side, post, rows, workspaceId } = startHeld(t, { kind: { maxUnderWay: 2 } });
    await post('a', 'long');
    await toy.settled();
    const [attempt] = side.attempts;
    t.equal(attempt?.item.signal.aborted, false);
    let hasLeft = false;
    const left = toy.engine.settle(workspaceId).then(() => (hasLeft = true));
    await turns();
    t.equal(attempt?.item.signal.aborted, true, 'it is told to end');
    t.notOk(hasLeft, 'and waited for');
    await post('b', 'new');
    await toy.settled();
    attempt?.fail();
    await left;
    t.match(rows(), [
      { state: 'queued', attempts: 0, lastAnswer: null },
      { state: 'queued', attempts: 0 },
    ]);
    t.same(side.names, ['long'], 'nothing begins meanwhile');
  },
);

t.test(
  'work that ended well is recorded before its workspace goes; one that does not end is not waited for',
  async (t) => {
    const { toy, side, post, rows, workspaceId } = startHeld(t, { kind: { maxUnderWay: 2 } });
    await post('a', 'done');
    await post('b', 'endless');
    await toy.settled();
    let hasLeft = false;
    const left = toy.engine.settle(workspaceId).then(() => (hasLeft = true));
    side.attempts[0]?.answer();
    await toy.settled();
    t.match(rows(), [{ state: 'sent' }, { state: 'queued' }]);
    t.notOk(hasLeft);
    toy.clock.advance(10_000);
    await left;
  },
);
