// The secrets that all nodes share: a node with another one does not start, and all of them together change one. With
// processes on a real NATS server, as an operator does it; and two nodes at once.

import t, { type Test } from 'tap';
import { silentLog } from '../../engine/runtime/log.ts';
import {
  areOthersAmong,
  printsOf,
  requireSameSecrets,
  type SecretPrints,
  secretsId,
} from '../../http/cluster/same-secrets.ts';
import type { ClusterStore } from '../../workers/cluster/cluster.ts';
import { logPlace } from '../../workers/cluster/layout.ts';
import { Api, password } from '../support/api.ts';
import { tempFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { openStore, operator, skip, startNats } from '../support/nats.ts';
import { nodeRecord } from '../support/node-record.ts';
import { ServiceProcess } from '../support/process.ts';

// Processes that start one after the other, with time to spare on a busy machine.
t.setTimeout(600_000);

const common = {
  JWT_SECRET: 'j'.repeat(32),
  SECRETS_KEY: 's'.repeat(32),
  CLUSTER_SECRET: 'c'.repeat(32),
};

/** What is recorded. */
async function newest({ logs }: ClusterStore): Promise<unknown[]> {
  const found = [];
  for await (const { bytes } of logs.read(secretsId, 0)) found.push(JSON.parse(Buffer.from(bytes).toString('utf8')));
  return found;
}

t.test('[cluster] a node with another secret does not start', { skip }, async (t) => {
  const nats = await startNats(t);
  const envOf = async (node: string): Promise<Record<string, string>> => {
    const port = await freePort();
    return {
      ...common,
      DATA_DIR: tempFolder(t),
      PORT: `${port}`,
      RATE_LIMITS: 'off',
      CLUSTER_NATS_URL: nats.url,
      CLUSTER_NAME: 'test',
      CLUSTER_NODE: node,
      CLUSTER_NODE_URL: `http://127.0.0.1:${port}`,
      CLUSTER_REPLICAS: '1',
      STORAGE_PROVIDER: 'none',
    };
  };
  const [a, b] = [await envOf('a'), await envOf('b')];
  const starts = (env: Record<string, string>): Promise<ServiceProcess> => ServiceProcess.serving(t, env);
  const isRefused = async (t: Test, env: Record<string, string>, message: RegExp): Promise<void> => {
    const started = ServiceProcess.start(t, env);
    t.match(await started.ended, { code: 1 });
    t.match(started.stderr, message);
    t.notMatch(started.stdout, /listens on/);
  };
  const signIn = async (url: string): Promise<number> =>
    (await new Api(url).post('/auth/login', { email: 'owner@shop.example', password })).status;
  const store = await openStore(t, nats.url);

  const first = await starts(a);
  const shop = await new Api(first.url).workspace('shop');

  await t.test('while another node is there, each of the three is refused, and nothing moves', async (t) => {
    const before = await store.inventory.owners();
    for (const [setting, message] of [
      ['JWT_SECRET', /^switchboard: JWT_SECRET is not the one .* stop every node, and start them with the new one\n$/],
      ['CLUSTER_SECRET', /^switchboard: CLUSTER_SECRET is not the one .* start them with the new one\n$/],
      ['SECRETS_KEY', /^switchboard: SECRETS_KEY is not the one .* set it as it is on the other nodes\n$/],
    ] as const)
      await isRefused(t, { ...b, [setting]: 'x'.repeat(32) }, message);
    t.same(await store.inventory.owners(), before);
    t.equal(await store.nodes.of('b'), undefined, 'it says that it is gone');
    t.equal((await new Api(first.url).get('/me', shop.token)).status, 200, 'tokens count');
  });

  await t.test('a cluster of an earlier version has its keys in the directory alone', async (t) => {
    const { jsm } = await operator(t, nats.url);
    const { stream, subject } = logPlace({ name: 'test', replicas: 1 }, secretsId);
    await jsm.streams.purge(stream, { filter: subject });
    await isRefused(t, { ...b, JWT_SECRET: 'x'.repeat(32) }, /^switchboard: JWT_SECRET is not the one/);
    t.equal((await newest(store)).length, 0, 'a node that is refused records nothing');
  });

  await t.test('with the same ones it starts', async (t) => {
    const second = await starts(b);
    t.same(await newest(store), [printsOf(common, 'test')]);
    t.equal((await new Api(second.url).get('/me', shop.token)).status, 200);
    t.match(await second.kill('SIGTERM'), { code: 0 });
  });
  t.match(await first.kill('SIGTERM'), { code: 0 });

  await t.test('once every node is stopped, the first one to start sets what the others must have', async (t) => {
    await isRefused(t, { ...a, SECRETS_KEY: 'x'.repeat(32) }, /^switchboard: SECRETS_KEY is not the one/);
    const changed = { JWT_SECRET: 'J'.repeat(32), CLUSTER_SECRET: 'C'.repeat(32) };
    const one = await starts({ ...a, ...changed });
    await one.line(/secrets of the cluster have changed/);
    await one.line(/everyone is signed out/);
    await isRefused(t, b, /^switchboard: JWT_SECRET is not the one/);
    await isRefused(t, { ...b, JWT_SECRET: changed.JWT_SECRET }, /^switchboard: CLUSTER_SECRET is not the one/);
    const two = await starts({ ...b, ...changed });
    t.equal((await new Api(two.url).get('/me', shop.token)).status, 401);
    for (const { url } of [one, two]) t.equal(await signIn(url), 200);
    for (const node of [two, one]) await node.kill('SIGTERM');
  });
});

t.test('[cluster] two nodes with different secrets that start together do not both begin', { skip }, async (t) => {
  const nats = await startNats(t);
  const prints = (letter: string): SecretPrints => printsOf({ ...common, JWT_SECRET: letter.repeat(32) }, 'test');
  const begin = async (store: ClusterStore, { node, of }: { node: string; of: SecretPrints }): Promise<boolean> => {
    await store.nodes.renew(nodeRecord(node, { secrets: of }));
    try {
      await requireSameSecrets(
        {
          logs: store.logs,
          log: silentLog,
          prints: of,
          areOthersThere: async () => areOthersAmong((await store.inventory.nodes()).values(), { node, prints: of }),
        },
        { mayBegin: true },
      );
      return true;
    } catch (error) {
      t.match(error, { name: 'ClusterRefused', message: /^JWT_SECRET is not/ });
      return false;
    }
  };
  const stores = await Promise.all(['a', 'b', 'c'].map((node) => openStore(t, nats.url, { node })));
  const [a, b, c] = stores;
  if (a === undefined || b === undefined || c === undefined) throw new Error('there are three');
  await b.nodes.renew(nodeRecord('b'));
  t.equal(await begin(a, { node: 'a', of: prints('-') }), true, 'the first one of this version, beside an earlier one');
  for (let round = 0; round < 5; round += 1) {
    for (const [index, store] of stores.entries()) await store.nodes.leave(nodeRecord('abc'.charAt(index)));
    const begun = await Promise.all([
      begin(a, { node: 'a', of: prints(`${2 * round}`) }),
      begin(b, { node: 'b', of: prints(`${2 * round + 1}`) }),
    ]);
    t.not(begun.filter(Boolean).length, 2, 'never both');
  }
  for (const [index, store] of stores.entries()) await store.nodes.leave(nodeRecord('abc'.charAt(index)));
  const together = await Promise.all([
    begin(a, { node: 'a', of: prints('n') }),
    begin(b, { node: 'b', of: prints('n') }),
    begin(c, { node: 'c', of: prints('n') }),
  ]);
  t.same(together, [true, true, true], 'all with the same new one begin together');
  await c.nodes.leave(nodeRecord('c'));
  await b.nodes.leave(nodeRecord('b'));
  await b.nodes.renew(nodeRecord('b'));
  t.equal(await begin(c, { node: 'c', of: prints('o') }), false, 'one of an earlier version may have others');
  t.equal(await begin(c, { node: 'c', of: prints('n') }), true);
});

t.test('[cluster] a fingerprint says nothing of a secret, and differs from cluster to cluster', async (t) => {
  const prints = printsOf(common, 'one');
  const all = [...Object.values(prints), ...Object.values(printsOf(common, 'two'))];
  t.equal(new Set(all).size, 6);
  for (const print of all) t.match(print, /^[\w-]{22}$/);
  t.same(printsOf({ ...common }, 'one'), prints);
});
