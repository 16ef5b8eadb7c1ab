// Taking, handing over and dropping, in simulated clusters in which nothing goes wrong but what the test does.

import t from 'tap';
import { leaseMs } from '../../engine/runtime/cluster/lease.ts';
import type { Teardown } from '../support/service.ts';
import type { Reply } from './simulation/sim-node.ts';
import { ClusterSimulation, names, workspaces } from './simulation/simulation.ts';

async function calmCluster(t: Teardown, seed = 1): Promise<ClusterSimulation> {
  const cluster = new ClusterSimulation(seed);
  t.teardown(() => cluster.end());
  await cluster.open();
  cluster.calm();
  await cluster.world.run(20_000);
  return cluster;
}

const ownersOf = ({ servers }: ClusterSimulation): string[] =>
  workspaces.map((workspaceId) => servers.ownerOf(workspaceId)?.ownership.node ?? 'nobody');

/** One client per workspace writes without a pause, each at another node; counts what failed, and the longest pause. */
function write(cluster: ClusterSimulation, asked: readonly string[] = names) {
  const { world } = cluster;
  const result = { done: 0, failed: [] as string[], longestMs: 0 };
  const client = async (workspaceId: string, name: string): Promise<void> => {
    for (;;) {
      const id = `${workspaceId} ${result.done} ${world.nowMs}`;
      const order = { id, kind: 'write' as const };
      cluster.told.ask(workspaceId, order);
      const sentMs = world.nowMs;
      await cluster.ask({ kind: 'command', workspaceId, order }, name).then(
        (reply: Reply) => {
          if (reply.kind === 'done') cluster.told.acknowledge(workspaceId, reply);
          result.done += 1;
        },
        (error: unknown) => result.failed.push(String(error)),
      );
      result.longestMs = Math.max(result.longestMs, world.nowMs - sentMs);
      await world.sleep(50);
    }
  };
  for (const [index, workspaceId] of workspaces.entries()) void client(workspaceId, asked[index % asked.length] ?? '');
  return result;
}

t.test('[cluster ownership] every workspace is where it should be, and one more node keeps a copy', async (t) => {
  const cluster = await calmCluster(t);
  for (const workspaceId of workspaces) {
    const { servers } = cluster;
    const newest = servers.newest(workspaceId);
    const owner = servers.ownerOf(workspaceId)?.ownership.node;
    const copies = names.filter(
      (name) => name !== owner && cluster.nodeOf(name)?.files.sequence(workspaceId) === newest,
    );
    t.equal(copies.length, workspaceId === 'directory' ? 2 : 1, workspaceId);
  }
  t.ok(new Set(ownersOf(cluster)).size > 1);
});

t.test('[cluster ownership] moved by hand, it stays there, and no client sees more than a moment', async (t) => {
  const cluster = await calmCluster(t);
  const writing = write(cluster);
  await cluster.world.run(1000);
  const [before = ''] = ownersOf(cluster);
  const to = names.find((name) => name !== before) ?? '';
  cluster.nodeOf(before)?.move('w1', to);
  await cluster.world.run(20_000);
  t.equal(ownersOf(cluster)[0], to);
  t.same(writing.failed, []);
  t.ok(writing.longestMs < 250, `${writing.longestMs} ms`);
  t.ok(writing.done > 500);
  t.equal(cluster.world.wrong, undefined);
});

t.test(
  '[cluster ownership] a node that stops hands over what it has, and gets its share when it is back',
  async (t) => {
    const cluster = await calmCluster(t);
    const before = ownersOf(cluster);
    const writing = write(cluster, ['bea', 'cleo']);
    await cluster.world.run(1000);
    void cluster.nodeOf('ada')?.stop();
    await cluster.world.run(6000);
    t.equal(cluster.nodeOf('ada'), undefined, 'it has ended');
    t.notOk(ownersOf(cluster).includes('ada'));
    cluster.start('ada');
    await cluster.world.run(20_000);
    t.same(ownersOf(cluster), before);
    t.same(writing.failed, []);
    t.ok(writing.longestMs < 250, `${writing.longestMs} ms`);
    t.equal(cluster.world.wrong, undefined);
  },
);

/** The node that serves the most, and what. */
function busiest(cluster: ClusterSimulation): { name: string; own: string[]; others: string[] } {
  const owners = ownersOf(cluster);
  const of = (name: string): string[] => workspaces.filter((_, index) => owners[index] === name);
  const [name = '', ...others] = names.toSorted((a, b) => of(b).length - of(a).length);
  return { name, own: of(name), others };
}

/** Before a copy on one of the nodes is said to be up to date, `hold` is awaited. */
function holdCopies(
  cluster: ClusterSimulation,
  nodes: readonly string[],
  hold: (workspaceId: string) => Promise<void>,
): void {
  for (const name of nodes) {
    const ownerships = cluster.nodeOf(name)?.ownerships;
    if (ownerships === undefined) throw new Error('it is not there');
    const warm = ownerships.warm.bind(ownerships);
    ownerships.warm = async (workspaceId) => {
      await hold(workspaceId);
      await warm(workspaceId);
    };
  }
}

/** One after another can be handed over, each so much later. */
function slowCopies(cluster: ClusterSimulation, { own, others }: ReturnType<typeof busiest>, everyMs: number): void {
  const { world } = cluster;
  const fromMs = new Map(own.map((workspaceId, index) => [workspaceId, world.nowMs + everyMs * (index + 1)]));
  holdCopies(cluster, others, (workspaceId) =>
    world.nowMs < (fromMs.get(workspaceId) ?? 0) ? Promise.reject(new Error('not yet')) : Promise.resolve(),
  );
}

t.test('[cluster ownership] a node that stops hands over several at once', async (t) => {
  const cluster = await calmCluster(t);
  const { name, own, others } = busiest(cluster);
  let underWay = 0;
  holdCopies(cluster, others, () => {
    underWay += 1;
    return new Promise(() => {});
  });
  void cluster.nodeOf(name)?.stop();
  await cluster.world.run(1000);
  t.ok(own.length > 2);
  t.equal(underWay, own.length);
});

t.test('[cluster ownership] a node that stops goes on for as long as it hands something over', async (t) => {
  const cluster = await calmCluster(t);
  const sharing = busiest(cluster);
  const { name, own, others } = sharing;
  const writing = write(cluster, others);
  slowCopies(cluster, sharing, 2500);
  void cluster.nodeOf(name)?.stop();
  await cluster.world.run(2500 * own.length - 500);
  t.ok(own.length * 2500 > 5000, 'longer than it waits for one');
  t.equal(ownersOf(cluster).filter((owner) => owner === name).length, 1);
  t.ok(cluster.nodeOf(name), 'it waits for the last one');
  await cluster.world.run(3000);
  t.equal(cluster.nodeOf(name), undefined);
  t.notOk(ownersOf(cluster).includes(name));
  t.same(writing.failed, []);
});

t.test('[cluster ownership] a node that stops waits five seconds for what acts outside', async (t) => {
  const cluster = await calmCluster(t);
  const sharing = busiest(cluster);
  const { name, own } = sharing;
  const files = cluster.nodeOf(name)?.files;
  if (files === undefined) throw new Error('it is not there');
  const settle = files.settle.bind(files);
  files.settle = (workspaceId) => (workspaceId === own[0] ? new Promise<void>(() => {}) : settle(workspaceId));
  // The last of the others is handed over when some seconds are gone.
  slowCopies(cluster, sharing, 1000);
  void cluster.nodeOf(name)?.stop();
  await cluster.world.run(4500);
  t.ok(cluster.nodeOf(name));
  t.same(
    own.filter((workspaceId) => cluster.servers.ownerOf(workspaceId)?.ownership.node === name),
    [own[0]],
  );
  await cluster.world.run(2000);
  t.equal(cluster.nodeOf(name), undefined);
});

t.test('[cluster ownership] a node that can hand over nothing stops all the same', async (t) => {
  const cluster = await calmCluster(t);
  const { name, others } = busiest(cluster);
  holdCopies(cluster, others, () => Promise.reject(new Error('its disk is full')));
  void cluster.nodeOf(name)?.stop();
  await cluster.world.run(4500);
  t.ok(cluster.nodeOf(name));
  await cluster.world.run(2000);
  t.equal(cluster.nodeOf(name), undefined);
});

t.test('[cluster ownership] a node that is gone is followed by the others; what they had stays theirs', async (t) => {
  const cluster = await calmCluster(t);
  const before = ownersOf(cluster);
  t.ok(before.includes('ada'));
  cluster.nodeOf('ada')?.end('killed');
  await cluster.world.run(leaseMs - 1000);
  t.same(ownersOf(cluster), before, 'not before its lease has ended');
  await cluster.world.run(3000);
  const after = ownersOf(cluster);
  t.notOk(after.includes('ada'));
  for (const [index, owner] of before.entries()) if (owner !== 'ada') t.equal(after[index], owner);
  const writing = write(cluster, ['bea', 'cleo']);
  await cluster.world.run(2000);
  t.same(writing.failed, []);
});

t.test('[cluster ownership] an owner that is there is left alone, whatever a node has heard of it', async (t) => {
  const cluster = await calmCluster(t);
  const before = workspaces.map((workspaceId) => cluster.servers.ownerOf(workspaceId));
  cluster.servers.nodeChanges.add('ada', undefined);
  await cluster.world.run(20_000);
  t.same(
    workspaces.map((workspaceId) => cluster.servers.ownerOf(workspaceId)),
    before,
  );
});

t.test('[cluster ownership] a file of a newer schema is left alone by older nodes', async (t) => {
  const cluster = await calmCluster(t);
  cluster.nodeOf('ada')?.end('killed');
  await cluster.world.run(15_000);
  cluster.start('ada', { schema: 2 });
  await cluster.world.run(20_000);
  const newer = workspaces.filter((workspaceId) => cluster.servers.ownerOf(workspaceId)?.ownership.node === 'ada');
  t.ok(newer.length > 0, 'the newer node has its share again');
  cluster.nodeOf('ada')?.end('killed');
  await cluster.world.run(30_000);
  for (const workspaceId of newer) {
    t.equal(cluster.servers.ownerOf(workspaceId)?.ownership.schema, 2);
    t.equal(cluster.servers.ownerOf(workspaceId)?.ownership.node, 'ada', 'nobody has taken it');
    await t.rejects(promptly(cluster, workspaceId), { name: 'NotServed', why: /newer version/ });
  }
  cluster.start('ada');
  await cluster.world.run(30_000);
  for (const workspaceId of newer) {
    t.equal(cluster.servers.ownerOf(workspaceId)?.ownership.schema, 2, 'started with an older program, it takes none');
    await t.rejects(promptly(cluster, workspaceId, 'ada'), { name: 'NotServed', why: /newer version/ });
  }
  cluster.nodeOf('bea')?.end('killed');
  await cluster.world.run(15_000);
  cluster.start('bea', { schema: 2 });
  await cluster.world.run(20_000);
  for (const workspaceId of newer) {
    t.equal(cluster.servers.ownerOf(workspaceId)?.ownership.node, 'bea', 'a newer one takes them from it');
    t.equal((await promptly(cluster, workspaceId, 'ada')).kind, 'read', 'and is asked by it');
  }
  cluster.nodeOf('ada')?.end('killed');
  await cluster.world.run(15_000);
  cluster.start('ada', { schema: 2 });
  await cluster.world.run(20_000);
  for (const workspaceId of newer) t.equal((await promptly(cluster, workspaceId)).kind, 'read');
});

t.test('[cluster ownership] a node that is not ready has no workspace, not even what it had before', async (t) => {
  const cluster = await calmCluster(t);
  const before = ownersOf(cluster);
  const writing = write(cluster, ['bea', 'cleo']);
  for (const how of ['stopped', 'killed'] as const) {
    if (how === 'killed') cluster.nodeOf('ada')?.end(how);
    else await Promise.all([cluster.nodeOf('ada')?.stop(), cluster.world.run(6000)]);
    cluster.start('ada', { isReady: false });
    await cluster.world.run(20_000);
    const ada = cluster.nodeOf('ada');
    const held = [...(ada?.ownerships.held() ?? [])].map(([workspaceId]) => workspaceId);
    t.same(
      held.filter((workspaceId) => workspaceId !== 'directory'),
      [],
      how,
    );
    if (how === 'stopped') t.same(writing.failed, []);
    void ada?.ownerships.beReady();
    await cluster.world.run(20_000);
    t.same(ownersOf(cluster), before, 'it gets its share when it is');
  }
});

t.test(
  '[cluster ownership] a copy that cannot follow is tried again, ever more seldom, and nothing else suffers',
  async (t) => {
    const cluster = await calmCluster(t);
    const owner = ownersOf(cluster).at(workspaces.indexOf('directory'));
    const reader = names.find((name) => name !== owner) ?? '';
    const files = cluster.nodeOf(reader)?.files;
    let attempts = 0;
    if (files === undefined) throw new Error('it is not there');
    const apply = files.apply.bind(files);
    files.apply = (workspaceId, entries) => {
      if (workspaceId !== 'directory') return apply(workspaceId, entries);
      attempts += 1;
      return Promise.reject(new Error('it has a format that this version does not know'));
    };
    const writing = write(cluster);
    const minutes = 4;
    await cluster.world.run(minutes * 60_000);
    t.ok(attempts > minutes, 'it is tried');
    t.ok(attempts < minutes * 10, `${attempts} attempts`);
    t.same(writing.failed, []);
  },
);

t.test('[cluster ownership] a node that the log cannot reach answers nothing, and goes on when it can', async (t) => {
  const cluster = await calmCluster(t);
  const [before = ''] = ownersOf(cluster);
  cluster.servers.isElecting = true;
  await cluster.world.run(leaseMs + 2000);
  await t.rejects(promptly(cluster, 'w1', before), { name: 'NotServed' });
  cluster.servers.isElecting = false;
  await cluster.world.run(10_000);
  for (const name of names) t.equal((await promptly(cluster, 'w1', name)).kind, 'read');
});

async function promptly(cluster: ClusterSimulation, workspaceId: string, name = 'bea'): Promise<Reply> {
  const asked = cluster.ask({ kind: 'read', workspaceId }, name);
  asked.catch(() => undefined);
  await cluster.world.run(4000);
  return asked;
}

t.test(
  '[cluster ownership] a workspace that was not made is ended, and one that another node has is not',
  async (t) => {
    const cluster = await calmCluster(t);
    const { name, own } = busiest(cluster);
    const other = names.find((one) => one !== name) ?? '';
    const ownershipsOf = (node: string) => cluster.nodeOf(node)?.ownerships;
    /** Time passes until it is settled. */
    const settled = async (asked: Promise<void> | undefined): Promise<string> => {
      let outcome = '';
      asked?.then(
        () => (outcome = 'done'),
        (error: unknown) => (outcome = String(error)),
      );
      while (outcome === '') await cluster.world.run(100);
      return outcome;
    };
    t.match(await settled(ownershipsOf(other)?.discard(own[0] ?? '')), /its owner is/);
    t.equal(cluster.servers.ownerOf(own[0] ?? '')?.ownership.node, name, 'it goes on');

    t.equal(await settled(ownershipsOf(other)?.discard('never made')), 'done');
    t.equal(await settled(ownershipsOf(other)?.discard('never made')), 'done', 'nor is the second time a failure');
    t.match(await settled(ownershipsOf(name)?.begin('never made')), /could not be taken/, 'its node comes too late');
  },
);
