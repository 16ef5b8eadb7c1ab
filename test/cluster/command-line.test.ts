// `switchboard cluster status`, `move` and `drain`, as processes, on a real NATS server with nodes that only answer calls.

import t from 'tap';
import { CallRefused, type NodeRecord, noNodesSchema } from '../../engine/runtime/cluster/ports.ts';
import type { ClusterStore } from '../../workers/cluster/cluster.ts';
import { answerCopies, copiesPerAnswer } from '../../workers/cluster/inventory.ts';
import { CutLink } from '../support/cut-link.ts';
import { openStore, operator, skip, startNats } from '../support/nats.ts';
import { nodeRecord } from '../support/node-record.ts';
import { runCommand } from '../support/process.ts';

const never = new AbortController().signal;
const workspace = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;

t.test('[cluster] the command line', { skip }, async (t) => {
  const server = await startNats(t);
  const env = {
    CLUSTER_NATS_URL: server.url,
    CLUSTER_NAME: 'test',
    CLUSTER_REPLICAS: '1',
    CLUSTER_SECRET: 'c'.repeat(32),
    JWT_SECRET: 'j'.repeat(32),
    SECRETS_KEY: 's'.repeat(32),
    STORAGE_PROVIDER: 'none',
  };
  const run = (...args: string[]) => runCommand(['cluster', ...args], env);

  await t.test('without a cluster, each says so and makes nothing', async (t) => {
    for (const args of [['status'], ['move', workspace(1), 'a'], ['drain', 'a']]) {
      t.match(await runCommand(['cluster', ...args]), { code: 1, stderr: /CLUSTER_NATS_URL is not set/ });
      t.match(await run(...args), { code: 1, stdout: '', stderr: /no node has started with this CLUSTER_NAME/ });
    }
    const { jsm } = await operator(t, server.url);
    t.same((await jsm.getAccountInfo()).streams, 0);
  });

  const open = async (node: string): Promise<{ store: ClusterStore; record: NodeRecord }> => ({
    store: await openStore(t, server.url, { node, leaseMs: 600_000 }),
    record: nodeRecord(node, { url: `http://${node}:8080`, version: '1.2.3' }),
  });
  const a = await open('a');
  const b = await open('b');
  const c = await open('c');
  for (const { store, record } of [a, b, c]) await store.nodes.renew(record);
  const sequences: number[] = [];
  for (const [index, node] of ['a', 'a', 'b', 'gone', 'newer', '-imported'].entries()) {
    const id = workspace(index + 1);
    const entry = { id: 'first', expected: 0, bytes: Buffer.from('x') };
    sequences.push(await a.store.logs.append(id, entry, never));
    await a.store.owners.set(id, { node, epoch: index + 1, schema: node === 'newer' ? 2 : 1, isPinned: false }, 0);
  }
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = sequences;
  const discarded = { node: '-discarded', epoch: 2, schema: noNodesSchema, isPinned: false };
  await a.store.owners.set(workspace(99), discarded, 0);
  const moveTo = async (workspaceId: string, node: string): Promise<void> => {
    const found = await a.store.owners.of(workspaceId);
    if (found === undefined) throw new Error('it has no owner');
    const next = { ...found.ownership, node, epoch: found.ownership.epoch + 1 };
    await a.store.owners.set(workspaceId, next, found.revision);
  };
  const many = new Map(Array.from({ length: copiesPerAnswer + 3 }, (_, index) => [workspace(index + 1), first]));
  const isOwnedAndOld = async (id: string): Promise<boolean> => {
    const ownership = (await a.store.owners.of(id))?.ownership;
    return ownership?.node === 'a' && ownership.schema === 1;
  };
  let isStuck = false;
  const link = await CutLink.start(t, server.port);
  /** How often whoever follows the drain finds no record of the node. */
  let looksWithout = 0;
  a.store.calls.answer({
    copies: async (params) => answerCopies(new Map([[workspace(3), third]]), params),
    move: async (params) => {
      const { workspaceId, node } = params as { workspaceId: string; node: string };
      if (node === 'c') throw new CallRefused('its disk is full');
      if (!isStuck) await moveTo(workspaceId, node);
    },
    drain: async () => {
      if (looksWithout > 0) {
        await a.store.nodes.leave(a.record);
        await link.seen('$KV.test-nodes.', looksWithout);
      }
      await a.store.nodes.renew({ ...a.record, isDraining: true });
      for (const id of [workspace(1), workspace(2)]) if (await isOwnedAndOld(id)) await moveTo(id, 'b');
    },
  });
  b.store.calls.answer({ copies: async (params) => answerCopies(many, params) });

  t.test('status prints nodes, owners and copies, as JSON too', async (t) => {
    const { code, stdout, stderr } = await run('status', '--json');
    t.equal(code, 0);
    t.equal(stderr, 'switchboard: the node c does not answer: its copies are not known\n');
    const node = { version: '1.2.3', isReady: true };
    t.same(JSON.parse(stdout), {
      nodes: [
        { ...node, node: 'a', url: 'http://a:8080', workspaces: 2 },
        { ...node, node: 'b', url: 'http://b:8080', workspaces: 1 },
        { ...node, node: 'c', url: 'http://c:8080', workspaces: 0 },
      ],
      workspaces: [
        ['a', 1, first, { b: first }],
        ['a', 2, second, { b: first }],
        ['b', 3, third, { a: third, b: first }],
        ['gone', 4, fourth, { b: first }],
        ['newer', 5, fifth, { b: first }],
        ['-imported', 6, sixth, { b: first }],
      ].map(([owner, epoch, sequence, copies]) => ({
        workspaceId: workspace(Number(epoch)),
        owner,
        epoch,
        needsNewerNode: owner === 'newer',
        sequence,
        copies: Object.entries(copies ?? {}).map(([name, at]) => ({ node: name, sequence: at })),
      })),
    });
    const words = (await run('status')).stdout;
    t.match(words, /^a +ready +2 +1\.2\.3 +http:\/\/a:8080$/m);
    t.match(words, /^c +does not answer +0 /m);
    t.match(words, new RegExp(`^${workspace(1)} +a +1 +${first} +b up to date$`, 'm'));
    t.match(words, new RegExp(`^${workspace(5)} +newer \\(newer version\\) +5 +${fifth} `, 'm'));
    t.match(words, new RegExp(`^${workspace(6)} +nobody yet +6 +${sixth} `, 'm'));
    t.match(words, /^A newer version has changed 1 workspace, and none of its nodes is there: nobody serves it\./m);
    t.match(words, new RegExp(`^${workspace(4)} +gone \\(not there\\) +4 +${fourth} `, 'm'));
  });

  t.test('copies are asked for in parts', async (t) => {
    const part = answerCopies(many, {});
    t.equal(Object.keys(part).length, copiesPerAnswer);
    const rest = answerCopies(many, { after: Object.keys(part).at(-1) });
    t.equal(Object.keys(rest).length, 3);
    t.same([...Object.keys(part), ...Object.keys(rest)], [...many.keys()]);
    t.same(answerCopies(new Map(), undefined), {});
  });

  t.test('move asks the owner, and says how it ended', async (t) => {
    const id = workspace(1);
    t.same(await run('move', id, 'b'), { code: 0, stdout: `${id} moved from a to b.\n`, stderr: '' });
    t.equal((await a.store.owners.of(id))?.ownership.node, 'b');
    t.match(await run('move', id, 'b'), { code: 0, stdout: `${id} is on b already.\n` });
    await moveTo(id, 'a');
    for (const [args, message] of [
      [[workspace(9), 'b'], /has no workspace with the id/],
      [[id, 'x'], /has no node x now; there are a, b, c/],
      [[id, 'c'], /the node a refused: its disk is full/],
      [[workspace(3), 'a'], /the node b refused: the node b knows no call move/],
      [[workspace(4), 'a'], /its node gone is not there/],
      [[workspace(5), 'a'], /the node a is of version 1\.2\.3, and a newer one has changed/],
    ] as const)
      t.match(await run('move', ...args), { code: 1, stdout: '', stderr: message });
    isStuck = true;
    t.match(await run('move', id, 'b'), { code: 1, stderr: /was not moved: it is on a/ });
    await c.store.nodes.renew({ ...c.record, isReady: false });
    t.match(await run('move', id, 'c'), { code: 1, stderr: /the node c takes no workspaces now/ });
  });

  t.test('drain waits until the node owns nothing', async (t) => {
    t.match(await run('drain', 'x'), { code: 1, stderr: /has no node x now/ });
    t.match(await run('drain', 'c'), { code: 1, stderr: /the node c cannot be asked: the node c is not there/ });
    const found = await a.store.owners.of(workspace(1));
    if (found === undefined) throw new Error('it has no owner');
    const { ownership } = found;
    const changed = await a.store.owners.set(workspace(1), { ...ownership, schema: 2 }, found.revision);
    t.match(await run('drain', 'a'), { code: 1, stderr: /a still owns 1 workspace that no other node could open/ });
    t.match(await run('drain', 'a'), { code: 1, stderr: /no other node could open the workspaces of a: a newer/ });
    await a.store.owners.set(workspace(1), ownership, changed ?? 0);
    t.same(await run('drain', 'a'), {
      code: 0,
      stdout: 'a owns no workspace any more and can be stopped.\n',
      stderr: '',
    });
    t.match((await run('status')).stdout, /^a +drains +0 /m);
    await moveTo(workspace(1), 'a');
    looksWithout = 2;
    const drained = await runCommand(['cluster', 'drain', 'a'], { ...env, CLUSTER_NATS_URL: link.url });
    t.match(drained, { code: 0, stderr: '' }, 'a node whose record was gone for a moment has not left');
    t.match(await run('drain', 'b'), { code: 1, stderr: /no other node could take the workspaces of b/ });
  });
});
