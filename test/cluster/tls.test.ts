// A cluster whose every connection is over TLS: to NATS, which lets nodes in by a credentials file, and from node to node,
// where a proxy in front of each node ends it. Certificates are of authorities that only the settings name.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { inLine } from '../../engine/runtime/cluster/sharing.ts';
import { silentLog } from '../../engine/runtime/log.ts';
import { makeCertificate, noOpenssl } from '../support/certificates.ts';
import { startNode } from '../support/cluster-nodes.ts';
import { tempFolder } from '../support/folder.ts';
import { sendRaw } from '../support/mail-servers.ts';
import { skip as noNats, startNats } from '../support/nats.ts';
import { makeAccounts } from '../support/nats-accounts.ts';
import { NodeDoor } from '../support/node-door.ts';
import { nodeRecord } from '../support/node-record.ts';
import type { Service, StartOptions, Teardown } from '../support/service.ts';

const skip = noNats || noOpenssl;
const host = 'mail.switchboard.test';
const pauseMs = 20;

interface Secured {
  readonly url: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly ofNodes: { readonly cert: string; readonly key: string };
  readonly folder: string;
}

/** A NATS that speaks TLS alone, and what a node needs to come in. */
async function startSecured(t: Teardown): Promise<Secured> {
  const folder = tempFolder(t);
  const [ofNats, ofNodes] = ['nats', 'nodes'].map((name) => makeCertificate(folder, name, { host: 'IP:127.0.0.1' }));
  if (ofNats === undefined || ofNodes === undefined) throw new Error('there is no certificate');
  const accounts = makeAccounts();
  const creds = join(folder, 'nodes.creds');
  writeFileSync(creds, accounts.creds);
  const { port } = await startNats(t, {
    config: `${accounts.config}\ntls { cert_file: "${ofNats.cert}", key_file: "${ofNats.key}" }`,
  });
  const settings = {
    CLUSTER_NATS_CREDS: creds,
    CLUSTER_NATS_CA_FILE: ofNats.cert,
    CLUSTER_CA_FILE: ofNodes.cert,
    RATE_LIMITS: 'off',
    MAIL_HOST: host,
    SMTP_LISTEN: '127.0.0.1:0',
    DNS_SERVERS: '127.0.0.1:9',
  };
  return { url: `tls://127.0.0.1:${port}`, settings, ofNodes, folder };
}

async function startBehindProxy(
  t: Teardown,
  { url, settings, ofNodes }: Secured,
  { env, ...options }: StartOptions & { node: string },
): Promise<{ node: Service; proxy: NodeDoor }> {
  const proxy = new NodeDoor(ofNodes);
  const behind = { ...settings, CLUSTER_NODE_URL: await proxy.start(t), ...env };
  const node = await startNode(t, { url }, { ...options, env: behind });
  proxy.port = Number(new URL(node.url).port);
  return { node, proxy };
}

type Owner = Awaited<ReturnType<Service['workspace']>>;

/** A workspace that stays at the node of this name. */
async function shopAt(node: Service, name: string): Promise<Owner> {
  const records = ['first', 'second'].map((one) => nodeRecord(one));
  for (;;) {
    const owner = await node.workspace({ available: true, assignOnReply: true });
    if (inLine(owner.workspaceId, records)[0]?.node === name) return owner;
  }
}

/** Asks again while it is 503, as clients do. */
async function patiently<Answer extends { readonly status: number }>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

t.test('[cluster] requests, sockets, mail and copies go over TLS', { skip }, async (t) => {
  const secured = await startSecured(t);
  const first = await startBehindProxy(t, secured, { node: 'first' });
  const second = await startBehindProxy(t, secured, { node: 'second' });
  const owner = await shopAt(second.node, 'second');
  const { address } = await second.node.mailbox(owner);
  const { id, customer } = await second.node.chat(owner, 'Hello');
  const entry = first.node;

  const agent = await entry.agentSocket(owner.token);
  const visitor = await entry.visitorSocket(customer.token);
  const body = 'x'.repeat(2000);
  t.equal((await entry.post(`/conversations/${id}/messages`, { body }, owner.token)).status, 201);
  t.equal((await visitor.next('message.created')).data['message']?.body, body, 'to a customer’s socket elsewhere');
  t.equal((await agent.next('message.created')).data['message']?.body, body, 'and to an agent’s');
  const called = await agent.call('message.send', { conversationId: id, body: 'By a socket' });
  t.equal(called.status, 201);
  const attached = Buffer.alloc(1_500_000, 'picture').toString('base64');
  const raw = [
    'From: carla@customer.example',
    'Subject: Over TLS',
    'Message-ID: <over-tls@customer.example>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    '',
    'Hello',
    '--b',
    'Content-Type: application/octet-stream; name=a.bin',
    'Content-Transfer-Encoding: base64',
    '',
    attached.replace(/.{76}/g, '$&\r\n'),
    '--b--',
    '',
  ].join('\r\n');
  const reply = await sendRaw(entry.running.smtpPort ?? 0, { from: 'carla@customer.example', to: address, raw });
  t.match(reply, /^250/);
  t.same(
    (await entry.tickets(owner.token)).map(({ subject }) => subject),
    ['Over TLS'],
    'mail that arrived elsewhere',
  );
  t.ok(second.proxy.connections >= 3, 'all of it came over TLS');

  await second.node.stop();
  const { body: read } = await patiently(() => entry.get(`/conversations/${id}/messages`, owner.token));
  const written = read.messages.filter(({ senderType }: { senderType: string }) => senderType !== 'system');
  t.same(
    written.map((one: { body: string }) => one.body),
    ['Hello', body, 'By a socket'],
    'the other node has a copy',
  );
});

t.test('[cluster] a wrong authority is told by the name of its setting', { skip }, async (t) => {
  const secured = await startSecured(t);
  const strange = makeCertificate(secured.folder, 'strange');
  const empty = join(secured.folder, 'empty.pem');
  writeFileSync(empty, '');
  const start = (env: Record<string, string>) => startBehindProxy(t, secured, { node: 'refused', env });
  await t.rejects(start({ CLUSTER_NATS_CA_FILE: strange.cert }), {
    message: /certificate that cannot be trusted .*CLUSTER_NATS_CA_FILE must name the authority/,
  });
  await t.rejects(start({ CLUSTER_CA_FILE: join(secured.folder, 'none.pem') }), {
    message: /^CLUSTER_CA_FILE names a file that cannot be read/,
  });
  await t.rejects(start({ CLUSTER_CA_FILE: empty }), {
    message: /^CLUSTER_CA_FILE must name a file of certificates in PEM/,
  });

  const lines: string[] = [];
  const log = { ...silentLog, warn: (_: object, text: string) => void lines.push(text) };
  const first = await startBehindProxy(t, secured, { node: 'first', env: { CLUSTER_CA_FILE: strange.cert }, log });
  const second = await startBehindProxy(t, secured, { node: 'second' });
  const owner = await shopAt(second.node, 'second');
  t.equal((await first.node.get('/conversations/queue', owner.token)).status, 503);
  await t.resolves(
    first.node.agentSocket(owner.token).then(
      () => Promise.reject(new Error('it was let in')),
      () => undefined,
    ),
  );
  for (const what of ['another node did not answer', 'a socket at another node could not be opened'])
    t.ok(
      lines.some((line) => line.startsWith(what) && /CLUSTER_CA_FILE must name the authority/.test(line)),
      what,
    );
});
