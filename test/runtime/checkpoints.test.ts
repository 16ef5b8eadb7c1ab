import { statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { Checkpoints } from '../../engine/runtime/checkpoints.ts';
import { command } from '../../engine/runtime/command.ts';
import { silentLog } from '../../engine/runtime/log.ts';
import { Database, type LogLength } from '../../store/database.ts';
import { createCheckpointer } from '../../workers/checkpointer.ts';
import { startToy, type Toy, turns } from '../support/toy.ts';

const fill = command('toy.fill', (ctx, params: { size: number }): void =>
  ctx.emit({ type: 'fill', audience: {}, data: { text: 'x'.repeat(params.size) } }),
);

function write(toy: Toy, workspaceId: string, size = 3000): Promise<void> {
  return toy.engine.execute(fill, { workspaceId, caller: systemCaller, params: { size } });
}

const pageBytes = 4096;
const wantedRestarts = 3;
/** Many times the writes of this many restarts on an idle core. */
const maxWrites = 50_000;

t.test('a log is copied back by a thread and starts over while writers continue, and nothing is lost', async (t) => {
  const checkpointer = createCheckpointer();
  t.teardown(() => checkpointer.stop());
  const toy = startToy(t, { frameLimit: 200, checkpoint: (path, isOpen) => checkpointer.checkpoint(path, isOpen) });
  const { workspaceId, db } = toy.workspace();
  let count = 0;
  let restarts = 0;
  let frames = 0;
  const writer = async (): Promise<void> => {
    while (restarts < wantedRestarts && count < maxWrites) {
      count += 1;
      await write(toy, workspaceId);
      const { logFrames } = db.logLength();
      if (logFrames < frames) restarts += 1;
      frames = logFrames;
    }
  };
  await Promise.all(Array.from({ length: 8 }, writer));
  t.ok(restarts >= wantedRestarts, `the log started over within ${count} writes`);
  t.ok(statSync(db.path).size > 200 * pageBytes, 'the file itself grows');
  t.same(toy.read(workspaceId, 'SELECT count(*) AS events, max(seq) AS last FROM event'), [
    { events: count, last: count },
  ]);
  t.same(toy.read(workspaceId, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
});

t.test('two passes: writers go on during the first, and are held only for the second', async (t) => {
  const passes: { path: string; end(): void }[] = [];
  const checkpoint = (path: string): Promise<LogLength> =>
    new Promise((resolve, reject) => {
      passes.push({
        path,
        end: () => {
          const db = Database.openCheckpointer(path);
          try {
            resolve(db.checkpoint());
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          } finally {
            db.close();
          }
        },
      });
    });
  const toy = startToy(t, { frameLimit: 10, random: () => 1, checkpoint });
  const { workspaceId, db, lane } = toy.workspace();
  while (passes.length === 0) await write(toy, workspaceId);
  t.ok(db.logLength().logFrames >= 10);
  await write(toy, workspaceId);
  t.equal(passes.length, 1, 'another is not begun while one runs; the command was not held up');
  passes[0]?.end();
  await turns();
  t.equal(passes.length, 2);
  let isWritten = false;
  const held = write(toy, workspaceId).then(() => (isWritten = true));
  await turns(20);
  t.notOk(isWritten, 'held');
  t.notOk(lane.idle);
  passes[1]?.end();
  await held;
  const { logFrames } = db.logLength();
  t.ok(logFrames < 10, `the log started over: ${logFrames} frames`);
});

t.test('one file at a time, so that none is held while another is copied', async (t) => {
  const order: string[] = [];
  let underWay = 0;
  const toy = startToy(t, {
    frameLimit: 10,
    random: () => 0,
    checkpoint: async (path) => {
      t.equal((underWay += 1), 1);
      order.push(path);
      await turns(3);
      underWay -= 1;
      const db = Database.openCheckpointer(path);
      const length = db.checkpoint();
      db.close();
      return length;
    },
  });
  const all = Array.from({ length: 4 }, () => toy.workspace());
  await Promise.all(
    all.map(async ({ workspaceId }) => {
      for (let count = 0; count < 12; count += 1) await write(toy, workspaceId);
    }),
  );
  await toy.settled();
  await turns(50);
  t.ok(order.length >= 8);
  for (let index = 0; index < order.length; index += 2)
    t.equal(order[index], order[index + 1], 'both passes of a file together');
});

t.test('a failed copy is retried when the log has grown as much again; service continues', async (t) => {
  let calls = 0;
  const toy = startToy(t, {
    frameLimit: 20,
    random: () => 1,
    checkpoint: () => ((calls += 1), Promise.reject(new Error('the thread died'))),
  });
  const { workspaceId, db } = toy.workspace();
  while (calls === 0) await write(toy, workspaceId);
  const first = db.logLength().logFrames;
  t.ok(first >= 20);
  while (calls === 1) await write(toy, workspaceId);
  t.ok(db.logLength().logFrames >= 40, 'not after every batch');
  t.ok(toy.log.length >= 1);
});

t.test('a reader that still needs the log does not make it be copied over and over', async (t) => {
  let calls = 0;
  const toy = startToy(t, {
    frameLimit: 20,
    random: () => 1,
    checkpoint: async (path) => {
      calls += 1;
      const db = Database.openCheckpointer(path);
      const length = db.checkpoint();
      db.close();
      return length;
    },
  });
  const { workspaceId, db } = toy.workspace();
  await write(toy, workspaceId);
  const reader = Database.openReader(db.path);
  const rows = reader.iterate('SELECT seq FROM event UNION ALL SELECT 0');
  rows.next();
  for (let count = 0; count < 60; count += 1) await write(toy, workspaceId);
  await turns();
  const frames = db.logLength().logFrames;
  t.ok(calls <= 2 * Math.ceil(frames / 20), `${calls} passes over ${frames} frames`);
  rows.return?.();
  reader.close();
  for (let count = 0; count < 60; count += 1) await write(toy, workspaceId);
  await turns();
  t.ok(db.logLength().logFrames < frames, 'it starts over once the reader is gone');
});

t.test("the directory's log is looked after by the same code", async (t) => {
  const toy = startToy(t);
  const workspace = toy.workspace();
  const copied: string[] = [];
  const checkpoints = new Checkpoints({
    checkpoint: async (path) => (copied.push(path), { logFrames: 0, copiedFrames: 0 }),
    log: silentLog,
    random: () => 0,
    frameLimit: 2,
  });
  await write(toy, workspace.workspaceId, 20_000);
  checkpoints.watch({ db: workspace.db, lane: workspace.lane });
  await turns();
  t.same(copied, [workspace.db.path, workspace.db.path]);
  checkpoints.stop();
  await checkpoints.copyBack(workspace);
  t.equal(copied.length, 2, 'none starts after a stop');
  t.ok(workspace.lane.idle);
  t.equal(join(toy.dataDir, 'workspaces', `${workspace.workspaceId}.db`), workspace.db.path);
});
