// Mails that agents write: recipients, senders, formatting, signatures, forwarded mails and their answers, and drafts
// that leave later.

import { randomUUID } from 'node:crypto';
import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { eraseContact } from '../../store/operations/erasure.ts';
import { startService } from '../support/service.ts';

t.test('mails that agents write', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', MAIL_HOST: 'mail.switchboard.test' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  const bob = await service.agent(owner, { name: 'Bob' });
  const chatter = await service.agent(owner, { channels: ['chats'] });
  const stranger = await service.workspace();
  const mailbox = await service.mailbox(owner);
  await service.put(
    '/email/inbound-addresses',
    { addresses: [{ localPart: 'sales', departmentId: null }] },
    owner.token,
  );
  const { senders } = (await service.get('/email/senders', ann.token)).body;
  const sales = senders[1].address;

  let people = 0;
  /** A customer's mail as a ticket, with its message. */
  const mailed = async (mail: object = {}) => {
    people += 1;
    const customer = `customer${people}@customer.example`;
    const messageId = `<first${people}@customer.example>`;
    await service.deliver(mailbox, { from: `Cleo <${customer}>`, messageId, subject: `Order ${people}`, ...mail });
    const ticket = (await service.tickets(owner.token)).at(-1);
    const [message] = await service.messages(ticket.id, owner.token);
    return { id: ticket.id as string, customer, message, messageId };
  };
  const send = (id: string, fields: object, token = ann.token) =>
    service.post(`/conversations/${id}/messages`, { body: 'An answer', ...fields }, token);
  const record = async (id: string) => (await service.get(`/conversations/${id}`, owner.token)).body.conversation;
  const lines = async (id: string): Promise<string[]> =>
    (await service.get(`/conversations/${id}/messages`, owner.token)).body.messages
      .filter(({ senderType }: any) => senderType === 'system')
      .map(({ body }: any) => body);
  const refused = (field: string) => ({
    status: 400,
    body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } },
  });

  t.test('To, Cc and Bcc of an answer; later ones go to the same people, without Bcc', async (t) => {
    const { id, customer } = await mailed();
    const { status, body } = await send(id, {
      to: [customer, 'Dora@customer.example'],
      cc: ['dora@customer.example', 'ed@customer.example'],
      bcc: ['boss@shop.example'],
    });
    t.equal(status, 201);
    t.match(body.mail, {
      sentTo: [customer, 'dora@customer.example'],
      copiedTo: ['ed@customer.example'],
      bcc: ['boss@shop.example'],
    });
    const first = await service.mail(customer);
    t.match(first, { alsoTo: ['dora@customer.example'], cc: ['ed@customer.example'] });
    for (const to of ['dora@customer.example', 'ed@customer.example', 'boss@shop.example'])
      t.match(await service.mail(to), { copyOf: { id: first.id, to: customer }, alsoTo: first.alsoTo, cc: first.cc });
    const files = (await service.outbox()).filter((raw) => raw.includes(first.id));
    t.equal(files.length, 4);
    t.notOk(
      files.some((raw) => raw.includes('boss@shop.example')),
      'no mail names who gets a blind copy',
    );
    t.match(await record(id), { copiedTo: ['dora@customer.example', 'ed@customer.example'] });
    await send(id, {});
    t.match(await service.mail('ed@customer.example'), { cc: ['dora@customer.example', 'ed@customer.example'] });
    t.equal(service.mailCount('boss@shop.example'), 1);
    await service.deliver(mailbox, {
      from: 'boss@shop.example',
      messageId: '<boss1@shop.example>',
      headers: { 'In-Reply-To': `<${first.id}@mail.switchboard.test>` },
      text: 'Well said',
    });
    t.match(
      (await service.messages(id, owner.token)).at(-1),
      { body: 'Well said' },
      'who received a mail may answer it',
    );
  });

  t.test('the sender address is chosen among those of the workspace, and stays', async (t) => {
    const { id, customer } = await mailed();
    t.match(senders, [{ address: mailbox.address, isDefault: true, signature: null }, { isDefault: false }]);
    t.match(await send(id, { from: 'ceo@bank.example' }), refused('from'));
    t.equal((await send(id, {})).body.mail.from.address, mailbox.address);
    t.equal((await send(id, { from: sales.toUpperCase() })).body.mail.from.address, sales);
    t.equal((await send(id, {})).body.mail.from.address, sales);
    await service.settled();
    t.equal(service.newestMail(customer)?.from.address, sales);
    t.match(await service.get('/email/senders', stranger.token), { body: { senders: [{ isDefault: true }] } });
  });

  t.test('recipients that cannot be are refused by their field', async (t) => {
    const { id } = await mailed();
    const chat = await service.chat(owner);
    t.match(await send(id, { to: [] }), refused('to'));
    t.match(await send(id, { cc: ['nonsense'] }), refused('cc.0'));
    t.match(await send(id, { cc: [mailbox.address] }), refused('cc'));
    t.match(await send(id, { to: [sales] }), refused('to'));
    const many = Array.from({ length: 50 }, (_, index) => `many${index}@customer.example`);
    t.match(await send(id, { cc: many }), refused('to'), 'with the customer they are one too many');
    t.equal((await send(id, { cc: many.slice(1) })).status, 201);
    t.match(await send(id, { answerTo: randomUUID() }), refused('answerTo'));
    for (const field of ['to', 'cc', 'bcc'])
      t.match(await send(chat.id, { [field]: ['x@customer.example'] }), refused(field), 'a chat has no recipients');
    t.match(await send(chat.id, { format: 'markdown' }), refused('format'));
  });

  t.test('formatted text: safe HTML and plain text beside it, pictures only of our own', async (t) => {
    const { id, customer } = await mailed();
    const picture = await service.upload(owner, { filename: 'cup.png', contentType: 'image/png' });
    const body = [
      '**Yes**, it *is* [here](https://shop.example/a?b=1&c=2).',
      'Order # 12 <script>alert(1)</script>',
      '',
      '- one',
      '- two',
      '',
      '> quoted',
      '',
      `![The cup](${picture.url}) ![x](https://tracker.example/x.png) [bad](javascript:alert(1))`,
    ].join('\n');
    const sent = (await send(id, { body, format: 'markdown' })).body;
    t.match(sent.bodyHtml, '<p><strong>Yes</strong>, it <em>is</em> <a href="https://shop.example/a?b=1&amp;c=2"');
    t.match(sent.bodyHtml, '<br />Order # 12 &lt;script&gt;alert(1)&lt;/script&gt;</p>');
    t.match(sent.bodyHtml, /<ul>\s*<li>one<\/li>\s*<li>two<\/li>\s*<\/ul>\s*<blockquote>\s*<p>quoted<\/p>/);
    t.match(sent.bodyHtml, `<img src="${picture.url}" alt="The cup" />`);
    t.notMatch(sent.bodyHtml, 'tracker.example');
    t.notMatch(sent.bodyHtml, 'javascript:');
    t.match(sent.body, 'Yes, it is here');
    t.match(sent.body, '[The cup]');
    t.notMatch(sent.body, '**');
    const mail = await service.mail(customer);
    t.match(mail, { text: sent.body, html: sent.bodyHtml });
    t.match(await send(id, { body: '<!-- -->', format: 'markdown' }), { status: 201 }, 'HTML is shown as written');
    t.match(await send(id, { body: '![x](https://tracker.example/x.png)', format: 'markdown' }), refused('body'));
    t.match((await record(id)).preview, '<!-- -->', 'lists show the plain text');
    const plain = (await send(id, { body: '**Not** bold' })).body;
    t.match(plain, { body: '**Not** bold', bodyHtml: '<p>**Not** bold</p>' });
  });

  t.test("signatures: the agent's above the address's, below the text, and in no message", async (t) => {
    const { id, customer } = await mailed();
    const set = (address: string, signature: string | null, token = owner.token) =>
      service.put(`/email/senders/${encodeURIComponent(address)}/signature`, { signature }, token);
    t.match(await set(mailbox.address, 'x', ann.token), { status: 403, body: { error: 'admin_required' } });
    t.match(await set('ceo@bank.example', 'x'), { status: 404 });
    t.match(await set(mailbox.address, '**Shop** Ltd'), {
      status: 200,
      body: { signature: { markdown: '**Shop** Ltd', text: 'Shop Ltd' } },
    });
    t.match((await service.audited('workspace.updated', owner.token))[0], {
      after: { signature: { address: mailbox.address, markdown: '**Shop** Ltd' } },
    });
    const own = await service.patch('/me/mail', { signature: 'Ann\nSupport' }, ann.token);
    t.match(own, { status: 200, body: { undoSeconds: 10, sendKey: 'mod_enter', signature: { text: 'Ann\nSupport' } } });
    t.match((await service.get('/me/mail', bob.token)).body, { signature: null });
    const { body: message } = await send(id, {});
    t.equal(message.body, 'An answer');
    const mail = await service.mail(customer);
    t.equal(mail.text, 'An answer\n\n-- \nAnn\nSupport\n\nShop Ltd');
    t.match(mail.html, /<p>An answer<\/p><div><p>Ann<br \/>Support<\/p><p><strong>Shop<\/strong> Ltd<\/p><\/div>/);
    await send(id, { withSignature: false });
    t.equal((await service.mail(customer)).text, 'An answer');
    await send(id, { from: sales }, bob.token);
    t.equal((await service.mail(customer)).text, 'An answer', "another agent's mail from another address has neither");
    t.match(await set(mailbox.address, ' '), { body: { signature: null } });
    await service.patch('/me/mail', { signature: null }, ann.token);
  });

  t.test('the mail that it answers is quoted below, and only a mail', async (t) => {
    const { id, customer } = await mailed({ text: 'Where is it?\nIt is late.' });
    await send(id, { withQuote: true });
    const mail = await service.mail(customer);
    t.match(
      mail.text,
      /^An answer\n\nOn .+, Cleo <customer\d+@customer\.example> wrote:\n> Where is it\?\n> It is late\.$/,
    );
    t.match(mail.html, '<blockquote type="cite"><p>Where is it?<br>It is late.</p></blockquote>');
    const left = await service.customer(owner.embedId);
    await service.post('/widget/tickets', { body: 'From the widget', email: 'wendy@customer.example' }, left.token);
    await service.mail('wendy@customer.example');
    const ticket = (await service.tickets(owner.token)).at(-1);
    await send(ticket.id, { withQuote: true });
    t.equal(
      (await service.mail('wendy@customer.example')).text,
      'An answer',
      'what a browser wrote is not sent to the address that it claimed',
    );
  });

  t.test('a new mail: several recipients, files, formatting', async (t) => {
    const file = await service.upload(owner);
    const body = {
      customerEmail: 'new@customer.example',
      alsoTo: ['second@customer.example'],
      cc: ['third@customer.example'],
      from: sales,
      subject: 'Hello',
      body: '**Hi**',
      format: 'markdown',
      attachments: [file],
    };
    const { status, body: ticket } = await service.post('/tickets', body, owner.token);
    t.equal(status, 201);
    t.same(ticket.copiedTo, ['second@customer.example', 'third@customer.example']);
    t.match(await service.mail('new@customer.example'), {
      from: { address: sales },
      subject: 'Hello',
      alsoTo: ['second@customer.example'],
      cc: ['third@customer.example'],
      text: `Hi\n\n${file.name}: ${file.url}`,
    });
    t.match(await service.post('/tickets', { ...body, from: 'ceo@bank.example' }, owner.token), refused('from'));
    t.match(
      await service.post('/tickets', { ...body, attachments: [{ url: 'https://elsewhere.example/x' }] }, owner.token),
      refused('attachments.0.url'),
    );
  });

  t.test('a forwarded mail goes to a third party, whose answers stay apart from the customer', async (t) => {
    const { id, customer, message, messageId } = await mailed({ text: 'The handle broke.' });
    await send(id, {});
    await service.mail(customer);
    await service.deliver(mailbox, {
      from: customer,
      messageId: `<second-${messageId.slice(1)}`,
      headers: { 'In-Reply-To': messageId },
      text: 'And the lid.',
    });
    t.match(await send(id, { forwardOf: message.id }), refused('to'));
    t.match(await send(id, { forwardOf: message.id, to: [customer] }), refused('to'), 'never to the customer');
    const waitingSince = (await record(id)).waitingSince;
    t.ok(waitingSince);
    const forwarded = (
      await send(id, { body: 'Can you send a new one?', forwardOf: message.id, to: ['supplier@cups.example'] })
    ).body;
    t.match(forwarded.mail, { sentTo: ['supplier@cups.example'], side: { messageId: message.id } });
    t.equal((await record(id)).waitingSince, waitingSince, 'the customer still waits');
    const mail = await service.mail('supplier@cups.example');
    t.match(mail.subject, /^Fwd: Order \d+$/);
    t.match(
      mail.text,
      /^Can you send a new one\?\n\n-+ Forwarded message -+\nFrom: Cleo <.+>\nDate: .+\n\nThe handle broke\.$/,
    );
    t.notOk(mail.inReplyTo);
    t.notOk(mail.references, "the customer's thread is not named");
    t.equal(service.mailCount(customer), 1);

    await service.post(`/conversations/${id}/status`, { status: 'solved' }, ann.token);
    await service.deliver(mailbox, {
      from: 'Sue <supplier@cups.example>',
      to: [mailbox.address, 'stock@cups.example'],
      messageId: '<sue1@cups.example>',
      headers: { 'In-Reply-To': `<${mail.id}@mail.switchboard.test>` },
      subject: 'Re: Fwd: Order',
      text: 'On its way.',
    });
    const answer = (await service.messages(id, owner.token)).at(-1);
    t.match(answer, {
      senderType: 'visitor',
      body: 'On its way.',
      mail: { from: { address: 'supplier@cups.example', name: 'Sue' }, side: { messageId: forwarded.id } },
    });
    t.not(answer.senderId, message.senderId, 'the message is of its own author');
    t.match(await record(id), { status: 'open', copiedTo: [], waitingSince: null, lastSenderId: answer.senderId });
    t.match((await lines(id)).at(-1), 'Sue came back: solved became open.');

    await send(id, { body: 'Thanks', answerTo: answer.id });
    t.match(await service.mail('supplier@cups.example'), {
      cc: ['stock@cups.example'],
      inReplyTo: 'sue1@cups.example',
      references: [`${mail.id}@mail.switchboard.test`, 'sue1@cups.example'],
    });
    await send(id, { body: 'A new one is on its way.' });
    const last = await service.mail(customer);
    t.match(
      last,
      { inReplyTo: `second-${messageId.slice(1, -1)}` },
      "the supplier's mails are not named to the customer",
    );
    t.notOk(last.references?.some((reference) => reference.includes('cups.example')));
    t.notOk(last.cc);
    const { body: transcript } = await service.post(
      `/conversations/${id}/email-transcript`,
      { to: 'copy@customer.example', subject: 'Transcript' },
      owner.token,
    );
    t.same(transcript, { status: 'queued' });
    t.notMatch((await service.mail('copy@customer.example')).text, 'On its way.', 'a transcript leaves it out');

    await service.deliver(mailbox, {
      from: customer,
      messageId: '<third@customer.example>',
      headers: { 'In-Reply-To': '<sue1@cups.example>' },
      text: 'I was told.',
    });
    const told = (await service.messages(id, owner.token)).at(-1);
    t.match(told, { body: 'I was told.', senderId: message.senderId });
    t.notOk(told.mail.side, 'the customer is on no side of its own conversation');
  });

  t.test('a forwarded mail brings its files, unless others are chosen', async (t) => {
    const { id } = await mailed();
    const file = await service.upload(owner);
    const withFile = (await send(id, { attachments: [file] })).body;
    const files = async (fields: object) =>
      (await send(id, { forwardOf: withFile.id, to: ['files@cups.example'], ...fields })).body.attachments;
    t.match(await files({}), [{ url: file.url }]);
    t.same(await files({ attachments: [] }), []);
  });

  t.test('an address that bounced gets nothing; the others do', async (t) => {
    const { id, customer } = await mailed();
    const { engine } = service.running.services;
    const suppressed = 'gone@customer.example';
    engine
      .workspace(owner.workspaceId)
      ?.db.run('INSERT INTO suppression (id, email, reason, createdAt) VALUES (?, ?, ?, ?)', [
        randomUUID(),
        suppressed,
        'bounce',
        new Date(service.clock.now()).toISOString(),
      ]);
    const sent = (await send(id, { to: [suppressed, customer], cc: [suppressed] })).body;
    t.match(sent, { deliveryStatus: 'queued', mail: { sentTo: [customer], copiedTo: [] } });
    t.match(await service.mail(customer), { to: customer });
    t.match((await send(id, { to: [suppressed] })).body, { deliveryStatus: 'failed', mail: null });
    t.match((await lines(id)).at(-1), 'Not mailed');
    const side = (await send(id, { forwardOf: sent.id, to: [suppressed] })).body;
    t.match(side, { deliveryStatus: 'failed', mail: { side: { messageId: sent.id } } });
    t.equal(service.mailCount(suppressed), 0);
  });

  t.test('drafts', async (t) => {
    const draft = (fields: object = {}, token = ann.token) => service.post('/drafts', fields, token);
    const drafts = async (token = ann.token, query = '') =>
      (await service.get(`/drafts${query}`, token)).body.drafts.map(({ id }: any) => id);
    const change = (id: string, expectedVersion: number, mail: object, token = ann.token) =>
      service.patch(`/drafts/${id}`, { expectedVersion, mail }, token);
    const sendDraft = (id: string, expectedVersion: number, more: object = {}, token = ann.token) =>
      service.post(`/drafts/${id}/send`, { expectedVersion, ...more }, token);
    const takeBack = (id: string, token = ann.token) => service.post(`/drafts/${id}/take-back`, undefined, token);
    const hours = (count: number) => new Date(service.clock.now() + count * 3600_000).toISOString();

    t.test('a draft is kept with a version, for its author alone', async (t) => {
      const { id: conversationId } = await mailed();
      const draftId = randomUUID();
      const created = await draft({ draftId, conversationId, mail: { body: 'Dear', cc: ['half@'] } });
      t.match(created, {
        status: 201,
        body: { id: draftId, version: 1, state: 'draft', mail: { body: 'Dear', cc: ['half@'], to: null } },
      });
      t.match(await draft({ draftId, conversationId, mail: { body: 'Again' } }), { body: { mail: { body: 'Dear' } } });
      t.match(await draft({ draftId }, bob.token), { status: 409, body: { error: 'conflict' } });
      t.match(await change(draftId, 1, { body: 'Dear Cleo' }), { body: { version: 2, mail: { cc: ['half@'] } } });
      t.match(await change(draftId, 1, { body: 'Old' }), {
        status: 409,
        body: { error: 'stale_version', detail: { currentVersion: 2 } },
      });
      t.same(await drafts(ann.token, `?conversationId=${conversationId}`), [draftId]);
      t.same(await drafts(bob.token), []);
      for (const token of [bob.token, owner.token, stranger.token]) {
        t.equal((await change(draftId, 2, { body: 'Mine' }, token)).status, 404);
        t.equal((await sendDraft(draftId, 2, {}, token)).status, 404);
        t.equal((await service.delete(`/drafts/${draftId}`, token)).status, 404);
      }
      t.match(await draft({ conversationId }, chatter.token), { status: 403, body: { error: 'channel_not_assigned' } });
      t.equal((await draft({ conversationId }, stranger.token)).status, 404);
      t.match(await draft({ conversationId: (await service.chat(owner)).id }), refused('conversationId'));
      t.equal((await service.delete(`/drafts/${draftId}`, ann.token)).status, 204);
      t.same(await drafts(), []);
    });

    t.test('sending can be undone for as many seconds as the agent chose; then the message has its id', async (t) => {
      const { id: conversationId, customer } = await mailed();
      const socket = await service.agentSocket(ann.token);
      const others = await service.agentSocket(owner.token);
      const { id } = (await draft({ conversationId, mail: { body: '**Soon**', statusAfter: 'solved' } })).body;
      await socket.next('draft.updated');
      t.match(await change(id, 1, { body: '**Soon**' }), { status: 200, body: { version: 1 } }, 'it is as it was');
      t.match(await sendDraft(id, 2), { status: 409, body: { error: 'stale_version' } });
      const scheduled = (await sendDraft(id, 1)).body;
      t.match(scheduled, {
        state: 'scheduled',
        version: 2,
        sendAt: new Date(service.clock.now() + 10_000).toISOString(),
      });
      t.match(await socket.next('draft.updated'), { data: { draft: { id, state: 'scheduled' } } });
      t.match(await sendDraft(id, 1), { status: 200, body: { version: 2, sendAt: scheduled.sendAt } });
      t.match(await change(id, 2, { body: 'No' }), { status: 409, body: { error: 'conflict' } });
      await service.pass(9_999);
      t.equal(service.mailCount(customer), 0);
      t.match(await takeBack(id), { status: 200, body: { state: 'draft', version: 3, sendAt: null } });
      t.match(await takeBack(id), { status: 200, body: { version: 3 } });
      await service.pass(60_000);
      t.equal(service.mailCount(customer), 0, 'a mail that was taken back does not leave');
      t.equal((await sendDraft(id, 3)).status, 200);
      await service.pass(10_000);
      t.match(await service.mail(customer), { text: /^Soon\n\nOn .+wrote:/, html: /^<p><strong>Soon/ });
      t.match((await service.messages(conversationId, owner.token)).at(-1), {
        id,
        senderId: ann.agentId,
        body: 'Soon',
      });
      t.match(await record(conversationId), { status: 'solved' });
      t.match(await socket.next('draft.deleted'), { data: { draft: { id } } });
      t.match(await takeBack(id), { status: 409, body: { error: 'conflict' } });
      t.equal((await service.get(`/drafts/${id}`, ann.token)).status, 404);
      await service.pass(60_000);
      t.equal(service.mailCount(customer), 1, 'it leaves once');
      t.notOk(
        others.frames.some(({ type }: any) => type.startsWith('draft.')),
        "another agent's drafts are no news",
      );
      t.notMatch((await lines(conversationId)).join(), 'will send', 'a few seconds are not announced');
    });

    t.test('an answer on its way arrives in a ticket that was solved meanwhile, and not in spam', async (t) => {
      const [solved, spam] = [await mailed(), await mailed()];
      for (const { id: conversationId } of [solved, spam]) {
        const { id } = (await draft({ conversationId, mail: { body: 'Bye' } })).body;
        await sendDraft(id, 1);
      }
      await service.post(`/conversations/${solved.id}/status`, { status: 'solved' }, ann.token);
      await service.post(`/conversations/${spam.id}/spam`, undefined, ann.token);
      await service.pass(10_000);
      t.match(await service.mail(solved.customer), { text: /^Bye/ });
      t.equal(service.mailCount(spam.customer), 0);
      const [failed] = (await service.get(`/drafts?conversationId=${spam.id}`, ann.token)).body.drafts;
      t.match(failed, { state: 'draft', sendAt: null, failure: /does not accept messages/ });
      t.match((await lines(spam.id)).at(-1), /^A mail of Ann was not sent: /);
      const { id } = (await draft({ conversationId: solved.id, mail: { body: 'One more' } })).body;
      t.match(await sendDraft(id, 1), { status: 409, body: { error: 'conversation_archived' } });
    });

    t.test('send later: announced, put off, and held back if the customer writes before', async (t) => {
      const { id: conversationId, customer, messageId } = await mailed();
      const { id } = (await draft({ conversationId, mail: { body: 'Tomorrow' } })).body;
      t.match(await sendDraft(id, 1, { sendAt: hours(-1) }), refused('sendAt'));
      t.match(await sendDraft(id, 1, { sendAt: hours(367 * 24) }), refused('sendAt'));
      t.equal((await sendDraft(id, 1, { sendAt: hours(20) })).status, 200);
      t.match((await lines(conversationId)).at(-1), /^Ann will send a mail on /);
      await takeBack(id);
      t.match((await lines(conversationId)).at(-1), /^Ann took back the mail planned for /);
      await sendDraft(id, 3, { sendAt: hours(20) });
      await service.pass(10 * 3600_000);
      await service.deliver(mailbox, {
        from: customer,
        headers: { 'In-Reply-To': messageId },
        messageId: '<n1@x.example>',
      });
      await service.pass(10 * 3600_000);
      t.equal(service.mailCount(customer), 0);
      t.match((await service.get(`/drafts/${id}`, ann.token)).body, {
        state: 'draft',
        failure: 'The customer wrote before it was due.',
      });
      const { version } = (await service.get(`/drafts/${id}`, ann.token)).body;
      await sendDraft(id, version, { sendAt: hours(2), unlessAnswered: false });
      await service.deliver(mailbox, {
        from: customer,
        headers: { 'In-Reply-To': messageId },
        messageId: '<n2@x.example>',
      });
      await service.pass(2 * 3600_000);
      t.match(await service.mail(customer), { text: /^Tomorrow/ });
    });

    t.test('a new mail has no ticket until it leaves', async (t) => {
      const before = (await service.tickets(owner.token)).length;
      const mail = { to: ['fresh@customer.example', 'friend@customer.example'], subject: 'New', body: 'Hello' };
      const { id } = (await draft({ mail }, owner.token)).body;
      t.match(await sendDraft((await draft({ mail })).body.id, 1), { status: 403, body: { error: 'forbidden' } });
      const bad = async (fields: object, field: string) => {
        const one = (await draft({ mail: { ...mail, ...fields } }, owner.token)).body;
        t.match(await sendDraft(one.id, 1, {}, owner.token), refused(field));
      };
      await bad({ to: null }, 'to');
      await bad({ to: ['half@'] }, 'to');
      await bad({ subject: ' ' }, 'subject');
      await bad({ body: ' ' }, 'body');
      await bad({ from: 'ceo@bank.example' }, 'from');
      await bad({ cc: ['half@'] }, 'cc');
      await sendDraft(id, 1, {}, owner.token);
      t.equal((await service.tickets(owner.token)).length, before);
      await service.pass(10_000);
      t.match(await service.mail('fresh@customer.example'), { subject: 'New', alsoTo: ['friend@customer.example'] });
      const ticket = (await service.tickets(owner.token)).at(-1);
      t.match(ticket, { subject: 'New', copiedTo: ['friend@customer.example'] });
      t.match(await service.messages(ticket.id, owner.token), [{ id, senderId: owner.agentId }]);
    });

    t.test('an author who leaves takes drafts along, and a scheduled mail fails visibly', async (t) => {
      const { id: conversationId, customer } = await mailed();
      const leaver = await service.agent(owner, { name: 'Lee' });
      await draft({ conversationId }, leaver.token);
      const { id } = (await draft({ conversationId, mail: { body: 'Later' } }, leaver.token)).body;
      await sendDraft(id, 1, {}, leaver.token);
      await service.delete(`/agents/${leaver.agentId}`, owner.token);
      await service.pass(10_000);
      t.equal(service.mailCount(customer), 0);
      t.match((await lines(conversationId)).at(-1), 'A mail of Lee was not sent: Its author has left the workspace.');
    });

    t.test('erasing the customer erases the drafts to it', async (t) => {
      const { id: conversationId, customer } = await mailed();
      const { id } = (await draft({ conversationId, mail: { body: 'Secret' } })).body;
      const { id: other } = (await draft({ mail: { to: [customer] } })).body;
      const kept = (await draft({ mail: { to: ['kept@customer.example'] } })).body.id;
      const { contactId } = await record(conversationId);
      const erase = command(
        'test.erase',
        (ctx, _: object): void => void eraseContact(ctx.db, { contactId, at: ctx.at }),
      );
      await service.running.services.engine.execute(erase, {
        workspaceId: owner.workspaceId,
        caller: systemCaller,
        params: {},
      });
      const left = await drafts();
      t.notOk(left.includes(id) || left.includes(other));
      t.ok(left.includes(kept));
    });

    t.test('0 seconds send at once', async (t) => {
      const { id: conversationId, customer } = await mailed();
      t.match(await service.patch('/me/mail', { undoSeconds: 31 }, bob.token), refused('undoSeconds'));
      await service.patch('/me/mail', { undoSeconds: 0, sendKey: 'enter' }, bob.token);
      const { id } = (await draft({ conversationId, mail: { body: 'Now', withQuote: false } }, bob.token)).body;
      await sendDraft(id, 1, {}, bob.token);
      t.match(await service.mail(customer), { text: 'Now' });
    });
  });
});
