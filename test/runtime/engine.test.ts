import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import type { DeadlineParams } from '../../engine/runtime/deadlines.ts';
import { WorkspaceUnavailable } from '../../engine/runtime/engine.ts';
import { CommitFailed, LaneFull } from '../../engine/runtime/lane.ts';
import { HeldDisk } from '../support/held-disk.ts';
import { setDeadline, startToy, type Toy, tallyKind, turns } from '../support/toy.ts';

const maxOpen = 10;

function fileOf(toy: Toy, workspaceId: string): string {
  return join(toy.dataDir, 'workspaces', `${workspaceId}.db`);
}

/** Closes a toy's file cleanly, so that a test can modify it. */
async function closed(toy: Toy): Promise<void> {
  await toy.engine.stop();
}

t.test(
  'a workspace that has no file: undefined to look up, WorkspaceUnavailable to command; nothing is made',
  async (t) => {
    const toy = startToy(t);
    for (const workspaceId of ['00000000-0000-7000-8000-000000000000', '../../etc/passwd', '']) {
      t.equal(toy.engine.workspace(workspaceId), undefined);
      await t.rejects(toy.add(workspaceId, 'a'), WorkspaceUnavailable);
    }
    t.same(readdirSync(join(toy.dataDir, 'workspaces')), []);
  },
);

t.test('a file that appears later is served', async (t) => {
  const source = startToy(t);
  const { workspaceId } = source.workspace();
  await source.add(workspaceId, 'a', { by: 41 });
  await closed(source);
  const toy = startToy(t);
  t.equal(toy.engine.workspace(workspaceId), undefined);
  copyFileSync(fileOf(source, workspaceId), fileOf(toy, workspaceId));
  t.equal(await toy.add(workspaceId, 'a'), 42);
});

t.test(
  'a damaged file: its workspace is unavailable, the others are served, and it is tried again ten seconds later',
  async (t) => {
    const source = startToy(t);
    const bad = source.workspace().workspaceId;
    const good = source.workspace().workspaceId;
    await source.add(bad, 'a', { by: 5 });
    await source.add(good, 'a', { by: 5 });
    await closed(source);
    const sound = `${fileOf(source, bad)}.sound`;
    copyFileSync(fileOf(source, bad), sound);
    writeFileSync(fileOf(source, bad), Buffer.alloc(50_000, 'no database'));

    const toy = startToy(t, { dataDir: source.dataDir });
    await toy.engine.wakeAll();
    t.equal(await toy.add(good, 'a'), 6);
    await t.rejects(toy.add(bad, 'a'), WorkspaceUnavailable);
    t.match(toy.log, [{ level: 'error', text: /cannot be opened; the others are served/ }]);
    t.equal(toy.log.length, 1, 'looked at once, not once per request');
    rmSync(fileOf(toy, bad));
    renameSync(sound, fileOf(toy, bad));
    await t.rejects(toy.add(bad, 'a'), WorkspaceUnavailable, 'not at once');
    toy.clock.advance(9_999);
    await t.rejects(toy.add(bad, 'a'), WorkspaceUnavailable);
    toy.clock.advance(1);
    t.equal(await toy.add(bad, 'a'), 6, 'mended');
  },
);

t.test('a file that is damaged further in shows it when it is read, and holds no descriptor of ours', async (t) => {
  const source = startToy(t);
  const { workspaceId } = source.workspace();
  await source.add(workspaceId, 'a');
  await closed(source);
  const { readFileSync } = await import('node:fs');
  const bytes = readFileSync(fileOf(source, workspaceId));
  // Keeps the header and the schema, and overwrites every page behind them.
  bytes.fill(0xff, 3 * 4096);
  writeFileSync(fileOf(source, workspaceId), bytes);
  const toy = startToy(t, { dataDir: source.dataDir });
  const descriptors = (): number => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  for (let count = 0; count < 5; count += 1) {
    await t.rejects(toy.add(workspaceId, 'a'));
    toy.clock.advance(10_000);
  }
  t.ok(descriptors() <= before + 4, 'none is left open');
});

t.test('a repaired file wakes for its deadlines', async (t) => {
  const fired: string[] = [];
  const deadlines = { ring: command('ring', (_, { subjectId }: DeadlineParams): void => void fired.push(subjectId)) };
  const source = startToy(t, { deadlines });
  const { workspaceId } = source.workspace();
  await source.engine.execute(setDeadline, {
    workspaceId,
    caller: systemCaller,
    params: { kind: 'ring', subjectId: 'a', afterMs: 1000 },
  });
  await closed(source);
  const sound = `${fileOf(source, workspaceId)}.sound`;
  renameSync(fileOf(source, workspaceId), sound);
  writeFileSync(fileOf(source, workspaceId), Buffer.alloc(50_000, 'no database'));
  const toy = startToy(t, { dataDir: source.dataDir, deadlines });
  await toy.engine.wakeAll();
  renameSync(sound, fileOf(toy, workspaceId));
  await toy.pass(60_000);
  t.same(fired, ['a'], 'though no one requested it');
});

t.test(
  'beyond the limit of open files the least recently used idle ones are closed; nothing in them is lost, and their deadlines fire',
  async (t) => {
    const fired: string[] = [];
    const deadlines = {
      ring: command('ring', (ctx, { subjectId }: DeadlineParams): void => void fired.push(`${subjectId} ${ctx.nowMs}`)),
    };
    const toy = startToy(t, { deadlines, maxOpen });
    const first = toy.workspace();
    const busy = toy.workspace();
    await toy.add(first.workspaceId, 'a', { by: 7 });
    await toy.engine.execute(setDeadline, {
      workspaceId: first.workspaceId,
      caller: systemCaller,
      params: { kind: 'ring', subjectId: 'far', afterMs: 3600_000 },
    });
    await busy.lane.hold();
    await toy.settled();
    const others = Array.from({ length: maxOpen + 5 }, () => toy.workspace().workspaceId);
    await toy.settled();
    await turns(50);
    t.ok(toy.engine.figures.openWorkspaces <= maxOpen, `${toy.engine.figures.openWorkspaces} are open`);
    const isOpen = (workspaceId: string): boolean =>
      [...toy.engine.openWorkspaces()].some((one) => one.workspaceId === workspaceId);
    t.notOk(isOpen(first.workspaceId), 'the least recently used one is parked');
    t.ok(isOpen(busy.workspaceId), 'one that is in use is not');
    t.ok(isOpen(others.at(-1) ?? ''), 'the one just opened is not');
    busy.lane.release();

    const dueMs = toy.clock.now() + 3600_000;
    await toy.pass(3600_000);
    t.same(fired, [`far ${dueMs}`]);
    t.equal(await toy.add(first.workspaceId, 'a'), 8);
    t.equal(await toy.add(others[0] ?? '', 'a'), 1);
  },
);

t.test('a file with unpublished events is not closed before they are published', async (t) => {
  const toy = startToy(t, { maxOpen });
  const first = toy.workspace();
  await toy.add(first.workspaceId, 'a');
  t.same(toy.seqs(first.workspaceId), [], 'the caller knows, no one else does yet');
  for (let count = 0; count < maxOpen; count += 1) toy.workspace();
  const isOpen = (): boolean => [...toy.engine.openWorkspaces()].includes(first);
  t.ok(isOpen());
  t.equal(first.publishedSeq, 0);
  await toy.settled();
  t.same(toy.seqs(first.workspaceId), [1]);
  for (let count = 0; count < maxOpen; count += 1) toy.workspace();
  await toy.settled();
  await turns(50);
  t.notOk(isOpen(), 'once published, it is closed like the others');
  t.equal(await toy.add(first.workspaceId, 'a'), 2);
  await toy.settled();
  t.same(toy.seqs(first.workspaceId), [1, 2]);
});

t.test('a queue at its bound turns commands away; those inside are served', async (t) => {
  const disk = new HeldDisk();
  const toy = startToy(t, { syncToDisk: disk.sync });
  t.teardown(() => disk.letGo());
  const { workspaceId } = toy.workspace();
  const all = Array.from({ length: 10_000 }, () => toy.add(workspaceId, 'a'));
  await t.rejects(toy.add(workspaceId, 'a'), LaneFull);
  t.equal(toy.engine.figures.laneDepth, 10_000);
  disk.letGo();
  const results = await Promise.all(all);
  t.equal(results.at(-1), 10_000);
  t.equal(await toy.add(workspaceId, 'a'), 10_001);
});

t.test("workspaces do not wait for each other's disks", async (t) => {
  const disk = new HeldDisk();
  const toy = startToy(t, { syncToDisk: disk.sync });
  t.teardown(() => disk.letGo());
  const slow = toy.workspace().workspaceId;
  const stuck = toy.add(slow, 'a');
  await disk.asked();
  disk.letPass();
  const quick = toy.workspace().workspaceId;
  t.equal(await toy.add(quick, 'a'), 1);
  let isSettled = false;
  void stuck.then(() => (isSettled = true));
  await turns();
  t.notOk(isSettled);
  disk.letGo();
  t.equal(await stuck, 1);
});

t.test('stop: accepted commands finish and are durable, later ones are refused, and files are complete', async (t) => {
  const toy = startToy(t);
  const ids = Array.from({ length: 5 }, () => toy.workspace().workspaceId);
  const taken = ids.flatMap((workspaceId) => Array.from({ length: 20 }, () => toy.add(workspaceId, 'a')));
  // A client that sends the next call after each answer.
  const chatty = (async () => {
    for (let count = 0; ; count += 1)
      await toy.add(ids[0] ?? '', 'chatty').catch((error: unknown) => {
        throw Object.assign(new Error('refused'), { count, cause: error });
      });
  })();
  const stopping = toy.engine.stop();
  const refused = await chatty.then(
    () => undefined,
    (error: unknown) => error as { count: number; cause: unknown },
  );
  await stopping;
  t.equal((await Promise.all(taken)).length, 100);
  t.type(refused?.cause, WorkspaceUnavailable);
  await t.rejects(toy.add(ids[1] ?? '', 'a'), WorkspaceUnavailable);
  await t.rejects(toy.engine.create('01a1faa5-20b4-76c0-bd16-f71190000000'), WorkspaceUnavailable);
  for (const workspaceId of ids) {
    t.notOk(existsSync(`${fileOf(toy, workspaceId)}-wal`), 'closed and copied back');
    t.match(toy.read(workspaceId, `SELECT value FROM toyTally WHERE id = 'a'`), [{ value: 20 }]);
  }
  if (refused !== undefined && refused.count > 0)
    t.match(toy.read(ids[0] ?? '', `SELECT value FROM toyTally WHERE id = 'chatty'`), [{ value: refused.count }]);
});

t.test('drained and stop: durable events have been published', async (t) => {
  const toy = startToy(t);
  const { workspaceId } = toy.workspace();
  await toy.add(workspaceId, 'a');
  await toy.engine.drained();
  t.same(toy.seqs(workspaceId), [1]);
  await toy.add(workspaceId, 'a');
  await toy.engine.stop();
  t.same(toy.seqs(workspaceId), [1, 2]);
});

t.test('stop: files that cannot be closed in time are left to be recovered', async (t) => {
  const toy = startToy(t);
  const ids = Array.from({ length: 5 }, () => toy.workspace().workspaceId);
  await Promise.all(ids.map((workspaceId) => toy.add(workspaceId, 'a')));
  const { clock } = toy;
  const now = clock.now.bind(clock);
  let reads = 0;
  // Each reading of the clock advances it by a second, as on a very slow disk.
  clock.now = () => now() + (reads += 1) * 1000;
  await toy.engine.stop();
  t.ok(toy.log.some(({ level, text }) => level === 'warn' && /left open/.test(text)));
  const again = startToy(t, { dataDir: toy.dataDir });
  t.same(await Promise.all(ids.map((workspaceId) => again.add(workspaceId, 'a'))), [2, 2, 2, 2, 2]);
});

t.test('discard removes the file of a workspace that was not created', async (t) => {
  const toy = startToy(t);
  const { workspaceId } = toy.workspace();
  await toy.add(workspaceId, 'a');
  await toy.engine.discard(workspaceId);
  t.same(readdirSync(join(toy.dataDir, 'workspaces')), []);
  t.equal(toy.engine.workspace(workspaceId), undefined);
  await toy.engine.discard(workspaceId);
});

t.test('a restart finds every acknowledged change, and nothing of a batch that was not committed', async (t) => {
  const disk = new HeldDisk();
  const toy = startToy(t, { syncToDisk: disk.sync });
  t.teardown(() => disk.letGo());
  const workspace = toy.workspace();
  const { workspaceId } = workspace;
  const first = toy.add(workspaceId, 'a', { by: 3 });
  await disk.completeNext();
  await first;
  workspace.db.get(`PRAGMA max_page_count = 1`);
  const large = command('toy.large', (ctx, _: object): void =>
    ctx.emit({ type: 'large', audience: {}, data: { text: 'x'.repeat(500_000) } }),
  );
  await t.rejects(
    Promise.all([
      toy.add(workspaceId, 'a'),
      toy.engine.execute(large, { workspaceId, caller: systemCaller, params: {} }),
    ]),
    CommitFailed,
  );
  // The process is gone: its engine is never used again.
  const again = startToy(t, { dataDir: toy.dataDir });
  t.equal(again.engine.workspace(workspaceId)?.view(systemCaller).state(tallyKind, 'a')?.value, 3);
  t.equal(await again.add(workspaceId, 'a'), 4);
  await again.settled();
  t.same(again.seqs(workspaceId), [2]);
});
