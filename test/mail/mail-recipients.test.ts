// The sender of a mail, who is answered, and who else: Reply-To, copies, and senders that fail their domain's DMARC.

import { generateKeyPairSync } from 'node:crypto';
import DKIM from 'nodemailer/lib/dkim/index.js';
import t from 'tap';
import { parseMailboxes } from '../../engine/mail-addresses.ts';
import { smtpSender } from '../../workers/providers/mail.ts';
import { type ArrivedMail, DnsZone, SmtpSink, sendRaw } from '../support/mail-servers.ts';
import { type Service, startService, type Teardown } from '../support/service.ts';

const start = async (t: Teardown) => {
  const sink = await SmtpSink.start(t);
  const dns = await DnsZone.start(t);
  const service = await startService(t, {
    mail: smtpSender(sink.url),
    env: { MAIL_HOST: 'mail.switchboard.test', SMTP_LISTEN: '127.0.0.1:0', DNS_SERVERS: dns.address },
  });
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  let mails = 0;
  /** Hands one in and returns the resulting ticket and message. */
  const receive = async (mail: {
    from: string;
    subject?: string;
    headers?: Record<string, string>;
    body?: string;
    to?: string;
    raw?: string;
  }): Promise<{ ticket: any; message: any; mailId: string }> => {
    mails += 1;
    const mailId = `<people${mails}@customer.example>`;
    const { from, subject = `Mail ${mails}`, headers = {}, body = `Text ${mails}`, to = mailbox.address } = mail;
    const raw = [
      `From: ${from}`,
      `To: ${to}`,
      `Subject: ${subject}`,
      `Message-ID: ${mailId}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      '',
      body,
      '',
    ].join('\r\n');
    await sendRaw(service.running.smtpPort ?? 0, {
      from: /([^\s<>]+@[^\s<>]+)/.exec(from)?.[1] ?? '',
      to: mailbox.address,
      raw,
    });
    for (const ticket of (await service.tickets(owner.token)).reverse()) {
      const message = (await service.messages(ticket.id, owner.token)).find(({ body: said }) => said === body);
      if (message !== undefined) return { ticket, message, mailId };
    }
    throw new Error('the mail is nowhere');
  };
  const answer = (conversationId: string, fields: object = {}) =>
    service.post(`/conversations/${conversationId}/messages`, { body: 'An answer', ...fields }, owner.token);
  return { sink, dns, service, owner, mailbox, receive, answer };
};

const emailOf = async (service: Service, token: string, visitorId: string) =>
  (await service.get(`/visitors/${visitorId}`, token)).body.visitor.email;

t.test('[RFC 5322] Reply-To', async (t) => {
  const { sink, service, owner, mailbox, receive, answer } = await start(t);

  t.test('a form sends for a customer, whose own address is answered, suppressed and known', async (t) => {
    const { ticket, message } = await receive({
      from: 'Contact form <noreply@forms.example>',
      headers: { 'Reply-To': 'Kim <kim@customer.example>' },
      subject: 'Contact form',
    });
    t.equal(await emailOf(service, owner.token, message.senderId), 'kim@customer.example');
    t.equal(message.senderId, ticket.visitorId);
    t.match(message.mail, { from: { address: 'noreply@forms.example', name: 'Contact form' }, copiedTo: [] });
    t.equal(
      (await service.get(`/conversations/${ticket.id}/messages/${message.id}/original`, owner.token)).body.replyTo,
      'kim@customer.example',
    );
    sink.refuse('kim@customer.example', 550, '5.1.1 no such user');
    await answer(ticket.id);
    await service.settled();
    t.equal(sink.count, 0, 'the form is not written to');
    t.match((await service.get('/email/suppressions', owner.token)).body.suppressions, [
      { email: 'kim@customer.example' },
    ]);
    const next = await receive({
      from: 'Contact form <noreply@forms.example>',
      headers: { 'Reply-To': 'lee@customer.example' },
      subject: 'Contact form',
    });
    t.not(next.ticket.id, ticket.id, "the next customer's is another conversation");
    await answer(next.ticket.id);
    t.same((await sink.next()).envelope.to, ['lee@customer.example']);
  });

  t.test('by the webhook as well, one of several and whatever their case', async (t) => {
    await service.deliver(mailbox, {
      from: 'shop@forms.example',
      subject: 'From a shop',
      messageId: '<web1@forms.example>',
      headers: { 'reply-to': ['"Ann, of Cups" <Ann@customer.example>', 'ben@customer.example'] },
    });
    const ticket = (await service.tickets(owner.token)).find(({ subject }) => subject === 'From a shop');
    t.equal(await emailOf(service, owner.token, ticket.visitorId), 'ann@customer.example');
    t.same(ticket.copiedTo, ['ben@customer.example'], 'an answer goes to all whom it names');
    await service.deliver(mailbox, {
      from: 'shop@forms.example',
      subject: 'Nonsense',
      messageId: '<web2@forms.example>',
      headers: { 'Reply-To': 'nobody at all' },
    });
    const other = (await service.tickets(owner.token)).find(({ subject }) => subject === 'Nonsense');
    t.equal(
      await emailOf(service, owner.token, other.visitorId),
      'shop@forms.example',
      'an invalid address requests nothing',
    );
  });

  t.test("one's own form can send from one's own address; Reply-To that address is a loop", async (t) => {
    const { ticket } = await receive({ from: mailbox.address, headers: { 'Reply-To': 'mo@customer.example' } });
    t.equal(await emailOf(service, owner.token, ticket.visitorId), 'mo@customer.example');
    await service.deliver(mailbox, {
      from: mailbox.address,
      messageId: '<self1@x>',
      headers: { 'Reply-To': mailbox.address },
    });
    t.match((await service.audited('email.dropped', owner.token))[0], {
      targetId: 'self1@x',
      context: { reason: 'loop' },
    });
    await service.deliver(mailbox, {
      from: 'pat@customer.example',
      subject: 'To ourselves',
      headers: { 'Reply-To': mailbox.address },
    });
    const odd = (await service.tickets(owner.token)).find(({ subject }) => subject === 'To ourselves');
    t.equal(await emailOf(service, owner.token, odd.visitorId), 'pat@customer.example', 'we are not our own customer');
  });

  t.test(
    '[threading] it gives no access to a conversation, nor speaks for its customer; a customer who has always used it continues',
    async (t) => {
      const { ticket, mailId } = await receive({
        from: 'quinn@phone.example',
        headers: { 'Reply-To': 'quinn@work.example', Cc: 'friend@customer.example' },
      });
      const refer = { 'In-Reply-To': mailId };
      const stranger = await receive({
        from: 'mallory@elsewhere.example',
        headers: { ...refer, 'Reply-To': 'quinn@work.example' },
      });
      t.not(stranger.ticket.id, ticket.id);
      t.match(stranger.message.threading, { reason: 'sender_not_on_thread' });
      const friend = await receive({
        from: 'friend@customer.example',
        headers: { ...refer, 'Reply-To': 'quinn@work.example' },
      });
      t.equal(friend.ticket.id, ticket.id);
      t.equal(
        await emailOf(service, owner.token, friend.message.senderId),
        'friend@customer.example',
        'a friend on it is itself',
      );
      const again = await receive({
        from: 'quinn@phone.example',
        headers: { ...refer, 'Reply-To': 'quinn@work.example' },
      });
      t.equal(again.ticket.id, ticket.id);
      t.equal(again.message.senderId, ticket.visitorId);
      const fromWork = await receive({ from: 'quinn@work.example', headers: refer });
      t.equal(fromWork.message.senderId, ticket.visitorId);
    },
  );

  t.test(
    '[mail loops] a form is counted by the customer it sends for; a blocked customer stays blocked behind it',
    async (t) => {
      const before = (await service.tickets(owner.token)).length;
      const deliver = (index: number, replyTo: string) =>
        service.deliver(mailbox, {
          from: 'busy@forms.example',
          subject: `Busy ${index}`,
          messageId: `<busy${index}@forms.example>`,
          headers: { 'Reply-To': replyTo },
        });
      for (let index = 0; index < 110; index += 1) await deliver(index, `busy${index}@customer.example`);
      t.equal((await service.tickets(owner.token)).length, before + 110);
      const blocked = (await service.tickets(owner.token)).at(-1);
      await service.post(`/visitors/${blocked.visitorId}/block`, undefined, owner.token);
      await deliver(111, 'busy109@customer.example');
      t.match((await service.audited('email.dropped', owner.token))[0], { context: { reason: 'blocked' } });
    },
  );
});

t.test('[RFC 5322] names in one header', async (t) => {
  t.same(
    parseMailboxes('"Ann, of Cups" <ann@a.example>, ben@b.example , <Cleo@c.example>,,nobody').map(
      ({ address }) => address,
    ),
    ['ann@a.example', 'ben@b.example', 'cleo@c.example'],
  );
  t.same(parseMailboxes(''), []);
  t.equal(parseMailboxes(`${'"'.repeat(50_000)}<`.repeat(4)).length, 0, 'a hostile one costs no more than any other');
  t.equal(parseMailboxes(`"${'\\"'.repeat(400_000)}`).length, 0, 'nor does a quote that never ends');
  t.equal(parseMailboxes(`"${'\\"'.repeat(400_000)}\\\n<`).length, 0);
  t.same(
    parseMailboxes('ann@a.example, "Ben, <ben@b.example>').map(({ address }) => address),
    ['ann@a.example', 'ben@b.example'],
    'the text behind it is still parsed',
  );
});

t.test('copies', async (t) => {
  const { sink, service, owner, receive, answer } = await start(t);
  const arrived = async (count: number): Promise<ArrivedMail[]> => {
    const mails: ArrivedMail[] = [];
    while (mails.length < count) mails.push(await sink.next());
    return mails.sort((one, other) => (one.envelope.to[0] ?? '').localeCompare(other.envelope.to[0] ?? ''));
  };

  t.test("all recipients of the customer's mail get the answer: one mail each, all alike", async (t) => {
    const socket = await service.agentSocket(owner.token);
    const { ticket, message, mailId } = await receive({
      from: 'Kim <kim@customer.example>',
      to: `shop-1@mail.switchboard.test, bo@customer.example`,
      headers: { Cc: 'Lee <LEE@customer.example>, kim@customer.example' },
    });
    t.same(message.mail.copiedTo, ['bo@customer.example', 'lee@customer.example', 'kim@customer.example']);
    t.same(ticket.copiedTo, ['bo@customer.example', 'lee@customer.example']);
    const { body: said } = await answer(ticket.id);
    t.same(said.mail.copiedTo, ['bo@customer.example', 'lee@customer.example']);
    const mails = await arrived(3);
    t.same(
      mails.map(({ envelope }) => envelope.to),
      [['bo@customer.example'], ['kim@customer.example'], ['lee@customer.example']],
    );
    t.equal(new Set(mails.map(({ parsed }) => parsed.messageId)).size, 1);
    for (const { raw, parsed } of mails) {
      t.match(raw.toString(), /^To: kim@customer\.example\r$/m);
      t.match(raw.toString(), /^Cc: bo@customer\.example, lee@customer\.example\r$/m);
      t.equal(parsed.inReplyTo, mailId);
    }
    const fromLee = await receive({
      from: 'lee@customer.example',
      headers: { 'In-Reply-To': mails[0]?.parsed.messageId ?? '', Cc: 'kim@customer.example' },
    });
    t.equal(fromLee.ticket.id, ticket.id);
    t.same(fromLee.ticket.copiedTo, ['lee@customer.example'], 'as the last one has it: bo was left out');
    t.equal(fromLee.ticket.version, ticket.version, 'that change affects no decision');
    const { data } = await socket.next('conversation.updated');
    t.ok(data.conversation.copiedTo, 'and agents are notified');
    await socket.close();
  });

  t.test('an agent can answer only the customer', async (t) => {
    const { ticket } = await receive({ from: 'una@customer.example', headers: { Cc: 'vic@customer.example' } });
    const { body: said } = await answer(ticket.id, { copy: false });
    t.same(said.mail.copiedTo, []);
    const [mail] = await arrived(1);
    t.same(mail?.envelope.to, ['una@customer.example']);
    t.notMatch(mail?.raw.toString(), /vic@/);
    await answer(ticket.id, { copy: true });
    t.equal((await arrived(2)).length, 2);
  });

  t.test(
    'a copy that is not delivered is reported in the conversation; the message still counts as delivered',
    async (t) => {
      const { ticket } = await receive({
        from: 'wim@customer.example',
        headers: { Cc: 'gone@customer.example, back@customer.example' },
      });
      sink.refuse('gone@customer.example', 550, '5.1.1 no such user');
      const { body: said } = await answer(ticket.id);
      const mails = await arrived(2);
      await service.settled();
      const read = async () => (await service.get(`/conversations/${ticket.id}/messages`, owner.token)).body.messages;
      t.equal((await read()).find(({ id }: { id: string }) => id === said.id).deliveryStatus, 'sent');
      t.match((await read()).at(-1), {
        senderType: 'system',
        body: /^The copy to gone@customer\.example could not be delivered: .*5\.1\.1/,
      });
      const report = (recipient: string) =>
        [
          'From: MAILER-DAEMON@mx.example',
          'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
          `Message-ID: <${Math.random()}@mx.example>`,
          '',
          '--b',
          'Content-Type: message/delivery-status',
          '',
          'Reporting-MTA: dns; mx.example',
          '',
          `Final-Recipient: rfc822; ${recipient}`,
          'Action: failed',
          'Status: 5.1.1',
          '',
          '--b',
          'Content-Type: message/rfc822',
          '',
          `Message-ID: ${mails[0]?.parsed.messageId}`,
          '',
          '--b--',
          '',
        ].join('\r\n');
      const bounce = (recipient: string) =>
        sendRaw(service.running.smtpPort ?? 0, { from: '', to: mails[0]?.envelope.from ?? '', raw: report(recipient) });
      await bounce('Back@customer.example');
      t.match((await read()).at(-1), { body: /^The copy to back@customer\.example could not be delivered: 5\.1\.1/ });
      await bounce('forwarded@elsewhere.example');
      t.match(
        (await read()).at(-1),
        { body: /^The copy to forwarded@elsewhere\.example could not/ },
        'it is unknown whose that is',
      );
      const suppressed = async () =>
        (await service.get('/email/suppressions', owner.token)).body.suppressions.map(
          ({ email }: { email: string }) => email,
        );
      t.same(await suppressed(), ['back@customer.example', 'gone@customer.example']);
      t.equal((await read()).find(({ id }: { id: string }) => id === said.id).deliveryStatus, 'sent');
      t.same((await answer(ticket.id)).body.mail.copiedTo, [], 'they are not written to again');
      await arrived(1);
      await bounce('wim@customer.example');
      t.equal(
        (await read()).find(({ id }: { id: string }) => id === said.id).deliveryStatus,
        'failed',
        "the customer's own",
      );
    },
  );
});

t.test("senders that fail their domain's DMARC", async (t) => {
  const { sink, dns, service, owner, receive, answer } = await start(t);
  dns.add(
    { type: 'TXT', name: 'bank.example', value: 'v=spf1 ip4:192.0.2.1 -all' },
    { type: 'TXT', name: '_dmarc.bank.example', value: 'v=DMARC1; p=reject' },
  );

  t.test('[DMARC] a forged mail is marked, joins nothing by its subject, and adds no recipients', async (t) => {
    const { body: ticket } = await service.post(
      '/tickets',
      { customerEmail: 'cfo@bank.example', subject: 'Invoice 7', body: 'Here it is.' },
      owner.token,
    );
    await sink.next();
    const forged = await receive({
      from: 'The CFO <cfo@bank.example>',
      subject: 'Re: Invoice 7',
      headers: { Cc: 'mallory@elsewhere.example' },
      body: 'Pay to another account.',
    });
    t.not(forged.ticket.id, ticket.id);
    t.same(forged.message.threading, { rule: 'new', matchedMessageId: null, reason: 'sender_disproved' });
    t.match(forged.message.mail.authentication, { dmarc: 'fail', spf: 'fail' });
    t.same(forged.ticket.copiedTo, []);
    await answer(forged.ticket.id);
    t.same((await sink.next()).envelope.to, ['cfo@bank.example']);
  });

  t.test('a mail joined only by its subject adds no recipients, whoever sent it', async (t) => {
    const { body: ticket } = await service.post(
      '/tickets',
      { customerEmail: 'kim@customer.example', subject: 'Offer 8', body: 'Here it is.' },
      owner.token,
    );
    await sink.next();
    const joined = await receive({
      from: 'kim@customer.example',
      subject: 'Re: Offer 8',
      headers: { Cc: 'mallory@elsewhere.example' },
    });
    t.equal(joined.ticket.id, ticket.id);
    t.match(joined.message, {
      threading: { rule: 'subject' },
      mail: { copiedTo: ['mallory@elsewhere.example'], authentication: { dmarc: 'none' } },
    });
    t.same(joined.ticket.copiedTo, []);
    const mallory = await receive({ from: 'mallory@elsewhere.example', headers: { 'In-Reply-To': joined.mailId } });
    t.not(mallory.ticket.id, ticket.id, 'nor let in');
  });

  t.test('[RFC 8601] a signature over another body is a failed one', async (t) => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    dns.add(
      { type: 'TXT', name: 'k1._domainkey.honest.example', value: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}` },
      { type: 'TXT', name: '_dmarc.honest.example', value: 'v=DMARC1; p=none' },
    );
    const signed = await new Promise<Buffer>((resolve, reject) => {
      const chunks: Buffer[] = [];
      const stream = new DKIM({ domainName: 'honest.example', keySelector: 'k1', privateKey }).sign(
        'From: a@honest.example\r\nSubject: Tampered\r\nMessage-ID: <tampered@honest.example>\r\n\r\nThe account is 1.\r\n',
      );
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => resolve(Buffer.concat(chunks)));
      stream.on('error', reject);
    });
    const send = async (raw: string) => {
      await sendRaw(service.running.smtpPort ?? 0, {
        from: 'a@elsewhere.example',
        to: 'shop-1@mail.switchboard.test',
        raw,
      });
      const ticket = (await service.tickets(owner.token)).at(-1);
      return (await service.messages(ticket.id, owner.token))[0].mail.authentication;
    };
    t.match(await send(signed.toString()), { dkim: 'pass', dmarc: 'pass' });
    t.match(await send(signed.toString().replace('account is 1', 'account is 2').replace('<tampered@', '<changed@')), {
      dkim: 'fail',
      dmarc: 'fail',
    });
  });
});
