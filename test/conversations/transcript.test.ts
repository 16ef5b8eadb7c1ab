import t from 'tap';
import { startService } from '../support/service.ts';

t.test('transcripts', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  const ask = (id: string, body: unknown, token = owner.token) =>
    service.post(`/conversations/${id}/email-transcript`, body, token);

  t.test("[4.5] 202, and the messages are mailed in order: without notes, without the service's lines", async (t) => {
    const customer = await service.customer(owner.embedId, { name: 'Kim' });
    const { id } = (
      await service.post('/widget/conversations', { body: 'Where is my order?\nIt was a gift.' }, customer.token)
    ).body.conversation;
    const label = await service.upload(ann, { filename: 'label.pdf' });
    await service.post(`/conversations/${id}/messages`, { body: 'On its way.', attachments: [label] }, ann.token);
    await service.post(`/conversations/${id}/notes`, { body: 'SECRET' }, ann.token);
    await service.post(`/conversations/${id}/status`, { status: 'pending' }, ann.token);
    t.strictSame((await ask(id, { to: 'kim@example.org', subject: 'What we said' })).body, { status: 'queued' });
    const mail = await service.mail('kim@example.org');
    const { messages } = (await service.get(`/conversations/${id}/messages`, owner.token)).body;
    t.equal(mail.subject, 'What we said');
    t.match(
      mail.from,
      { address: (await service.mailbox(owner)).address, name: 'Shop 1' },
      "the workspace's own address",
    );
    t.equal(messages[0].createdAt.slice(0, 10), messages[1].createdAt.slice(0, 10));
    const time = /^\[([^\]]+)\]/.exec(mail.text)?.[1] ?? '';
    t.match(time, /^[A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d{2} [AP]M UTC$/);
    t.equal(
      mail.text.replaceAll(/^\[[^\]]+\]/gm, '[]'),
      `[] Kim\nWhere is my order?\nIt was a gift.\n\n[] Ann\nOn its way.\n${label.url}\n`,
    );
    t.equal(
      (await service.outbox()).filter((one) => one.includes('kim@example.org') && one.includes('What we said')).length,
      1,
      'it went out',
    );
  });

  t.test('times are those of the workspace, as people there write them', async (t) => {
    const { id } = await service.chat(owner);
    const write = async (timezone: string, locale: string): Promise<string> => {
      t.equal((await service.patch(`/workspaces/${owner.workspaceId}`, { timezone, locale }, owner.token)).status, 200);
      const to = `${locale}@times.example`;
      await ask(id, { to, subject: 'Times' });
      return /^\[([^\]]+)\]/.exec((await service.mail(to)).text)?.[1] ?? '';
    };
    t.match(await write('Asia/Tokyo', 'de'), /^\d{1,2}\. \S+ \d{4}, \d{2}:\d{2} GMT\+9$/);
    t.match(await write('UTC', 'xx'), /^\S+ \d{1,2}, \d{4}, \d{1,2}:\d{2} [AP]M UTC$/, 'an unknown locale is English');
    t.match(await write('UTC', 'en'), / UTC$/);
  });

  t.test('[4.5] works in any status, changes nothing, to any address', async (t) => {
    const { id } = await service.chat(owner);
    for (const status of ['pending', 'solved', 'open', 'spam']) {
      await service.post(`/conversations/${id}/status`, { status }, owner.token);
      const before = (await service.put(`/conversations/${id}/tags`, { tags: [] }, owner.token)).body.conversation;
      t.equal((await ask(id, { to: `${status}@elsewhere.example`, subject: status })).status, 202, status);
      t.equal((await service.mail(`${status}@elsewhere.example`)).subject, status);
      t.strictSame(
        (await service.put(`/conversations/${id}/tags`, { tags: [] }, owner.token)).body.conversation,
        before,
      );
    }
  });

  t.test("an answer to it lands in the conversation if it is the customer's own", async (t) => {
    const mailbox = await service.mailbox(owner);
    const customer = await service.customer(owner.embedId, { email: 'Own@customer.example' });
    const { id } = (await service.post('/widget/conversations', { body: 'Hello' }, customer.token)).body.conversation;
    const answered = async (to: string) => {
      await ask(id, { to, subject: 'What we said' });
      const mail = await service.mail(to);
      await service.deliver(mailbox, {
        from: to,
        subject: 'Re: What we said',
        text: `By ${to}`,
        headers: { 'in-reply-to': `<${mail.id}@${mailbox.address.split('@')[1]}>` },
      });
    };
    await answered('own@customer.example');
    await answered('friend@elsewhere.example');
    t.same(
      (await service.messages(id, owner.token)).map(({ body }) => body),
      ['Hello', 'By own@customer.example'],
    );
    const [ticket] = await service.tickets(owner.token);
    t.match(await service.messages(ticket.id, owner.token), [{ body: 'By friend@elsewhere.example' }]);
    await ask(ticket.id, { to: 'friend@elsewhere.example', subject: 'Yours' });
    const [{ id: messageId }] = await service.messages(ticket.id, owner.token);
    t.match((await service.get(`/conversations/${ticket.id}/messages/${messageId}/original`, owner.token)).body, {
      from: { address: 'friend@elsewhere.example' },
    });
  });

  t.test('[7] a subject with line breaks, or an invalid address: 400', async (t) => {
    const { id } = await service.chat(owner);
    const sound = { to: 'a@example.org', subject: 'x' };
    const rows: [object, string][] = [
      [{ ...sound, subject: 'x\r\nBcc: victim@example.org' }, 'subject'],
      [{ ...sound, subject: 'x\nBcc: victim@example.org' }, 'subject'],
      [{ ...sound, subject: 'x\r' }, 'subject'],
      [{ ...sound, subject: '\n' }, 'subject'],
      [{ ...sound, subject: '' }, 'subject'],
      [{ ...sound, subject: '   ' }, 'subject'],
      [{ ...sound, subject: 'x'.repeat(201) }, 'subject'],
      [{ to: 'a@example.org' }, 'subject'],
      [{ ...sound, to: 'nobody' }, 'to'],
      [{ ...sound, to: 'a@example.org, b@example.org' }, 'to'],
      [{ ...sound, to: 'a@example.org\r\nBcc: b@example.org' }, 'to'],
      [{ ...sound, to: 'Kim <a@example.org>' }, 'to'],
      [{ ...sound, to: '' }, 'to'],
      [{ subject: 'x' }, 'to'],
    ];
    for (const [body, field] of rows)
      t.match(
        await ask(id, body),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
        JSON.stringify(body).slice(0, 80),
      );
    await service.settled();
    t.equal(service.mailCount('a@example.org'), 0);
    t.equal((await ask(id, { to: 'long@example.org', subject: 'x'.repeat(200) })).status, 202);
  });

  t.test('a long conversation: the newest 500 messages, and a word about the rest', async (t) => {
    const chat = await service.chat(owner, 'message 0');
    for (let index = 1; index < 503; index += 1)
      await service.post(
        `/widget/conversations/${chat.id}/messages`,
        { body: `message ${index}` },
        chat.customer.token,
      );
    await ask(chat.id, { to: 'long@example.net', subject: 'Long' });
    const { text } = await service.mail('long@example.net');
    t.ok(text.startsWith('Earlier messages are left out.\n'));
    t.strictSame(
      text.match(/^message \d+$/gm),
      Array.from({ length: 500 }, (_, index) => `message ${index + 3}`),
    );
  });

  t.test('a conversation of long messages: whole messages, as many as fit, and a note about the rest', async (t) => {
    const chat = await service.chat(owner, 'first');
    for (let index = 0; index < 110; index += 1)
      await service.post(
        `/widget/conversations/${chat.id}/messages`,
        { body: `${index} ${'x'.repeat(9990)}` },
        chat.customer.token,
      );
    await ask(chat.id, { to: 'large@example.net', subject: 'Large' });
    const { text } = await service.mail('large@example.net');
    t.ok(text.length <= 1_100_000 && text.length > 900_000, `${text.length} characters`);
    t.ok(text.startsWith('Earlier messages are left out.\n\n['));
    t.ok(text.includes('109 xxx'));
    t.notOk(text.includes('first'));
  });
});
