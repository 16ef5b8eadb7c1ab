// Requests that act outside, while their workspace is about to be served by another node.

import t from 'tap';
import { Voided } from '../../engine/runtime/lane.ts';
import { OutsideActs } from '../../engine/runtime/outside-acts.ts';
import { NotServed, ServedElsewhere } from '../../engine/runtime/placement.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** Work that the test ends by hand. */
function work(): { do(): Promise<string>; end(): void; fail(error: Error): void } {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { do: () => promise, end: () => resolve('bought'), fail: reject };
}

/** Whether it is settled by now. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let over = false;
  const note = (): void => void (over = true);
  promise.then(note, note);
  await new Promise((resolve) => setImmediate(resolve));
  return over;
}

t.test('[cluster moves] a workspace leaves when what acts outside for it is over', async (t) => {
  const acts = new OutsideActs(new ManualClock());
  const buying = work();
  const others = work();
  const bought = acts.run('w', buying.do);
  const unconcerned = acts.run('other', others.do);
  const settled = acts.settle('w');
  t.notOk(await isOver(settled));
  buying.end();
  t.equal(await bought, 'bought');
  await settled;
  t.notOk(await isOver(unconcerned), 'other workspaces are not waited for');
  others.end();
  await unconcerned;
});

t.test('[cluster moves] nothing under way: it leaves at once', async () => {
  await new OutsideActs(new ManualClock()).settle('w');
});

t.test('[cluster moves] what begins meanwhile waits, and is sent on before it did anything', async (t) => {
  const acts = new OutsideActs(new ManualClock());
  await acts.settle('w');
  let calls = 0;
  const later = acts.run('w', async () => (calls += 1));
  t.notOk(await isOver(later));
  acts.forget('w');
  await t.rejects(later, ServedElsewhere);
  t.equal(calls, 0);
  t.equal(await acts.run('w', async () => (calls += 1)), 1, 'when it is back, it is as before');
});

t.test(
  '[cluster moves] it waits no longer than a client may, and the workspace no longer than such work may take',
  async (t) => {
    const clock = new ManualClock();
    const acts = new OutsideActs(clock);
    const endless = work();
    const never = acts.run('w', endless.do);
    const settled = acts.settle('w');
    let calls = 0;
    const later = acts.run('w', async () => (calls += 1));
    clock.advance(9_999);
    t.notOk(await isOver(later));
    clock.advance(1);
    t.equal(await later, 1, 'who was first may take much longer, so that it begins here');
    t.notOk(await isOver(settled));
    clock.advance(90_000);
    await settled;
    const tooLate = acts.run('w', async () => (calls += 1));
    tooLate.catch(() => undefined);
    clock.advance(10_000);
    await t.rejects(tooLate, NotServed);
    t.equal(calls, 1);
    endless.fail(new ServedElsewhere('w'));
    await t.rejects(never, Voided);
  },
);

t.test('[cluster moves] who met a move after it began is not sent on, and who was refused is refused', async (t) => {
  const acts = new OutsideActs(new ManualClock());
  await t.rejects(
    acts.run('w', () => Promise.reject(new ServedElsewhere('w'))),
    Voided,
  );
  const refusal = new Error('taken');
  await t.rejects(
    acts.run('w', () => Promise.reject(refusal)),
    refusal,
  );
});

t.test('[cluster moves] a workspace that is lost while it settles is anew what it was when it is back', async (t) => {
  const acts = new OutsideActs(new ManualClock());
  const former = work();
  const present = work();
  const lost = acts.run('w', former.do);
  const settled = acts.settle('w');
  acts.forget('w');
  await settled;
  const again = acts.run('w', present.do);
  former.end();
  await lost;
  const leaves = acts.settle('w');
  t.notOk(await isOver(leaves), 'what the former term began does not count for the present one');
  present.end();
  await again;
  await leaves;
});

t.test('[cluster moves] only so many wait', async (t) => {
  const acts = new OutsideActs(new ManualClock());
  await acts.settle('w');
  const waiting = Array.from({ length: 2000 }, () => acts.run('w', work().do));
  await t.rejects(acts.run('w', work().do), NotServed);
  acts.forget('w');
  const ends = await Promise.allSettled(waiting);
  t.ok(ends.every((end) => end.status === 'rejected' && end.reason instanceof ServedElsewhere));
});
