// What a single server does, at a node that does not serve the workspace: the client never has to know where it is.

import { request } from 'node:http';
import t from 'tap';
import { bucketSettings, startBucket } from '../support/bucket.ts';
import { knownTo, startNode, workspaceAt } from '../support/cluster-nodes.ts';
import { Dovecot, hasDovecot, password as mailPassword } from '../support/dovecot.ts';
import { mailedCode, makeKey } from '../support/keys.ts';
import { DnsZone } from '../support/mail-servers.ts';
import { skip, startNats } from '../support/nats.ts';
import { request as asked, authorize, decide, exchange, refresh, registerApp } from '../support/oauth.ts';
import { addPasskey, codeOf } from '../support/second-factors.ts';
import { type Person, password, type Service, type Teardown } from '../support/service.ts';

// Nodes, a NATS server, a bucket and a mail server that start together.
t.setTimeout(300_000);

const helpHost = 'help.shop.example';
const mailbox = 'support@shop.example';

interface Nodes {
  /** Asked for everything. */
  readonly first: Service;
  /** It serves the workspace. */
  readonly second: Service;
  readonly owner: Person;
  readonly embedId: string;
  readonly dns: DnsZone;
}

async function start(t: Teardown): Promise<Nodes> {
  const nats = await startNats(t);
  const dns = await DnsZone.start(t);
  const env = {
    RATE_LIMITS: 'off',
    MAIL_HOST: 'mail.switchboard.test',
    ALLOW_PRIVATE_WEBHOOKS: '1',
    DNS_SERVERS: dns.address,
    ...bucketSettings(await startBucket(t)),
  };
  const first = await startNode(t, nats, { node: 'first', env });
  const second = await startNode(t, nats, { node: 'second', env });
  const owner = await workspaceAt(first, 'second', ['first', 'second']);
  await knownTo([first, second], [owner.workspaceId]);
  // It was made at the first.
  while (
    ![...second.running.services.engine.openWorkspaces()].some(({ workspaceId }) => workspaceId === owner.workspaceId)
  )
    await new Promise((resolve) => setImmediate(resolve));
  const [site] = (await first.get('/sites', owner.token)).body.sites;
  return { first, second, owner, embedId: site.embedId, dns };
}

/** The same path of the service's public address, at a node. */
function at(node: Service, address: string): string {
  const { pathname, search } = new URL(address);
  return node.url + pathname + search;
}

/** fetch cannot name another host. */
function pageOf(node: Service, host: string, path: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request(`${node.url}${path}`, { headers: { host, accept: 'text/html' }, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    })
      .on('error', reject)
      .end();
  });
}

t.test('[cluster] everything, at whichever node', { skip }, async (t) => {
  const { first, second, owner, embedId, dns } = await start(t);
  const nodes = { first, second };
  const { token } = owner;

  t.test('one-time codes', async (t) => {
    t.equal((await first.post('/verify/services', { name: 'Sign-in' }, token)).status, 201);
    const key = await makeKey(first, owner);
    const sent = await first.post('/verify', { to: 'eve@customer.example', channel: 'email' }, key);
    t.equal(sent.status, 201);
    // From the node of the workspace, which another takes over if it is too slow to keep its lease.
    const code = await Promise.race([first, second].map((node) => mailedCode(node, 'eve@customer.example')));
    t.match(await first.post('/verify/check', { id: sent.body.id, code }, key), { status: 200 });
    t.equal(first.mailCount('eve@customer.example') + second.mailCount('eve@customer.example'), 1);
  });

  t.test('an app is allowed at one node and used at the other', async (t) => {
    const app = await registerApp(first, owner);
    t.match((await authorize(first, asked(app))).text, /Reports/);
    const { answer } = await decide(second, { ...asked(app), email: owner.email, password, decision: 'allow' });
    const tokens = (await exchange(first, app, answer['code'] ?? '')).body;
    t.equal((await first.get('/conversations/queue', tokens.access_token)).status, 200);
    t.match(await exchange(second, app, answer['code'] ?? ''), { status: 400 }, 'a code is used once');
    const again = (await refresh(second, app, tokens.refresh_token)).body;
    t.notOk(again.access_token, 'and what it gave is void then');
  });

  t.test('files: uploaded at one node, sent and read at the other', async (t) => {
    const bytes = 'a list of cups';
    const { body: link } = await first.post(
      '/uploads/presigned',
      { filename: 'cups.txt', contentType: 'text/plain', size: bytes.length },
      token,
    );
    const put = { method: 'PUT', body: bytes, headers: { 'Content-Type': 'text/plain' } };
    t.equal((await fetch(at(second, link.uploadUrl), put)).status, 200);
    const { id } = await first.chat({ token, embedId });
    const attachments = [{ url: link.publicUrl, name: 'cups.txt', size: bytes.length }];
    const sent = await first.post(`/conversations/${id}/messages`, { body: 'See the list', attachments }, token);
    t.equal(sent.status, 201);
    for (const [name, node] of Object.entries(nodes))
      t.equal(await (await fetch(at(node, link.publicUrl))).text(), bytes, `at the ${name}`);
  });

  t.test('search, reports and their export', async (t) => {
    const { id } = await first.chat({ token, embedId }, 'My porcelain arrived in pieces');
    for (const [name, node] of Object.entries(nodes)) {
      const found = await node.get('/conversations/search?q=porcelain', token);
      t.match(found.body, { total: 1 }, `at the ${name}`);
      t.match(JSON.stringify(found.body), id);
      const { url } = (await node.get('/reports/export?type=conversations&format=csv', token)).body;
      const other = node === first ? second : first;
      t.match(await (await fetch(at(other, url))).text(), id, 'fetched at the other');
    }
  });

  t.test('a campaign is shown, and its clicks are counted', async (t) => {
    const fields = { name: 'Welcome', triggerRules: {}, content: { body: 'Need a hand?' } };
    const { id } = (await first.post('/campaigns', fields, token)).body;
    await second.patch(`/campaigns/${id}`, { status: 'live' }, token);
    const customer = await first.customer(embedId);
    const seen = await first.post('/widget/page-views', { url: 'https://shop.example/' }, customer.token);
    t.match(seen.body.campaigns, [{ id }]);
    for (const type of ['impression', 'click'])
      t.ok((await first.post('/widget/campaign-events', { campaignId: id, type }, customer.token)).status < 300);
    await second.settled();
    t.match(JSON.stringify((await first.get(`/campaigns?status=live`, token)).body.campaigns), /"clicks":1/);
  });

  t.test("the widget's files, and a help centre at its own host", async (t) => {
    const widgets = await Promise.all(
      Object.values(nodes).map(async ({ url }) => (await fetch(`${url}/widget.js`)).text()),
    );
    t.ok(widgets[0]);
    t.equal(widgets[0], widgets[1]);
    const { helpHostProof } = (await first.patch('/kb/settings', { helpCentre: true }, token)).body;
    const article = { title: 'Returns', slug: 'returns', body: '## Within 30 days\n\nYes.', status: 'published' };
    await first.post('/kb/articles', article, token);
    await second.settled();
    dns.add({ type: 'TXT', name: `_switchboard.${helpHost}`, value: helpHostProof });
    t.equal((await first.patch('/kb/settings', { helpHost }, token)).status, 200);
    for (const [name, node] of Object.entries(nodes)) {
      // Its copy of the directory follows a moment behind.
      while (node.running.services.directory.helpPathAt(helpHost) === undefined)
        await new Promise((resolve) => setImmediate(resolve));
      t.match(await pageOf(node, helpHost, '/returns'), { status: 200, text: /Within 30 days/ }, `at the ${name}`);
    }
  });

  t.test('second factors: asked at one node, shown at the other', async (t) => {
    await first.post('/me/confirm', { password }, token);
    const { body } = await first.post('/me/totp', undefined, token);
    const code = await codeOf(body.secret, Date.now());
    const { recoveryCodes } = (await second.post('/me/totp/confirm', { code }, token)).body;
    const { passkey, added } = await addPasskey(first, token);
    t.equal(added.status, 201);
    const pairs = [
      [first, second],
      [second, first],
    ] as const;
    for (const [index, [one, other]] of pairs.entries()) {
      const asks = async () => (await one.post('/auth/login', { email: owner.email, password })).body.detail.challenge;
      const byCode = { challenge: await asks(), recoveryCode: recoveryCodes[index] };
      t.equal((await other.post('/sign-in/second-factor', byCode)).status, 200, 'a recovery code');
      t.not((await one.post('/sign-in/second-factor', { ...byCode, challenge: await asks() })).status, 200, 'once');
      const options = (await one.post('/sign-in/passkey/options')).body.passkey;
      const shown = await other.post('/sign-in/passkey', { passkey: passkey.get(options) });
      t.match(shown, { status: 200, body: { agent: { id: owner.agentId } } }, 'a passkey');
    }
  });
});

t.test('[cluster] one node reads a mailbox elsewhere, and the other has what it read', { skip }, async (t) => {
  if (!hasDovecot) {
    t.pass('there is no Dovecot on this machine: apt-get install dovecot-imapd');
    return;
  }
  const { first, second, owner } = await start(t);
  const { token } = owner;
  const dovecot = await Dovecot.start(t);
  const imap = { host: '127.0.0.1', port: dovecot.port, security: 'tls' };
  const made = await first.post('/workspace/mailboxes', { address: mailbox, password: mailPassword, imap }, token);
  t.equal(made.status, 201);
  await second.settled();
  const arrives = async (subject: string): Promise<void> => {
    const socket = await first.agentSocket(token);
    const head = `From: Cleo <cleo@customer.example>\nTo: ${mailbox}\nSubject: ${subject}\nMessage-ID: <${subject}@customer.example>\n`;
    await dovecot.deliver(mailbox, `${head}\nHello\n`, { at: new Date() });
    await socket.next('conversation.created');
    socket.close();
  };
  const subjects = async (): Promise<string[]> => (await first.tickets(token)).map(({ subject }) => subject);
  await arrives('One');
  await arrives('Two');
  t.same(await subjects(), ['One', 'Two']);
  await second.stop();
  while ((await first.get('/me', token)).status !== 200) await new Promise((resolve) => setImmediate(resolve));
  t.match((await first.get('/workspace/mailboxes', token)).body.mailboxes, [{ address: mailbox, failure: null }]);
  t.same(await subjects(), ['One', 'Two'], 'each once');
  const found = await first.get('/conversations/search?q=hello', token);
  t.equal(found.body.total, 2, 'and a search finds what the other node had');
});
