// The lease of one node, over a bucket that the test answers for.

import t from 'tap';
import { Lease, NameTaken } from '../../engine/runtime/cluster/lease.ts';
import { LogFull, type Nodes } from '../../engine/runtime/cluster/ports.ts';
import { silentLog } from '../../engine/runtime/log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { nodeRecord } from '../support/node-record.ts';
import { turns } from '../support/toy.ts';

const record = nodeRecord('ada');

function startLease() {
  const clock = new ManualClock();
  const seen: string[] = [];
  const bucket = { answer: (): Promise<boolean> => Promise.resolve(true), asked: 0 };
  const nodes: Nodes = {
    renew: () => {
      bucket.asked += 1;
      return bucket.answer();
    },
    of: () => Promise.resolve(undefined),
    leave: () => Promise.resolve(void seen.push('left')),
    watch: () => (async function* () {})(),
  };
  const lease = new Lease({
    nodes,
    clock,
    log: silentLog,
    record,
    hooks: { onTerm: () => void seen.push('term'), onReplaced: () => void seen.push('replaced') },
  });
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 500) {
      clock.advance(Math.min(500, left));
      await turns(1);
    }
  };
  return { lease, bucket, pass, taken: () => seen.splice(0) };
}

const unreachable = (): Promise<boolean> => Promise.reject(new Error('nothing answers'));

t.test('[cluster lease] it is believed for 9 of its 10 s, and renewed before', async (t) => {
  const { lease, bucket, pass, taken } = startLease();
  t.notOk(lease.isHeld);
  await lease.start();
  t.ok(lease.isHeld);
  t.same(taken(), ['term']);
  await pass(60_000);
  t.ok(lease.isHeld);
  t.equal(bucket.asked, 25);
  bucket.answer = unreachable;
  await pass(8500);
  t.ok(lease.isHeld);
  await pass(500);
  t.notOk(lease.isHeld);
  t.equal(lease.term, 1);
  bucket.answer = () => Promise.resolve(true);
  await pass(2500);
  t.ok(lease.isHeld);
  t.equal(lease.term, 2, 'what was served before must be taken again');
  t.same(taken(), ['term']);
  await lease.leave();
});

t.test('[cluster lease] it counts from when it was asked for, not from the answer', async (t) => {
  const { lease, bucket, pass } = startLease();
  await lease.start();
  let answer: (isMine: boolean) => void = () => {};
  bucket.answer = () => new Promise((resolve) => (answer = resolve));
  await pass(2500 + 8000);
  t.notOk(lease.isHeld);
  answer(true);
  await turns(1);
  t.ok(lease.isHeld);
  t.equal(lease.term, 2);
  await pass(1000);
  t.notOk(lease.isHeld);
  await lease.leave();
});

t.test('[cluster lease] a node that was killed comes back when its old lease has ended', async (t) => {
  const { lease, bucket, pass } = startLease();
  bucket.answer = () => Promise.resolve(false);
  const started = lease.start();
  await pass(10_000);
  t.notOk(lease.isHeld);
  bucket.answer = () => Promise.resolve(true);
  await pass(2500);
  await started;
  t.ok(lease.isHeld);
  await lease.leave();
});

t.test('[cluster lease] a start waits for half a minute and says what NATS said last', async (t) => {
  const { lease, bucket, pass, taken } = startLease();
  bucket.answer = () => Promise.reject(new LogFull('NATS is full'));
  let isOver = false;
  const started = t.rejects(
    lease.start().finally(() => (isOver = true)),
    { name: 'LogFull', message: 'NATS is full' },
  );
  await pass(30_000);
  t.notOk(isOver);
  await pass(2500);
  await started;
  t.same(taken(), []);
});

t.test('[cluster lease] a start goes on once there is room', async (t) => {
  const { lease, bucket, pass, taken } = startLease();
  bucket.answer = unreachable;
  const started = lease.start();
  await pass(25_000);
  bucket.answer = () => Promise.resolve(true);
  await pass(2500);
  await started;
  t.same(taken(), ['term']);
  await lease.leave();
});

t.test('[cluster lease] the second node of a name stops, and says so', async (t) => {
  const { lease, bucket, pass } = startLease();
  bucket.answer = () => Promise.resolve(false);
  const started = t.rejects(lease.start(), NameTaken);
  await pass(20_000);
  await started;
});

t.test('[cluster lease] a node whose name was taken while it was away stops', async (t) => {
  const { lease, bucket, pass, taken } = startLease();
  await lease.start();
  bucket.answer = () => Promise.resolve(false);
  await pass(2500);
  t.same(taken(), ['term', 'replaced']);
  t.notOk(lease.isHeld);
});
