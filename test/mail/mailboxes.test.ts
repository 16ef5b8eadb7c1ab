// Mailboxes elsewhere, against a real IMAP server (Dovecot) and an SMTP server with a sign-in: mail is brought in once and
// stays as it was, whatever breaks off, and mail from the mailbox's address leaves through it.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import t from 'tap';
import { Dovecot, hasDovecot, password } from '../support/dovecot.ts';
import { tempFolder } from '../support/folder.ts';
import { type Person, type Service, startService, type Teardown } from '../support/service.ts';
import type { TestSocket } from '../support/socket.ts';

const skip = hasDovecot ? false : 'there is no Dovecot on this machine: apt-get install dovecot-imapd';
const tls = join(import.meta.dirname, '../fixtures/tls');

/** The outgoing server of a mailbox's provider. */
async function startSubmission(t: Teardown, accept: (user: string, secret: string) => boolean) {
  const mails: { user: string; from: string; mail: ParsedMail }[] = [];
  const waiting: (() => void)[] = [];
  const server = new SMTPServer({
    secure: true,
    key: readFileSync(join(tls, 'key.pem')),
    cert: readFileSync(join(tls, 'cert.pem')),
    authMethods: ['PLAIN', 'LOGIN', 'XOAUTH2'],
    disableReverseLookup: true,
    logger: false,
    onAuth({ username = '', password: given, accessToken }, _session, done) {
      if (accept(username, given ?? accessToken ?? '')) done(null, { user: username });
      else done(Object.assign(new Error('5.7.8 wrong password'), { responseCode: 535 }));
    },
    onData(stream, { user, envelope }, done) {
      void simpleParser(stream).then((mail) => {
        mails.push({ user: String(user), from: envelope.mailFrom === false ? '' : envelope.mailFrom.address, mail });
        for (const call of waiting.splice(0)) call();
        done();
      });
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    port: (server.server.address() as AddressInfo).port,
    async next(index: number) {
      for (;;) {
        const mail = mails[index];
        if (mail !== undefined) return mail;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}

const rawMail = (subject: string, fields: { from?: string; id?: string; headers?: string[]; text?: string } = {}) => {
  const {
    from = 'Cleo <cleo@customer.example>',
    id = `${subject}@customer.example`,
    headers = [],
    text = 'Hello',
  } = fields;
  return [
    `From: ${from}`,
    'To: support@shop.example',
    `Subject: ${subject}`,
    `Message-ID: <${id}>`,
    ...headers,
    '',
    text,
    '',
  ].join('\n');
};

const user = 'support@shop.example';

/** A workspace that takes mail from the mailbox. */
async function connected(service: Service, dovecot: Dovecot, fields: object = {}) {
  const owner = await service.workspace();
  const socket = await service.agentSocket(owner.token);
  const { status, body } = await service.post(
    '/workspace/mailboxes',
    { address: user, password, imap: endpoint(dovecot.port), ...fields },
    owner.token,
  );
  if (status !== 201) throw new Error(JSON.stringify(body));
  await service.settled();
  return { owner, socket, mailboxId: body.id as string };
}
/** Another mail comes to the mailbox now. */
const put = (service: Service, dovecot: Dovecot, raw: string) =>
  dovecot.deliver(user, raw, { at: new Date(service.clock.now()) });
const written = async (socket: TestSocket, body: string) => {
  for (;;) {
    const frame = await socket.next('message.created');
    if (frame['data'].message.body === body) return frame;
  }
};
const endpoint = (port: number) => ({ host: '127.0.0.1', port, security: 'tls' });
const subjects = async (service: Service, { token }: Person) =>
  (await service.tickets(token)).map(({ subject }: any) => subject);
const mailboxOf = async (service: Service, { token }: Person) =>
  (await service.get('/workspace/mailboxes', token)).body.mailboxes[0];

t.test('a mailbox elsewhere', { skip }, async (t) => {
  const env = {
    MAIL_HOST: 'mail.switchboard.test',
    RATE_LIMITS: 'off',
    ALLOW_PRIVATE_WEBHOOKS: '1',
    DNS_SERVERS: '127.0.0.1:9',
  };

  t.test('new mail is taken at once, older mail is not, and the mailbox stays as it was', async (t) => {
    const dovecot = await Dovecot.start(t);
    const service = await startService(t, { env });
    const before = new Date(service.clock.now() - 24 * 3600_000);
    await dovecot.deliver(user, rawMail('Old'), { at: before });
    const { owner, socket } = await connected(service, dovecot);
    t.same(await subjects(service, owner), []);
    t.match(await mailboxOf(service, owner), {
      failure: null,
      checkedAt: String,
      afterwards: 'nothing',
      folder: 'INBOX',
    });
    const raw = rawMail('New', { headers: ['Cc: dora@customer.example'] });
    await put(service, dovecot, raw);
    const { data } = await socket.next('conversation.created');
    await service.settled();
    t.match(await service.conversation(data.conversation.id, owner.token), {
      subject: 'New',
      copiedTo: ['dora@customer.example'],
    });
    const [message] = await service.messages(data.conversation.id, owner.token);
    t.match(message.mail, { from: { address: 'cleo@customer.example' }, authentication: { spf: 'none' } });
    const source = `/api/v1/conversations/${data.conversation.id}/messages/${message.id}/source`;
    const headers = { Authorization: `Bearer ${owner.token}` };
    t.ok((await (await fetch(service.url + source, { headers })).text()).endsWith(raw.replaceAll('\n', '\r\n')));
    t.same(await dovecot.contents(user), [
      { subject: 'Old', isSeen: false },
      { subject: 'New', isSeen: false },
    ]);

    await put(
      service,
      dovecot,
      rawMail('Re: New', {
        id: 'answer@customer.example',
        headers: ['In-Reply-To: <New@customer.example>'],
        text: 'More',
      }),
    );
    t.match(await written(socket, 'More'), {
      conversationId: data.conversation.id,
    });
    await put(service, dovecot, rawMail('Away', { headers: ['Auto-Submitted: auto-replied'] }));
    await put(service, dovecot, rawMail('Bounce', { headers: ['Return-Path: <>'] }));
    await put(service, dovecot, rawMail('Last'));
    await socket.next('conversation.created');
    t.same(await subjects(service, owner), ['New', 'Last'], 'rules for automatic mail hold');
    t.match(await service.get('/workspace/mailboxes', (await service.agent(owner)).token), {
      status: 403,
      body: { error: 'admin_required' },
    });
  });

  t.test('over restarts, broken connections and new numbers nothing is taken twice and nothing is lost', async (t) => {
    const dovecot = await Dovecot.start(t);
    const dataDir = tempFolder(t);
    const first = await startService(t, { env, dataDir });
    const { owner, socket } = await connected(first, dovecot);
    await put(first, dovecot, rawMail('One'));
    await socket.next('conversation.created');
    dovecot.kick(user);
    await put(first, dovecot, rawMail('Two'));
    await first.pass(2 * 60_000);
    t.same(await subjects(first, owner), ['One', 'Two'], 'the timer finds what a broken connection missed');
    await first.stop();
    await put(first, dovecot, rawMail('Three'));

    const second = await startService(t, { env, dataDir, clock: first.clock });
    await second.pass(2 * 60_000);
    t.same(await subjects(second, owner), ['One', 'Two', 'Three'], 'and what came while the service was down');
    await dovecot.stop();
    await second.pass(10 * 60_000);
    const failing = await mailboxOf(second, owner);
    t.match(failing.failure, 'ECONNREFUSED');
    t.match((await second.audited('mailbox.failed', owner.token))[0], { targetId: failing.id });
    await dovecot.begin();
    await put(second, dovecot, rawMail('Four'));
    await dovecot.renumber(user);
    await second.pass(60 * 60_000);
    t.same(await subjects(second, owner), ['One', 'Two', 'Three', 'Four']);
    t.match(await mailboxOf(second, owner), { failure: null });
    await put(second, dovecot, rawMail('Five'));
    await second.pass(2 * 60_000);
    t.same(await subjects(second, owner), ['One', 'Two', 'Three', 'Four', 'Five'], 'from the new numbers on');
    for (const { id } of await second.tickets(owner.token)) t.equal((await second.messages(id, owner.token)).length, 1);
  });

  t.test('a mail is marked or moved once it is here', async (t) => {
    const dovecot = await Dovecot.start(t);
    const service = await startService(t, { env });
    const { owner, socket, mailboxId } = await connected(service, dovecot, { afterwards: 'seen' });
    const change = (fields: object) => service.patch(`/workspace/mailboxes/${mailboxId}`, fields, owner.token);
    await put(service, dovecot, rawMail('Seen'));
    await socket.next('conversation.created');
    await service.settled();
    t.same(await dovecot.contents(user), [{ subject: 'Seen', isSeen: true }]);
    t.match(await change({ afterwards: 'move' }), {
      status: 400,
      body: { detail: { fieldErrors: { moveTo: [String] } } },
    });
    t.match(await change({ afterwards: 'move', moveTo: 'Tickets' }), { status: 200, body: { moveTo: 'Tickets' } });
    await service.settled();
    await put(service, dovecot, rawMail('Moved'));
    await socket.next('conversation.created');
    await service.settled();
    t.same(await dovecot.contents(user), [{ subject: 'Seen', isSeen: true }]);
    t.same(await dovecot.contents(user, 'Tickets'), [{ subject: 'Moved', isSeen: false }]);

    t.match(await change({ isPaused: true }), { status: 200, body: { isPaused: true } });
    await put(service, dovecot, rawMail('Paused'));
    await service.pass(60 * 60_000);
    t.same(await subjects(service, owner), ['Seen', 'Moved']);
    await change({ isPaused: false });
    await service.settled();
    t.same(await subjects(service, owner), ['Seen', 'Moved', 'Paused'], 'a pause loses nothing');
    t.equal((await service.delete(`/workspace/mailboxes/${mailboxId}`, owner.token)).status, 204);
    await put(service, dovecot, rawMail('Gone'));
    await service.pass(60 * 60_000);
    t.equal((await service.tickets(owner.token)).length, 3);
    t.match(await change({}), { status: 404 });
  });

  t.test("answers leave through the mailbox's server, from its address", async (t) => {
    const dovecot = await Dovecot.start(t);
    const submission = await startSubmission(t, (name, secret) => name === user && secret === password);
    const service = await startService(t, { env });
    const { owner, socket } = await connected(service, dovecot, { smtp: endpoint(submission.port) });
    await put(service, dovecot, rawMail('Question'));
    const { data } = await socket.next('conversation.created');
    await service.settled();
    await service.post(`/conversations/${data.conversation.id}/messages`, { body: 'An answer' }, owner.token);
    const { mail, ...sent } = await submission.next(0);
    t.same(sent, { user, from: user });
    t.match(mail, {
      text: 'An answer',
      inReplyTo: '<Question@customer.example>',
      from: { value: [{ address: user }] },
    });
    t.match((await service.get('/email/senders', owner.token)).body.senders[0], { address: user, isDefault: true });
    await put(
      service,
      dovecot,
      mail.messageId === undefined ? '' : rawMail('Copy', { from: user, id: mail.messageId.slice(1, -1) }),
    );
    await put(
      service,
      dovecot,
      rawMail('Re: Question', {
        id: 'thanks@customer.example',
        headers: [`In-Reply-To: ${mail.messageId}`],
        text: 'Thanks',
      }),
    );
    await written(socket, 'Thanks');
    t.same(await subjects(service, owner), ['Question'], 'its own mail is no ticket');
  });

  t.test(
    'a mailbox without a server of its own answers from the workspace, to be replied to at its address',
    async (t) => {
      const dovecot = await Dovecot.start(t);
      const service = await startService(t, { env });
      const { owner, socket } = await connected(service, dovecot);
      await put(service, dovecot, rawMail('Question'));
      const { data } = await socket.next('conversation.created');
      await service.settled();
      await service.post(`/conversations/${data.conversation.id}/messages`, { body: 'An answer' }, owner.token);
      t.match(await service.mail('cleo@customer.example'), {
        from: { address: (await service.mailbox(owner)).address },
        headers: { 'Reply-To': user },
        idHost: 'shop.example',
      });
    },
  );

  t.test('the test of both servers repeats their words and keeps nothing', async (t) => {
    const dovecot = await Dovecot.start(t);
    const submission = await startSubmission(t, (_, secret) => secret === password);
    const service = await startService(t, { env });
    const owner = await service.workspace();
    const other = await service.agent(owner);
    const body = { address: user, password, imap: endpoint(dovecot.port), smtp: endpoint(submission.port) };
    const test = (fields: object = {}, token = owner.token) =>
      service.post('/workspace/mailboxes/test', { ...body, ...fields }, token);
    t.match(await test({}, other.token), { status: 403, body: { error: 'admin_required' } });
    t.match(await test(), {
      status: 200,
      body: { imap: { isWorking: true, folders: ['INBOX'] }, smtp: { isWorking: true } },
    });
    t.match((await submission.next(0)).mail, { subject: `A test mail from ${user}`, to: { text: owner.email } });
    t.match((await test({ password: 'wrong' })).body, {
      imap: { isWorking: false, answer: /Authentication failed/ },
      smtp: { isWorking: false, answer: /wrong password/ },
    });
    t.match((await test({ folder: 'Nowhere', smtp: null })).body, { imap: { isWorking: false }, smtp: null });
    t.match((await test({ imap: { ...body.imap, security: 'none' } })).body, {
      detail: { fieldErrors: { 'imap.security': [String] } },
    });
    t.match((await service.get('/workspace/mailboxes', owner.token)).body, { mailboxes: [], providers: [] });
    const strict = await startService(t, { env: { ...env, ALLOW_PRIVATE_WEBHOOKS: '' } });
    const [, stranger] = [await strict.workspace(), await strict.workspace()];
    t.match((await strict.post('/workspace/mailboxes/test', body, stranger.token)).body, {
      imap: { isWorking: false, answer: /no public address/ },
      smtp: { isWorking: false, answer: /no public address/ },
    });
  });

  t.test('access that a provider grants: XOAUTH2 for both servers, renewed before it expires', async (t) => {
    const issued = new Map<string, string>();
    let refreshes = 0;
    let isWithdrawn = false;
    const provider = createServer((request, reply) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const answer = (status: number, body: object) => {
          reply.writeHead(status, { 'Content-Type': 'application/json' });
          reply.end(JSON.stringify(body));
        };
        if (request.url === '/whose') {
          const name = issued.get(/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '');
          return name === undefined
            ? answer(401, { error: 'invalid_token' })
            : answer(200, { username: name, active: true });
        }
        const asked = new URLSearchParams(Buffer.concat(chunks).toString());
        const isGood =
          asked.get('client_id') === 'app' &&
          asked.get('client_secret') === 'app secret' &&
          (asked.get('code') === 'good' || asked.get('refresh_token') === `refresh-${refreshes}`);
        if (!isGood || isWithdrawn)
          return answer(400, { error: 'invalid_grant', error_description: 'the access was withdrawn' });
        refreshes += asked.has('refresh_token') ? 1 : 0;
        const accessToken = `access-${issued.size}`;
        issued.set(accessToken, user);
        return answer(200, { access_token: accessToken, expires_in: 3600, refresh_token: `refresh-${refreshes}` });
      });
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', () => resolve()));
    t.teardown(() => provider.close());
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const dovecot = await Dovecot.start(t, { tokenUrl: `${url}/whose` });
    const submission = await startSubmission(t, (_, token) => issued.has(token));
    const places = {
      authorizeUrl: `${url}/authorize`,
      tokenUrl: `${url}/token`,
      scope: 'mail',
      imap: { ...endpoint(dovecot.port), security: 'tls' as const },
      smtp: { ...endpoint(submission.port), security: 'tls' as const },
    };
    const service = await startService(t, {
      env: { ...env, GOOGLE_CLIENT_ID: 'app', GOOGLE_CLIENT_SECRET: 'app secret' },
      mailProviders: { google: places, microsoft: places },
    });
    const owner = await service.workspace();
    const admin = await service.agent(owner, { role: 'admin' });
    const authorize = (fields: object = {}) =>
      service.post('/workspace/mailboxes/authorize', { provider: 'google', address: user, ...fields }, owner.token);
    t.match(await authorize({ provider: 'microsoft' }), { status: 404, body: { error: 'not_found' } });
    t.match((await service.get('/workspace/mailboxes', owner.token)).body, { providers: ['google'] });
    const asked = new URL((await authorize()).body.url);
    t.match(Object.fromEntries(asked.searchParams), {
      client_id: 'app',
      redirect_uri: 'http://switchboard.test/settings/email/mailbox',
      response_type: 'code',
      login_hint: user,
      access_type: 'offline',
    });
    const state = asked.searchParams.get('state') ?? '';
    const connect = (grant: object, token = owner.token) =>
      service.post('/workspace/mailboxes', { address: user, grant: { code: 'good', state, ...grant } }, token);
    const refused = { status: 400, body: { detail: { fieldErrors: { grant: [String] } } } };
    t.match(await connect({ code: 'bad' }), refused);
    t.match(await connect({ state: `${state}x` }), refused);
    t.match(await connect({}, admin.token), refused, 'another admin did not begin it');
    t.match(await connect({}), { status: 201, body: { signIn: 'google', username: user } });
    await service.settled();
    const socket = await service.agentSocket(owner.token);
    await put(service, dovecot, rawMail('Granted'));
    const { data } = await socket.next('conversation.created');
    await service.settled();
    const answer = (body: string) =>
      service.post(`/conversations/${data.conversation.id}/messages`, { body }, owner.token);
    await answer('One');
    t.match(await submission.next(0), { user, mail: { text: 'One' } });
    t.equal(refreshes, 1, 'a token is used until it expires');
    await service.pass(3600_000);
    await answer('Two');
    t.match(await submission.next(1), { mail: { text: 'Two' } });
    t.equal(refreshes, 2, 'and the new refresh token is kept');
    isWithdrawn = true;
    dovecot.kick(user);
    await service.pass(2 * 3600_000);
    t.match((await mailboxOf(service, owner)).failure, 'the access was withdrawn');
  });
});
