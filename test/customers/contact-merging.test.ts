// The same person twice: contacts with several addresses, and two contacts that become one.

import t, { type Test } from 'tap';
import { workspaceFaults } from '../../store/operations/integrity.ts';
import { startService } from '../support/service.ts';

const dayMs = 24 * 3600_000;

t.test('merging contacts', async (t) => {
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', MAIL_HOST: 'mail.switchboard.test', TOKEN_TTL_DAYS: '30' },
  });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  const stranger = await service.workspace();
  const mailbox = await service.mailbox(owner);

  let people = 0;
  /** A customer who wrote a mail: its contact and its ticket. */
  const mailed = async (mail: object = {}, address = `person${(people += 1)}@customer.example`) => {
    const text = `Text ${(people += 1)}`;
    const messageId = `<contact${people}@customer.example>`;
    const from = `Person <${address}>`;
    await service.deliver(mailbox, { from, messageId, subject: `Subject ${people}`, text, ...mail });
    service.clock.advance(1000);
    for (const ticket of (await service.tickets(owner.token)).reverse())
      if ((await service.messages(ticket.id, owner.token)).some(({ body }) => body === text))
        return { ticketId: ticket.id, contactId: ticket.contactId, visitorId: ticket.visitorId, address, messageId };
    throw new Error('the mail is nowhere');
  };
  const create = async (fields: object) => (await service.post('/contacts', fields, ann.token)).body.contact;
  const read = async (id: string) => (await service.get(`/contacts/${id}`, ann.token)).body;
  const change = (id: string, fields: object, token = ann.token) => service.patch(`/contacts/${id}`, fields, token);
  const merge = (id: string, into: string, token = ann.token) => service.post(`/contacts/${id}/merge`, { into }, token);
  const unmerge = (id: string, token = ann.token) => service.post(`/contacts/${id}/unmerge`, undefined, token);
  const find = async (search: string): Promise<string[]> =>
    (await service.get(`/contacts?search=${encodeURIComponent(search)}`, ann.token)).body.contacts.map(
      ({ id }: any) => id,
    );
  const sound = (t: Test) => {
    for (const { db } of service.running.services.engine.openWorkspaces()) t.same(workspaceFaults(db), []);
    service.requireSoundReports();
  };

  t.test('the visitors, conversations, addresses and other values of both are the target’s', async (t) => {
    const [one, other] = [await mailed(), await mailed()];
    await change(one.contactId, { name: 'Kim', company: 'Cups', tags: ['vip', 'old'], customFields: { a: 1, b: 2 } });
    await change(other.contactId, { name: 'Kimberly', note: 'Calls', tags: ['VIP'], customFields: { b: 3 } });
    const socket = await service.agentSocket(owner.token);
    const { status, body } = await merge(one.contactId, other.contactId);
    t.equal(status, 200);
    t.match(body.contact, {
      id: other.contactId,
      name: 'Kimberly',
      company: 'Cups',
      note: 'Calls',
      email: other.address,
      emails: [other.address, one.address],
      tags: ['VIP', 'old'],
      customFields: { a: 1, b: 3 },
      mergedInto: null,
    });
    t.match(await socket.next('visitor.updated'), {
      data: { visitor: { id: one.visitorId, contactId: other.contactId } },
    });
    t.match(await socket.next('conversation.updated'), { data: { conversation: { contactId: other.contactId } } });
    t.match(await read(other.contactId), { stats: { total: 2, tickets: 2 } });
    t.match(await read(one.contactId), { contact: { name: 'Kim', mergedInto: other.contactId }, stats: { total: 0 } });
    t.same(await find(one.address), [other.contactId], 'found by either address, once');
    t.same(await find(other.address), [other.contactId]);
    t.notOk(
      (await service.get('/contacts?limit=200', ann.token)).body.contacts.some(({ id }: any) => id === one.contactId),
    );
    t.match((await service.audited('contact.merged', owner.token))[0], {
      actorAgentId: ann.agentId,
      targetId: one.contactId,
      context: { into: other.contactId, visitors: 1, conversations: 1 },
    });
    t.equal((await mailed({}, one.address)).contactId, other.contactId, 'its next mail is of the same customer');
    t.match(await merge(one.contactId, other.contactId), { status: 200 }, 'again without effect');
    t.match(await change(one.contactId, { name: 'x' }), {
      status: 409,
      body: { error: 'conflict', detail: { mergedInto: other.contactId } },
    });
    sound(t);
  });

  t.test('undoing puts back what moved and did not change since', async (t) => {
    const [one, other] = [await mailed(), await mailed()];
    await change(one.contactId, { company: 'Cups', note: 'One', tags: ['a'], customFields: { a: 1, c: 1 } });
    await change(other.contactId, { tags: ['b'], customFields: { b: 2 } });
    const [before, target] = [(await read(one.contactId)).contact, (await read(other.contactId)).contact];
    await merge(one.contactId, other.contactId);
    await change(other.contactId, { note: 'Changed since', customFields: { a: 1, b: 2, c: 9 } });
    const since = await mailed({}, one.address);
    const { status, body } = await unmerge(one.contactId);
    t.equal(status, 200);
    t.same(body.contact, before);
    t.match((await read(other.contactId)).contact, {
      emails: target.emails,
      company: null,
      tags: ['b'],
      note: 'Changed since',
      customFields: { b: 2, c: 9 },
    });
    t.match(await read(one.contactId), { stats: { tickets: 2 } }, 'with the ticket of since');
    t.match(await read(other.contactId), { stats: { tickets: 1 } });
    const { conversation } = (await service.get(`/conversations/${since.ticketId}`, owner.token)).body;
    t.equal(conversation.contactId, one.contactId);
    t.same(await find(one.address), [one.contactId]);
    t.match(await unmerge(one.contactId), { status: 409, body: { error: 'conflict' } });
    await merge(one.contactId, other.contactId);
    await service.pass(dayMs + 1);
    t.match(await unmerge(one.contactId), { status: 409, body: { message: /more than a day ago/ } });
    sound(t);
  });

  t.test(
    'undoing gives back what moved, whoever its browser is since, and visitors who gave its address',
    async (t) => {
      const [one, other] = [await mailed(), await mailed()];
      const browser = await service.customer(owner.embedId, { name: 'Kim', email: one.address });
      const begun = (await service.post('/widget/conversations', { body: 'From my browser' }, browser.token)).body
        .conversation;
      await merge(one.contactId, other.contactId);
      await service.patch('/widget/visitor', { email: 'third@customer.example' }, browser.token);
      const another = await service.customer(owner.embedId, { name: 'Kim', email: one.address });
      const since = (await service.post('/widget/conversations', { body: 'Since' }, another.token)).body.conversation;
      const contactOf = async (id: string) =>
        (await service.get(`/conversations/${id}`, owner.token)).body.conversation.contactId;
      t.same([await contactOf(begun.id), await contactOf(since.id)], [other.contactId, other.contactId]);
      await unmerge(one.contactId);
      t.same([await contactOf(begun.id), await contactOf(since.id)], [one.contactId, one.contactId]);
      t.equal(await contactOf(other.ticketId), other.contactId);
      const { visitor } = (await service.get(`/visitors/${another.visitorId}`, owner.token)).body;
      t.equal(visitor.contactId, one.contactId);
      sound(t);
    },
  );

  t.test('a further address stays with its contact: no new one begins with it', async (t) => {
    const [one, other] = [await mailed(), await mailed()];
    await merge(one.contactId, other.contactId);
    const { status, body } = await service.post('/contacts', { name: 'Kim', email: one.address }, ann.token);
    t.equal(status, 409);
    t.match(body, { error: 'conflict', message: /merge the two contacts/, detail: { contactId: other.contactId } });
    t.equal((await service.post('/contacts', { email: other.address }, ann.token)).status, 201, 'as before');
    t.equal((await mailed({}, one.address)).contactId, other.contactId);
    const later = await mailed();
    await change(later.contactId, { emails: [later.address, 'shared@customer.example'] });
    t.equal((await mailed({}, 'shared@customer.example')).contactId, later.contactId);
  });

  t.test('a chain is undone from its end; a phone number leads to its end', async (t) => {
    const [a, b, c] = [
      await create({ name: 'A', phoneE164: '+4917012340001' }),
      await create({ name: 'B', phoneE164: '+4917012340002' }),
      await create({ name: 'C', email: 'c@chain.example' }),
    ];
    await merge(a.id, b.id);
    t.match(await merge(c.id, a.id), { status: 409, body: { detail: { mergedInto: b.id } } });
    t.match(await merge(a.id, c.id), { status: 409, body: { detail: { mergedInto: b.id } } });
    await merge(b.id, c.id);
    t.match(await unmerge(a.id), { status: 409, body: { detail: { mergedInto: c.id } } });
    const senior = await service.agent(owner, { role: 'supervisor' });
    const rows = [{ phone: '+4917012340001', company: 'Found' }];
    t.match((await service.post('/contacts/import', { rows }, senior.token)).body.rows, [{ contactId: c.id }]);
    t.equal((await unmerge(b.id)).status, 200);
    t.equal((await unmerge(a.id)).status, 200);
  });

  t.test('addresses: added, found, written from, and refused when they are of another contact', async (t) => {
    const one = await mailed();
    const home = 'Home@customer.example';
    const { status, body } = await change(one.contactId, { emails: [one.address, home, home] });
    t.equal(status, 200);
    t.match(body.contact, { email: one.address, emails: [one.address, 'home@customer.example'] });
    t.same(await find('home@customer'), [one.contactId]);
    t.equal((await mailed({}, 'home@customer.example')).contactId, one.contactId);
    await service.deliver(mailbox, {
      from: 'Person <home@customer.example>',
      messageId: '<from-home@customer.example>',
      headers: { 'In-Reply-To': one.messageId },
      text: 'From my other address',
    });
    t.match((await service.messages(one.ticketId, owner.token)).at(-1), { body: 'From my other address' });
    const other = await mailed();
    t.match(await change(other.contactId, { emails: [other.address, 'home@customer.example'] }), {
      status: 409,
      body: {
        error: 'conflict',
        message: /^home@customer.example belongs to another contact/,
        detail: { contactId: one.contactId },
      },
    });
    const fields = (field: string) => ({
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } },
    });
    t.match(await change(one.contactId, { emails: ['home@customer.example'] }), fields('emails'));
    t.match(await change(one.contactId, { emails: [] }), fields('emails'));
    t.match(await change(one.contactId, { emails: [one.address, 'nonsense'] }), fields('emails.1'));
    const many = Array.from({ length: 10 }, (_, index) => `many${index}@customer.example`);
    t.match(await change(one.contactId, { emails: [one.address, ...many] }), { status: 400 });
    t.equal((await change(one.contactId, { emails: [one.address] })).status, 200, 'and removed');
    t.same(await find('home@customer'), []);
    t.match((await service.audited('contact.emails_changed', owner.token))[0], { after: { emails: [one.address] } });
    const nameless = await create({ name: 'No address' });
    t.match((await change(nameless.id, { emails: ['first@customer.example'] })).body.contact, {
      email: 'first@customer.example',
    });
    sound(t);
  });

  t.test('refused: itself, none, too many addresses, another workspace, a key without the scope', async (t) => {
    const [one, other] = [await mailed(), await mailed()];
    const field = { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { into: [String] } } } };
    t.match(await merge(one.contactId, one.contactId), field);
    t.match(await merge(one.contactId, ann.agentId), field);
    t.match(await merge(one.contactId, other.contactId, stranger.token), { status: 404 });
    t.match(await unmerge(one.contactId, stranger.token), { status: 404 });
    t.match(await unmerge(one.contactId), { status: 409, body: { error: 'conflict' } });
    const many = (word: string) => Array.from({ length: 5 }, (_, index) => `${word}${index}@customer.example`);
    await change(one.contactId, { emails: [one.address, ...many('a')] });
    await change(other.contactId, { emails: [other.address, ...many('b')] });
    t.match(await merge(one.contactId, other.contactId), { status: 422, body: { error: 'semantic_error' } });
    const key = await service.post('/api-keys', { name: 'k', scopes: ['visitors:read'] }, owner.token);
    t.match(await merge(one.contactId, other.contactId, key.body.key), {
      status: 403,
      body: { error: 'insufficient_scope' },
    });
  });

  t.test('only those who work in tickets, and seniors, say which addresses are the same person’s', async (t) => {
    const [one, other] = [await mailed(), await mailed()];
    const chatter = await service.agent(owner, { channels: ['chats'] });
    const senior = await service.agent(owner, { channels: ['chats'], role: 'supervisor' });
    const emails = [one.address, 'also@customer.example'];
    const forbidden = { status: 403, body: { error: 'forbidden' } };
    t.match(await change(one.contactId, { emails }, chatter.token), forbidden);
    t.match(await change(one.contactId, { emails: [one.address], company: 'Cups' }, chatter.token), { status: 200 });
    t.match(await change(one.contactId, { emails }, senior.token), { status: 200 });
    t.match(await merge(one.contactId, other.contactId, chatter.token), forbidden);
    t.match(await merge(one.contactId, other.contactId, senior.token), { status: 200 });
    t.match(await unmerge(one.contactId, chatter.token), forbidden);
    t.match(await unmerge(one.contactId, senior.token), { status: 200 });
  });

  t.test('an address that an agent added names no one for copies until a mail of the ticket names it', async (t) => {
    const one = await mailed({ to: [mailbox.address, 'dora@customer.example'] });
    const added = 'added@elsewhere.example';
    await change(one.contactId, { emails: [one.address, added] });
    const copies = async () =>
      (await service.get(`/conversations/${one.ticketId}`, owner.token)).body.conversation.copiedTo;
    const to = [mailbox.address, 'friend@elsewhere.example'];
    const again = () => mailed({ to, headers: { 'In-Reply-To': one.messageId } }, added);
    t.match(await again(), { ticketId: one.ticketId });
    t.same(await copies(), ['dora@customer.example']);
    const sent = { body: 'To both', cc: [added] };
    t.equal((await service.post(`/conversations/${one.ticketId}/messages`, sent, ann.token)).status, 201);
    await again();
    t.same(await copies(), [added, 'friend@elsewhere.example']);
  });
});
