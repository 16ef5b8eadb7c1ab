import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import {
  certificateIsChecked,
  MailRefused,
  type OutgoingMail,
  outboxSender,
  smtpSender,
} from '../../workers/providers/mail.ts';
import { tempFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { type Person, type Service, startService, type Teardown } from '../support/service.ts';
import { type SmtpOptions, startSmtp, type Verdict } from '../support/smtp.ts';

const mail: OutgoingMail = {
  id: '01a1faa5-20b4-76c0-bd16-f71190000001',
  workspaceId: '01a1faa5-20b4-76c0-bd16-f7119000000a',
  from: { address: 'help@shop.example', name: 'Shop' },
  to: 'ann@example.com',
  subject: 'Hello',
  text: 'How are you?\nWe are well.\n',
};

/** The message's headers, unfolded, by lower-case name. */
function headersOf(raw: string): Record<string, string> {
  const [head = ''] = raw.split('\r\n\r\n');
  return Object.fromEntries(
    head
      .replace(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
}

function senderTo(t: Teardown, url: string, patience?: { stepMs: number; mailMs: number }) {
  const sender = smtpSender(url, patience);
  t.teardown(() => sender.close());
  return sender;
}

t.test("smtp: plain, the message as it was given, with an id made of the mail's own", async (t) => {
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS', 'AUTH'] });
  const sender = senderTo(t, smtp.url);
  t.match(await sender.send(mail), /^250/);
  t.match(smtp.accepted, [{ from: 'help@shop.example', to: ['ann@example.com'], isSecure: false }]);
  const { raw = '' } = smtp.accepted[0] ?? {};
  t.match(headersOf(raw), {
    from: 'Shop <help@shop.example>',
    to: 'ann@example.com',
    subject: 'Hello',
    'message-id': `<${mail.id}@shop.example>`,
    date: /\d{4}/,
  });
  t.match(raw, /How are you\?\r\nWe are well\./);
});

t.test('a signature covers the headers by which the mail is ended in one click', async (t) => {
  const folder = tempFolder(t);
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const path = await outboxSender(folder).send({
    ...mail,
    headers: { 'List-Unsubscribe': '<https://shop.example/x>', 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
    dkim: { domain: 'shop.example', selector: 's', privateKey },
  });
  const [, fields = ''] = / h=([^;]+);/.exec(headersOf(readFileSync(path, 'utf8'))['dkim-signature'] ?? '') ?? [];
  const names = fields.replace(/\s/g, '').toLowerCase().split(':');
  for (const name of ['from', 'to', 'subject', 'message-id', 'list-unsubscribe', 'list-unsubscribe-post'])
    t.ok(names.includes(name), name);
});

t.test('smtp: signs in if the address has credentials', async (t) => {
  const smtp = await startSmtp(t, { authOptional: false, disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
  await senderTo(t, smtp.url.replace('//', `//switchboard:${encodeURIComponent('open sesame')}@`)).send(mail);
  t.match(smtp.accepted, [{ user: 'switchboard' }]);
});

t.test('smtp: a wrong password is ours to mend, so the mail is kept for another try', async (t) => {
  const smtp = await startSmtp(t, { authOptional: false, disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
  for (const credentials of ['switchboard:wrong@', '']) {
    const failure = await senderTo(t, smtp.url.replace('//', `//${credentials}`))
      .send(mail)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    t.type(failure, Error);
    t.notOk(failure instanceof MailRefused, credentials);
  }
  t.same(smtp.accepted, []);
});

t.test('smtp: STARTTLS if offered; the certificate of a nearby server is not checked unless requested', async (t) => {
  const smtp = await startSmtp(t);
  for (const query of ['?requireTLS=true', '?tls.rejectUnauthorized=true']) {
    const failure = await senderTo(t, `${smtp.url}${query}`)
      .send(mail)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    t.match(failure, /certificate/);
    t.notOk(failure instanceof MailRefused);
  }
  t.equal(smtp.accepted.length, 0);
  for (const url of [smtp.url, smtp.url.replace('127.0.0.1', 'localhost'), `${smtp.url}?tls.rejectUnauthorized=false`])
    await senderTo(t, url).send(mail);
  t.match(smtp.accepted, [{ isSecure: true }, { isSecure: true }, { isSecure: true }]);
});

t.test('smtp: the certificate of a server that is far away is checked', (t) => {
  for (const url of [
    'smtp://mail.example.com',
    'smtp://8.8.8.8:25',
    'smtp://[2606:4700::1]',
    'smtps://127.0.0.1',
    'smtp://user:word@mail.example.com.:587',
  ])
    t.equal(certificateIsChecked(url), true, url);
  for (const url of [
    'smtp://127.0.0.1:25',
    'smtp://10.0.0.3',
    'smtp://[::1]',
    'smtp://[fd00::1]',
    'smtp://localhost',
    'smtp://postfix:25',
    'smtp://mail.localhost',
  ])
    t.equal(certificateIsChecked(url), false, url);
  t.end();
});

t.test('smtp: permanent and temporary refusals are distinguished', async (t) => {
  const rows: [Verdict, boolean][] = [
    [{ code: 550, text: 'no such mailbox' }, true],
    [{ code: 554, text: 'not wanted' }, true],
    [{ code: 450, text: 'try later' }, false],
    [{ code: 451, text: 'greylisted' }, false],
    ['drop', false],
  ];
  for (const [verdict, isRefusal] of rows) {
    const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'], decide: () => verdict });
    const failure = await senderTo(t, smtp.url)
      .send(mail)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    t.equal(failure instanceof MailRefused, isRefusal, JSON.stringify(verdict));
    if (typeof verdict === 'object') t.match(failure, { message: new RegExp(verdict.text) });
  }
  const picky = await startSmtp(t, {
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, callback) =>
      callback(Object.assign(new Error('unknown here'), { responseCode: 550 })),
  });
  await t.rejects(senderTo(t, picky.url).send(mail), MailRefused, 'at the recipient');
  const full = await startSmtp(t, {
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, callback) =>
      callback(Object.assign(new Error('mailbox full'), { responseCode: 452 })),
  });
  const failure = await senderTo(t, full.url)
    .send(mail)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  t.ok(failure instanceof Error && !(failure instanceof MailRefused));
  const closed = await startSmtp(t, {
    disabledCommands: ['STARTTLS'],
    onConnect: (_session, callback) => callback(Object.assign(new Error('go away'), { responseCode: 554 })),
  });
  const turnedAway = await senderTo(t, closed.url)
    .send(mail)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  t.ok(
    turnedAway instanceof Error && !(turnedAway instanceof MailRefused),
    'at the door it is no word about this mail',
  );
});

t.test(
  'smtp: a server that is not there, that never greets, or that never answers: an error in good time',
  async (t) => {
    await t.rejects(senderTo(t, `smtp://127.0.0.1:${await freePort()}`).send(mail), /ECONNREFUSED/);

    const mute = createServer(() => {});
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    t.teardown(() => void mute.close());
    const mutePort = (mute.address() as { port: number }).port;
    await t.rejects(
      senderTo(t, `smtp://127.0.0.1:${mutePort}`, { stepMs: 100, mailMs: 20_000 }).send(mail),
      /[Gg]reeting|Timeout/,
    );

    const slow = await startSmtp(t, { disabledCommands: ['STARTTLS'], decide: () => 'hang' });
    await t.rejects(
      senderTo(t, slow.url, { stepMs: 20_000, mailMs: 2000 }).send(mail),
      { name: 'AbortError' },
      'the whole mail has a limit too',
    );
    t.equal(slow.seen.length, 1);
  },
);

t.test('smtp: a connection that the server closed while idle costs no failure', async (t) => {
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
  const sender = senderTo(t, smtp.url);
  await sender.send(mail);
  smtp.dropAll();
  await sender.send({ ...mail, id: '01a1faa5-20b4-76c0-bd16-f71190000002' });
  t.equal(smtp.accepted.length, 2);
});

const hostile = 'Evil\r\nBcc: victim@example.com\r\nX-Injected: yes\r\n\r\nbody';

t.test('text from customers never becomes a header, a recipient or a body of its own', async (t) => {
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
  const folder = tempFolder(t);
  const evil: OutgoingMail = {
    ...mail,
    from: { address: 'help@shop.example', name: hostile },
    subject: hostile,
    headers: { 'X-Given': hostile },
  };
  await senderTo(t, smtp.url).send(evil);
  await outboxSender(folder).send(evil);
  const raws = [smtp.accepted[0]?.raw ?? '', readFileSync(join(folder, `${mail.id}.${mail.workspaceId}.eml`), 'utf8')];
  t.same(smtp.accepted[0]?.to, ['ann@example.com']);
  for (const raw of raws) {
    const headers = headersOf(raw);
    t.notOk('bcc' in headers || 'x-injected' in headers);
    t.match(headers['subject'], /^Evil Bcc:/, 'it stays in its own line');
    t.match(raw.split('\r\n\r\n')[1], /^How are you/, 'the body is the body');
  }
});

t.test('an address is one address', async (t) => {
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
  const sender = senderTo(t, smtp.url);
  for (const to of [
    'ann@example.com, victim@example.com',
    'ann@example.com\r\nRCPT TO:<victim@example.com>',
    '"Ann" <ann@example.com>, victim@example.com',
  ]) {
    await sender.send({ ...mail, to }).catch(() => undefined);
  }
  t.notOk(smtp.seen.some(({ to }) => to.includes('victim@example.com')));
});

t.test("outbox folder: a mail is complete or missing, under its own and its workspace's id", async (t) => {
  const folder = join(tempFolder(t), 'outbox');
  const sender = outboxSender(folder);
  const nameOf = (id: string): string => `${id}.${mail.workspaceId}.eml`;
  t.equal(await sender.send(mail), join(folder, nameOf(mail.id)));
  t.same(readdirSync(folder), [nameOf(mail.id)]);
  t.match(headersOf(readFileSync(join(folder, nameOf(mail.id)), 'utf8')), {
    'message-id': `<${mail.id}@shop.example>`,
  });
  // A file half written by a crash is not a mail, and does not prevent the next attempt.
  const other = { ...mail, id: '01a1faa5-20b4-76c0-bd16-f71190000002' };
  writeFileSync(join(folder, `${nameOf(other.id)}.part`), 'half a mai');
  await sender.send(other);
  await sender.send(mail);
  t.same(readdirSync(folder).sort(), [nameOf(mail.id), nameOf(other.id)]);
  t.match(readFileSync(join(folder, nameOf(other.id)), 'utf8'), /We are well/);
});

t.test('outbox folder: one that cannot be written to fails the try and leaves nothing', async (t) => {
  const folder = join(tempFolder(t), 'outbox');
  const part = `${mail.id}.${mail.workspaceId}.eml.part`;
  mkdirSync(join(folder, part), { recursive: true });
  await t.rejects(outboxSender(folder).send(mail));
  t.same(readdirSync(folder), [part]);
});

/** A service that mails through a server with the test's answers. */
async function startMailing(
  t: Teardown,
  options: SmtpOptions,
): Promise<{ service: Service; smtp: Awaited<ReturnType<typeof startSmtp>>; owner: Person }> {
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'], ...options });
  const sender = smtpSender(smtp.url);
  const service = await startService(t, { mail: sender });
  return { service, smtp, owner: await service.workspace() };
}

const invite = (service: Service, owner: Person, email: string) =>
  service.post('/agents/invite', { email, name: 'New', role: 'agent' }, owner.token);

interface Row {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly lastAnswer: string | null;
  readonly payload: string;
}

const outboxOf = (service: Service, owner: Person): Row[] =>
  service.running.services.engine.workspace(owner.workspaceId)?.db.all<Row>('SELECT * FROM outbox ORDER BY rowid') ??
  [];

t.test('[architecture] after a 4xx the same mail is retried on schedule until it is accepted', async (t) => {
  const verdicts: Verdict[] = [{ code: 451, text: 'later' }, 'drop', { code: 421, text: 'closing' }];
  const { service, smtp, owner } = await startMailing(t, { decide: () => verdicts.shift() ?? 'accept' });
  await invite(service, owner, 'new@example.com');
  for (const [seen, pauseMs] of [
    [1, 60_000],
    [2, 5 * 60_000],
    [3, 15 * 60_000],
  ] as const) {
    await smtp.sees(seen);
    await service.settled();
    await service.pass(pauseMs - 1);
    t.equal(smtp.seen.length, seen, 'not before its time');
    await service.pass(pauseMs * 0.2 + 1);
  }
  await smtp.sees(4);
  await service.settled();
  t.equal(smtp.accepted.length, 1);
  t.equal(new Set(smtp.seen.map(({ messageId }) => messageId)).size, 1, 'one Message-ID over all tries');
  t.match(outboxOf(service, owner), [{ state: 'sent', lastAnswer: /^250/ }]);
  t.match(smtp.accepted[0]?.messageId, outboxOf(service, owner)[0]?.id);
});

t.test('[architecture] a 5xx fails at once, and the next mail to the same address follows', async (t) => {
  const { service, smtp, owner } = await startMailing(t, {
    decide: ({ raw }) => (smtp.seen.length === 1 && raw !== '' ? { code: 550, text: 'no such user' } : 'accept'),
  });
  const invited = await invite(service, owner, 'new@example.com');
  // The second mail notifies the owner.
  await smtp.sees(2);
  await service.settled();
  t.match(outboxOf(service, owner), [{ state: 'failed', attempts: 1, lastAnswer: /no such user/ }]);
  await service.post(`/agents/${invited.body.id}/resend-invite`, undefined, owner.token);
  await smtp.sees(3);
  await service.settled();
  t.match(outboxOf(service, owner), [{ state: 'failed' }, { state: 'sent' }, { state: 'sent' }]);
  await service.pass(2 * 24 * 3600_000);
  t.equal(smtp.seen.length, 3, 'a failed one is not tried again');
});

t.test('[architecture] no mail is lost while the server is away, nor over a restart of the service', async (t) => {
  const dataDir = tempFolder(t);
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
  const { port } = smtp;
  await smtp.close();
  const first = await startService(t, { dataDir, mail: smtpSender(`smtp://127.0.0.1:${port}`) });
  const owner = await first.workspace();
  const addresses = Array.from({ length: 5 }, (_, index) => `new${index}@example.com`);
  for (const email of addresses) t.equal((await invite(first, owner, email)).status, 201);
  await first.settled();
  t.ok(outboxOf(first, owner).every(({ state, attempts }) => state === 'queued' && attempts === 1));
  await first.stop();

  const back = await startSmtp(t, { disabledCommands: ['STARTTLS'], port });
  const second = await startService(t, { dataDir, clock: first.clock, mail: smtpSender(`smtp://127.0.0.1:${port}`) });
  await second.pass(2 * 60_000);
  await back.sees(5);
  await second.settled();
  t.same(back.accepted.flatMap(({ to }) => to).sort(), addresses);
  t.same(
    outboxOf(second, owner).map(({ state }) => state),
    Array(5).fill('sent'),
  );
});

t.test('[decisions, secrets at rest] a link that grants access does not stay in the outbox', async (t) => {
  const { service, smtp, owner } = await startMailing(t, {
    decide: ({ to }) => (to.includes('refused@example.com') ? { code: 550, text: 'no' } : 'accept'),
  });
  await invite(service, owner, 'new@example.com');
  await invite(service, owner, 'refused@example.com');
  await service.post('/auth/forgot-password', { email: owner.email });
  // The fourth notifies the owner of the refused invitation.
  await smtp.sees(4);
  await service.settled();
  const secrets = smtp.seen
    .filter(({ raw }) => !raw.includes('did not arrive'))
    .map(
      ({ raw }) =>
        /(?:\/join\/|reset-password\?token=3D|reset-password\?token=)([\w-]{20,})/.exec(
          raw.replace(/=\r\n/g, ''),
        )?.[1] ?? '',
    );
  t.ok(
    secrets.every((secret) => secret.length >= 20),
    'the mails carried them',
  );
  const rows = outboxOf(service, owner);
  t.same(rows.map(({ state }) => state).sort(), ['failed', 'sent', 'sent', 'sent']);
  for (const { payload } of rows) {
    t.notOk(secrets.some((secret) => payload.includes(secret)));
    t.same(
      Object.keys(JSON.parse(payload))
        .filter((key) => key !== 'invitation')
        .sort(),
      ['subject', 'to'],
    );
  }
});

t.test('the text of an ordinary mail is kept only while it may be sent again', async (t) => {
  const { service, smtp, owner } = await startMailing(t, {
    decide: ({ to }) => (to.includes('refused@example.com') ? { code: 550, text: 'no' } : 'accept'),
  });
  const site = { token: owner.token, embedId: (await service.get('/sites', owner.token)).body.sites[0].embedId };
  const chat = await service.chat(site, 'The word is swordfish.');
  for (const to of ['taken@example.com', 'refused@example.com'])
    t.equal(
      (await service.post(`/conversations/${chat.id}/email-transcript`, { to, subject: 'Our chat' }, owner.token))
        .status,
      202,
    );
  await smtp.sees(2);
  await service.settled();
  const kept = outboxOf(service, owner).map(({ state, payload }) => [state, payload.includes('swordfish')]);
  t.same(kept, [
    ['sent', false],
    ['failed', true],
  ]);
});
