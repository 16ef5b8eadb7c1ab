import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { createRests, ownTime } from '../../workers/reader/short-rests.ts';
import { tempFolder } from '../support/folder.ts';

t.test('who works rests when a while has passed, and whoever waited for a question has rested', async (t) => {
  let nowMs = 0;
  let idleMs = 0;
  const slept: number[] = [];
  const rests = createRests({ nowMs: () => nowMs, idleMs: () => idleMs, sleep: (ms) => slept.push(ms) });
  const restsAfter = (workedMs: number): number => {
    nowMs += workedMs;
    rests.restIfDue();
    return slept.splice(0).length;
  };
  const begin = (waitedMs: number): void => {
    nowMs += waitedMs;
    idleMs += waitedMs;
    rests.begin();
  };
  begin(100);
  t.equal(restsAfter(0.2), 0, 'not yet');
  t.equal(restsAfter(0.2), 1, 'long enough, in two pieces');
  t.equal(restsAfter(0.2), 0, 'just rested');
  t.equal(restsAfter(5), 1, 'once, however long it was');
  nowMs += 5;
  begin(0.01);
  t.equal(restsAfter(0.2), 0, 'waited for the next question');
  t.equal(restsAfter(5), 1);
  nowMs += 5;
  begin(0);
  t.equal(restsAfter(0), 1, 'the next question was there already');
});

t.test('a rest gives the core away', { skip: process.platform !== 'linux' }, async (t) => {
  const given = (): number =>
    Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync('/proc/thread-self/status', 'utf8'))?.[1]);
  let nowMs = 0;
  const rests = createRests({ ...ownTime, nowMs: () => (nowMs += 1) });
  const rounds = 50;
  const before = given();
  for (let round = 0; round < rounds; round += 1) rests.restIfDue();
  // Where others take the core in between, a rest may be over before it began.
  t.ok(given() - before > rounds / 2);
});

t.test('the reader thread rests between the statements of a report, and not within a search', async (t) => {
  const dataDir = tempFolder(t);
  mkdirSync(join(dataDir, 'workspaces'));
  const workspaceId = '01890000-0000-7000-8000-000000000000';
  Database.openWriter(join(dataDir, 'workspaces', `${workspaceId}.db`), workspaceMigrations).close();
  const [slept, step, idle] = [0, 1, 2].map(
    () => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  ) as [Int32Array, Int32Array, Int32Array];
  // In it so many microseconds have passed whenever somebody looks at the clock, and it has waited as long as it is
  // told.
  const slowReader = `
    const { workerData } = require('node:worker_threads');
    const { performance } = require('node:perf_hooks');
    let nowMs = 0;
    performance.now = () => (nowMs += Atomics.load(workerData.step, 0) / 1000);
    performance.eventLoopUtilization = () => ({ idle: Atomics.load(workerData.idle, 0) });
    Atomics.wait = () => (Atomics.add(workerData.slept, 0, 1), 'timed-out');
    import(workerData.file);
  `;
  const worker = new Worker(slowReader, {
    eval: true,
    workerData: {
      dataDir,
      slept,
      step,
      idle,
      file: new URL('../../workers/reader/reader-thread.ts', import.meta.url).href,
    },
  });
  t.teardown(() => worker.terminate());
  const ask = async (name: string, params: object): Promise<unknown> => {
    Atomics.store(slept, 0, 0);
    const answered = once(worker, 'message');
    worker.postMessage({ id: 1, name, params: { workspaceId, ...params } });
    const [{ result }] = await answered;
    return result?.result;
  };
  const contacts = { search: 'nobody', limit: 1, offset: 0 };
  Atomics.store(step, 0, 1);
  Atomics.store(idle, 0, 1);
  t.same(await ask('contacts', contacts), []);
  t.equal(Atomics.load(slept, 0), 0, 'it waited for the question');
  Atomics.store(step, 0, 1000);
  t.same(await ask('contacts', contacts), []);
  t.ok(Atomics.load(slept, 0) >= 1, 'after a statement');
  const now = Date.now();
  const scope = { channels: ['chat'], departmentIds: null, agentId: null };
  t.match(await ask('totals', { scope, range: { fromMs: now - 24 * 3600_000, toMs: now } }), { conversations: 0 });
  t.ok(Atomics.load(slept, 0) > 1, 'several');
  const reach = { channels: ['chat'], departmentIds: null, agentId: '' };
  t.same(
    await ask('search', {
      question: { q: 'nobody', looksIn: { messages: true, customers: true }, reach, filter: {}, limit: 1 },
    }),
    { rows: [], total: 0 },
  );
  t.equal(Atomics.load(slept, 0), 0);
});
