// Which files are open, and who waits for one.

import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import type { DeadlineParams } from '../../engine/runtime/deadlines.ts';
import { WorkspaceUnavailable } from '../../engine/runtime/engine.ts';
import type { ActorKind } from '../../engine/runtime/registry.ts';
import { Database, type SyncToDisk } from '../../store/database.ts';
import { glanceAt } from '../../store/glance.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { tempFolder } from '../support/folder.ts';
import { HeldDisk } from '../support/held-disk.ts';
import { leftByCrash, logOf } from '../support/left-log.ts';
import { setDeadline, startToy, type Toy, tallyKind, turns } from '../support/toy.ts';

const fileOf = (toy: Toy, workspaceId: string): string => join(toy.dataDir, 'workspaces', `${workspaceId}.db`);
const openIds = (toy: Toy): string[] => [...toy.engine.openWorkspaces()].map(({ workspaceId }) => workspaceId);

async function copyBack(path: string): Promise<{ logFrames: number; copiedFrames: number }> {
  const db = Database.openCheckpointer(path);
  try {
    return db.checkpoint();
  } finally {
    db.close();
  }
}

t.test(
  'a file is closed without copying its log back, which happens after a while without use, and then it can be opened again',
  async (t) => {
    const copied: string[] = [];
    const toy = startToy(t, { maxOpen: 1, checkpoint: (path) => (copied.push(path), copyBack(path)) });
    const { workspaceId } = toy.workspace();
    await toy.add(workspaceId, 'a');
    await toy.settled();
    const other = toy.workspace();
    t.same(openIds(toy), [other.workspaceId]);
    t.same(copied, [], 'no one waited for a disk');
    t.ok(existsSync(logOf(fileOf(toy, workspaceId))));
    await toy.pass(60_000);
    t.same(copied, [fileOf(toy, workspaceId)]);
    t.notOk(existsSync(logOf(fileOf(toy, workspaceId))));
    t.equal(await toy.add(workspaceId, 'a'), 2);
    t.same(toy.read(workspaceId, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  },
);

t.test(
  'a log is copied back once, however often it is requested meanwhile, and only a caller for that file waits',
  async (t) => {
    const copied: string[] = [];
    const toy = startToy(t, { maxOpen: 1, checkpoint: (path) => (copied.push(path), copyBack(path)) });
    const { workspaceId } = toy.workspace();
    await toy.add(workspaceId, 'a');
    await toy.settled();
    toy.workspace();
    toy.clock.advance(24 * 3600_000);
    t.equal(await toy.add(workspaceId, 'a'), 2);
    t.same(copied.filter((path) => path === fileOf(toy, workspaceId)).length, 1);
  },
);

t.test('a log left by closing is known to be durable: opening again needs no sync', async (t) => {
  const disk = new HeldDisk({ isHeld: false });
  const asked: string[] = [];
  const syncToDisk: SyncToDisk = (descriptor, done, kind) => {
    asked.push(kind);
    disk.sync(descriptor, done, kind);
  };
  const toy = startToy(t, { maxOpen: 1, syncToDisk });
  const { workspaceId } = toy.workspace();
  await toy.add(workspaceId, 'a');
  await toy.settled();
  toy.workspace();
  asked.length = 0;
  t.equal(await toy.add(workspaceId, 'a'), 2);
  t.same(asked, ['log'], "only this process's writes, in a log whose name the folder has");
});

t.test('a workspace and a view of it outlast the parking of their file', async (t) => {
  const toy = startToy(t, { maxOpen: 1 });
  const workspace = toy.workspace();
  const { workspaceId } = workspace;
  await toy.add(workspaceId, 'a', { by: 4 });
  await toy.settled();
  const view = workspace.view(systemCaller);
  toy.workspace();
  t.ok(workspace.db.isParked);
  t.equal(view.state(tallyKind, 'a')?.value, 4);
  t.same(view.db.all('SELECT value FROM toyTally'), [{ value: 4 }]);
  t.same(openIds(toy), [workspaceId], 'it is open again, and the other one is not');
  t.equal(toy.engine.workspace(workspaceId), workspace);
  await toy.add(workspaceId, 'a');
  await toy.settled();
  t.same(toy.seqs(workspaceId), [1, 2]);
});

t.test('the states of a parked workspace stay in memory for a minute or two, if they are few', async (t) => {
  const toy = startToy(t, { maxOpen: 1 });
  const reads = t.capture(Database.prototype, 'get', Database.prototype.get);
  const tallyReads = (): number => reads().filter(({ args: [sql] }) => sql.includes('toyTally')).length;
  const few = toy.workspace();
  await toy.add(few.workspaceId, 'a', { by: 4 });
  await toy.settled();
  const many = toy.workspace();
  t.ok(few.db.isParked);
  t.equal(toy.engine.figures.actors, 1, 'also counted while parked');
  for (let index = 0; index < 17; index += 1) await toy.add(many.workspaceId, `${index}`);
  await toy.settled();
  tallyReads();
  t.equal(await toy.add(few.workspaceId, 'a'), 5);
  t.equal(tallyReads(), 0, 'known');
  await toy.settled();
  t.ok(many.db.isParked);
  t.equal(toy.engine.figures.actors, 1, 'none of the many');
  t.equal(await toy.add(many.workspaceId, '3'), 2);
  t.equal(tallyReads(), 1, 'read again');
  await toy.settled();
  t.ok(few.db.isParked);
  await toy.pass(60_000);
  await toy.pass(60_000);
  t.equal(toy.engine.figures.actors, 0);
  t.equal(await toy.add(few.workspaceId, 'a'), 6);
  t.equal(tallyReads(), 1, 'evicted after that');
});

t.test('a state counts as the rows that it was made of', async (t) => {
  const toy = startToy(t, { maxOpen: 1 });
  const { registry } = toy.workspace();
  const kind: ActorKind<unknown> = { name: 'any', load: () => undefined };
  for (const [state, rows] of [
    [false, 1],
    [{ name: 'one' }, 1],
    [['a', 'b', 'c'], 3],
    [
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
      2,
    ],
    [{ agents: new Map([['a', 1]]), departments: new Set(['b', 'c']), name: 'of several' }, 3],
  ] as const) {
    registry.set(kind, 'state', state);
    t.equal(registry.rows, rows);
  }
});

t.test('ten times as many parked workspaces as may be open keep their states', async (t) => {
  const toy = startToy(t, { maxOpen: 1 });
  for (let count = 1; count <= 12; count += 1) {
    await toy.add(toy.workspace().workspaceId, 'a');
    await toy.settled();
    t.equal(toy.engine.figures.actors, Math.min(count, 11));
  }
});

t.test(
  'the limit also applies while all open files are busy: a caller for another waits until one is idle',
  async (t) => {
    const disk = new HeldDisk();
    const toy = startToy(t, { maxOpen: 2, syncToDisk: disk.sync });
    t.teardown(() => disk.letGo());
    const all = Array.from({ length: 4 }, () => toy.workspace().workspaceId);
    const [a = '', b = '', c = '', d = ''] = all;
    const answered: string[] = [];
    const work = all.map((id) => toy.add(id, 'x').then(() => answered.push(id)));
    await disk.asked(2);
    await turns(20);
    t.same(openIds(toy), [c, d], 'which were open');
    disk.letGo();
    await Promise.all(work);
    t.same(answered, [c, d, a, b], 'and then in the order they came');
    t.ok(openIds(toy).length <= 2);
  },
);

t.test('files are opened one per turn of the loop, in the order of the requests', async (t) => {
  const source = startToy(t);
  const ids = Array.from({ length: 6 }, () => source.workspace().workspaceId);
  await source.engine.stop();
  const toy = startToy(t, { dataDir: source.dataDir });
  const opened: string[] = [];
  const all = ids.map(async (id) => {
    await toy.engine.whenOpen(id);
    opened.push(id);
  });
  await turns(3);
  t.ok(openIds(toy).length <= 3);
  await Promise.all(all);
  t.same(opened, ids);
  t.equal(toy.engine.whenOpen(ids[0] ?? ''), undefined, 'nothing to wait for');
  t.equal(toy.engine.whenOpen('00000000-0000-7000-8000-000000000000'), undefined, 'nor where there is nothing');
});

t.test(
  'a log that an ended process left is copied back by the thread before the file is opened, not synced on the loop',
  async (t) => {
    const dataDir = await leftByCrash(t, 1);
    const steps: string[] = [];
    const toy = startToy(t, {
      dataDir: dataDir.folder,
      checkpoint: async (path) => (steps.push('copied back'), copyBack(path)),
      syncToDisk: (_, done, kind) => {
        steps.push(kind);
        setImmediate(() => done(null));
      },
    });
    const [workspaceId = ''] = dataDir.ids;
    t.equal(await toy.add(workspaceId, 'a'), 2, 'its content exists');
    t.same(steps, ['copied back', 'folder', 'log']);
  },
);

t.test('waking all opens no file, and what is due fires; those written to last come first', async (t) => {
  const fired: string[] = [];
  const deadlines = { ring: command('ring', (_, { subjectId }: DeadlineParams): void => void fired.push(subjectId)) };
  const source = startToy(t, { deadlines });
  const ids = Array.from({ length: 3 }, () => source.workspace().workspaceId);
  for (const [index, workspaceId] of ids.entries())
    await source.engine.execute(setDeadline, {
      workspaceId,
      caller: systemCaller,
      params: { kind: 'ring', subjectId: `${index}`, afterMs: 1000 + index },
    });
  await source.engine.stop();
  for (const [index, workspaceId] of ids.entries())
    utimesSync(fileOf(source, workspaceId), 1000, [2000, 3000, 1500][index] ?? 0);
  const seen: string[] = [];
  const looked: string[] = [];
  const toy = startToy(t, {
    dataDir: source.dataDir,
    deadlines,
    glance: async (path) => (looked.push(path), glanceAt({ path, model: undefined })),
  });
  await toy.engine.wakeAll((workspaceId) => seen.push(workspaceId));
  t.same(seen, [ids[1], ids[0], ids[2]]);
  t.equal(looked.length, 3);
  t.same(openIds(toy), []);
  await toy.pass(1001);
  await toy.settled();
  t.same(fired, ['0', '1']);
  await toy.pass(1);
  t.same(fired, ['0', '1', '2']);
});

t.test(
  'thousands of deadlines due at once in many workspaces: their files are opened one by one, and the loop turns meanwhile',
  async (t) => {
    let fired = 0;
    const deadlines = { ring: command('ring', (): void => void (fired += 1)) };
    const source = startToy(t, { deadlines });
    const ids = Array.from({ length: 12 }, () => source.workspace().workspaceId);
    for (const workspaceId of ids)
      await source.engine.execute(setDeadline, {
        workspaceId,
        caller: systemCaller,
        params: { kind: 'ring', subjectId: 'a', afterMs: 1000 },
      });
    await source.engine.stop();
    const toy = startToy(t, { dataDir: source.dataDir, deadlines, maxOpen: 3 });
    await toy.engine.wakeAll();
    toy.clock.advance(1000);
    let most = 0;
    while (fired < ids.length) {
      await turns(1);
      most = Math.max(most, openIds(toy).length);
    }
    t.ok(most <= 3, `${most} at once`);
  },
);

t.test(
  'a file that was emptied or removed is unavailable, not as if it had never been, and is served again once it is back',
  async (t) => {
    const known = new Set<string>();
    const toy = startToy(t, { isKnown: (workspaceId) => known.has(workspaceId) });
    const emptied = '01a1faa5-20b4-76c0-bd16-f71190000001';
    writeFileSync(fileOf(toy, emptied), '');
    await t.rejects(toy.add(emptied, 'a'), WorkspaceUnavailable);
    const removed = '01a1faa5-20b4-76c0-bd16-f71190000002';
    known.add(removed);
    for (let count = 0; count < 3; count += 1) await t.rejects(toy.add(removed, 'a'), WorkspaceUnavailable);
    t.same(
      toy.log.map(({ text }) => text),
      ['a workspace cannot be opened; the others are served', 'a workspace cannot be opened; the others are served'],
      'each is reported once',
    );
    const source = startToy(t);
    const sound = source.workspace().workspaceId;
    await source.engine.stop();
    renameSync(fileOf(source, sound), fileOf(toy, removed));
    toy.clock.advance(10_000);
    t.equal(await toy.add(removed, 'a'), 1);
  },
);

t.test('opening a file reads its next deadline and its last event, and no more, whatever it contains', async (t) => {
  const source = startToy(t);
  const { workspaceId } = source.workspace();
  await source.add(workspaceId, 'a');
  await source.engine.stop();
  const toy = startToy(t, { dataDir: source.dataDir, maxOpen: 1 });
  // A statement is prepared at its first use, so these are all prepared ones.
  const calls = (['get', 'all', 'run'] as const).map((name) =>
    t.capture(Database.prototype, name, Database.prototype[name]),
  );
  const asked = (): (string | undefined)[] =>
    calls.flatMap((results) => results().map(({ args: [sql] }) => / FROM (\w+)/.exec(sql)?.[1]));
  toy.engine.workspace(workspaceId);
  t.same([...new Set(asked())], ['event', 'deadline', 'outbox']);
  toy.workspace();
  t.ok(toy.engine.workspace(workspaceId)?.db.isParked);
  asked();
  await toy.engine.whenOpen(workspaceId);
  t.same(openIds(toy), [workspaceId]);
  t.same(
    asked().filter((table) => table !== undefined),
    [],
    'and nothing when it was parked',
  );
});

t.test('a file unused for some minutes is closed; a used one stays open', async (t) => {
  const toy = startToy(t);
  const idle = toy.workspace();
  const used = toy.workspace();
  for (let minute = 0; minute < 6; minute += 1) {
    await toy.pass(60_000);
    await toy.add(used.workspaceId, 'a');
  }
  t.ok(idle.db.isParked);
  t.notOk(used.db.isParked);
});

t.test('the more files are open, the less each holds in memory', async (t) => {
  const toy = startToy(t);
  const first = toy.workspace();
  const cacheOf = (): unknown => first.db.get<{ cache_size: number }>('PRAGMA cache_size')?.cache_size;
  t.equal(cacheOf(), -2048);
  for (let count = 0; count < 70; count += 1) toy.workspace();
  t.equal(cacheOf(), -1024);
});

t.test('an unfinished file of an ended process is removed at the start', async (t) => {
  const dataDir = tempFolder(t);
  mkdirSync(join(dataDir, 'workspaces'));
  for (const suffix of ['', '-wal'])
    writeFileSync(join(dataDir, 'workspaces', `01a1faa5-20b4-76c0-bd16-f71190000001.db.part${suffix}`), 'half');
  const toy = startToy(t, { dataDir });
  t.same(readdirSync(join(toy.dataDir, 'workspaces')), []);
});

t.test('a new file is made whole, with the schema that its steps make', async (t) => {
  const folder = tempFolder(t);
  await Database.makeFile(join(folder, 'made.db'), workspaceMigrations);
  t.notOk(existsSync(join(folder, 'made.db.part')));
  const stepped = Database.openWriter(join(folder, 'stepped.db'), workspaceMigrations);
  const made = Database.openWriter(join(folder, 'made.db'), workspaceMigrations);
  t.same([...made.schema()].sort(), [...stepped.schema()].sort());
  t.equal(made.version, stepped.version);
  t.same(made.integrityFaults(), []);
  stepped.close();
  made.close();
});
