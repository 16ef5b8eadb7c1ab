import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { CommitFailed } from '../../engine/runtime/lane.ts';
import type { ActorKind } from '../../engine/runtime/registry.ts';
import { monotonicMs } from '../../store/database.ts';
import { HeldDisk } from '../support/held-disk.ts';
import { randomFrom } from '../support/seeded.ts';
import { add, never, startToy, type Toy, tallyKind, turns } from '../support/toy.ts';

/** Makes the next batch that grows the file fail like a full disk, until the returned call. */
function fillDisk(toy: Toy, workspaceId: string): () => void {
  const db = toy.engine.workspace(workspaceId)?.db;
  db?.get(`PRAGMA max_page_count = ${db.get<{ page_count: number }>('PRAGMA page_count')?.page_count ?? 0}`);
  return () => void db?.get('PRAGMA max_page_count = 1000000');
}

const large = 'x'.repeat(100_000);
const addLarge = command('toy.addLarge', (ctx, params: { id: string }): void => {
  add.handle(ctx, { id: params.id, by: 1 });
  ctx.emit({ type: 'large', audience: {}, data: { large } });
});

t.test("a later command of the same batch sees an earlier one's changes", async (t) => {
  const toy = startToy(t);
  const { workspaceId } = toy.workspace();
  // The first batch of a file prepares its statements, which may take as long as a batch may.
  await toy.add(workspaceId, 'before');
  t.same(
    await Promise.all([toy.add(workspaceId, 'a'), toy.add(workspaceId, 'a'), toy.add(workspaceId, 'a')]),
    [1, 2, 3],
  );
  t.same(toy.batches, [1, 3], 'they went together');
});

t.test(
  'a refused command leaves nothing: no row, no state, no event, and its sequence number goes to the next',
  async (t) => {
    const toy = startToy(t);
    const { workspaceId } = toy.workspace();
    const no = new Error('no');
    const outcomes = await Promise.allSettled([
      toy.add(workspaceId, 'a'),
      toy.add(workspaceId, 'a', { by: 10, fail: no }),
      toy.add(workspaceId, 'a'),
    ]);
    t.same(
      outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason)),
      [1, no, 2],
    );
    t.same(toy.read(workspaceId, 'SELECT id, value FROM toyTally'), [{ id: 'a', value: 2 }]);
    await toy.settled();
    t.same(toy.seqs(workspaceId), [1, 2]);
    t.same(toy.read(workspaceId, 'SELECT seq FROM event ORDER BY seq'), [{ seq: 1 }, { seq: 2 }]);
  },
);

t.test('a state that a refused command read from its own rows is not cached', async (t) => {
  const toy = startToy(t);
  const { workspaceId } = toy.workspace();
  const writeAndRead = command('toy.writeAndRead', (ctx, _: object): void => {
    ctx.db.run(`INSERT INTO toyTally (id, value) VALUES ('phantom', 7)`);
    t.same(ctx.state(tallyKind, 'phantom'), { value: 7 }, 'the command itself sees them');
    throw new Error('no');
  });
  await t.rejects(toy.engine.execute(writeAndRead, { workspaceId, caller: systemCaller, params: {} }), /no/);
  t.equal(toy.engine.workspace(workspaceId)?.view(systemCaller).state(tallyKind, 'phantom'), undefined);
  t.equal(await toy.add(workspaceId, 'phantom'), 1);
});

t.test('events are published once durable, in the order of an unbroken sequence, also over a restart', async (t) => {
  const disk = new HeldDisk();
  const toy = startToy(t, { syncToDisk: disk.sync });
  t.teardown(() => disk.letGo());
  const workspace = toy.workspace();
  const { workspaceId } = workspace;
  const first = toy.add(workspaceId, 'a');
  await disk.asked();
  t.equal(workspace.lastSeq, 1);
  t.equal(workspace.publishedSeq, 0);
  t.same(toy.seqs(workspaceId), []);
  await disk.completeNext();
  t.equal(await first, 1);
  t.same(toy.seqs(workspaceId), [], 'the caller has its reply before others are notified');
  await turns(1);
  t.same(toy.seqs(workspaceId), [1]);
  t.equal(workspace.publishedSeq, 1);
  disk.letGo();
  await Promise.all([toy.add(workspaceId, 'b'), toy.add(workspaceId, 'c')]);
  await toy.engine.stop();
  const again = startToy(t, { dataDir: toy.dataDir });
  t.equal(again.engine.workspace(workspaceId)?.publishedSeq, 3);
  await again.add(workspaceId, 'a');
  await again.settled();
  t.same(again.seqs(workspaceId), [4]);
});

t.test(
  'a batch that breaks: every caller gets CommitFailed, states are read again from the disk, nothing is published',
  async (t) => {
    const toy = startToy(t);
    const { workspaceId } = toy.workspace();
    t.equal(await toy.add(workspaceId, 'a', { by: 5 }), 5);
    const empty = fillDisk(toy, workspaceId);
    const outcomes = await Promise.allSettled([
      toy.add(workspaceId, 'a'),
      toy.engine.execute(addLarge, { workspaceId, caller: systemCaller, params: { id: 'b' } }),
      toy.add(workspaceId, 'a', { fail: new Error('refused by itself') }),
    ]);
    t.ok(outcomes.every((one) => one.status === 'rejected' && one.reason instanceof CommitFailed));
    t.equal(toy.engine.workspace(workspaceId)?.view(systemCaller).state(tallyKind, 'a')?.value, 5);
    await toy.settled();
    t.same(toy.seqs(workspaceId), [1]);
    empty();
    t.equal(await toy.add(workspaceId, 'a'), 6, 'service again when there is room');
    await toy.settled();
    t.same(toy.seqs(workspaceId), [1, 2], 'the sequence has no gap');
    t.ok(toy.log.some(({ level }) => level === 'error'));
  },
);

t.test(
  'a batch that fails while the one before it is being synced: that one is kept, and the sequence continues without a gap',
  async (t) => {
    const disk = new HeldDisk();
    const toy = startToy(t, { syncToDisk: disk.sync });
    t.teardown(() => disk.letGo());
    const workspace = toy.workspace();
    const { workspaceId } = workspace;
    const first = toy.add(workspaceId, 'a', { by: 5 });
    await disk.asked();
    const empty = fillDisk(toy, workspaceId);
    const broken = toy.engine.execute(addLarge, { workspaceId, caller: systemCaller, params: { id: 'a' } });
    const outcomes: string[] = [];
    void first.then(() => outcomes.push('first'));
    void broken.catch((error: unknown) =>
      outcomes.push(error instanceof CommitFailed ? 'CommitFailed' : String(error)),
    );
    await turns();
    t.same(outcomes, []);
    t.equal(workspace.lastSeq, 1);
    t.equal(workspace.view(systemCaller).state(tallyKind, 'a')?.value, 5);
    empty();
    const third = toy.add(workspaceId, 'a', { fail: new Error('no') });
    const fourth = toy.add(workspaceId, 'a');
    await disk.completeNext();
    disk.letGo();
    await t.rejects(third, /no/);
    t.equal(await fourth, 6);
    await toy.settled();
    t.same(outcomes, ['first', 'CommitFailed'], 'in the order they ran');
    t.same(toy.seqs(workspaceId), [1, 2]);
    t.same(toy.read(workspaceId, 'SELECT seq FROM event ORDER BY seq'), [{ seq: 1 }, { seq: 2 }]);
  },
);

t.test(
  'whatever is refused, before or after it wrote, and however batches fall: the sequence has no gap and rows, states and events agree',
  async (t) => {
    const seed = Number(process.env['SEED'] ?? 20261120);
    t.comment(`SEED=${seed}`);
    const random = randomFrom(seed);
    const toy = startToy(t);
    const { workspaceId } = toy.workspace();
    const refuseFirst = command('toy.refuseFirst', (_, __: object): void => {
      throw new Error('no');
    });
    const held = new Map<string, number>();
    for (let round = 0; round < 60; round += 1) {
      const calls = Array.from({ length: random.below(12) }, () => {
        const id = random.pick(['a', 'b', 'c']);
        const kind = random.below(4);
        if (kind === 0) return toy.engine.execute(refuseFirst, { workspaceId, caller: systemCaller, params: {} });
        if (kind === 1) return toy.add(workspaceId, id, { fail: new Error('no') });
        held.set(id, (held.get(id) ?? 0) + 1);
        return toy.add(workspaceId, id);
      });
      const outcomes = Promise.allSettled(calls);
      if (random.below(2) === 0) await turns(random.below(3));
      else await outcomes;
    }
    await toy.settled();
    const count = [...held.values()].reduce((sum, value) => sum + value, 0);
    const whole = Array.from({ length: count }, (_, index) => index + 1);
    t.same(toy.seqs(workspaceId), whole);
    t.same(
      toy.read<{ seq: number }>(workspaceId, 'SELECT seq FROM event ORDER BY seq').map(({ seq }) => seq),
      whole,
    );
    const view = toy.engine.workspace(workspaceId)?.view(systemCaller);
    for (const [id, value] of held) t.equal(view?.state(tallyKind, id)?.value, value);
    t.same(
      toy.read(workspaceId, 'SELECT id, value FROM toyTally ORDER BY id'),
      [...held].sort().map(([id, value]) => ({ id, value })),
    );
  },
);

t.test('a listener that throws stops neither the lane nor the callers', async (t) => {
  const toy = startToy(t);
  const { workspaceId } = toy.workspace();
  toy.engine.onPublish(() => {
    throw new Error('a bug of the listener');
  });
  t.equal(await toy.add(workspaceId, 'a'), 1);
  t.equal(await toy.add(workspaceId, 'a'), 2);
  await toy.settled();
  t.match(toy.log, [{ level: 'error', text: 'events could not be published' }, {}]);
});

t.test('cached states are bounded and are reloaded from their rows', async (t) => {
  const toy = startToy(t);
  const workspace = toy.workspace();
  const { workspaceId, registry, db } = workspace;
  let loads = 0;
  const kind: ActorKind<{ readonly value: number }> = {
    name: 'counted',
    load: (from, id) => ((loads += 1), tallyKind.load(from, id)),
  };
  db.run('INSERT INTO toyTally (id, value) SELECT value, value FROM json_each(?)', [
    JSON.stringify(Array.from({ length: 5000 }, (_, index) => index)),
  ]);
  const all = Array.from({ length: 5000 }, (_, id) => registry.get(kind, String(id))?.value);
  t.ok(all.every((value, id) => value === id));
  t.ok(registry.size <= 4000, `${registry.size} of 5000 are held`);
  t.equal(loads, 5000);
  registry.get(kind, '4999');
  t.equal(loads, 5000, 'the last ones are in memory');
  registry.get(kind, '0');
  t.equal(loads, 5001, 'the first ones are not');
  registry.age();
  registry.get(kind, '0');
  registry.age();
  registry.age();
  t.equal(registry.size, 0, 'keys not used between two calls of age() go');
  t.equal(registry.get(kind, 'nobody'), undefined);
  t.equal(registry.peek(kind, '0'), undefined);
  t.equal(await toy.add(workspaceId, '7'), 8, 'a forgotten state is read again');
});

t.test('the states in memory age by the clock', async (t) => {
  const toy = startToy(t);
  const { workspaceId, registry } = toy.workspace();
  await toy.add(workspaceId, 'a');
  t.equal(registry.size, 1);
  toy.clock.advance(60_000);
  t.equal(registry.size, 1);
  toy.clock.advance(60_000);
  t.equal(registry.size, 0);
});

t.test("a view's result waits for its lane", async (t) => {
  const disk = new HeldDisk();
  const toy = startToy(t, { syncToDisk: disk.sync });
  t.teardown(() => disk.letGo());
  const { workspaceId } = toy.workspace();
  const other = toy.workspace();
  const beforeMs = monotonicMs();
  const added = toy.add(workspaceId, 'a');
  await disk.asked();
  const seen: string[] = [];
  toy.engine.whenDurable(workspaceId, () => seen.push('this one'), never);
  toy.engine.whenDurable(other.workspaceId, () => seen.push('another'), never);
  toy.engine.whenDurable('', () => seen.push('none'), never);
  t.same(seen, ['another', 'none']);
  toy.engine.whenDurable(workspaceId, () => seen.push('from before'), never, beforeMs);
  t.equal(seen.pop(), 'from before');
  await disk.completeNext();
  t.same(seen, ['another', 'none', 'this one']);
  await added;
  await turns();
});
