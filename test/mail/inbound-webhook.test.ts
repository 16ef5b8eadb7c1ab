import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { blockVisitor, unblockVisitor } from '../../engine/customers/visitors.ts';
import { silentLog } from '../../engine/runtime/log.ts';
import { signatureOf } from '../../http/signed/signatures.ts';
import { workspaceFaults } from '../../store/operations/integrity.ts';
import { contentsIn, tempFolder } from '../support/folder.ts';
import { runCommand } from '../support/process.ts';
import { startService } from '../support/service.ts';

t.test('signature', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  const other = await service.mailbox(await service.workspace());
  const mail = { from: 'carla@customer.example', to: [mailbox.address], subject: 'Hello', text: 'Hi' };
  const send = (body: string, signature: string | undefined) =>
    service.call('POST', '/email/inbound', { body, headers: { 'X-Signature': signature } });

  t.test('[4.20] a right signature over the raw bytes: 200 with nothing in it', async (t) => {
    const answer = await service.deliver(mailbox, {});
    t.match(answer, { status: 200, body: null });
    t.equal(answer.headers.get('content-length'), '0');
    const spaced = JSON.stringify(mail, null, 3);
    t.equal(
      (await send(spaced, signatureOf(spaced, mailbox.secret))).status,
      200,
      'the bytes as they came, not as they would be written again',
    );
    t.equal(
      (await send(spaced, signatureOf(spaced, mailbox.secret).toUpperCase().replace('SHA256', 'sha256'))).status,
      200,
      'hex in capitals is the same',
    );
  });

  t.test('[4.20] no header, another secret, another body, another form: 401 invalid_signature', async (t) => {
    const body = JSON.stringify(mail);
    const right = signatureOf(body, mailbox.secret);
    const wrong: [string, string | undefined][] = [
      ['none', undefined],
      ['empty', ''],
      ["another workspace's secret", signatureOf(body, other.secret)],
      ['of another body', signatureOf(`${body} `, mailbox.secret)],
      ['without its prefix', right.slice('sha256='.length)],
      ['cut short', right.slice(0, -2)],
      ['too long', `${right}00`],
      ['of another kind', right.replace('sha256', 'sha1')],
    ];
    for (const [what, signature] of wrong)
      t.match(
        await send(body, signature),
        { status: 401, body: { statusCode: 401, error: 'invalid_signature' } },
        what,
      );
    t.equal(
      (await service.tickets(owner.token)).filter(({ subject }) => subject === 'Hello').length,
      1,
      'nothing came of them',
    );
  });

  t.test(
    "[decisions, order] the header before JSON, JSON before recipients and signature, both before the body's rules",
    async (t) => {
      const signed = (body: string) => send(body, signatureOf(body, mailbox.secret));
      t.match(await send('not json', undefined), { status: 401, body: { error: 'invalid_signature' } });
      t.match(await signed('not json'), { status: 400, body: { error: 'invalid_body' } });
      t.match(await signed(''), { status: 400, body: { error: 'invalid_body' } });
      for (const to of [['nobody@elsewhere.example'], [], undefined, 'x', [7], null])
        t.match(
          await signed(JSON.stringify({ ...mail, to })),
          { status: 401, body: { error: 'invalid_signature' } },
          `to ${JSON.stringify(to)}`,
        );
      for (const body of ['null', '[]', '"text"', '{}'])
        t.match(await signed(body), { status: 401, body: { error: 'invalid_signature' } }, body);
      t.match(
        await send(JSON.stringify({ to: [mailbox.address] }), signatureOf('x', mailbox.secret)),
        { status: 401 },
        'a wrong signature on a bad body',
      );
      t.match(await signed(JSON.stringify({ to: [mailbox.address] })), {
        status: 400,
        body: { error: 'invalid_body', detail: { fieldErrors: { from: [], subject: [] } } },
      });
    },
  );

  t.test('[4.20] the form of the body', async (t) => {
    const wrong: [string, Record<string, unknown>][] = [
      ['text', { text: undefined }],
      ['text', { text: null, html: null }],
      ['from', { from: 'nobody in particular' }],
      ['from', { from: '' }],
      ['from', { from: 'Carla\r\nBcc: all@example.com <carla@customer.example>' }],
      ['subject', { subject: 'Hello\nBcc: all@example.com' }],
      ['subject', { subject: 7 }],
      ['headers', { headers: [] }],
      ['attachments.0.url', { attachments: [{ filename: 'a.txt', url: 'file:///etc/passwd' }] }],
      ['attachments.0.url', { attachments: [{ filename: 'a.txt', url: 'http://127.0.0.1%00.example/' }] }],
      ['attachments.0.filename', { attachments: [{ url: 'https://files.example/a' }] }],
      [
        'attachments',
        { attachments: Array.from({ length: 101 }, () => ({ filename: 'a', url: 'https://files.example/a' })) },
      ],
    ];
    for (const [field, change] of wrong)
      t.match(
        await service.deliver(mailbox, change),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [] } } } },
        `${field} ${JSON.stringify(change).slice(0, 50)}`,
      );
    t.equal(
      (await service.deliver(mailbox, { text: undefined, html: '<p>Only HTML</p>', from: 'a1@customer.example' }))
        .status,
      200,
    );
    const empty = {
      text: null,
      html: '<p>Hi</p>',
      messageId: null,
      headers: { 'In-Reply-To': null, 'Auto-Submitted': null, 'List-Unsubscribe': null },
      attachments: null,
    };
    t.equal(
      (await service.deliver(mailbox, { ...empty, subject: 'Nothing beside it', from: 'a4@customer.example' })).status,
      200,
      'fields without a value may be null',
    );
    t.equal((await service.tickets(owner.token)).at(-1).subject, 'Nothing beside it');
    t.equal(
      (await service.deliver(mailbox, { subject: 'Folded\r\n subject', from: 'a2@customer.example' })).status,
      200,
      'a folded header is one line',
    );
    t.equal(
      (await service.deliver(mailbox, { unknown: true, from: 'a3@customer.example' })).status,
      200,
      'unknown fields are ignored',
    );
    await service.deliver(mailbox, { subject: `${'x'.repeat(199)}😀 and more`, from: 'a5@customer.example' });
    t.equal(
      (await service.tickets(owner.token)).at(-1).subject,
      `${'x'.repeat(199)}😀`,
      'a subject is cut at 200 characters, none of them in half',
    );
    t.match(await service.deliver(mailbox, { text: 'x'.repeat(1024 * 1024) }), {
      status: 413,
      body: { error: 'payload_too_large' },
    });
  });

  t.test(
    '[4.20] the workspace is found by the first known recipient, with or without a name, in any case',
    async (t) => {
      const to = [
        'Somebody <somebody@elsewhere.example>',
        `The Shop <${mailbox.address.toUpperCase()}>`,
        other.address,
      ];
      t.equal((await service.deliver(mailbox, { to, subject: 'Two shops' })).status, 200);
      t.equal((await service.tickets(owner.token)).at(-1).subject, 'Two shops');
    },
  );

  t.test("[RFC 5233] the part after + is the sender's choice, and answers come from it", async (t) => {
    const [name = '', host = ''] = mailbox.address.split('@');
    t.equal(
      (
        await service.deliver(mailbox, {
          to: [`${name}+summer@${host}`],
          from: 'tagged@customer.example',
          subject: 'With a tag',
        })
      ).status,
      200,
    );
    const ticket = (await service.tickets(owner.token)).at(-1);
    t.equal(ticket.subject, 'With a tag');
    await service.post(`/conversations/${ticket.id}/messages`, { body: 'Hello' }, owner.token);
    t.equal((await service.mail('tagged@customer.example')).from.address, `${name}+summer@${host}`);
    t.equal(
      (await service.deliver(mailbox, { to: [`nobody+${name}@${host}`, `+${name}@${host}`] })).status,
      401,
      'the part before it counts',
    );
    await service.deliver(mailbox, { from: `${name}+loop@${host}`, messageId: '<tagged-loop@x>' });
    t.match(
      (await service.audited('email.dropped', owner.token))[0].context,
      { reason: 'loop' },
      'our own address with a tag is our own',
    );
  });

  t.test('[4.10] the secret can be changed; the former one signs nothing from then on', async (t) => {
    const { status, body } = await service.post(
      '/workspace/integrations/inbound-email/rotate-secret',
      undefined,
      owner.token,
    );
    t.equal(status, 200);
    t.not(body.inboundEmail.secret, mailbox.secret);
    t.equal((await service.deliver(mailbox, {})).status, 401);
    t.equal((await service.deliver(body.inboundEmail, { subject: 'By the new one' })).status, 200);
    const again = await service.mailbox(owner);
    t.same(again, body.inboundEmail, 'and stays');
    t.match((await service.audited('workspace.updated', owner.token))[0], {
      actorAgentId: owner.agentId,
      context: { rotatedSecret: 'inbound-email' },
    });
    const agent = await service.agent(owner, { role: 'supervisor' });
    t.match(await service.get('/workspace/integrations', agent.token), {
      status: 403,
      body: { error: 'admin_required' },
    });
    t.match(await service.post('/workspace/integrations/inbound-email/rotate-secret', undefined, agent.token), {
      status: 403,
      body: { error: 'admin_required' },
    });
  });

  t.test('[secrets at rest] no secret is readable in the data folder', async (t) => {
    const { inboundEmail, carrier } = (await service.get('/workspace/integrations', owner.token)).body;
    for (const [path, bytes] of contentsIn(service.dataDir)) {
      for (const secret of [inboundEmail.secret, carrier.secret])
        t.notOk(bytes.includes(secret), path.slice(service.dataDir.length));
    }
    t.equal(statSync(join(service.dataDir, 'secrets-key')).mode & 0o777, 0o600);
  });
});

t.test(
  '[secrets at rest] a key other than the sealing one is a server error, logged, and over when the key returns',
  async (t) => {
    const dataDir = tempFolder(t);
    const [right, wrong] = ['a key of more than thirty-two characters', 'another key of as many characters or more'];
    const started = await startService(t, { dataDir, env: { SECRETS_KEY: right } });
    const owner = await started.workspace();
    const mailbox = await started.mailbox(owner);
    await started.stop();
    const told: string[] = [];
    const log = {
      ...silentLog,
      error: (fields: object, message: string) =>
        void told.push(`${message}: ${String((fields as { err?: Error }).err?.message)}`),
    };
    await t.rejects(
      startService(t, { dataDir, env: { SECRETS_KEY: wrong } }),
      { name: 'DataFolderUnusable' },
      'it is not begun with by mistake',
    );
    const accept = (key: string) => runCommand(['repair', '--accept-keys'], { DATA_DIR: dataDir, SECRETS_KEY: key });
    t.equal((await accept(wrong)).code, 0);
    const without = await startService(t, { dataDir, env: { SECRETS_KEY: wrong }, log });
    t.match(await without.get('/workspace/integrations', owner.token), {
      status: 503,
      body: { statusCode: 503, error: 'service_unavailable' },
    });
    t.equal((await without.deliver(mailbox, {})).status, 503, 'the provider comes again');
    t.match(told[0], /failed: the secret of .* was SECRETS_KEY or the file secrets-key changed\?/);
    t.equal((await without.get('/agents', owner.token)).status, 200, 'mail that needs none of them continues');
    await without.stop();
    t.equal((await accept(right)).code, 0);
    const back = await startService(t, { dataDir, env: { SECRETS_KEY: right } });
    t.strictSame(await back.mailbox(owner), mailbox);
  },
);

t.test('once each', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);

  t.test('[4.20] the same mail twenty times concurrently is one message', async (t) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => service.deliver(mailbox, { messageId: '<one@customer.example>' })),
    );
    t.same([...new Set(answers.map(({ status }) => status))], [200]);
    const tickets = await service.tickets(owner.token);
    t.equal(tickets.length, 1);
    t.equal((await service.messages(tickets[0].id, owner.token)).length, 1);
    await service.deliver(mailbox, {
      messageId: 'one@customer.example',
      subject: 'With other words',
      text: 'Brackets or not, it is the same id.',
    });
    t.equal((await service.tickets(owner.token)).length, 1);
  });

  t.test(
    '[4.20] without a messageId, sender, subject and the first 200 characters of the body identify it',
    async (t) => {
      const from = 'dora@customer.example';
      const count = async () =>
        (await service.tickets(owner.token)).reduce(
          async (sum: Promise<number>, { id }: { id: string }) =>
            (await sum) +
            (await service.messages(id, owner.token)).filter(({ senderType }) => senderType === 'visitor').length,
          Promise.resolve(0),
        );
      const before = await count();
      const text = 'a'.repeat(200);
      await service.deliver(mailbox, { from, subject: 'Key', text: `${text} one` });
      t.equal(await count(), before + 1);
      await Promise.all(
        Array.from({ length: 20 }, () =>
          service.deliver(mailbox, { from: `Dora <${from.toUpperCase()}>`, subject: 'Key', text: `${text} two` }),
        ),
      );
      t.equal(await count(), before + 1, 'a difference after the 200th character only');
      await service.deliver(mailbox, { from, subject: 'Key', text: `b${text}` });
      await service.deliver(mailbox, { from, subject: 'Another key', text });
      await service.deliver(mailbox, { from: 'emil@customer.example', subject: 'Key', text });
      t.equal(await count(), before + 4);
    },
  );

  t.test('[RFC 5322] the substitute for a missing messageId is never sent', async (t) => {
    const from = 'nameless@customer.example';
    await service.deliver(mailbox, { from, subject: 'Nameless' });
    const ticket = (await service.tickets(owner.token)).find(({ subject }) => subject === 'Nameless');
    const answer = async (body: string) => {
      await service.post(`/conversations/${ticket.id}/messages`, { body }, owner.token);
      return service.mail(from);
    };
    const first = await answer('Hello');
    t.match(
      first,
      { subject: 'Re: Nameless', inReplyTo: undefined, references: undefined },
      'it answers a mail without an id',
    );
    await service.deliver(mailbox, { from, subject: 'Re: Nameless', text: 'Once more' });
    t.match(await answer('And again'), {
      inReplyTo: `${first.id}@switchboard.test`,
      references: [`${first.id}@switchboard.test`],
    });
    await service.deliver(mailbox, {
      from,
      subject: 'Pretender',
      messageId: '<derived:0>',
      headers: { References: '<derived:1>' },
    });
    t.equal((await service.tickets(owner.token)).at(-1).subject, 'Pretender');
    await service.post(
      `/conversations/${(await service.tickets(owner.token)).at(-1).id}/messages`,
      { body: 'Well' },
      owner.token,
    );
    t.match(
      await service.mail(from),
      { inReplyTo: undefined, references: undefined },
      'nor does one that only looks like it',
    );
  });

  t.test('[4.20] a messageId with white space in it differs from one that only begins like it', async (t) => {
    const from = 'fritz@customer.example';
    for (const id of [
      '<2026 a@customer.example>',
      '<2026 b@customer.example>',
      '2026 c@customer.example',
      '2026 d@customer.example',
    ])
      t.equal((await service.deliver(mailbox, { from, messageId: id, subject: `Spaced ${id}` })).status, 200);
    const spaced = async () =>
      (await service.tickets(owner.token)).filter(({ subject }) => subject.startsWith('Spaced'));
    t.equal((await spaced()).length, 4);
    await service.deliver(mailbox, { from, messageId: '<2026\r\n b@customer.example>', subject: 'Spaced and folded' });
    t.equal((await spaced()).length, 4, 'folded elsewhere, it is the same');
    const [first] = await spaced();
    await service.deliver(mailbox, {
      from,
      messageId: '<answer@customer.example>',
      headers: { 'In-Reply-To': '<2026 a@customer.example>' },
    });
    t.match(
      (await service.messages(first.id, owner.token)).at(-1),
      { threading: { rule: 'in_reply_to' } },
      'and its answers find it',
    );
  });

  t.test(
    "[4.20] a blank text beside HTML does not count: the message is the HTML's text, and the HTML is the key",
    async (t) => {
      const from = 'gerd@customer.example';
      for (const [text, html] of [
        ['', '<p>The first one</p>'],
        [' \r\n', '<p>The second one</p>'],
      ])
        await service.deliver(mailbox, { from, subject: 'Blank', text, html });
      const ticket = (await service.tickets(owner.token)).find(({ subject }) => subject === 'Blank');
      t.match(await service.messages(ticket.id, owner.token), [
        { body: 'The first one', bodyHtml: '<p>The first one</p>' },
        { body: 'The second one', bodyHtml: '<p>The second one</p>' },
      ]);
      t.equal(
        (await service.deliver(mailbox, { from, subject: 'Nothing at all', text: '' })).status,
        200,
        'without HTML it is the given text',
      );
    },
  );

  t.test('[4.20] also after a restart', async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
    const first = await startService(t, { dataDir });
    const person = await first.workspace();
    const address = await first.mailbox(person);
    await first.deliver(address, { messageId: '<two@customer.example>' });
    await first.deliver(address, {
      from: 'robot@customer.example',
      messageId: '<auto@customer.example>',
      headers: { 'Auto-Submitted': 'auto-replied' },
    });
    await first.stop();
    const second = await startService(t, { dataDir });
    t.equal(
      (await second.deliver(address, { messageId: '<two@customer.example>' })).status,
      200,
      'and the secret is the same',
    );
    await second.deliver(address, {
      from: 'robot@customer.example',
      messageId: '<auto@customer.example>',
      headers: { 'Auto-Submitted': 'auto-replied' },
    });
    t.equal((await second.tickets(person.token)).length, 1);
    t.equal((await second.audited('email.dropped', person.token)).length, 1, 'a dropped one is not dropped again');
  });
});

t.test('drops', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);

  t.test(
    '[4.20] automatic mail and lists: 200, no ticket, an audit entry with the reason, without an actor',
    async (t) => {
      const rows: [string, Record<string, unknown>][] = [
        ['mailer_daemon', { from: 'MAILER-DAEMON@mx.customer.example' }],
        ['mailer_daemon', { from: 'Mail Delivery System <mailer-daemon@mx.customer.example>' }],
        ['mailer_daemon', { from: 'MAILER-DAEMON' }],
        ['auto_submitted', { headers: { 'Auto-Submitted': 'auto-replied' } }],
        ['auto_submitted', { headers: { 'auto-submitted': 'Auto-Generated (rejected)' } }],
        ['auto_submitted', { headers: { 'Auto-Submitted': 'auto-notified' } }],
        ['auto_submitted', { headers: { 'X-Autoreply': 'yes' } }],
        ['auto_submitted', { headers: { 'x-autorespond': '' } }],
        ['precedence', { headers: { Precedence: 'auto_reply' } }],
        ['precedence', { headers: { Precedence: 'junk' } }],
        ['list_id', { headers: { 'List-Id': 'Cups <cups.list.example>' } }],
        ['precedence', { headers: { Precedence: 'bulk' } }],
        ['precedence', { headers: { PRECEDENCE: ' List' } }],
        ['list_unsubscribe', { headers: { 'List-Unsubscribe': '<mailto:leave@list.example>' } }],
        ['list_unsubscribe', { headers: { 'List-Unsubscribe': '' } }],
      ];
      for (const [reason, change] of rows) {
        const messageId = `<${Math.random()}@customer.example>`;
        for (let times = 0; times < 2; times += 1)
          t.match(await service.deliver(mailbox, { messageId, ...change }), { status: 200, body: null });
        const [entry, ...others] = (await service.audited('email.dropped', owner.token)).filter(
          ({ targetId }) => targetId === messageId.slice(1, -1),
        );
        t.match(
          entry,
          {
            actorAgentId: null,
            targetKind: 'email',
            context: { reason, to: [mailbox.address], subject: 'Where is my order?' },
          },
          reason,
        );
        t.same(others, [], 'once');
      }
      t.same(await service.tickets(owner.token), []);
    },
  );

  t.test('[4.20] mail that only looks automatic is accepted', async (t) => {
    const changes = [
      { headers: { 'Auto-Submitted': 'no' } },
      { headers: { Precedence: 'first-class' } },
      { headers: { Precedence: 'bulkhead' } },
      { headers: { Precedence: 'junkyard' } },
      { headers: { 'Auto-Submitted': 'automatic' } },
      { from: 'mailer-daemons@customer.example' },
      { headers: { 'X-List-Unsubscribe': 'x' } },
    ];
    for (const change of changes)
      t.equal((await service.deliver(mailbox, { subject: JSON.stringify(change), ...change })).status, 200);
    t.equal((await service.tickets(owner.token)).length, changes.length);
  });

  t.test('[mail loops] our own mail that returns from anywhere, and mail from our own address', async (t) => {
    const [ticket] = await service.tickets(owner.token);
    const before = (await service.tickets(owner.token)).length;
    await service.post(`/conversations/${ticket.id}/messages`, { body: 'An answer' }, owner.token);
    const { id } = await service.mail('carla@customer.example');
    await service.post(
      `/conversations/${ticket.id}/email-transcript`,
      { to: 'boss@shop.example', subject: 'Transcript' },
      owner.token,
    );
    const transcript = await service.mail('boss@shop.example');
    for (const messageId of [`<${id}@switchboard.test>`, `<${transcript.id}@switchboard.test>`]) {
      for (let times = 0; times < 3; times += 1)
        await service.deliver(mailbox, { from: 'forwarder@customer.example', messageId });
      const entries = (await service.audited('email.dropped', owner.token)).filter(
        ({ targetId }) => targetId === messageId.slice(1, -1),
      );
      t.match(entries, [{ context: { reason: 'loop' } }]);
    }
    await service.deliver(mailbox, { from: mailbox.address, messageId: '<self@switchboard.test>' });
    t.match((await service.audited('email.dropped', owner.token))[0].context, {
      reason: 'loop',
      from: mailbox.address,
    });
    t.equal((await service.tickets(owner.token)).length, before);
    const messages = await service.messages(ticket.id, owner.token);
    t.equal(
      messages.filter(({ senderType }) => senderType === 'visitor').length,
      1,
      'nothing of it was appended either',
    );
  });

  t.test(
    '[mail loops] a hundred mails an hour from one address; the next is dropped and its text kept, an hour later there is room',
    async (t) => {
      const from = 'busy@customer.example';
      for (let count = 1; count <= 100; count += 1)
        t.equal(
          (
            await service.deliver(mailbox, {
              from,
              subject: count === 1 ? 'Busy' : 'Re: Busy',
              text: `Number ${count}`,
              messageId: `<busy${count}@x>`,
            })
          ).status,
          200,
        );
      const tickets = async () =>
        (await service.tickets(owner.token)).filter(({ subject }) => subject.startsWith('Busy'));
      const [busy] = await tickets();
      const taken = await service.messages(busy.id, owner.token);
      t.match([taken.length, taken.at(-1)?.body], [100, 'Number 100'], 'the hundredth is taken');
      await service.deliver(mailbox, {
        from,
        subject: 'Busy 101',
        text: 'Please do not lose this.',
        messageId: '<busy101@x>',
      });
      t.equal((await tickets()).length, 1);
      t.match((await service.audited('email.dropped', owner.token))[0], {
        context: { reason: 'too_many', from, body: 'Please do not lose this.' },
      });
      await service.deliver(mailbox, {
        from: 'calm@customer.example',
        subject: 'Busy, but somebody else',
        messageId: '<calm@x>',
      });
      t.equal((await tickets()).length, 2, 'others are not held up');
      await service.pass(3600_000);
      await service.deliver(mailbox, { from, subject: 'Busy 102', messageId: '<busy102@x>' });
      t.equal((await tickets()).length, 3);
    },
  );

  t.test("[4.12] a blocked customer's mail is dropped, until it is unblocked", async (t) => {
    const from = 'rude@customer.example';
    await service.deliver(mailbox, { from, subject: 'Rude one', messageId: '<rude1@x>' });
    const ticket = (await service.tickets(owner.token)).at(-1);
    const { engine } = service.running.services;
    const caller = { kind: 'agent', agentId: owner.agentId } as const;
    await engine.execute(blockVisitor, {
      workspaceId: owner.workspaceId,
      caller,
      params: { visitorId: ticket.visitorId },
    });
    await service.deliver(mailbox, { from, subject: 'Rude two', messageId: '<rude2@x>' });
    t.match((await service.audited('email.dropped', owner.token))[0].context, { reason: 'blocked', from });
    await engine.execute(unblockVisitor, {
      workspaceId: owner.workspaceId,
      caller,
      params: { visitorId: ticket.visitorId },
    });
    await service.deliver(mailbox, { from, subject: 'Rude three', messageId: '<rude3@x>' });
    t.equal((await service.tickets(owner.token)).at(-1).subject, 'Rude three');
  });
});

t.test('attachments', async (t) => {
  const files = new Map<string, { status: number; body: string | Buffer; location?: string }>([
    ['/invoice.pdf', { status: 200, body: '%PDF-1.4 invoice' }],
    ['/page.html', { status: 200, body: '<script>alert(1)</script>' }],
    ['/moved', { status: 302, body: '', location: '/invoice.pdf' }],
    ['/gone', { status: 404, body: 'gone' }],
    ['/round', { status: 302, body: '', location: '/round' }],
    ['/elsewhere', { status: 302, body: '', location: 'ftp://files.example/a' }],
    ['/large', { status: 200, body: Buffer.alloc(25 * 1024 * 1024 + 1) }],
    ['/largest', { status: 200, body: Buffer.alloc(25 * 1024 * 1024, 1) }],
  ]);
  let failing = true;
  const provider = createServer((request, response) => {
    const file =
      request.url === '/later'
        ? failing
          ? { status: 503, body: '' }
          : { status: 200, body: 'at last' }
        : files.get(request.url ?? '');
    response.writeHead(
      file?.status ?? 404,
      file !== undefined && 'location' in file && file.location !== undefined ? { Location: file.location } : {},
    );
    response.end(file?.body);
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => provider.close(resolve)));
  const origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const service = await startService(t, { env: { ALLOW_PRIVATE_CRAWL: '1' } });
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  const local = (url: string) => url.replace('http://switchboard.test', service.url);

  t.test('[4.20] they are fetched and served from here, as downloads that nothing can run', async (t) => {
    await service.deliver(mailbox, {
      attachments: [
        { filename: 'Rechnung März 2026.pdf', url: `${origin}/invoice.pdf`, size: 16, contentType: 'application/pdf' },
        { filename: '../../evil.html', url: `${origin}/page.html`, contentType: 'text/html; charset=utf-8' },
        { filename: 'moved', url: `${origin}/moved` },
      ],
    });
    await service.settled();
    const [ticket] = await service.tickets(owner.token);
    const [message] = await service.messages(ticket.id, owner.token);
    t.match(message.attachments, [
      { name: 'Rechnung März 2026.pdf', size: 16 },
      { name: '../../evil.html', size: null },
      { name: 'moved' },
    ]);
    for (const { url } of message.attachments)
      t.match(
        url,
        new RegExp(`^http://switchboard.test/storage/${owner.workspaceId}/attachment/[0-9a-f-]{36}/[A-Za-z0-9._-]+$`),
      );
    const invoice = await fetch(local(message.attachments[0].url));
    t.equal(invoice.status, 200);
    t.equal(await invoice.text(), '%PDF-1.4 invoice');
    t.equal(invoice.headers.get('content-type'), 'application/pdf');
    t.equal(
      invoice.headers.get('content-disposition'),
      `attachment; filename="Rechnung-Marz-2026.pdf"; filename*=UTF-8''Rechnung%20M%C3%A4rz%202026.pdf`,
    );
    const page = await fetch(local(message.attachments[1].url));
    t.match(page.headers.get('content-disposition'), /^attachment;/);
    t.equal(page.headers.get('content-security-policy'), "default-src 'none'; sandbox");
    t.equal(page.headers.get('x-content-type-options'), 'nosniff');
    t.equal(
      await (await fetch(local(message.attachments[2].url))).text(),
      '%PDF-1.4 invoice',
      'a redirect is followed',
    );
    for (const path of [
      `${owner.workspaceId}/attachment/${owner.agentId}/invoice.pdf`,
      '..%2F..%2Fjwt-secret/a/b/c',
      `${owner.workspaceId}/attachment/../..`,
    ])
      t.equal((await fetch(`${service.url}/storage/${path}`)).status, 404, path);
  });

  t.test('[4.20] an unavailable attachment is reported in the conversation', async (t) => {
    for (const [index, path] of ['/gone', '/round', '/elsewhere', '/large'].entries()) {
      await service.deliver(mailbox, {
        from: `a${index}@customer.example`,
        subject: path,
        attachments: [{ filename: 'file.bin', url: origin + path }],
      });
      await service.settled();
      const ticket = (await service.tickets(owner.token)).at(-1);
      const { body } = await service.get(`/conversations/${ticket.id}/messages`, owner.token);
      t.match(
        body.messages.at(-1),
        { senderType: 'system', body: /^The attachment file\.bin could not be fetched: / },
        body.messages.at(-1).body,
      );
    }
    await service.deliver(mailbox, {
      from: 'b@customer.example',
      subject: 'largest',
      attachments: [{ filename: 'file.bin', url: `${origin}/largest` }],
    });
    await service.settled();
    const [message] = await service.messages((await service.tickets(owner.token)).at(-1).id, owner.token);
    const body = await (await fetch(local(message.attachments[0].url))).arrayBuffer();
    t.equal(body.byteLength, 25 * 1024 * 1024, '25 MB are taken whole');
  });

  t.test('[4.20] a provider that is down is retried', async (t) => {
    await service.deliver(mailbox, {
      from: 'c@customer.example',
      subject: 'Later',
      attachments: [{ filename: 'later.txt', url: `${origin}/later` }],
    });
    await service.settled();
    const [message] = await service.messages((await service.tickets(owner.token)).at(-1).id, owner.token);
    t.equal((await fetch(local(message.attachments[0].url))).status, 404);
    const db = service.running.services.engine.workspace(owner.workspaceId)?.db;
    t.same(db === undefined ? ['no file'] : workspaceFaults(db), [], 'meanwhile nothing is wrong with the file');
    failing = false;
    await service.pass(2 * 60_000);
    t.equal(await (await fetch(local(message.attachments[0].url))).text(), 'at last');
  });

  t.test('[4.20] an address that is not public is not fetched', async (t) => {
    const guarded = await startService(t);
    const person = await guarded.workspace();
    const address = await guarded.mailbox(person);
    const { port } = provider.address() as AddressInfo;
    for (const [index, host] of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '10.0.0.1',
      '169.254.169.254',
      '[fe80::1]',
      '0.0.0.0',
      '2130706433',
    ].entries()) {
      await guarded.deliver(address, {
        from: `a${index}@customer.example`,
        subject: host,
        attachments: [{ filename: 'file', url: `http://${host}:${port}/invoice.pdf` }],
      });
      await guarded.settled();
      const ticket = (await guarded.tickets(person.token)).at(-1);
      const { body } = await guarded.get(`/conversations/${ticket.id}/messages`, person.token);
      t.match(body.messages.at(-1).body, /is not a public host/, host);
    }
  });
});
