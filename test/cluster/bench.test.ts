// What `npm run bench -- --only cluster` measures, on one ordinary node: that each figure is there, not how large it is.

import t from 'tap';
import { firstWritesAfter, hopCosts, makeDesk, pausesOf, sendsTo, writesDuring } from '../../bench/cluster.ts';
import { randomFrom } from '../support/seeded.ts';
import { ServiceCluster } from './processes/service-cluster.ts';

// A process that starts twice.
t.setTimeout(300_000);

t.test('[bench] sends, a hop, pauses, writes meanwhile, and the first write after a kill', async (t) => {
  const { nodes } = await ServiceCluster.start(t, {
    nodes: 1,
    nats: 0,
    env: { RATE_LIMITS: 'off', LOG_LEVEL: 'error' },
  });
  const [node] = nodes;
  if (node === undefined) throw new Error('there is no node');
  const desk = await makeDesk(node);
  t.ok((await sendsTo([{ node, desk }], 1)).perSecond > 0);

  const hops = await hopCosts(nodes, { node, desk }, 10);
  t.same(
    hops.map(({ name }) => name),
    ['a read', 'a send'].flatMap((what) =>
      ['p50', 'one hop'].map((figure) => `${what} at another node than the owner's: ${figure}`),
    ),
  );
  t.ok(hops.every(({ value }) => Number.isFinite(value)));

  let times = 0;
  const pauses = await pausesOf(
    { nodes, desk, count: 2, random: randomFrom(1), what: 'of a workspace' },
    async () => async () => {
      times += 1;
      node.pause();
      t.notOk(await node.isReady());
      node.resume();
      await node.ready();
    },
  );
  t.equal(times, 2);
  const [p50, p99, errors] = pauses;
  t.ok((p50?.value ?? 0) > 0 && (p99?.value ?? 0) >= (p50?.value ?? 0));
  t.equal(errors?.value, 0, 'nothing was refused');

  const during = await writesDuring({
    tokens: [desk.token],
    urls: () => [node.url],
    measured: async () => () => true,
    async happen() {
      node.pause();
      t.notOk(await node.isReady());
      node.resume();
      await node.ready();
    },
  });
  const [longestMs = 0, ...more] = during.longestMs;
  t.ok(longestMs > 0 && during.tookMs > 0);
  t.same([more, during.errors], [[], 0]);

  let hasDied = false;
  const [first, ...others] = await firstWritesAfter({
    tokens: [desk.token],
    urls: () => [node.url],
    measured: async () => () => true,
    async fault() {
      await node.kill({ losesData: false });
      node.begin();
      await node.ready();
      hasDied = true;
    },
  });
  t.same([others, hasDied, Number.isFinite(first)], [[], true, true]);
});
