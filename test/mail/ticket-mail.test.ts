import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { replaceInboundAddresses } from '../../store/mail/inbound-addresses.ts';
import { smtpSender } from '../../workers/providers/mail.ts';
import { makeKey } from '../support/keys.ts';
import { type ArrivedMail, SmtpSink, sendRaw } from '../support/mail-servers.ts';
import { type Service, startService, type Teardown } from '../support/service.ts';

const start = async (t: Teardown) => {
  const sink = await SmtpSink.start(t);
  const service = await startService(t, {
    mail: smtpSender(sink.url),
    env: { MAIL_HOST: 'mail.switchboard.test', SMTP_LISTEN: '127.0.0.1:0', DNS_SERVERS: '127.0.0.1:9' },
  });
  const owner = await service.workspace();
  return { sink, service, owner, ...(await service.mailbox(owner)) };
};

const write = (service: Service, token: string, customerEmail: string, body = 'Hello') =>
  service.post('/tickets', { customerEmail, subject: 'About your cup', body }, token);
const statusOf = async (service: Service, token: string, ticketId: string) =>
  (await service.messages(ticketId, token)).map(({ deliveryStatus }) => deliveryStatus);
const linesOf = async (service: Service, token: string, ticketId: string): Promise<string[]> => {
  const { body } = await service.get(`/conversations/${ticketId}/messages`, token);
  return body.messages
    .filter(({ senderType }: { senderType: string }) => senderType === 'system')
    .map(({ body: text }: { body: string }) => text);
};

/** A mail server's report about a mail that it could not deliver. */
function reportOn(
  mail: ArrivedMail,
  report: { action?: string; status?: string; diagnostic?: string; messageId?: string; to?: string } = {},
): string {
  const {
    action = 'failed',
    status = '5.1.1',
    diagnostic = `smtp; 550 ${status} no such\r\n    user`,
    messageId = mail.parsed.messageId,
    to = mail.envelope.to[0],
  } = report;
  return [
    'From: Mail Delivery System <MAILER-DAEMON@mx.customer.example>',
    `To: ${mail.envelope.from}`,
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    `Message-ID: <${Math.random()}@mx.customer.example>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'I am sorry.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.customer.example',
    '',
    `Final-Recipient: rfc822; ${to}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: ${diagnostic}`,
    '--b',
    'Content-Type: message/rfc822',
    '',
    `From: ${mail.envelope.from}`,
    `Message-ID:`,
    `  ${messageId}`,
    'Subject: About your cup',
    '',
    'Hello',
    '--b--',
    '',
  ].join('\r\n');
}

t.test('outgoing mail', async (t) => {
  const { sink, service, owner, address } = await start(t);

  t.test('[4.6] a plain and an HTML part, safe in both, files as links, names on one line', async (t) => {
    await service.patch(`/agents/${owner.agentId}`, { name: 'Ann "the cup" Ünal' }, owner.token);
    const { body: ticket } = await write(
      service,
      owner.token,
      'carla@customer.example',
      'Look: https://shop.example/?a=1&b=2\n<script>alert(1)</script>',
    );
    const mail = await sink.next();
    t.same(mail.parsed.from?.value, [{ address, name: 'Ann "the cup" Ünal (Shop 1)' }]);
    t.equal(mail.parsed.text, 'Look: https://shop.example/?a=1&b=2\n<script>alert(1)</script>');
    t.match(
      mail.parsed.html,
      '<a href="https://shop.example/?a=1&amp;b=2" rel="noopener noreferrer nofollow" target="_blank">https://shop.example/?a=1&amp;b=2</a><br>&lt;script&gt;alert(1)&lt;/script&gt;',
    );
    t.match(mail.raw.toString(), /^Message-ID: <[0-9a-f-]{36}@mail\.switchboard\.test>\r$/m);
    const plan = await service.upload(owner, { filename: 'The <plan>.pdf' });
    await service.post(`/conversations/${ticket.id}/messages`, { body: 'Here', attachments: [plan] }, owner.token);
    const files = (await sink.next()).parsed;
    t.equal(files.text, `Here\n\nThe <plan>.pdf: ${plan.url}`);
    t.match(files.html, `<a href="${plan.url}">The &lt;plan&gt;.pdf</a></li>`);
    const { url } = await service.upload(owner, { filename: 'b.pdf' });
    await service.post(
      `/conversations/${ticket.id}/messages`,
      { body: 'And here', attachments: [{ url }] },
      owner.token,
    );
    const nameless = (await sink.next()).parsed;
    t.equal(nameless.text, `And here\n\nb.pdf: ${url}`, 'one without a name has that of its upload');
    t.match(nameless.html, `<a href="${url}">b.pdf</a></li>`);
  });

  t.test("[decisions 4.6] deliveryStatus: queued, then sent; null for a chat and for the customer's own", async (t) => {
    const { body: ticket } = await write(service, owner.token, 'dora@customer.example');
    await sink.next();
    const { body: answer } = await service.post(
      `/conversations/${ticket.id}/messages`,
      { body: 'And this' },
      owner.token,
    );
    t.equal(answer.deliveryStatus, 'queued');
    await sink.next();
    await service.settled();
    t.equal(
      (await service.messages(ticket.id, owner.token)).find(({ id }) => id === answer.id)?.deliveryStatus,
      'sent',
    );
    const chat = await service.chat(owner);
    t.equal(
      (await service.post(`/conversations/${chat.id}/messages`, { body: 'Hi' }, owner.token)).body.deliveryStatus,
      null,
    );
  });

  t.test('[4.6] a busy mail server is retried; the message stays queued meanwhile', async (t) => {
    sink.refuse('emil@customer.example', 451, '4.3.0 come back later');
    const { body: ticket } = await write(service, owner.token, 'emil@customer.example');
    await service.settled();
    t.same(await statusOf(service, owner.token, ticket.id), ['queued']);
    sink.accept('emil@customer.example');
    const { body: second } = await service.post(
      `/conversations/${ticket.id}/messages`,
      { body: 'And this' },
      owner.token,
    );
    t.equal(second.deliveryStatus, 'queued');
    await service.settled();
    t.same(
      await statusOf(service, owner.token, ticket.id),
      ['queued', 'queued'],
      'in order: the second waits for the first',
    );
    await service.pass(2 * 60_000);
    t.same([(await sink.next()).parsed.text, (await sink.next()).parsed.text], ['Hello', 'And this']);
    await service.settled();
    t.same(await statusOf(service, owner.token, ticket.id), ['sent', 'sent']);
  });

  t.test('[4.5] a transcript, in both forms, to any address, in any status, marked as automatic', async (t) => {
    const { body: ticket } = await write(service, owner.token, 'fred@customer.example', 'The first line');
    await sink.next();
    await service.post(`/conversations/${ticket.id}/notes`, { body: 'He is rude' }, owner.token);
    for (const status of ['solved', 'open', 'spam']) {
      await service.post(`/conversations/${ticket.id}/status`, { status }, owner.token);
      t.match(
        await service.post(
          `/conversations/${ticket.id}/email-transcript`,
          { to: 'boss@shop.example', subject: `It is ${status}` },
          owner.token,
        ),
        { status: 202, body: { status: 'queued' } },
      );
      const mail = await sink.next();
      t.match(mail.parsed, { subject: `It is ${status}`, text: /The first line/, html: /The first line/ });
      t.notMatch(mail.raw.toString(), /He is rude/);
      t.match(mail.raw.toString(), /^Auto-Submitted: auto-generated\r$/m);
    }
    t.match(
      await service.post(
        `/conversations/${ticket.id}/email-transcript`,
        { to: 'boss@shop.example', subject: 'x\r\nBcc: all@example.com' },
        owner.token,
      ),
      { status: 400 },
    );
  });
});

t.test('[4.6] a mail that is tried again says why, to agents alone, until it is sent or has failed', async (t) => {
  const { sink, service, owner } = await start(t);
  const to = 'otto@customer.example';
  sink.refuse(to, 451, '4.7.1 greylisted');
  const socket = await service.agentSocket(owner.token);
  const { body: ticket } = await write(service, owner.token, to);
  await service.settled();
  const mailOf = async () => (await service.messages(ticket.id, owner.token))[0].mail;
  const told = async () => (await socket.next('message.updated')).data.message;
  const first = await told();
  t.match(first, { deliveryStatus: 'queued', mail: { delayed: { answer: /451.*4\.7\.1 greylisted/ } } });
  t.same((await mailOf()).delayed, first.mail.delayed);

  // The same answer again says nothing new.
  await service.pass(2 * 60_000);
  await service.settled();
  t.same((await mailOf()).delayed, first.mail.delayed);
  sink.refuse(to, 452, `4.2.2 ${'mailbox full '.repeat(40)}`);
  await service.pass(7 * 60_000);
  await service.settled();
  const second = await told();
  t.match(second.mail.delayed.answer, /4\.2\.2 mailbox full/, 'another answer is told');
  t.equal(second.mail.delayed.answer.length, 300);
  t.ok(second.mail.delayed.at > first.mail.delayed.at);
  const narrow = await makeKey(service, owner, { scopes: ['conversations:read', 'messages:read'] });
  t.notOk((await service.messages(ticket.id, narrow))[0].mail.delayed, 'it may name the customer');

  sink.accept(to);
  await service.pass(20 * 60_000);
  await sink.next();
  await service.settled();
  const sent = await told();
  t.equal(sent.deliveryStatus, 'sent');
  t.notOk('delayed' in sent.mail);
  t.notOk('delayed' in (await mailOf()));

  sink.refuse(to, 451, '4.7.1 greylisted');
  await service.post(`/conversations/${ticket.id}/messages`, { body: 'Once more' }, owner.token);
  await service.settled();
  t.ok((await told()).mail.delayed);
  sink.refuse(to, 552, '5.2.2 mailbox full');
  await service.pass(2 * 60_000);
  await service.settled();
  const failed = await told();
  t.equal(failed.deliveryStatus, 'failed');
  t.notOk('delayed' in failed.mail);
});

t.test('addresses that take no mail', async (t) => {
  const { sink, service, owner } = await start(t);
  const suppressions = async (query = '') => (await service.get(`/email/suppressions${query}`, owner.token)).body;

  t.test(
    '[decisions] a server that knows no such address: failed, reported in the conversation, and the address suppressed',
    async (t) => {
      sink.refuse('gone@customer.example', 550, '5.1.1 no such user here');
      const { body: ticket } = await write(service, owner.token, 'Gone@customer.example');
      await service.settled();
      t.same(await statusOf(service, owner.token, ticket.id), ['failed']);
      t.match(await linesOf(service, owner.token, ticket.id), [
        /^The mail to gone@customer\.example could not be delivered: .*5\.1\.1 no such user here/,
      ]);
      t.match(await suppressions(), {
        suppressions: [{ email: 'gone@customer.example', reason: 'rejected' }],
        nextCursor: null,
      });
      const again = await service.post(`/conversations/${ticket.id}/messages`, { body: 'Are you there?' }, owner.token);
      t.match(again, { status: 201, body: { deliveryStatus: 'failed' } });
      t.match((await linesOf(service, owner.token, ticket.id)).at(-1), /^Not mailed/);
      await service.settled();
      t.equal(sink.count, 0);
      t.match(
        await service.post(
          `/conversations/${ticket.id}/email-transcript`,
          { to: 'GONE@customer.example', subject: 'Transcript' },
          owner.token,
        ),
        { status: 422, body: { error: 'semantic_error' } },
      );
      t.match((await service.audited('suppression.added', owner.token))[0], {
        actorAgentId: null,
        targetKind: 'suppression',
        targetId: 'gone@customer.example',
        after: { reason: 'rejected' },
      });
    },
  );

  t.test('[decisions] a refusal for another reason fails, and does not suppress the address', async (t) => {
    for (const [to, code, text] of [
      ['full@customer.example', 552, '5.2.2 mailbox full'],
      ['policy@customer.example', 554, '5.7.1 your server is not liked here'],
      ['odd@customer.example', 554, 'no'],
      ['listed@customer.example', 550, 'blocked using a list'],
      ['sender@customer.example', 550, '5.1.8 your domain does not exist'],
      ['vague@customer.example', 550, 'go away'],
    ] as const) {
      sink.refuse(to, code, text);
      const { body: ticket } = await write(service, owner.token, to);
      await service.settled();
      t.same(await statusOf(service, owner.token, ticket.id), ['failed'], text);
    }
    t.equal((await suppressions()).suppressions.length, 1);
    sink.refuse('plain@customer.example', 550, 'unknown user');
    await write(service, owner.token, 'plain@customer.example');
    await service.settled();
    t.equal((await suppressions()).suppressions.length, 2, 'a server without enhanced codes is understood too');
  });

  t.test('[RFC 3464] a bounce: the message failed, the address is suppressed, the report is no ticket', async (t) => {
    const { body: ticket } = await write(service, owner.token, 'bounce@customer.example');
    const mail = await sink.next();
    await service.settled();
    const before = (await service.tickets(owner.token)).length;
    await sendRaw(service.running.smtpPort ?? 0, { from: '', to: mail.envelope.from, raw: reportOn(mail) });
    t.same(await statusOf(service, owner.token, ticket.id), ['failed']);
    t.match(await linesOf(service, owner.token, ticket.id), [
      'The mail to bounce@customer.example could not be delivered: 5.1.1 550 5.1.1 no such user',
    ]);
    t.match((await suppressions()).suppressions[0], { email: 'bounce@customer.example', reason: 'bounce' });
    t.equal((await service.tickets(owner.token)).length, before);
    t.match((await service.audited('email.dropped', owner.token))[0].context, { reason: 'bounce' });
  });

  t.test(
    '[RFC 3464] a delay is no end, a full mailbox no reason to stop, and a report on a mail we never sent is nothing',
    async (t) => {
      const { body: ticket } = await write(service, owner.token, 'slow@customer.example');
      const mail = await sink.next();
      await service.settled();
      const before = (await suppressions()).suppressions.length;
      const report = (changes: Parameters<typeof reportOn>[1]) =>
        sendRaw(service.running.smtpPort ?? 0, { from: '', to: mail.envelope.from, raw: reportOn(mail, changes) });
      await report({ action: 'delayed', status: '4.4.1' });
      t.same(await statusOf(service, owner.token, ticket.id), ['sent']);
      await report({ messageId: '<01890000-0000-7000-8000-000000000000@mail.switchboard.test>' });
      t.same(await statusOf(service, owner.token, ticket.id), ['sent'], 'forged');
      await report({ status: '5.2.2', to: 'victim@elsewhere.example' });
      t.same(await statusOf(service, owner.token, ticket.id), ['failed']);
      t.equal((await suppressions()).suppressions.length, before, 'no one named in a report was suppressed');
      const other = await service.workspace();
      const { address } = await service.mailbox(other);
      await sendRaw(service.running.smtpPort ?? 0, { from: '', to: address, raw: reportOn(mail) });
      t.same(
        (await service.get('/email/suppressions', other.token)).body.suppressions,
        [],
        'another workspace did not send it',
      );
    },
  );

  t.test("[RFC 3463] a report about a mail's content or size does not affect the address", async (t) => {
    const { body: ticket } = await write(service, owner.token, 'lee@customer.example');
    const mail = await sink.next();
    await service.settled();
    const before = (await suppressions()).suppressions.length;
    for (const [status, diagnostic] of [
      ['5.7.1', 'smtp; 554 5.7.1 rejected as spam'],
      ['5.3.4', 'smtp; 552 5.3.4 message too big'],
      ['5.0.0', 'smtp; 550 5.7.1 blocked'],
      ['5.0.0', 'smtp; 550 we do not want this'],
    ] as const) {
      await sendRaw(service.running.smtpPort ?? 0, {
        from: '',
        to: mail.envelope.from,
        raw: reportOn(mail, { status, diagnostic }),
      });
    }
    t.same(await statusOf(service, owner.token, ticket.id), ['failed'], 'the mail failed');
    t.equal((await suppressions()).suppressions.length, before);
    t.equal(
      (await service.post(`/conversations/${ticket.id}/messages`, { body: 'Shorter' }, owner.token)).body
        .deliveryStatus,
      'queued',
      'and the next one is sent',
    );
    await sink.next();
  });

  t.test('[decisions] the list is paged, and an admin takes an address off it', async (t) => {
    const { suppressions: all } = await suppressions();
    t.same(
      all.map(({ email }: { email: string }) => email),
      ['bounce@customer.example', 'plain@customer.example', 'gone@customer.example'],
      'newest first',
    );
    const page = await suppressions('?limit=2');
    t.equal(page.suppressions.length, 2);
    t.same((await suppressions(`?limit=2&cursor=${encodeURIComponent(page.nextCursor)}`)).suppressions, all.slice(2));
    t.match(await service.get('/email/suppressions?limit=201', owner.token), {
      status: 400,
      body: { error: 'invalid_query' },
    });
    t.match(await service.get('/email/suppressions?limit=0', owner.token), {
      status: 400,
      body: { error: 'invalid_query' },
    });
    const other = await service.workspace();
    t.equal(
      (await service.delete('/email/suppressions/gone%40customer.example', other.token)).status,
      404,
      'another workspace',
    );
    t.match(await service.delete('/email/suppressions/GONE%40customer.example', owner.token), {
      status: 204,
      body: null,
    });
    t.equal((await service.delete('/email/suppressions/gone%40customer.example', owner.token)).status, 404, 'once');
    t.match((await service.audited('suppression.removed', owner.token))[0], {
      actorAgentId: owner.agentId,
      targetKind: 'suppression',
      targetId: 'gone@customer.example',
      before: { email: 'gone@customer.example', reason: 'rejected' },
    });
    sink.accept('gone@customer.example');
    const ticket = (await service.tickets(owner.token)).find(({ subject }) => subject === 'About your cup');
    t.equal(
      (await service.post(`/conversations/${ticket.id}/messages`, { body: 'Welcome back' }, owner.token)).body
        .deliveryStatus,
      'queued',
    );
  });

  t.test(
    '[decisions, receipts] a receipt or a transcript that did not arrive is told in its conversation',
    async (t) => {
      const [site] = (await service.get('/sites', owner.token)).body.sites;
      const customer = await service.customer(site.embedId);
      await service.post('/widget/tickets', { email: 'typo@customer.example', body: 'Blue?' }, customer.token);
      let receipt = await sink.next();
      while (!receipt.envelope.to.includes('typo@customer.example')) receipt = await sink.next();
      await service.settled();
      const [ticket] = (await service.tickets(owner.token)).reverse();
      const report = reportOn(receipt, { to: 'typo@customer.example' });
      await sendRaw(service.running.smtpPort ?? 0, { from: '', to: receipt.envelope.from, raw: report });
      sink.refuse('nobody@customer.example', 550, '5.1.1 no such user');
      const sent = { to: 'nobody@customer.example', subject: 'What you asked' };
      await service.post(`/conversations/${ticket.id}/email-transcript`, sent, owner.token);
      await service.settled();
      t.match(await linesOf(service, owner.token, ticket.id), [
        /^The mail to typo@customer\.example could not be delivered: 5\.1\.1/,
        /^The mail to nobody@customer\.example could not be delivered: .*no such user/,
      ]);
      t.match(
        (await suppressions()).suppressions
          .slice(0, 2)
          .map(({ email }: { email: string }) => email)
          .sort(),
        ['nobody@customer.example', 'typo@customer.example'],
      );
    },
  );
});

t.test("[roles] suppressions and addresses are the admins'", async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const supervisor = await service.agent(owner, { role: 'supervisor' });
  for (const [method, path, body] of [
    ['GET', '/email/suppressions'],
    ['DELETE', '/email/suppressions/a%40b.example'],
    ['GET', '/email/inbound-addresses'],
    ['PUT', '/email/inbound-addresses', { addresses: [] }],
  ] as const) {
    t.match(
      await service.call(method, path, { token: supervisor.token, body }),
      { status: 403, body: { error: 'admin_required' } },
      `${method} ${path}`,
    );
    t.equal((await service.call(method, path, { body })).status, 401);
  }
});

t.test('[4.20] inbound addresses', async (t) => {
  const service = await startService(t, { env: { MAIL_HOST: 'mail.switchboard.test' } });
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  const put = (addresses: unknown) => service.put('/email/inbound-addresses', { addresses }, owner.token);

  t.test(
    "no workspace gets addresses through which certificates for the operator's hosts can be requested, unless it had them before",
    async (t) => {
      for (const localPart of ['admin', 'Administrator', 'webmaster', 'hostmaster', 'postmaster']) {
        t.match(
          await put([{ localPart, departmentId: null }]),
          {
            status: 400,
            body: {
              error: 'invalid_body',
              detail: { fieldErrors: { 'addresses.0.localPart': ['is reserved for the operator of the mail host'] } },
            },
          },
          localPart,
        );
      }
      const had = command('test.hadAdmin', (ctx, _: object): void =>
        replaceInboundAddresses(ctx.db, [{ localPart: 'admin', departmentId: null }]),
      );
      await service.running.services.engine.execute(had, {
        workspaceId: owner.workspaceId,
        caller: systemCaller,
        params: {},
      });
      t.equal(
        (
          await put([
            { localPart: 'admin', departmentId: null },
            { localPart: 'help', departmentId: null },
          ])
        ).status,
        200,
      );
      t.equal((await put([])).status, 200);
    },
  );

  t.test("the workspace's own, and local parts for departments", async (t) => {
    const { body: sales } = await service.post('/departments', { name: 'Sales' }, owner.token);
    const { body: returns } = await service.post('/departments', { name: 'Returns', isDefault: true }, owner.token);
    t.same((await service.get('/email/inbound-addresses', owner.token)).body.addresses, [
      { address: mailbox.address, kind: 'auto', localPart: 'shop-1', departmentId: null },
    ]);
    t.match(
      await put([
        { localPart: 'Sales', departmentId: sales.id },
        { localPart: 'info', departmentId: null },
      ]),
      {
        status: 200,
        body: {
          addresses: [
            { kind: 'auto' },
            { address: 'info@shop-1.mail.switchboard.test', kind: 'subdomain', localPart: 'info', departmentId: null },
            { address: 'sales@shop-1.mail.switchboard.test', departmentId: sales.id },
          ],
        },
      },
    );
    for (const [to, department] of [
      ['SALES@shop-1.mail.switchboard.test', sales.id],
      ['info@shop-1.mail.switchboard.test', returns.id],
      [mailbox.address, returns.id],
    ]) {
      await service.deliver(mailbox, { to: [to], subject: `To ${to}`, from: `${Math.random()}@customer.example` });
      t.equal((await service.tickets(owner.token)).at(-1).departmentId, department, to);
    }
    const ticket = (await service.tickets(owner.token)).find(({ subject }) => subject.startsWith('To SALES'));
    await service.post(`/conversations/${ticket.id}/messages`, { body: 'From sales' }, owner.token);
    await service.settled();
    t.match(
      (await service.outbox()).at(-1),
      /^From: .*<sales@shop-1\.mail\.switchboard\.test>\r$/m,
      'and is answered from where it was written to',
    );
    await service.delete(`/departments/${sales.id}`, owner.token);
    t.equal(
      (await service.get('/email/inbound-addresses', owner.token)).body.addresses[2].departmentId,
      null,
      'a deleted department has no address',
    );
    t.match(await put([]), { body: { addresses: [{ kind: 'auto' }] } });
    t.equal(
      (await service.deliver(mailbox, { to: ['sales@shop-1.mail.switchboard.test'] })).status,
      401,
      'unmapped ones are unknown',
    );
    await service.post(`/conversations/${ticket.id}/messages`, { body: 'Sales is gone' }, owner.token);
    await service.settled();
    t.match(
      (await service.outbox()).at(-1),
      /^From: .*<shop-1@mail\.switchboard\.test>\r$/m,
      "and answers come from the workspace's own address",
    );
  });

  t.test('the form of a local part', async (t) => {
    const agent = owner.agentId;
    for (const [field, addresses] of [
      ['addresses.0.localPart', [{ localPart: 'a b', departmentId: null }]],
      ['addresses.0.localPart', [{ localPart: '', departmentId: null }]],
      ['addresses.0.localPart', [{ localPart: 'x'.repeat(65), departmentId: null }]],
      ['addresses.0.localPart', [{ localPart: 'a@b', departmentId: null }]],
      ['addresses.0.localPart', [{ localPart: 'a\r\nb', departmentId: null }]],
      [
        'addresses.1.localPart',
        [
          { localPart: 'same', departmentId: null },
          { localPart: 'SAME', departmentId: null },
        ],
      ],
      ['addresses.0.departmentId', [{ localPart: 'a', departmentId: agent }]],
      ['addresses.0.departmentId', [{ localPart: 'a' }]],
      ['addresses', Array.from({ length: 101 }, (_, index) => ({ localPart: `a${index}`, departmentId: null }))],
      ['addresses', undefined],
    ] as const)
      t.match(
        await put(addresses),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [] } } } },
        JSON.stringify(addresses)?.slice(0, 60),
      );
    t.equal((await put([{ localPart: 'x'.repeat(64), departmentId: null }])).status, 200);
  });

  t.test("[4.1] names under the mail host that are not a workspace's to have", async (t) => {
    const { body } = await service.post('/auth/register', {
      email: 'post@example.com',
      password: 'correct horse battery staple',
      workspaceName: 'Postmaster',
    });
    t.equal(body.workspace.subdomain, 'postmaster-2');
  });
});
