// Email addresses with letters beyond ASCII: stored in one form everywhere, and mailed as far as mail servers support
// it. RFC 5891, 6531, 6532.

import t from 'tap';
import { canonicalAddress } from '../../engine/mail-addresses.ts';
import { type MailRefused, smtpSender } from '../../workers/providers/mail.ts';
import { startService } from '../support/service.ts';
import { startSmtp } from '../support/smtp.ts';

const munich = 'kim@xn--mnchen-3ya.de';
const forms = ['kim@münchen.de', 'Kim@MÜNCHEN.de', 'kim@mu\u0308nchen.de', 'kim@münchen。de', munich];
const none = [
  'kim@münchen',
  'kim@ü..de',
  'kim@ü_.de',
  'kim@mün\u200bchen.de',
  'kim@mün%2echen.de',
  'k\u200bim@example.com',
  'k\u202eim@example.com',
  'k im@münchen.de',
  '😀@example.com',
  'a@b@münchen.de',
  '@münchen.de',
  '"ü"@example.com',
  `${'ü'.repeat(33)}@example.com`,
  `a@${'ü日本語.'.repeat(20)}example`,
];

t.test('one form of each: small letters, composed, the domain as DNS has it; one of ASCII is itself', async (t) => {
  for (const form of forms) t.equal(canonicalAddress(form), munich, encodeURIComponent(form));
  t.equal(canonicalAddress('Kim.Lee@Example.com'), 'Kim.Lee@Example.com');
  t.equal(canonicalAddress('MU\u0308LLER@Bücher.example'), 'müller@xn--bcher-kva.example');
  t.equal(canonicalAddress('用户@例え.テスト'), '用户@xn--r8jz45g.xn--zckzah');
  t.equal(canonicalAddress('\u212aim@example.com'), 'kim@example.com', 'the sign for kelvin is a k');
  t.not(canonicalAddress('m\u0131ke@example.com'), 'mike@example.com', 'a letter that looks alike is another one');
  for (const address of ['müller@example.com', '用户@例え.テスト'])
    t.equal(canonicalAddress(canonicalAddress(address) ?? ''), canonicalAddress(address));
});

t.test('where addresses are accepted', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();

  t.test('[4.12] of contacts, and found as written', async (t) => {
    for (const email of forms)
      t.match(
        await service.post('/contacts', { email }, owner.token),
        { status: 201, body: { contact: { email: munich } } },
        encodeURIComponent(email),
      );
    t.match(await service.post('/contacts', { email: 'Müller@example.com' }, owner.token), {
      status: 201,
      body: { contact: { email: 'müller@example.com' } },
    });
    for (const email of [...none, '.ü@example.com', 'ü..a@example.com'])
      t.match(
        await service.post('/contacts', { email }, owner.token),
        {
          status: 400,
          body: { error: 'invalid_body', detail: { fieldErrors: { email: ['must be an email address'] } } },
        },
        encodeURIComponent(email),
      );
    for (const search of ['kim@münchen.de', 'munchen', munich])
      t.equal(
        (await service.get(`/contacts?search=${encodeURIComponent(search)}`, owner.token)).body.contacts.length,
        forms.length,
        search,
      );
  });

  t.test('[4.12] of visitors: whichever form a page gives, it is one contact', async (t) => {
    const contacts = new Set<string>();
    for (const email of ['eva@bücher.example', 'EVA@bu\u0308cher.example', 'eva@xn--bcher-kva.example']) {
      const { visitorId } = await service.customer(owner.embedId, { email });
      const { visitor } = (await service.get(`/visitors/${visitorId}`, owner.token)).body;
      t.equal(visitor.email, 'eva@xn--bcher-kva.example');
      contacts.add(visitor.contactId);
    }
    t.equal(contacts.size, 1);
    const { token } = await service.customer(owner.embedId);
    t.match(await service.patch('/widget/visitor', { email: 'müller@bücher.example' }, token), {
      status: 200,
      body: { visitor: { email: 'müller@xn--bcher-kva.example' } },
    });
    t.equal(
      (await service.post('/widget/tickets', { body: 'Hello', email: 'müller@bücher.example' }, token)).status,
      201,
    );
    t.match((await service.mail('müller@xn--bcher-kva.example')).subject, /question/, 'the receipt');
  });

  t.test('[4.20] of mail: one customer, in whichever form its programs write', async (t) => {
    const mailbox = await service.mailbox(owner);
    for (const from of ['Jö <jo@bücher.example>', 'jo@xn--bcher-kva.example'])
      t.equal((await service.deliver(mailbox, { from, subject: `From ${from}` })).status, 200);
    const tickets = (await service.tickets(owner.token)).filter(({ subject }) => subject.startsWith('From '));
    t.equal(tickets.length, 2);
    t.equal(new Set(tickets.map(({ visitorId }) => visitorId)).size, 1);
  });

  t.test('[4.7, 4.1] of agents: invited in one form, signed in with another', async (t) => {
    t.match(
      await service.post(
        '/agents/invite',
        { email: 'MÜLLER@bücher.example', name: 'Müller', role: 'agent' },
        owner.token,
      ),
      { status: 201, body: { email: 'müller@xn--bcher-kva.example' } },
    );
    t.match(
      await service.post(
        '/agents/invite',
        { email: 'mu\u0308ller@xn--bcher-kva.example', name: 'Müller', role: 'agent' },
        owner.token,
      ),
      { status: 409, body: { error: 'email_already_exists' } },
    );
    const code = /\/join\/([\w-]+)/.exec((await service.mail('müller@xn--bcher-kva.example')).text)?.[1];
    const password = 'correct horse battery staple';
    t.equal((await service.post('/auth/join', { code, password })).status, 200);
    t.equal((await service.post('/auth/login', { email: 'Mu\u0308ller@Bücher.example', password })).status, 200);
  });

  t.test('[4.21] of codes: sent to one address, however it is written', async (t) => {
    const { key } = (await service.post('/api-keys', { name: 'Codes', scopes: ['verify'], mode: 'live' }, owner.token))
      .body;
    await service.post('/verify/services', { name: 'Codes', enabledChannels: ['email'] }, owner.token);
    t.match(await service.post('/verify', { to: 'KIM@münchen.de', channel: 'email' }, key), {
      status: 201,
      body: { to: munich },
    });
    t.match(await service.post('/verify', { to: 'müller@example.com', channel: 'email' }, key), { status: 201 });
    for (const to of none)
      t.match(
        await service.post('/verify', { to, channel: 'email' }, key),
        { status: 400, body: { error: 'invalid_email' } },
        encodeURIComponent(to),
      );
  });
});

t.test(
  '[RFC 6531] a mail server that supports all letters gets the mail; one that does not is reported, and the address is not suppressed',
  async (t) => {
    const mail = {
      id: '018f0000-0000-7000-8000-000000000001',
      workspaceId: 'w',
      from: { address: 'help@shop.example' },
      subject: 'Hello',
      text: 'Hello',
    };
    const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
    const sender = smtpSender(smtp.url);
    t.teardown(() => sender.close());
    await sender.send({ ...mail, to: 'müller@xn--bcher-kva.example' });
    await sender.send({ ...mail, to: munich });
    // As the server parses them: it writes domains in Unicode.
    t.match(smtp.accepted, [
      { to: ['müller@bücher.example'], raw: /^To: müller@/m },
      { to: ['kim@münchen.de'], raw: /^To: kim@xn--mnchen-3ya\.de/m },
    ]);

    const old = await startSmtp(t, {
      disabledCommands: ['STARTTLS'],
      hideSMTPUTF8: true,
      onRcptTo: ({ address }, _session, callback) =>
        callback(
          /[^\x00-\x7f].*@/.test(address)
            ? Object.assign(new Error('5.1.3 bad recipient address syntax'), { responseCode: 553 })
            : null,
        ),
    });
    const toOld = smtpSender(old.url);
    t.teardown(() => toOld.close());
    await toOld.send({ ...mail, to: munich });
    const refusal = await toOld.send({ ...mail, to: 'müller@example.com' }).then(
      () => undefined,
      (error: MailRefused) => error,
    );
    t.match(refusal, { name: 'MailRefused', isAddress: false, message: /SMTPUTF8/ });
  },
);
