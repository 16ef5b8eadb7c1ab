// Conversations of another system, imported a batch at a time: with their own times, once, and noticed by no one.

import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { findMail } from '../../store/mail/mails.ts';
import { eraseContact } from '../../store/operations/erasure.ts';
import { workspaceFaults } from '../../store/operations/integrity.ts';
import { createImportedMails, MailUnreadable } from '../../workers/mail/imported-mails.ts';
import { makeKey } from '../support/keys.ts';
import { type Person, startService } from '../support/service.ts';

const ticket = (externalId: string, more: Record<string, unknown> = {}) => ({
  externalId,
  channel: 'ticket',
  subject: `Order ${externalId}`,
  status: 'solved',
  customer: { name: 'Ixa', email: 'ixa@customer.example' },
  messages: [
    message('1', 'customer', '2021-03-01T10:00:00Z', { messageIdHeader: `<${externalId}.1@customer.example>` }),
    message('2', 'agent', '2021-03-01T11:30:00Z', { author: { email: 'gone@shop.example', name: 'Gone Agent' } }),
  ],
  ...more,
});

const message = (externalId: string, from: string, createdAt: string, more: Record<string, unknown> = {}) => ({
  externalId,
  from,
  body: `Text ${externalId} of ${from}`,
  createdAt,
  ...more,
});

t.test('imported conversations', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace({ available: true });
  const other = await service.workspace();
  const load = (conversations: object[], more: object = {}, token = owner.token) =>
    service.post('/conversations/import', { source: 'old', conversations, ...more }, token);
  const recordOf = async (id: string, who: Person = owner) => {
    const { body } = await service.get(`/conversations/${id}`, who.token);
    return body.conversation ?? body;
  };

  t.test('a ticket has its own times, texts and people, and is found', async (t) => {
    const { status, body } = await load([ticket('a1', { tags: ['vip', 'VIP', ' '], assigneeEmail: owner.email })]);
    t.equal(status, 200);
    t.match(body.conversations, [
      {
        externalId: 'a1',
        outcome: 'created',
        messages: 2,
        isNewCustomer: true,
        unknownAgents: ['gone@shop.example'],
        problem: null,
      },
    ]);
    const id = body.conversations[0].conversationId;
    t.match(await recordOf(id), {
      channel: 'ticket',
      // It was solved more days ago than conversations stay solved.
      status: 'closed',
      subject: 'Order a1',
      ticketNumber: 1,
      tags: ['vip'],
      assignedAgentId: owner.agentId,
      createdAt: '2021-03-01T10:00:00.000Z',
      updatedAt: '2021-03-01T11:30:00.000Z',
      firstResponseAt: '2021-03-01T11:30:00.000Z',
      solvedAt: '2021-03-01T11:30:00.000Z',
      lastMessageAt: '2021-03-01T11:30:00.000Z',
      agentsReadUpTo: '2021-03-01T11:30:00.000Z',
      preview: 'Text 2 of agent',
      waitingSince: null,
    });
    const [asked, answered] = await service.messages(id, owner.token);
    t.match(asked, { senderType: 'visitor', body: 'Text 1 of customer', createdAt: '2021-03-01T10:00:00.000Z' });
    t.match(answered, { senderType: 'agent', senderId: null, mail: { from: { name: 'Gone Agent' } } });
    const found = await service.get('/conversations/search?q=Text', owner.token);
    t.match(JSON.stringify(found.body), id);
    const figures = await service.get(
      '/reports/tickets/total?range=custom&from=2021-02-28T00:00:00.000Z&to=2021-03-03T00:00:00.000Z',
      owner.token,
    );
    t.match(figures.body, { total: 1 }, JSON.stringify(figures.body));
  });

  t.test('the same again changes nothing; what is missing is added, and what was done here stays', async (t) => {
    const one = ticket('b1', { status: 'open' });
    const first = await load([one]);
    const id = first.body.conversations[0].conversationId;
    t.match((await load([one])).body.conversations, [{ outcome: 'unchanged', conversationId: id, messages: 0 }]);
    t.match((await load([one], { source: 'another' })).body.conversations, [{ outcome: 'created' }]);
    await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
    const before = await recordOf(id);
    const more = {
      ...one,
      subject: 'Another',
      messages: [
        ...one.messages,
        message('0', 'customer', '2021-02-27T08:00:00Z'),
        message('3', 'customer', '2021-03-02T08:00:00Z'),
        message('n', 'note', '2021-03-02T09:00:00Z', { author: { email: owner.email } }),
        message('m', 'note', '2021-03-02T09:00:00Z', { author: { name: 'Old Hand' } }),
      ],
    };
    t.match((await load([more], { dryRun: true })).body.conversations, [
      { outcome: 'updated', conversationId: id, messages: 4 },
    ]);
    t.match((await load([more])).body.conversations, [{ outcome: 'updated', messages: 4 }]);
    t.match(await recordOf(id), {
      status: 'solved',
      subject: 'Order b1',
      version: before.version,
      solvedAt: before.solvedAt,
      updatedAt: before.updatedAt,
      createdAt: '2021-02-27T08:00:00.000Z',
      lastMessageAt: '2021-03-02T08:00:00.000Z',
    });
    t.same(
      (await service.messages(id, owner.token)).map(({ body }) => body),
      ['Text 0 of customer', 'Text 1 of customer', 'Text 2 of agent', 'Text 3 of customer'],
    );
    const { notes } = (await service.get(`/conversations/${id}/notes`, owner.token)).body;
    t.same(
      notes.map((note: { body: string }) => note.body).sort(),
      ['Old Hand:\nText m of note', 'Text n of note'].sort(),
    );
    t.match((await load([more])).body.conversations, [{ outcome: 'unchanged', messages: 0 }]);
  });

  t.test('no one is mailed, notified or assigned work, and no event is sent', async (t) => {
    const eventCount = (): number =>
      service.running.services.engine
        .workspace(owner.workspaceId)
        ?.db.get<{ count: number }>('SELECT count(*) AS count FROM event')?.count ?? 0;
    const events = eventCount();
    const mails = (await service.outbox()).length;
    const chat = { ...ticket('c1', { status: 'open' }), channel: 'chat' };
    const { body } = await load([ticket('c2', { status: 'open' }), chat]);
    const [opened, chatted] = body.conversations;
    t.match(await recordOf(opened.conversationId), { status: 'open', assignedAgentId: null });
    t.match(
      await recordOf(chatted.conversationId),
      { channel: 'chat', status: 'pending', assignedAgentId: null },
      'routing would hand out an open chat',
    );
    await service.pass(3600_000);
    t.equal((await service.outbox()).length, mails);
    t.equal(service.mailCount('ixa@customer.example'), 0);
    t.equal(eventCount(), events);
    t.match(await recordOf(chatted.conversationId), { assignedAgentId: null });
  });

  t.test("a customer's answer to an old mail joins the imported ticket", async (t) => {
    const { body } = await load([ticket('d1')]);
    const id = body.conversations[0].conversationId;
    const mailbox = await service.mailbox(owner);
    const answer = await service.deliver(mailbox, {
      from: 'Ixa <ixa@customer.example>',
      subject: 'Re: Order d1',
      text: 'Once more.',
      messageId: '<d1.9@customer.example>',
      headers: { 'In-Reply-To': '<d1.1@customer.example>' },
    });
    t.equal(answer.status, 200);
    t.match((await service.messages(id, owner.token)).at(-1), { body: 'Once more.' });
    t.match(await recordOf(id), { status: 'open' });
    await service.deliver(mailbox, {
      from: 'Mallory <mallory@elsewhere.example>',
      text: 'Me, too.',
      messageId: '<d1.10@elsewhere.example>',
      headers: { 'In-Reply-To': '<d1.1@customer.example>' },
    });
    t.match((await service.messages(id, owner.token)).at(-1), { body: 'Once more.' }, 'another sender is not on it');
  });

  t.test('a mail whose id an import named is taken, unless it is the mail that was imported', async (t) => {
    const mailbox = await service.mailbox(owner);
    const messages = [
      message('1', 'customer', '2021-03-01T10:00:00Z', { messageIdHeader: '<e1@customer.example>' }),
      message('2', 'agent', '2021-03-01T11:30:00Z', { messageIdHeader: '<e2@customer.example>' }),
    ];
    const { body } = await load([ticket('e', { messages })]);
    const importedId = body.conversations[0].conversationId;
    const bodies = async (id: string) => (await service.messages(id, owner.token)).map(({ body: said }: any) => said);
    const imported = await bodies(importedId);
    const deliver = async (from: string, id: string, text: string, headers: Record<string, string> = {}) => {
      const mail = { from, messageId: `<${id}@customer.example>`, subject: `Mail ${id}`, text, headers };
      await service.deliver(mailbox, mail);
    };
    const ticketsOf = async (subject: string) =>
      (await service.tickets(owner.token)).filter((one: any) => one.subject === subject);

    for (const id of ['e1', 'e2']) {
      await deliver('bo@else.example', id, `From Bo, ${id}`);
      await deliver('bo@else.example', id, `From Bo, ${id}`);
      const [own, ...more] = await ticketsOf(`Mail ${id}`);
      t.same(more, [], 'once');
      t.same(await bodies(own.id), [`From Bo, ${id}`]);
    }
    t.same(await bodies(importedId), imported);
    await deliver('ixa@customer.example', 'e3', 'An answer', { 'In-Reply-To': '<e1@customer.example>' });
    t.same(await bodies(importedId), [...imported, 'An answer'], 'answers of its customer still find it');
    await deliver('bo@else.example', 'e4', 'More', { 'In-Reply-To': '<e1@customer.example>' });
    const [own] = await ticketsOf('Mail e1');
    t.same(await bodies(own.id), ['From Bo, e1', 'More']);
    t.match((await load([ticket('e', { messages })])).body.conversations, [{ outcome: 'unchanged', messages: 0 }]);

    const same = [message('1', 'customer', '2021-03-01T10:00:00Z', { messageIdHeader: '<g1@customer.example>' })];
    const { body: loaded } = await load([ticket('g', { messages: same })]);
    await deliver('Ixa <ixa@customer.example>', 'g1', 'The same mail');
    await deliver('form@shop.example', 'g1', 'The same mail', { 'Reply-To': 'ixa@customer.example' });
    t.same(await ticketsOf('Mail g1'), []);
    t.equal((await bodies(loaded.conversations[0].conversationId)).length, 1);
    for (const { db } of service.running.services.engine.openWorkspaces()) t.same(workspaceFaults(db), []);
  });

  t.test('a mail of an erased customer that was imported is not taken when it comes again', async (t) => {
    const mailbox = await service.mailbox(owner);
    const customer = { name: 'Erna', email: 'erna@customer.example' };
    const messages = [message('1', 'customer', '2021-03-01T10:00:00Z', { messageIdHeader: '<er1@customer.example>' })];
    const { body } = await load([ticket('er', { customer, messages })]);
    const { contactId } = await recordOf(body.conversations[0].conversationId);
    const erase = command('test.erase', (ctx, { id }: { id: string }) =>
      eraseContact(ctx.db, { contactId: id, at: ctx.at }),
    );
    await service.running.services.engine.execute(erase, {
      workspaceId: owner.workspaceId,
      caller: systemCaller,
      params: { id: contactId },
    });
    const before = (await service.tickets(owner.token)).length;
    const mail = { from: 'Erna <erna@customer.example>', messageId: '<er1@customer.example>', text: 'The same mail' };
    await service.deliver(mailbox, mail);
    t.equal((await service.tickets(owner.token)).length, before);
    const { db } = service.running.services.engine.workspace(owner.workspaceId)?.view(systemCaller) ?? {};
    t.match(db && findMail(db, 'er1@customer.example'), { fromAddress: '' });
  });

  t.test('a dry run changes nothing', async (t) => {
    const person = { customer: { email: 'dry@customer.example' } };
    const { body } = await load([ticket('e1', person), ticket('e2', person)], { dryRun: true });
    t.match(body.conversations, [
      { outcome: 'created', conversationId: null, messages: 2, isNewCustomer: true },
      { outcome: 'created', conversationId: null, messages: 2, isNewCustomer: false },
    ]);
    t.same((await service.get('/contacts?search=dry', owner.token)).body.contacts, []);
    t.match((await load([ticket('e1', person)])).body.conversations, [{ outcome: 'created' }]);
  });

  t.test('a time that cannot be, and a conversation without a word, are left out alone', async (t) => {
    const at = (createdAt: string) => ({ messages: [message('1', 'customer', createdAt)] });
    const { body } = await load([
      ticket('f1', at('1970-01-01T00:00:00Z')),
      ticket('f2', at('2999-01-01T00:00:00Z')),
      ticket('f3', { messages: [{ ...message('1', 'customer', '2021-01-01T00:00:00Z'), body: ' ' }] }),
      ticket('f4'),
    ]);
    t.match(body.conversations, [
      { outcome: 'invalid', problem: /before 1990/ },
      { outcome: 'invalid', problem: /in the future/ },
      { outcome: 'invalid', problem: /neither text nor files/ },
      { outcome: 'created' },
    ]);
  });

  t.test('a customer without an address has chats; one without anything is no contact', async (t) => {
    const { body } = await load([
      ticket('g1', { customer: { phoneE164: '+4917012345678', name: 'Only a phone' } }),
      ticket('g2', { customer: { name: 'Only a name' }, status: 'closed' }),
    ]);
    for (const { conversationId } of body.conversations)
      t.match(await recordOf(conversationId), { channel: 'chat', ticketNumber: null });
    await load([ticket('g3', { customer: { email: 'gerda@customer.example', name: 'With an address' } })]);
    t.match((await service.get('/contacts?search=gerda@customer', owner.token)).body.contacts, [
      { name: 'With an address', email: 'gerda@customer.example', emails: ['gerda@customer.example'] },
    ]);
    const { contacts } = (await service.get('/contacts?search=only', owner.token)).body;
    t.match(contacts, [{ name: 'Only a phone', phone: '+4917012345678' }]);
    t.equal(contacts.length, 1);
  });

  t.test('HTML is sanitised; files are uploads of the workspace', async (t) => {
    const file = await service.upload(owner);
    const rich = { body: '', bodyHtml: '<p>Hello <b>you</b><script>alert(1)</script></p>', attachments: [file] };
    const { body } = await load([ticket('h1', { messages: [message('1', 'customer', '2021-01-01T00:00:00Z', rich)] })]);
    const [said] = await service.messages(body.conversations[0].conversationId, owner.token);
    t.match(said, { body: 'Hello you', attachments: [{ url: file.url, name: 'a.pdf' }] });
    t.match(said.bodyHtml, '<b>you</b>');
    t.notMatch(said.bodyHtml, 'script');
    const foreign = { attachments: [{ url: 'https://elsewhere.example/a.pdf', name: 'a.pdf' }] };
    t.match(await load([ticket('h2', { messages: [message('1', 'customer', '2021-01-01T00:00:00Z', foreign)] })]), {
      status: 400,
      body: { error: 'invalid_body' },
    });
  });

  t.test('a long conversation is written in parts, in order, with messages of the same second', async (t) => {
    const messages = Array.from({ length: 120 }, (_, index) =>
      message(`${index}`, index % 2 === 0 ? 'customer' : 'agent', '2022-05-05T05:05:05Z'),
    );
    const { body } = await load([ticket('i1', { messages })]);
    t.match(body.conversations, [{ outcome: 'created', messages: 120 }]);
    const id = body.conversations[0].conversationId;
    t.same(
      (await service.messages(id, owner.token)).map((one) => one.body),
      messages.map((one) => one.body),
    );
    t.match((await load([ticket('i1', { messages })])).body.conversations, [{ outcome: 'unchanged' }]);
  });

  t.test('what was solved a moment ago closes when its time has come', async (t) => {
    const at = new Date(service.clock.now() - 7 * 24 * 3600_000 + 60_000).toISOString();
    const { body } = await load([ticket('j1', { messages: [message('1', 'customer', at)] })]);
    const id = body.conversations[0].conversationId;
    t.match(await recordOf(id), { status: 'solved', solvedAt: at });
    await service.pass(60_000);
    t.match(await recordOf(id), { status: 'closed' });
  });

  t.test('the audit log has one entry for a batch that changed something', async (t) => {
    const before = (await service.audited('conversation.imported', owner.token)).length;
    await load([ticket('k1'), ticket('k2')]);
    await load([ticket('k1'), ticket('k2')]);
    const entries = await service.audited('conversation.imported', owner.token);
    t.equal(entries.length, before + 1);
    t.match(entries[0], { context: { source: 'old', created: 2, updated: 0, messages: 4 } });
  });

  t.test('a browser that claims an address does not get what is imported for it', async (t) => {
    const claimed = { customer: { email: 'victim@customer.example' }, channel: 'chat' };
    const visitor = await service.customer(owner.embedId, { email: 'victim@customer.example' });
    const { body } = await load([ticket('m1', claimed), ticket('m2', claimed)]);
    const [one, two] = await Promise.all(
      body.conversations.map(({ conversationId }: { conversationId: string }) => recordOf(conversationId)),
    );
    t.ok(one.visitorId);
    t.not(one.visitorId, visitor.visitorId);
    t.equal(one.visitorId, two.visitorId, 'the two have one customer');
    t.notMatch(JSON.stringify((await service.get('/widget/conversations', visitor.token)).body), one.id);
  });

  t.test('people who share a number are two; whoever has no address is known by it', async (t) => {
    const phoneE164 = '+4917099999999';
    const { body } = await load([
      ticket('n1', { customer: { email: 'one@family.example', phoneE164 } }),
      ticket('n2', { customer: { email: 'two@family.example', phoneE164 } }),
      ticket('n3', { customer: { phoneE164 } }),
    ]);
    t.match(body.conversations, [{ isNewCustomer: true }, { isNewCustomer: true }, { isNewCustomer: false }]);
    const { db } = service.running.services.engine.workspace(owner.workspaceId) ?? {};
    t.match(db?.get('SELECT count(*) AS count FROM contact WHERE phone = ?', [phoneE164]), { count: 2 });
  });

  t.test('a message that is named twice is one; a conversation that is named twice is refused', async (t) => {
    const twice = [message('1', 'customer', '2021-01-01T00:00:00Z'), message('1', 'customer', '2021-01-01T00:00:00Z')];
    t.match(await load([ticket('o1', { messages: twice })]), {
      status: 200,
      body: { conversations: [{ outcome: 'created', messages: 1 }] },
    });
    t.match(await load([ticket('o2'), ticket('o2')]), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { conversations: [/once/] } } },
    });
  });

  t.test('an old ticket takes no mail by its subject alone', async (t) => {
    const { body } = await load([ticket('p1', { subject: 'Invoice' })]);
    await service.deliver(await service.mailbox(owner), {
      from: 'ixa@customer.example',
      subject: 'Invoice',
      text: 'Another one.',
      messageId: '<p1.9@customer.example>',
    });
    t.equal((await service.messages(body.conversations[0].conversationId, owner.token)).length, 2);
  });

  t.test('only admins, and keys with every scope that it needs, import; each workspace has its own', async (t) => {
    const supervisor = await service.agent(owner, { role: 'supervisor' });
    t.match(await load([ticket('l1')], {}, supervisor.token), { status: 403 });
    const weak = await makeKey(service, owner, { scopes: ['conversations:write', 'messages:send'] });
    t.match(await load([ticket('l1')], {}, weak), { status: 403, body: { error: 'insufficient_scope' } });
    const strong = await makeKey(service, owner, {
      scopes: ['conversations:write', 'messages:send', 'visitors:write'],
    });
    t.match((await load([ticket('l1')], {}, strong)).body.conversations, [{ outcome: 'created' }]);
    const { body } = await load([ticket('l1')], {}, other.token);
    t.match(body.conversations, [{ outcome: 'created' }]);
    t.match(await service.get(`/conversations/${body.conversations[0].conversationId}/messages`, owner.token), {
      status: 404,
    });
    t.match(await load([ticket('l2')], { departmentId: '00000000-0000-4000-8000-000000000000' }), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { departmentId: [/department/] } } },
    });
    await service.plan(other.workspaceId, 'chat');
    t.match(await load([ticket('l3')], {}, other.token), { status: 402, body: { error: 'feature_locked' } });
    for (const wrong of [{ conversations: [] }, { source: '' }, { conversations: [ticket('x', { messages: [] })] }])
      t.match(await load([ticket('l4')], wrong), { status: 400, body: { error: 'invalid_body' } });
  });
});

t.test('batches take turns: one of a workspace, and one waits', async (t) => {
  const reader = createImportedMails({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  let shown = 0;
  let begin = (): void => {};
  let release = (): void => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off' },
    importedMails: {
      ...reader,
      async display(mail) {
        shown += 1;
        begin();
        await released;
        return reader.display(mail);
      },
    },
  });
  const owner = await service.workspace();
  const other = await service.workspace();
  const agent = await service.agent(owner);
  const narrow = await makeKey(service, owner, { scopes: ['conversations:write'] });
  const html = (id: string) =>
    ticket(id, {
      messages: [message('1', 'customer', '2021-03-01T10:00:00Z', { body: '', bodyHtml: '<p>Hello</p>' })],
    });
  const load = (conversation: object, token: string) =>
    service.post('/conversations/import', { source: 'old', conversations: [conversation] }, token);

  const first = load(html('a'), owner.token);
  await begun;
  let isRefused = (): void => {};
  const refusals: { headers: Headers; body: any }[] = [];
  const bothRefused = new Promise<void>((resolve) => (isRefused = resolve));
  const later = ['b', 'c', 'd'].map(async (id) => {
    const answer = await load(html(id), owner.token);
    if (answer.status === 429) refusals.push(answer);
    if (refusals.length === 2) isRefused();
    return answer.status;
  });
  await Promise.race([bothRefused, Promise.all(later)]);
  t.match(refusals[0]?.body, {
    error: 'rate_limited',
    message: /^A batch of this workspace waits already, or many of others do/,
  });
  t.equal(refusals[0]?.headers.get('retry-after'), '1');
  t.match(await service.post('/conversations/import', {}, owner.token), { status: 429 }, 'its body is not even parsed');
  t.match(await load(ticket('e'), agent.token), { status: 403, body: { error: 'admin_required' } }, 'role is first');
  t.match(await load(ticket('e'), narrow), { status: 403, body: { error: 'insufficient_scope' } }, 'scope is first');
  t.match(await load(ticket('e'), other.token), { status: 200 }, 'another workspace imports meanwhile');
  t.equal(shown, 1, 'one of the workspace is at work');
  release();
  t.match(await first, { status: 200, body: { conversations: [{ outcome: 'created' }] } });
  t.same((await Promise.all(later)).sort(), [200, 429, 429], 'one waited');
  t.match(await load(html('f'), owner.token), { status: 200 });
});

t.test('a text that takes too long is left out with a reason, and read once', async (t) => {
  const reader = createImportedMails({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  let tries = 0;
  const service = await startService(t, {
    importedMails: {
      ...reader,
      async display(mail) {
        if (mail.html !== '<p>Slow</p>') return reader.display(mail);
        tries += 1;
        throw new MailUnreadable('it takes too long');
      },
    },
  });
  const owner = await service.workspace();
  const html = (id: string, bodyHtml: string) =>
    ticket(id, { messages: [message('1', 'customer', '2021-03-01T10:00:00Z', { body: '', bodyHtml })] });
  const { status, body } = await service.post(
    '/conversations/import',
    { source: 'old', conversations: [html('slow', '<p>Slow</p>'), html('sound', '<p>Sound</p>')] },
    owner.token,
  );
  t.equal(status, 200);
  t.match(body.conversations, [
    { outcome: 'invalid', conversationId: null, messages: 0, problem: /takes too long/ },
    { outcome: 'created', messages: 1, problem: null },
  ]);
  t.equal(tries, 1);
});
