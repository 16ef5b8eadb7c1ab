// A cluster of three NATS servers, of which one dies: appends go on after the election, nothing acknowledged is lost, and
// whoever watches misses nothing.

import { randomUUID } from 'node:crypto';
import t from 'tap';
import { Fenced } from '../../engine/runtime/cluster/ports.ts';
import { logPlace } from '../../workers/cluster/layout.ts';
import { openStore, operator, skip, startCluster } from '../support/nats.ts';

t.test('[cluster] a NATS server that leads dies', { skip }, async (t) => {
  const servers = await startCluster(t, 3);
  const url = servers.map((server) => server.url).join(',');
  const store = await openStore(t, url, { replicas: 3 });
  const never = new AbortController().signal;
  const record = {
    node: 'n',
    url: 'http://n',
    version: '1',
    schema: 1,
    incarnation: 'i',
    isReady: true,
    isDraining: false,
  };
  let last = 0;
  const acknowledged: string[] = [];
  const append = async (text: string): Promise<void> => {
    const entry = { id: randomUUID(), expected: last, bytes: Buffer.from(text) };
    last = await store.logs.append('w', entry, never);
    acknowledged.push(text);
  };
  for (let index = 0; index < 20; index += 1) await append(`before ${index}`);

  const other = await openStore(t, url, { replicas: 3, node: 'node-2' });
  let contested = 0;
  for (let round = 0; round < 100; round += 1) {
    const entry = (id: string) => ({ id: `${round} ${id}`, expected: contested, bytes: Buffer.from(id) });
    const outcomes = await Promise.allSettled([
      store.logs.append('contested', entry('a'), never),
      other.logs.append('contested', entry('b'), never),
    ]);
    const won = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const isFenced = outcomes.some((one) => one.status === 'rejected' && one.reason instanceof Fenced);
    if (won.length !== 1 || !isFenced) t.fail(`round ${round}`, { outcomes });
    contested = won[0] ?? contested;
  }

  const changes = store.owners.watch(never)[Symbol.asyncIterator]();
  const ownership = { node: 'n', epoch: 1, schema: 1, isPinned: false };
  const revision = await store.owners.set('w', ownership, 0);
  t.same((await changes.next()).value, { workspaceId: 'w', record: { ownership, revision } });
  t.ok(await store.nodes.renew(record));

  const { jsm } = await operator(t, url.split(',')[1] ?? '');
  const { cluster } = await jsm.streams.info(logPlace({ name: 'test', replicas: 3 }, 'w').stream);
  const leader = servers.find((server) => server.name === cluster?.leader);
  t.ok(leader, 'the stream has a leader');
  const underWay = append('while it dies');
  await leader?.kill();
  await underWay;
  for (let index = 0; index < 20; index += 1) await append(`after ${index}`);

  const texts: string[] = [];
  for await (const { bytes } of store.logs.read('w', 0)) texts.push(Buffer.from(bytes).toString());
  t.same(texts, acknowledged);
  const outdated = store.logs.append('w', { id: randomUUID(), expected: 0, bytes: Buffer.from('x') }, never);
  await t.rejects(outdated, Fenced);

  const second = { ...ownership, epoch: 2 };
  const changed = await store.owners.set('w', second, revision ?? 0);
  t.same((await changes.next()).value, { workspaceId: 'w', record: { ownership: second, revision: changed } });
  t.ok(await store.nodes.renew({ ...record, isDraining: true }));
  t.match(await store.nodes.of('n'), { isDraining: true });

  await leader?.begin();
  await append('with all three again');
});
