import t from 'tap';
import { createThread, ThreadBusy, ThreadFailed } from '../../workers/thread.ts';
import { createCheckpointer } from '../../workers/checkpointer.ts';
import type { questions } from '../support/questions-thread.ts';
import type { Teardown } from '../support/service.ts';
import { tempFolder } from '../support/folder.ts';

function start(t: Teardown, options: { maxWaiting?: number; timeoutMs?: number; data?: unknown } = {}) {
  const thread = createThread<typeof questions>({ file: new URL('../support/questions-thread.ts', import.meta.url), title: 'test', maxWaiting: 10, timeoutMs: 20_000, ...options });
  t.teardown(() => thread.stop());
  return thread;
}

t.test('answers with what a question returns, now or later, or throws', async (t) => {
  const thread = start(t, { data: { name: 'given' } });
  t.same(await Promise.all([thread.ask('double', 21), thread.ask('later', 1), thread.ask('double', 2)]), [42, 2, 4]);
  await t.rejects(thread.ask('refuse', 'out of range'), { name: 'RangeError', message: 'out of range' });
  const first = await thread.ask('thread', undefined as never);
  t.same(first.data, { name: 'given' });
  t.equal((await thread.ask('thread', undefined as never)).threadId, first.threadId, 'one thread answers all');
  t.equal(thread.waiting, 0);
});

t.test('one that dies fails what waits, and the next question starts a new one', async (t) => {
  const thread = start(t);
  const before = await thread.ask('thread', undefined as never);
  const waiting = [thread.ask('die', 3), thread.ask('double', 1)];
  const outcomes = await Promise.allSettled(waiting);
  t.ok(outcomes.every((one) => one.status === 'rejected' && one.reason instanceof ThreadFailed));
  t.equal(thread.waiting, 0);
  const after = await thread.ask('thread', undefined as never);
  t.not(after.threadId, before.threadId);
  await t.rejects(thread.ask('burst', 'outside of any question'), { name: 'ThreadFailed', cause: { message: 'outside of any question' } });
  t.equal(await thread.ask('double', 4), 8);
});

t.test('one that takes too long is ended, and everybody is told', async (t) => {
  const thread = start(t, { timeoutMs: 3000 });
  t.equal(await thread.ask('double', 1), 2);
  const stuck = thread.ask('hang', undefined as never);
  const behind = thread.ask('double', 3);
  await t.rejects(stuck, { name: 'ThreadFailed', cause: { message: /longer than 3000 ms/ } });
  await t.rejects(behind, ThreadFailed);
  t.equal(await thread.ask('double', 5), 10);
});

t.test('so many questions wait and no more', async (t) => {
  const thread = start(t, { maxWaiting: 3 });
  const waiting = [1, 2, 3].map((value) => thread.ask('double', value));
  await t.rejects(thread.ask('double', 4), ThreadBusy);
  t.same(await Promise.all(waiting), [2, 4, 6]);
  t.equal(await thread.ask('double', 4), 8);
});

t.test('what cannot be sent fails alone, in either direction', async (t) => {
  const thread = start(t, { maxWaiting: 2 });
  await t.rejects(thread.ask('double', (() => {}) as never), { name: 'DataCloneError' });
  t.equal(thread.waiting, 0, 'it holds no place');
  await t.rejects(thread.ask('unsendable', undefined as never), { name: 'DataCloneError' });
  t.equal(await thread.ask('double', 4), 8);
});

t.test('stopped: what waits fails, and nothing is asked any more', async (t) => {
  const thread = start(t);
  const waiting = thread.ask('hang', undefined as never);
  const failed = t.rejects(waiting, ThreadFailed);
  await thread.stop();
  await failed;
  await t.rejects(thread.ask('double', 1), ThreadFailed);
  await thread.stop();
});

t.test('the checkpointer says when a file cannot be read, and lives on', async (t) => {
  const checkpointer = createCheckpointer();
  t.teardown(() => checkpointer.stop());
  await t.rejects(checkpointer.checkpoint(`${tempFolder(t)}/none.db`));
  await t.rejects(checkpointer.checkpoint(`${tempFolder(t)}/none.db`));
});
