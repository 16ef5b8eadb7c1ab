import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { workspaceMigrations } from '../store/migrations/workspace.ts';
import { Database } from '../store/database.ts';
import { restIfDue } from '../workers/short-rests.ts';

/** As long as work goes on before a rest is due, and more. */
const longMs = 0.5;

function work(): void {
  for (const untilMs = performance.now() + longMs; performance.now() < untilMs; );
}

t.test('a rest gives the core away', { skip: process.platform !== 'linux' }, async (t) => {
  const given = (): number => Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync('/proc/thread-self/status', 'utf8'))?.[1]);
  const rounds = 20;
  work();
  restIfDue();
  const before = given();
  for (let round = 0; round < rounds; round += 1) {
    work();
    restIfDue();
  }
  t.ok(given() - before >= rounds / 2, 'a timer that was due already is not waited for: not each of them sleeps');
});

t.test('the reader thread rests between the statements of a question', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  mkdirSync(join(dataDir, 'workspaces'));
  const workspaceId = '01890000-0000-7000-8000-000000000000';
  Database.openWriter(join(dataDir, 'workspaces', `${workspaceId}.db`), workspaceMigrations).close();
  const rests = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  // In it a millisecond has passed whenever somebody looks at the clock.
  const slowReader = `
    const { workerData } = require('node:worker_threads');
    let nowMs = 0;
    require('node:perf_hooks').performance.now = () => (nowMs += 1);
    Atomics.wait = () => (Atomics.add(workerData.rests, 0, 1), 'timed-out');
    import(workerData.file);
  `;
  const worker = new Worker(slowReader, { eval: true, workerData: { dataDir, rests, file: new URL('../workers/reader-thread.ts', import.meta.url).href } });
  t.teardown(() => worker.terminate());
  const answered = once(worker, 'message');
  worker.postMessage({ id: 1, name: 'contacts', params: { workspaceId, words: ['nobody'], limit: 1, offset: 0 } });
  t.match(await answered, [{ id: 1, result: { result: [] } }]);
  t.ok(Atomics.load(rests, 0) >= 2, 'before what is asked, and before the transaction ends');
});

// The last: the clock that it leaves behind runs ahead.
t.test('who works rests when a while has passed, and whoever waited for work has rested', async (t) => {
  let nowMs = performance.now();
  let idle = performance.eventLoopUtilization().idle;
  t.intercept(performance, 'now', { value: () => nowMs });
  t.intercept(performance, 'eventLoopUtilization', { value: () => ({ idle, active: 0, utilization: 0 }) });
  const waits = t.capture(Atomics, 'wait', () => 'timed-out');
  const restsAfter = (ms: number): number => {
    nowMs += ms;
    restIfDue();
    return waits().length;
  };
  restIfDue();
  waits();
  t.equal(restsAfter(0.2), 0, 'not yet');
  t.equal(restsAfter(0.1), 1, 'long enough, in two pieces');
  t.equal(restsAfter(0.1), 0, 'just rested');
  t.equal(restsAfter(5), 1, 'once, however long it was');
  idle += 0.01;
  t.equal(restsAfter(5), 0, 'the thread was idle meanwhile');
  t.equal(restsAfter(5), 1, 'and is no longer');
});
