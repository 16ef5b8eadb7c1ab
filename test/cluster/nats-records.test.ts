// Owners and nodes on a real NATS server: compare-and-set, time to live, and watches that miss nothing.

import t from 'tap';
import type { NodeRecord, OwnerRecord } from '../../engine/runtime/cluster/ports.ts';
import { CutLink } from '../support/cut-link.ts';
import { openStore, operator, skip, startNats } from '../support/nats.ts';

const nodeRecord: NodeRecord = {
  node: 'n1',
  url: 'http://n1',
  version: '1.0.0',
  schema: 74,
  incarnation: 'first',
  isReady: true,
  isDraining: false,
};
const ownership = { node: 'n1', epoch: 1, schema: 74, isPinned: false };
const never = new AbortController().signal;

t.test('[cluster] owners and nodes', { skip }, async (t) => {
  const server = await startNats(t);
  const store = await openStore(t, server.url);
  const other = await openStore(t, server.url, { node: 'node-2' });
  const link = await CutLink.start(t, server.port);
  const cut = await openStore(t, link.url);
  const { jsm } = await operator(t, server.url);

  t.test('an owner is changed by who knows the revision', async (t) => {
    t.equal(await store.owners.of('w1'), undefined);
    const revision = await store.owners.set('w1', ownership, 0);
    t.ok(revision);
    t.same(await other.owners.of('w1'), { ownership, revision });
    const taken = { ...ownership, node: 'n2', epoch: 2 };
    t.equal(await other.owners.set('w1', taken, 0), undefined);
    const next = await other.owners.set('w1', taken, revision ?? 0);
    t.ok(next);
    t.equal(await store.owners.set('w1', { ...ownership, epoch: 2 }, revision ?? 0), undefined);
    t.same(await store.owners.of('w1'), { ownership: taken, revision: next });
  });

  t.test('of many who set at once, one does', async (t) => {
    const tries = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? store : other).owners.set('w2', { ...ownership, node: `n${index}` }, 0),
    );
    t.equal((await Promise.all(tries)).filter((revision) => revision !== undefined).length, 1);
  });

  t.test('an owner who set, and whose answer was lost, is told the revision', async (t) => {
    const lost = link.lose('$KV.test-owners.w3', '"seq":');
    const set = cut.owners.set('w3', ownership, 0);
    await lost;
    t.equal(await set, (await store.owners.of('w3'))?.revision);
  });

  t.test('a watch begins with every record, and misses nothing while it is cut off', async (t) => {
    const enough = new AbortController();
    const changes = cut.owners.watch(enough.signal)[Symbol.asyncIterator]();
    const next = async () => {
      const { workspaceId, record } = (await changes.next()).value as { workspaceId: string; record?: OwnerRecord };
      return { workspaceId, ownership: record?.ownership };
    };
    const listed = [await next(), await next(), await next()].map(({ workspaceId }) => workspaceId);
    t.same(listed.sort(), ['w1', 'w2', 'w3']);
    const revision = await store.owners.set('w4', ownership, 0);
    t.same(await next(), { workspaceId: 'w4', ownership });
    link.cut();
    await store.owners.set('w4', { ...ownership, epoch: 2 }, revision ?? 0);
    // Removed by an operator, without a trace.
    await jsm.streams.purge('KV_test-owners', { filter: '$KV.test-owners.w3' });
    link.mend();
    const missed = [await next(), await next()].sort((a, b) => a.workspaceId.localeCompare(b.workspaceId));
    t.same(missed, [
      { workspaceId: 'w3', ownership: undefined },
      { workspaceId: 'w4', ownership: { ...ownership, epoch: 2 } },
    ]);
    const ending = changes.next();
    enough.abort();
    t.ok((await ending).done);
  });

  t.test('a node is there while it renews, and its end is told', async (t) => {
    const shortLived = await openStore(t, server.url, { leaseMs: 1000 });
    const changes = other.nodes.watch(never)[Symbol.asyncIterator]();
    const next = async () => (await changes.next()).value as { node: string; record: NodeRecord | undefined };
    t.equal(await store.nodes.renew(nodeRecord), true);
    t.same(await next(), { node: 'n1', record: nodeRecord });
    t.equal(await shortLived.nodes.renew({ ...nodeRecord, isDraining: true }), true);
    t.same(await next(), { node: 'n1', record: { ...nodeRecord, isDraining: true } });
    t.same(await next(), { node: 'n1', record: undefined }, 'nobody renewed it');
    t.equal(await other.nodes.of('n1'), undefined);
    t.equal(await shortLived.nodes.renew(nodeRecord), true, 'it comes back');
    t.same(await next(), { node: 'n1', record: nodeRecord });
    t.same(await next(), { node: 'n1', record: undefined });
  });

  t.test('a list has also what is renewed while it is read', async (t) => {
    const servers = await startNats(t);
    const [line, near] = [await CutLink.start(t, servers.port), await openStore(t, servers.url)];
    const far = await openStore(t, line.url);
    const early = { ...nodeRecord, node: 'early' };
    await near.nodes.renew(early);
    await near.nodes.renew(nodeRecord);
    const lost = line.lose('$JS.API.DIRECT.GET.KV_test-nodes', 'Nats-Sequence');
    const listed = far.inventory.nodes();
    await lost;
    await near.nodes.renew(early);
    t.same([...(await listed).keys()].sort(), ['early', 'n1']);
  });

  t.test('a second node of the name is told so, until the first has left', async (t) => {
    const twin = { ...nodeRecord, node: 'n2', incarnation: 'second' };
    const first = { ...nodeRecord, node: 'n2' };
    t.equal(await store.nodes.renew(first), true);
    t.equal(await other.nodes.renew(twin), false);
    await other.nodes.leave(twin);
    t.same(await store.nodes.of('n2'), first, 'the second cannot remove the first');
    t.equal(await store.nodes.renew(first), true);
    const changes = other.nodes.watch(never)[Symbol.asyncIterator]();
    t.same((await changes.next()).value, { node: 'n2', record: first });
    await store.nodes.leave(first);
    t.same((await changes.next()).value, { node: 'n2', record: undefined });
    t.equal(await other.nodes.renew(twin), true);
    t.same((await changes.next()).value, { node: 'n2', record: twin });
  });

  t.test('a renewal whose answer was lost is no second node', async (t) => {
    const record = { ...nodeRecord, node: 'n3' };
    const lost = link.lose('$KV.test-nodes.n3', '"seq":');
    const renewed = cut.nodes.renew(record);
    await lost;
    t.equal(await renewed, true);
    t.equal(await cut.nodes.renew(record), true);
  });
});
