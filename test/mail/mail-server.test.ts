// A workspace's own mail server: set by its admins, used for its mail alone, tested with the server's own words.

import t from 'tap';
import { findMailServer } from '../../store/mail/mail-servers.ts';
import { type Person, type Service, startService } from '../support/service.ts';
import { startSmtp } from '../support/smtp.ts';

const path = '/workspace/mail-server';
const none = {
  source: 'none',
  host: null,
  port: null,
  security: null,
  username: null,
  hasPassword: false,
  fromAddress: null,
};
const password = 'open sesame';

const invite = (service: Service, admin: Person, email: string) =>
  service.post('/agents/invite', { email, name: 'New', role: 'agent', channels: ['chats'] }, admin.token);
const mailIs = async (service: Service, { token }: Person): Promise<string> =>
  (await service.get('/me/providers', token)).body.providers.mail;

t.test('[outgoing mail] a workspace names its own mail server', async (t) => {
  const smtp = await startSmtp(t, { authOptional: false });
  const relay = await startSmtp(t);
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const server = {
    host: '127.0.0.1',
    port: smtp.port,
    security: 'starttls',
    username: 'switchboard',
    password,
    fromAddress: 'help@shop1.example',
  };
  const shown = { ...server, password: undefined, source: 'workspace', hasPassword: true };
  const test = () => service.post(`${path}/test`, undefined, owner.token);

  t.same((await service.get(path, owner.token)).body, none, 'by default there is none');
  t.equal(await mailIs(service, owner), 'outbox');
  t.match(await test(), { status: 200, body: { sent: false, answer: /^No mail server is set/ } });

  const wrong: [object, string][] = [
    [{ host: 'smtp.shop1.example' }, 'port'],
    [{ ...server, port: 0 }, 'port'],
    [{ ...server, fromAddress: 'nobody' }, 'fromAddress'],
    [{ ...server, security: 'ssl' }, 'security'],
    [{ ...server, security: 'none' }, 'security'],
    [{ ...server, password: undefined }, 'password'],
  ];
  for (const [body, field] of wrong)
    t.match(
      await service.put(path, body, owner.token),
      { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
      field,
    );
  const agent = await service.agent(owner, { role: 'supervisor' });
  for (const reply of [
    await service.get(path, agent.token),
    await service.put(path, server, agent.token),
    await service.post(`${path}/test`, undefined, agent.token),
  ])
    t.match(reply, { status: 403, body: { error: 'admin_required' } });

  t.match(await service.put(path, server, owner.token), { status: 200, body: JSON.parse(JSON.stringify(shown)) });
  t.notMatch(JSON.stringify((await service.get(path, owner.token)).body), password, 'never read again');
  t.equal(await mailIs(service, owner), 'smtp');
  const workspace = service.running.services.engine.workspace(owner.workspaceId);
  const stored = JSON.stringify(workspace === undefined ? undefined : findMailServer(workspace.db));
  t.match(stored, /"host":"127\.0\.0\.1"/);
  t.notMatch(stored, password, 'sealed');
  t.notMatch(JSON.stringify((await service.get('/workspace/audit-log', owner.token)).body), password);

  t.match(await test(), { status: 200, body: { sent: true, to: owner.email, answer: /^250/ } });
  t.match(smtp.accepted, [{ from: server.fromAddress, to: [owner.email], isSecure: true, user: 'switchboard' }]);

  t.test('its mail leaves through it', async (t) => {
    await invite(service, owner, 'new@example.com');
    await smtp.sees(2);
    t.match(smtp.accepted[1], { from: server.fromAddress, to: ['new@example.com'], isSecure: true });
    t.equal(service.mailCount('new@example.com'), 0, 'and nowhere else');
  });

  t.test('an answer to a ticket comes from its sender, and is answered to the workspace', async (t) => {
    const { body: ticket } = await service.post(
      '/tickets',
      { customerEmail: 'customer@example.com', subject: 'Tent', body: 'Your tent is ready.' },
      owner.token,
    );
    await smtp.sees(3);
    const { from, raw = '' } = smtp.accepted[2] ?? {};
    t.equal(from, server.fromAddress);
    t.match(raw, /^Reply-To: \S+@switchboard\.test/m, 'of the mail host');
    t.match(raw, /^From: .*<help@shop1\.example>/m);
    t.match(raw, /^Message-ID: <[\w-]+@switchboard\.test>/im, 'as the thread knows it');
    await service.settled();
    const { messages } = (await service.get(`/conversations/${ticket.id}/messages`, owner.token)).body;
    t.match(messages, [{ deliveryStatus: 'sent' }]);
  });

  t.test('a password stays, and is never sent to another server', async (t) => {
    const { password: _, ...same } = server;
    t.match(await service.put(path, { ...same, fromAddress: 'sales@shop1.example' }, owner.token), {
      body: { hasPassword: true, fromAddress: 'sales@shop1.example' },
    });
    for (const change of [{ port: relay.port }, { host: 'localhost' }, { security: 'tls' }, { username: 'other' }])
      t.match(await service.put(path, { ...same, ...change }, owner.token), {
        status: 400,
        body: { detail: { fieldErrors: { password: ['is required'] } } },
      });
    t.equal(relay.connections, 0);
  });

  t.test("a failed test has the server's words", async (t) => {
    await service.put(path, { ...server, password: 'wrong' }, owner.token);
    t.match(await test(), { status: 200, body: { sent: false, answer: /535 no such user/ } });
    await service.put(path, { ...server, security: 'tls' }, owner.token);
    t.match(await test(), { status: 200, body: { sent: false, answer: /\S/ } }, 'the server does not begin with TLS');
    await service.put(path, server, owner.token);
  });

  t.test('another workspace neither uses it nor reaches the private network', async (t) => {
    const other = await service.workspace();
    t.same((await service.get(path, other.token)).body, none);
    t.equal(await mailIs(service, other), 'outbox');
    const before = smtp.seen.length;
    await invite(service, other, 'theirs@example.com');
    t.ok((await service.mail('theirs@example.com')).text, 'kept in the outbox');

    for (const host of ['127.0.0.1', 'localhost', '::1', '10.0.0.1', '169.254.169.254']) {
      const own = { host, port: relay.port, security: 'none', fromAddress: 'help@shop2.example' };
      t.match(await service.put(path, own, other.token), { status: 200 });
      t.match(
        await service.post(`${path}/test`, undefined, other.token),
        { status: 200, body: { sent: false, answer: /has no public address/ } },
        host,
      );
    }
    t.equal(relay.connections, 0, 'nothing was asked');
    t.equal(smtp.seen.length, before);
    t.match((await test()).body, { sent: true }, 'the first workspace keeps the server that it set while it was alone');
  });

  t.test('it can be removed', async (t) => {
    t.same((await service.put(path, { host: null }, owner.token)).body, none);
    await invite(service, owner, 'later@example.com');
    t.ok((await service.mail('later@example.com')).text);
    t.equal(await mailIs(service, owner), 'outbox');
  });
});

t.test('[outgoing mail] the environment wins', async (t) => {
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS', 'AUTH'] });
  const service = await startService(t, { env: { MAIL_PROVIDER: 'smtp', SMTP_URL: smtp.url } });
  const owner = await service.workspace();
  const own = { host: '127.0.0.1', port: 25, security: 'none', fromAddress: 'help@shop.example' };
  t.same((await service.get(path, owner.token)).body, { ...none, source: 'environment' });
  t.match(await service.put(path, own, owner.token), { status: 409, body: { error: 'conflict' } });
  t.equal(await mailIs(service, owner), 'smtp');
});
