// Mail by SMTP at any node of a cluster: it arrives once, at the node that serves its recipient, and has one reply.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { markOf } from '../../http/cluster/mark.ts';
import { bucketSettings, startBucket } from '../support/bucket.ts';
import { knownTo, startNode, workspaceAt } from '../support/cluster-nodes.ts';
import { sendRaw } from '../support/mail-servers.ts';
import { skip, startNats } from '../support/nats.ts';
import { NodeDoor } from '../support/node-door.ts';
import { rawRequest } from '../support/raw-http.ts';
import type { Person, Service, Teardown } from '../support/service.ts';

const host = 'mail.switchboard.test';

interface Shop extends Person {
  readonly node: Service;
  readonly address: string;
}

/** Two nodes, the second behind a door, and a workspace at each. */
async function start(t: Teardown): Promise<{ first: Service; second: Service; shops: [Shop, Shop]; door: NodeDoor }> {
  const nats = await startNats(t);
  const env = { RATE_LIMITS: 'off', MAIL_HOST: host, SMTP_LISTEN: '127.0.0.1:0', DNS_SERVERS: '127.0.0.1:9' };
  const settings = { ...env, ...bucketSettings(await startBucket(t)) };
  const door = new NodeDoor();
  const url = await door.start(t);
  const first = await startNode(t, nats, { node: 'first', env: settings });
  const second = await startNode(t, nats, { node: 'second', env: { ...settings, CLUSTER_NODE_URL: url } });
  door.port = Number(new URL(second.url).port);
  const shops: [Shop, Shop] = [await shopAt(first, 'first'), await shopAt(second, 'second')];
  await knownTo(
    [first, second],
    shops.map(({ workspaceId }) => workspaceId),
  );
  return { first, second, shops, door };
}

async function shopAt(node: Service, name: string): Promise<Shop> {
  const owner = await workspaceAt(node, name, ['first', 'second']);
  const { address } = await node.mailbox(owner);
  return { ...owner, node, address };
}

/** The node's reply. */
function send(
  node: Service,
  { to, id, body = 'Hello' }: { to: string | string[]; id: string; body?: string },
): Promise<string> {
  const head = `From: carla@customer.example\r\nSubject: About ${id}\r\nMessage-ID: <${id}@customer.example>\r\n`;
  const isWhole = body.startsWith('MIME-Version');
  return sendRaw(node.running.smtpPort ?? 0, {
    from: 'carla@customer.example',
    to,
    raw: isWhole ? head + body : `${head}\r\n${body}\r\n`,
  }).catch((error: Error) => error.message);
}

async function subjectsOf({ node, token }: Shop): Promise<string[]> {
  return (await node.tickets(token)).map(({ subject }: { subject: string }) => subject).sort();
}

function leftBy(node: Service): string[] {
  const entries = readdirSync(node.dataDir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && entry.name.startsWith('incoming'))
    .flatMap(({ name }) => readdirSync(join(node.dataDir, name)));
}

t.test('[4.20, cluster] mail arrives once, at whichever node', { skip }, async (t) => {
  const { first, second, shops } = await start(t);
  const [near, far] = shops;
  for (const shop of shops)
    for (const [name, node] of Object.entries({ first, second }))
      t.match(await send(node, { to: shop.address, id: `by-${name}` }), /^250/, `at the ${name}`);
  for (const [name, node] of Object.entries({ first, second })) {
    const both = { to: [near.address, far.address], id: `both-${name}` };
    t.match(await send(node, both), /^250/, 'for both');
    t.match(await send(node, both), /^250/, 'which is sent again');
    t.match(await send(node === first ? second : first, both), /^250/, 'and at the other node, too');
  }
  const subjects = ['About both-first', 'About both-second', 'About by-first', 'About by-second'];
  for (const shop of shops) t.same(await subjectsOf(shop), subjects);

  const size = 12 * 1024 * 1024;
  const lines = Buffer.alloc(size, 'a picture of a cup, ').toString('base64').replaceAll(/.{76}/g, '$&\r\n');
  const large = [
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    '',
    'See the file.',
    '--b',
    'Content-Type: text/plain; name=cup.txt',
    'Content-Disposition: attachment; filename=cup.txt',
    'Content-Transfer-Encoding: base64',
    '',
    lines,
    '--b--',
    '',
  ].join('\r\n');
  t.match(await send(first, { to: far.address, id: 'large', body: large }), /^250/);
  const ticket = (await second.tickets(far.token)).find(({ subject }) => subject === 'About large');
  const [message] = await second.messages(ticket.id, far.token);
  t.match(message, { body: 'See the file.', attachments: [{ name: 'cup.txt', size }] });
  for (const node of [first, second]) t.same(leftBy(node), [], 'no file is left');
});

t.test('[4.20, cluster] recipients that do not exist, and returned mails', { skip }, async (t) => {
  const { first, second, shops } = await start(t);
  const [near, far] = shops;
  const nobody = far.address.replace(/^(.*)@/, 'nobody@$1.');
  t.match(await send(second, { to: nobody, id: 'none' }), /550/, 'at once by its own node');
  t.match(await send(first, { to: nobody, id: 'none' }), /554.*no such address/, 'in the end by another');
  t.match(await send(first, { to: `unknown@${host}`, id: 'none' }), /550/, 'at once, of no workspace');
  const some = { to: [near.address, far.address, nobody], id: 'some' };
  t.match(await send(first, some), /451/, 'not yet for those that exist');
  t.match(await send(first, some), /^250/, 'when it comes again, only they are taken');
  for (const shop of shops) t.same(await subjectsOf(shop), ['About some'], 'and have it once');

  const keptBy = (node: Service): number =>
    readdirSync(node.dataDir).includes('operator-mail') ? readdirSync(join(node.dataDir, 'operator-mail')).length : 0;
  t.match(await send(first, { to: `postmaster@${host}`, id: 'operator' }), /^250/);
  t.same([keptBy(first), keptBy(second)], [1, 0], "the operator's stays where it arrived");
  t.match(await send(first, { to: `switchboard+${far.workspaceId}@${host}`, id: 'returned' }), /^250/);
  t.same([keptBy(first), keptBy(second)], [1, 1], 'what seems returned goes to the node of its workspace');
  t.match(await send(first, { to: `switchboard+${crypto.randomUUID()}@${host}`, id: 'returned' }), /^250/);
  t.same([keptBy(first), keptBy(second)], [2, 1], 'that of no workspace stays');
});

t.test('[4.20, cluster] a node that cannot be reached: later, then taken', { skip }, async (t) => {
  const { first, shops, door } = await start(t);
  const [near, far] = shops;
  const both = { to: [near.address, far.address], id: 'both' };
  door.close();
  t.match(await send(first, both), /451/);
  t.match(await send(first, { to: near.address, id: 'near' }), /^250/, 'others do not wait for it');
  door.isOpen = true;
  t.match(await send(first, both), /^250/);
  t.same(await subjectsOf(near), ['About both', 'About near']);
  t.same(await subjectsOf(far), ['About both']);
});

t.test('[4.20, cluster] only a node hands over mail', { skip }, async (t) => {
  const { second, shops } = await start(t);
  const [, far] = shops;
  const target = '/node/mail';
  const envelope = { remoteAddress: '192.0.2.1', helo: 'a', sender: 'carla@customer.example', receiver: host };
  const body = `${JSON.stringify({ recipients: [far.address], envelope })}\nFrom: carla@customer.example\r\nSubject: Forged\r\n\r\nHello\r\n`;
  const facts = { ip: '192.0.2.1', host: '' };
  const ask = (mark?: string, method = 'POST') =>
    rawRequest(second.url, {
      method,
      path: target,
      body,
      headers: mark === undefined ? {} : { 'Switchboard-Node': mark },
    });
  t.equal((await ask()).status, 404, 'without a mark there is nothing');
  t.equal((await ask(undefined, 'PUT')).status, 404);
  const signed = (secret: string) => markOf({ method: 'POST', target }, facts, { secret, nowMs: Date.now() });
  t.match(await ask(signed('x'.repeat(32))), { status: 401, headers: { 'switchboard-node': 'refused' } });
  t.equal((await ask('anything')).status, 401);
  t.same(await subjectsOf(far), []);
  const { secret = '' } = second.running.services.config.cluster ?? {};
  t.match(await ask(signed(secret)), { status: 200, body: { unknown: [] } }, 'with the right mark it is taken');
  t.same(await subjectsOf(far), ['Forged']);
  const { body: document } = await second.get('/openapi.json');
  t.notOk(JSON.stringify(document).includes(target), 'no document names it');
});
