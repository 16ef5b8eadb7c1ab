// Nodes of two versions of the program in one cluster, with clients at all of them: an upgrade of one node after the
// other, what older nodes do with what a newer one has migrated, and the way back.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { type Answer, Api, callApi, password, type Workspace } from '../support/api.ts';
import { skip } from '../support/nats.ts';
import { newerProgram, newerVersion } from './processes/newer-program.ts';
import { type ClusterStatus, ServiceCluster } from './processes/service-cluster.ts';
import type { ServiceNode } from './processes/service-node.ts';

// Processes that start and come back, with time to spare on a busy machine.
t.setTimeout(900_000);

const shopCount = 4;
const thinkMs = 50;
const pollMs = 100;
const answerMs = 60_000;
const patienceMs = 240_000;
const newerText = /^A newer version of this service has upgraded this, and none of its nodes is running/;

interface Shop extends Workspace {
  readonly chatId: string;
  readonly email: string;
  readonly acknowledged: Set<string>;
}

/** One writer per workspace and node, who goes to the next node when its own is not there. */
class Writers {
  /** Answers other than success, with how often they came. */
  readonly refused = new Map<string, number>();
  readonly #nodes: readonly ServiceNode[];
  readonly #working: Promise<void>[];
  #isOver = false;

  constructor(nodes: readonly ServiceNode[], shops: readonly Shop[]) {
    this.#nodes = nodes;
    this.#working = shops.flatMap((shop) => nodes.map((_, door) => this.#write(shop, door)));
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#working);
  }

  async #write(shop: Shop, preferred: number): Promise<void> {
    while (!this.#isOver) {
      const text = randomUUID();
      for (let door = preferred; !this.#isOver; door += 1) {
        const answer = await this.#send(shop, { text, door });
        if (answer?.status === 201) {
          shop.acknowledged.add(text);
          break;
        }
        if (answer !== undefined) {
          const what = `${answer.status} ${answer.body?.message}`;
          this.refused.set(what, (this.refused.get(what) ?? 0) + 1);
        }
        await pause(thinkMs);
      }
      await pause(thinkMs);
    }
  }

  /** Undefined if the node is not there, or went while it was asked: the message is sent again under its id. */
  async #send(shop: Shop, { text, door }: { text: string; door: number }): Promise<Answer | undefined> {
    const node = this.#nodes[door % this.#nodes.length];
    if (node?.isUp !== true) return undefined;
    const body = { body: text, messageId: text };
    return callApi(node.url, 'POST', `/conversations/${shop.chatId}/messages`, { body, token: shop.token }).catch(
      () => undefined,
    );
  }
}

async function openShop({ url }: ServiceNode, index: number): Promise<Shop> {
  const api = new Api(url);
  const workspace = await api.workspace(`shop-${index}`);
  const { conversationId } = await api.chat(workspace.embedId, 'Hello');
  return { ...workspace, chatId: conversationId, email: `owner@shop-${index}.example`, acknowledged: new Set() };
}

async function until<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    if (performance.now() > untilMs) throw new Error(`it took too long until ${what}`);
    await pause(pollMs);
  }
}

function ask({ url }: ServiceNode, shop: Shop): Promise<Answer> {
  return callApi(url, 'GET', '/conversations/queue', { token: shop.token, signal: AbortSignal.timeout(answerMs) });
}

/** What the node answers for the shop once that is this status. */
function answered(node: ServiceNode, shop: Shop, status: number, text = /./): Promise<Answer> {
  return until(`${node.name} answers ${status}`, async () => {
    const answer = await ask(node, shop);
    return answer.status === status && (status === 200 || text.test(answer.body.message)) ? answer : undefined;
  });
}

async function replace(node: ServiceNode, program?: string): Promise<void> {
  await node.stop();
  node.begin(program);
  await node.ready();
}

const ownerIn = ({ workspaces }: ClusterStatus, { workspaceId }: Pick<Shop, 'workspaceId'>) =>
  workspaces.find((one) => one.workspaceId === workspaceId);

/** Every node has everything that was acknowledged, once. */
async function requireWhole(
  t: Pick<typeof import('tap').default, 'same' | 'equal'>,
  nodes: readonly ServiceNode[],
  shops: readonly Shop[],
): Promise<void> {
  for (const node of nodes)
    for (const shop of shops) {
      await answered(node, shop, 200);
      // Writers go on.
      const acknowledged = [...shop.acknowledged];
      const held = (await new Api(node.url).messages(shop.chatId, shop.token)).map(({ body }) => body);
      t.same(
        acknowledged.filter((text) => !held.includes(text)),
        [],
        `lost at ${node.name}`,
      );
      t.equal(new Set(held).size, held.length, `none is there twice at ${node.name}`);
    }
}

/** Moves it there, unless it is there. Tries again while it is on its way to another. */
async function moveTo(cluster: ServiceCluster, workspaceId: string, { name }: ServiceNode): Promise<void> {
  await until(`${workspaceId} is on ${name}`, () =>
    cluster.operate(['move', workspaceId, name]).catch((error: Error) => {
      if (/Try again|another takes|refused/.test(error.message)) return undefined;
      throw error;
    }),
  );
}

t.test('[cluster] nodes of two versions, an upgrade of one after the other, and the way back', { skip }, async (t) => {
  const env = { RATE_LIMITS: 'off', DISK_RESERVE_BYTES: '0', EMBEDDING_MODEL: 'none' };
  const cluster = await ServiceCluster.start(t, { nodes: 3, nats: 1, env });
  const [first, second, third] = cluster.nodes as [ServiceNode, ServiceNode, ServiceNode];
  const nodes = [first, second, third];
  const shops = await Promise.all(
    Array.from({ length: shopCount }, (_, index) => openShop(nodes[index % nodes.length] ?? first, index)),
  );
  const [ahead, behind] = shops as [Shop, Shop];
  const newer = newerProgram(t);
  const writers = new Writers(nodes, shops);
  t.teardown(() => writers.end());
  const hasLogged = (node: ServiceNode, text: string): Promise<unknown> =>
    until(`${node.name} logs ${text}`, async () => node.log.includes(text) || undefined);

  await t.test('a newer node beside two older ones takes its share and migrates it', async (t) => {
    await moveTo(cluster, behind.workspaceId, second);
    await replace(first, newer);
    await moveTo(cluster, ahead.workspaceId, first);
    await moveTo(cluster, 'directory', first);
    for (const node of nodes) for (const shop of shops) await answered(node, shop, 200);
    const status = await cluster.status();
    t.equal(status.nodes.filter(({ version }) => version === newerVersion).length, 1);
    t.match(ownerIn(status, ahead), { owner: first.name, needsNewerNode: false });
    t.same(ownerIn(status, ahead)?.copies, [], 'no older node keeps a copy that it could not open');
    for (const [index, { url }] of nodes.entries()) {
      const made = await new Api(url).workspace(`new-${index}`);
      t.ok(made.token, 'each asks the newer directory for a change');
      const { status: signedIn } = await new Api(url).post('/auth/login', { email: ahead.email, password });
      t.equal(signedIn, 200, 'and reads its copy of it');
    }
  });

  await t.test('what it has migrated cannot be moved to an older node', async (t) => {
    await t.rejects(cluster.operate(['move', ahead.workspaceId, second.name]), {
      message: /the node node-2 is of version .*, and a newer one has changed/,
    });
    t.equal(ownerIn(await cluster.status(), ahead)?.owner, first.name);
  });

  await t.test('when it is gone, older nodes leave that alone and say why', async (t) => {
    await first.kill({ losesData: false });
    for (const node of [second, third]) {
      const { headers } = await answered(node, ahead, 503, newerText);
      t.ok(Number(headers.get('retry-after')) > 0);
      await answered(node, behind, 200);
      await hasLogged(node, 'a newer version has changed these workspaces and none of its nodes is there');
      const registered = await new Api(node.url).post('/auth/register', {
        email: `late@${node.name}.example`,
        password,
        workspaceName: 'Late',
        siteUrl: 'https://late.example',
      });
      t.match(registered, { status: 503, body: { message: newerText } }, 'nor is the directory changed');
    }
    const status = await cluster.status();
    t.match(ownerIn(status, ahead), { owner: first.name, needsNewerNode: true });
    t.match(await cluster.operate(['status']), /node-1 \(newer version\)[^]*Start a node of that version/);
    await t.rejects(cluster.operate(['move', ahead.workspaceId, second.name]), { message: /a newer one has changed/ });
    first.begin();
    await first.ready();
    await answered(first, ahead, 503, newerText);
    t.equal(
      ownerIn(await cluster.status(), ahead)?.epoch,
      ownerIn(status, ahead)?.epoch,
      'nor does it under its own name with the older program',
    );
  });

  await t.test('another newer node serves it again, and the rest is upgraded', async (t) => {
    await replace(third, newer);
    for (const node of nodes) await answered(node, ahead, 200);
    t.equal(ownerIn(await cluster.status(), ahead)?.owner, third.name);
    await replace(first, newer);
    await replace(second, newer);
    const status = await cluster.status();
    t.same([...new Set(status.nodes.map(({ version }) => version))], [newerVersion]);
    await requireWhole(t, nodes, shops);
  });

  await t.test('older nodes alone answer nothing of it, and change nothing', async (t) => {
    for (const node of nodes) await node.stop();
    for (const node of nodes) node.begin();
    for (const node of nodes) await node.ready();
    for (const node of nodes) for (const shop of shops) await answered(node, shop, 503, newerText);
    for (const node of nodes) await node.stop();
    for (const node of nodes) node.begin(newer);
    for (const node of nodes) await node.ready();
    for (const shop of shops) await answered(first, shop, 200);
    await writers.end();
    for (const { acknowledged } of shops) t.ok(acknowledged.size > 0);
    await requireWhole(t, nodes, shops);
    for (const what of writers.refused.keys()) t.match(what, /^503 /);
  });
});
