import t, { type Test } from 'tap';
import { createCheckpointer } from '../../workers/checkpointer.ts';
import {
  createThread,
  type Thread,
  ThreadBusy,
  ThreadFailed,
  type ThreadOptions,
  ThreadUnavailable,
} from '../../workers/thread.ts';
import { tempFolder } from '../support/folder.ts';
import type { methods } from '../support/odd-thread.ts';
import { watchThreads } from '../support/threads.ts';

/** A thread of support/odd-thread.ts. */
function start(t: Test, options: Partial<ThreadOptions> = {}): Thread<typeof methods> {
  const thread = createThread<typeof methods>({
    file: 'test/support/odd-thread.ts',
    title: 'odd',
    maxWaiting: 3,
    timeoutMs: 60_000,
    ...options,
  });
  t.teardown(() => thread.stop());
  return thread;
}

t.test('[threads] starts with the first call, and one answers all, now or later', async (t) => {
  const started = watchThreads(t);
  const thread = start(t, { data: { name: 'given' } });
  t.equal(started.length, 0);
  t.same(await Promise.all([thread.call('echo', 'a'), thread.call('later', 'b'), thread.call('echo', 'c')]), [
    'a',
    'b',
    'c',
  ]);
  t.match(await thread.call('self', undefined as never), { data: { name: 'given' } });
  t.equal(started.length, 1);
  t.equal(thread.waiting, 0);
});

t.test("[threads] a method's error arrives, and the thread continues", async (t) => {
  const thread = start(t);
  await t.rejects(thread.call('fail', 'no such range'), { name: 'RangeError', message: 'no such range' });
  t.ok((await thread.call('unavailable', 'not now').catch((error: unknown) => error)) instanceof ThreadUnavailable);
  t.ok(
    (await thread.call('known', 'not now').catch((error: unknown) => error)) instanceof ThreadUnavailable,
    'what it knows as such as well',
  );
  t.equal(await thread.call('echo', 'still here'), 'still here');
});

t.test('[threads] a value that cannot be sent only fails its own call, in either direction', async (t) => {
  const thread = start(t, { maxWaiting: 2 });
  await t.rejects(thread.call('echo', (() => {}) as never), { name: 'DataCloneError' });
  t.equal(thread.waiting, 0, 'it holds no place');
  await t.rejects(thread.call('unsendable', undefined as never), { name: 'DataCloneError' });
  t.equal(await thread.call('echo', 'still here'), 'still here');
});

t.test('[threads] a thread that dies fails pending calls, and the next call starts another', async (t) => {
  const thread = start(t);
  const before = await thread.call('self', undefined as never);
  const failed = await Promise.allSettled([thread.call('die', undefined as never), thread.call('echo', 'unheard')]);
  for (const one of failed) t.ok(one.status === 'rejected' && one.reason instanceof ThreadFailed);
  t.equal(thread.waiting, 0);
  t.not((await thread.call('self', undefined as never)).threadId, before.threadId);
  await t.rejects(thread.call('burst', 'outside of any call'), {
    name: 'ThreadFailed',
    cause: { message: 'outside of any call' },
  });
  t.equal(await thread.call('echo', 'again'), 'again');
});

t.test('[threads] a hanging thread is stopped after its time limit, and every caller gets an error', async (t) => {
  // Long enough to start a thread on a busy machine.
  const thread = start(t, { timeoutMs: 3000 });
  const [stuck, behind] = await Promise.allSettled([
    thread.call('hang', undefined as never),
    thread.call('echo', 'unheard'),
  ]);
  t.match(stuck, { status: 'rejected', reason: { name: 'ThreadFailed', cause: { message: /longer than 3000 ms/ } } });
  t.match(behind, { status: 'rejected', reason: { name: 'ThreadFailed' } });
  t.equal(await thread.call('echo', 'again'), 'again');
});

t.test('[threads] the queue is limited', async (t) => {
  const thread = start(t, { maxWaiting: 3 });
  const waiting = [thread.call('echo', 'a'), thread.call('echo', 'b'), thread.call('echo', 'c')];
  t.equal(thread.waiting, 3);
  t.ok((await thread.call('echo', 'd').catch((error: unknown) => error)) instanceof ThreadBusy);
  t.same(await Promise.all(waiting), ['a', 'b', 'c']);
  t.equal(await thread.call('echo', 'd'), 'd');
});

t.test(
  '[threads] calls that go first go before all that wait, in their order, and have places of their own',
  async (t) => {
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const first = { names: ['later'], maxWaiting: 6 };
    const thread = start(t, { maxWaiting: 5, first, onEvent: () => begin() });
    const order: string[] = [];
    const call = async (name: 'echo' | 'later', text: string): Promise<void> =>
      void order.push(await thread.call(name, text));
    const released = new Int32Array(new SharedArrayBuffer(4));
    const holding = thread.call('hold', released);
    await begun;
    const waiting = ['a', 'b', 'c', 'd'].map((text) => call('echo', text));
    t.ok((await thread.call('echo', 'e').catch((error: unknown) => error)) instanceof ThreadBusy);
    waiting.push(...['1', '2', '3', '4', '5', '6'].map((text) => call('later', text)));
    t.ok((await thread.call('later', '7').catch((error: unknown) => error)) instanceof ThreadBusy);
    t.equal(thread.waiting, 11);
    Atomics.store(released, 0, 1);
    Atomics.notify(released, 0);
    await Promise.all([holding, ...waiting]);
    t.same(order, ['1', '2', '3', '4', 'a', '5', '6', 'b', 'c', 'd'], 'and the others are not left waiting for good');
  },
);

t.test('[threads] a stopped one answers no calls, and can be stopped again', async (t) => {
  const thread = start(t);
  const waiting = thread.call('hang', undefined as never).catch((error: unknown) => error);
  await thread.stop();
  t.ok((await waiting) instanceof ThreadFailed);
  t.ok((await thread.call('echo', 'b').catch((error: unknown) => error)) instanceof ThreadFailed);
  await thread.stop();
});

t.test('[threads] the checkpointer reports an unreadable file, and continues', async (t) => {
  const checkpointer = createCheckpointer();
  t.teardown(() => checkpointer.stop());
  await t.rejects(checkpointer.checkpoint(`${tempFolder(t)}/none.db`, false));
  await t.rejects(checkpointer.checkpoint(`${tempFolder(t)}/none.db`, false));
});

t.test('[threads] one that no one calls ends, and the next call starts another', async (t) => {
  const started = watchThreads(t);
  const thread = start(t, { idleMs: 1 });
  t.equal(await thread.call('echo', 'first'), 'first');
  await new Promise<void>((resolve) => started[0]?.once('exit', () => resolve()));
  t.equal(await thread.call('echo', 'second'), 'second');
  t.equal(started.length, 2);
});

t.test('[threads] one that fills its memory dies without the process', async (t) => {
  const thread = start(t, { heapMb: { old: 32 } });
  t.ok((await thread.call('hoard', undefined as never).catch((error: unknown) => error)) instanceof ThreadFailed);
  t.equal(await thread.call('echo', 'still here'), 'still here');
});

t.test('[threads] what a thread emits by itself arrives, and one that is needed is not stopped', async (t) => {
  const [started, events] = [watchThreads(t), [] as unknown[]];
  let isNeeded = true;
  let ended = 0;
  const thread = start(t, {
    idleMs: 1,
    isNeeded: () => isNeeded,
    onEvent: (event) => void events.push(event),
    onEnd: () => {
      ended += 1;
    },
  });
  await thread.call('emit', 'news');
  t.same(events, ['news']);
  const [worker] = started;
  const exited = new Promise<void>((resolve) => worker?.once('exit', () => resolve()));
  isNeeded = false;
  await thread.call('echo', 'no longer');
  await exited;
  t.equal(ended, 1, 'it is told once that it was stopped');
  await t.rejects(thread.call('die', undefined as never), ThreadFailed);
  t.equal(ended, 2);
  t.equal(started.length, 2);
});
