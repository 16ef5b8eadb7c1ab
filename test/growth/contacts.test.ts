import t from 'tap';
import { claimLine, deliver, ringLine } from '../support/calls.ts';
import { startService } from '../support/service.ts';

t.test('contacts', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const other = await service.workspace();
  const agent = await service.agent(owner, { channels: ['chats'] });
  const create = async (fields: object) => (await service.post('/contacts', fields, agent.token)).body.contact;
  const find = async (search: string, token = agent.token): Promise<string[]> =>
    (await service.get(`/contacts?search=${encodeURIComponent(search)}`, token)).body.contacts.map(
      (one: { name: string }) => one.name,
    );

  t.test('[4.12] POST answers 201; the same email twice makes two', async (t) => {
    const at = new Date(service.clock.now()).toISOString();
    const fields = {
      name: 'Ada Lovelace',
      email: 'ada@engine.example',
      phoneE164: '+4917012345678',
      company: 'Analytical',
    };
    const { status, body } = await service.post('/contacts', fields, agent.token);
    t.equal(status, 201);
    t.strictSame(
      { ...body.contact, id: 'id' },
      {
        id: 'id',
        name: 'Ada Lovelace',
        email: 'ada@engine.example',
        emails: ['ada@engine.example'],
        phone: '+4917012345678',
        company: 'Analytical',
        mergedInto: null,
        tags: [],
        customFields: {},
        lifetimeValueCents: 0,
        note: null,
        firstSeenAt: at,
        lastSeenAt: at,
        createdAt: at,
      },
    );
    t.not((await create(fields)).id, body.contact.id);
    t.strictSame((await service.get(`/contacts/${body.contact.id}`, agent.token)).body, {
      contact: body.contact,
      conversations: [],
      stats: { total: 0, chats: 0, tickets: 0, calls: 0 },
    });
    for (const one of [{ name: 'N' }, { email: 'e@x.example' }, { phoneE164: '+4917012345679' }])
      t.equal((await service.post('/contacts', one, agent.token)).status, 201);
  });

  t.test('an import makes, fills in and repeats nothing; a dry run tells what it would do', async (t) => {
    const senior = await service.agent(owner, { role: 'supervisor' });
    const load = (rows: object[], more: object = {}, token = senior.token) =>
      service.post('/contacts/import', { rows, ...more }, token);
    const rows = [
      { name: ' Ixa  Import ', email: 'IXA@import.example', phone: '0049 (170) 555-0101', tags: ['vip', 'VIP', ''] },
      { email: 'ixa@import.example', company: 'Moved Ltd', name: 'Somebody else', customFields: { plan: 'gold' } },
      { name: 'Only a name' },
      { email: 'not an address', name: 'Bad' },
      { email: 'yan@import.example', phone: '0170 5550102', note: 'Likes blue' },
      { phone: '+49 170 5550103' },
    ];
    const outcomes = ['created', 'updated', 'invalid', 'invalid', 'created', 'created'];
    const told = ({ body }: any) => body.rows.map(({ outcome }: any) => outcome);
    t.match(await load(rows, {}, agent.token), { status: 403, body: { error: 'admin_required' } });
    const dry = await load(rows, { dryRun: true });
    t.same(told(dry), outcomes);
    t.match(dry.body.rows[2].problem, 'neither an email address nor a phone number');
    t.match(dry.body.rows[3].problem, 'not an address is not an email address');
    t.match(dry.body.rows[4].problem, '0170 5550102 is not a phone number with its country code');
    t.same(await find('import.example'), [], 'nothing was written');
    const done = await load(rows);
    t.same(told(done), outcomes);
    t.match((await service.get(`/contacts/${done.body.rows[0].contactId}`, agent.token)).body.contact, {
      name: 'Ixa Import',
      email: 'ixa@import.example',
      phone: '+491705550101',
      company: 'Moved Ltd',
      tags: ['vip'],
      customFields: { plan: 'gold' },
    });
    t.equal(done.body.rows[1].contactId, done.body.rows[0].contactId);
    t.same(told(await load(rows)), ['unchanged', 'unchanged', 'invalid', 'invalid', 'unchanged', 'unchanged']);
    t.match((await service.audited('contact.imported', owner.token))[0], { context: { created: 3, updated: 1 } });
    t.equal(service.mailCount('ixa@import.example'), 0);
    t.same((await service.get('/contacts?search=import.example', other.token)).body.contacts, []);
    t.match(await load([]), { status: 400, body: { error: 'invalid_body' } });
    t.match(await load(Array.from({ length: 201 }, () => ({ email: 'x@y.example' }))), { status: 400 });
  });

  t.test('an imported column has a text, whatever its name; a long or broken name is made one line', async (t) => {
    const row = (customFields: object) =>
      service.post('/contacts/import', { rows: [{ email: 'column@import.example', customFields }] }, owner.token);
    for (const name of ['plain', 'two\nlines', '\u0003', 'k'.repeat(65)])
      t.match(await row({ [name]: { not: 'a text' } }), { status: 400, body: { error: 'invalid_body' } }, name);
    const answer = await row({ 'two\nlines': 'a', ['k'.repeat(65)]: 'b', '\u0003': 'c' });
    t.match(answer, { status: 200, body: { rows: [{ outcome: 'created' }] } });
    const { contact } = (await service.get(`/contacts/${answer.body.rows[0].contactId}`, owner.token)).body;
    t.strictSame(contact.customFields, { 'two lines': 'a', ['k'.repeat(64)]: 'b' });
  });

  t.test('[4.12] an invalid contact: 400', async (t) => {
    const rows: [object, string][] = [
      [{}, 'body'],
      [{ company: 'Alone' }, 'body'],
      [{ name: '' }, 'name'],
      [{ name: ' ' }, 'name'],
      [{ name: 'x'.repeat(121) }, 'name'],
      [{ email: 'ada' }, 'email'],
      [{ phoneE164: '0170 123' }, 'phoneE164'],
      [{ phoneE164: '+0170123456' }, 'phoneE164'],
      [{ name: 'x', company: 'x'.repeat(201) }, 'company'],
    ];
    for (const [body, field] of rows)
      t.match(
        await service.post('/contacts', body, agent.token),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
        JSON.stringify(body).slice(0, 50),
      );
  });

  t.test('[4.12] PATCH: name, company, note, tags and customFields; email and phone stay', async (t) => {
    const { id } = await create({ name: 'Grace', email: 'grace@navy.example' });
    const customFields = { plan: 'gold', seats: 5, active: true, since: null, ['k'.repeat(64)]: 'v'.repeat(1000) };
    const { status, body } = await service.patch(
      `/contacts/${id}`,
      {
        name: 'Grace Hopper',
        company: 'Navy',
        note: 'COBOL',
        tags: ['vip', 'navy', 'vip'],
        customFields,
        email: 'other@x.example',
        phoneE164: '+4917000000000',
      },
      agent.token,
    );
    t.equal(status, 200);
    t.match(body.contact, {
      id,
      name: 'Grace Hopper',
      company: 'Navy',
      note: 'COBOL',
      email: 'grace@navy.example',
      phone: null,
    });
    t.strictSame([body.contact.tags, body.contact.customFields], [['vip', 'navy'], customFields]);
    t.match(
      (await service.patch(`/contacts/${id}`, { customFields: {}, tags: [], note: null, company: null }, agent.token))
        .body.contact,
      { customFields: {}, tags: [], note: null, company: null, name: 'Grace Hopper' },
    );
    for (const empty of [{}, { email: 'x@x.example' }, { phoneE164: '+4917000000000' }, undefined])
      t.match(await service.patch(`/contacts/${id}`, empty, agent.token), {
        status: 400,
        body: { error: 'empty_patch' },
      });
    const many = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, index]));
    t.equal(
      (
        await service.patch(
          `/contacts/${id}`,
          {
            customFields: many(50),
            tags: Array.from({ length: 50 }, (_, index) => `tag ${index}`),
            note: 'x'.repeat(10_000),
          },
          agent.token,
        )
      ).status,
      200,
    );
    const rows: object[] = [
      { customFields: many(51) },
      { customFields: { ['k'.repeat(65)]: 1 } },
      { customFields: { '': 1 } },
      { customFields: { a: 'v'.repeat(1001) } },
      { customFields: { a: { nested: 1 } } },
      { customFields: { a: [1] } },
      { customFields: 'x' },
      { tags: Array.from({ length: 51 }, (_, index) => `tag ${index}`) },
      { tags: ['x'.repeat(51)] },
      { tags: [''] },
      { note: 'x'.repeat(10_001) },
      { name: null },
      { name: '' },
    ];
    for (const row of rows)
      t.match(
        await service.patch(`/contacts/${id}`, row, agent.token),
        { status: 400, body: { error: 'invalid_body' } },
        JSON.stringify(row).slice(0, 60),
      );
    t.equal(
      (await service.get(`/contacts/${id}`, agent.token)).body.contact.note.length,
      10_000,
      'nothing of it was taken',
    );
  });

  t.test("[4.12] another workspace's contact is not there", async (t) => {
    const { id } = await create({ name: 'Secret Person' });
    t.equal((await service.get(`/contacts/${id}`, other.token)).status, 404);
    t.equal((await service.patch(`/contacts/${id}`, { name: 'Mine' }, other.token)).status, 404);
    t.strictSame(await find('Secret', other.token), []);
    t.equal((await service.get('/contacts/nonsense', agent.token)).status, 404);
  });

  t.test(
    '[4.12] search: any part of name, email, phone and company, all words, case and diacritics aside, newest first',
    async (t) => {
      await create({
        name: 'José Núñez',
        email: 'jose@tango.example',
        phoneE164: '+5491155551234',
        company: 'Tango Ltd',
      });
      await create({ name: 'Zoë Tangerine', email: 'zoe@fruit.example', company: 'Fruit "&" Co' });
      await create({ name: 'Li Wu', company: '100% _real_' });
      const rows: [string, string[]][] = [
        ['tang', ['Zoë Tangerine', 'José Núñez']],
        ['NUNEZ', ['José Núñez']],
        ['núñez', ['José Núñez']],
        ['zoe', ['Zoë Tangerine']],
        ['go.exam', ['José Núñez']],
        ['+54911', ['José Núñez']],
        ['5555', ['José Núñez']],
        ['jose tango', ['José Núñez']],
        ['tango  jo', ['José Núñez']],
        ['tango zo', []],
        ['wu', ['Li Wu']],
        ['l w', ['Li Wu']],
        ['"&" fruit', ['Zoë Tangerine']],
        ['fruit" OR name:"tango', []],
        ['_real_', ['Li Wu']],
        ['real %', ['Li Wu']],
        ['nobody', []],
        ['qq', []],
        ['%', []],
        ['"', []],
        ['tang*', []],
      ];
      for (const [search, names] of rows) t.strictSame(await find(search), names, search);
      const { id } = await create({ name: 'Old Name', company: 'Before GmbH' });
      await service.patch(`/contacts/${id}`, { name: 'New Name', company: null }, agent.token);
      t.strictSame(
        [await find('old name'), await find('before'), await find('new name')],
        [[], [], ['New Name']],
        'a change is found, and the replaced text is not',
      );
      t.ok(
        (await service.get('/contacts?search=%20', agent.token)).body.contacts.length > 5,
        'white space is no search',
      );
      await service.customer(owner.embedId, { name: 'Visitor Person', email: 'visitor@person.example' });
      t.strictSame(await find('visitor@person'), ['Visitor Person'], 'a visitor that identified itself');
    },
  );

  t.test('[8] limit 1 to 200, default 50, and an offset', async (t) => {
    for (let count = 0; count < 55; count += 1) await create({ name: `Paged ${count}` });
    const names = async (query: string): Promise<string[]> =>
      (await service.get(`/contacts${query}`, agent.token)).body.contacts.map((one: { name: string }) => one.name);
    t.equal((await names('')).length, 50);
    t.equal((await names('?search=paged')).length, 50);
    t.strictSame(await names('?limit=2&offset=1'), ['Paged 53', 'Paged 52']);
    t.strictSame(await names('?search=paged&limit=2&offset=53'), ['Paged 1', 'Paged 0']);
    t.equal((await service.get('/contacts?limit=200', agent.token)).status, 200);
    for (const query of ['?limit=0', '?limit=201', '?offset=-1', '?limit=x', `?search=${'x'.repeat(201)}`])
      t.match(
        await service.get(`/contacts${query}`, agent.token),
        { status: 400, body: { error: 'invalid_query' } },
        query,
      );
  });

  t.test(
    "[4.12] a contact's and a visitor's conversations: newest first, calls with number and length, within the agent's reach",
    async (t) => {
      const customer = await service.customer(owner.embedId, { name: 'Kim', email: 'kim@history.example' });
      const first = (await service.post('/widget/conversations', { body: 'First' }, customer.token)).body.conversation;
      await service.post(`/conversations/${first.id}/status`, { status: 'pending' }, owner.token);
      await service.pass(90_400);
      await service.post(`/conversations/${first.id}/status`, { status: 'solved' }, owner.token);
      await service.post(`/widget/conversations/${first.id}/rating`, { rating: 4 }, customer.token);
      await service.pass(1000);
      const startedAt = new Date(service.clock.now()).toISOString();
      const second = (await service.post('/widget/conversations', { body: 'Second' }, customer.token)).body
        .conversation;
      const listed = (await service.conversation(second.id, owner.token)) as { version: number; contactId: string };
      await service.post(
        `/conversations/${second.id}/assign-to-agent`,
        { agentId: agent.agentId, expectedVersion: listed.version, force: true },
        owner.token,
      );
      const { conversations } = (await service.get(`/visitors/${customer.visitorId}/conversations`, agent.token)).body;
      t.strictSame(conversations[0], {
        id: second.id,
        type: 'chat',
        status: 'open',
        preview: 'Second',
        callDirection: null,
        callPeerE164: null,
        agentName: 'Agent 3',
        startedAt,
        endedAt: null,
        durationSec: null,
        rating: null,
      });
      t.match(conversations[1], { id: first.id, status: 'solved', durationSec: 90, rating: 4 });
      t.equal(conversations.length, 2);
      const { body } = await service.get(`/contacts/${listed.contactId}`, agent.token);
      t.strictSame([body.conversations, body.stats], [conversations, { total: 2, chats: 2, tickets: 0, calls: 0 }]);
      t.equal((await service.get(`/visitors/${customer.visitorId}/conversations`, other.token)).status, 404);
      t.equal((await service.get(`/visitors/${first.id}/conversations`, agent.token)).status, 404);

      const sales = (await service.post('/departments', { name: 'Sales', memberIds: [] }, owner.token)).body;
      await service.post(`/conversations/${first.id}/assign-to-department`, { departmentId: sales.id }, owner.token);
      t.equal(
        (await service.get(`/visitors/${customer.visitorId}/conversations`, agent.token)).body.conversations.length,
        1,
        "a department that is not the agent's",
      );
      t.match((await service.get(`/contacts/${listed.contactId}`, agent.token)).body.stats, { total: 1 });
      t.match((await service.get(`/contacts/${listed.contactId}`, owner.token)).body.stats, { total: 2 });
    },
  );

  t.test('[4.12] calls in a history', async (t) => {
    const line = await claimLine(service, owner);
    const call = await ringLine(service, line, { from: '+4917099999999' });
    await service.post('/me/status', { status: 'available' }, owner.token);
    await service.post(`/calls/${call.id}/answer`, undefined, owner.token);
    await service.pass(65_000);
    await deliver(service, line, { type: 'ended', callId: call.callId, from: '+4917099999999' });
    const row = (await service.conversation(call.id, owner.token)) as { visitorId: string; contactId: string };
    const { conversations } = (await service.get(`/visitors/${row.visitorId}/conversations`, owner.token)).body;
    t.match(conversations, [
      {
        id: call.id,
        type: 'call',
        callDirection: 'inbound',
        callPeerE164: '+4917099999999',
        durationSec: 65,
        agentName: String,
      },
    ]);
    t.strictSame(
      (await service.get(`/visitors/${row.visitorId}/conversations`, agent.token)).body.conversations,
      [],
      'an agent without the channel',
    );
    t.match((await service.get(`/contacts/${row.contactId}`, owner.token)).body.stats, { total: 1, calls: 1 });
  });

  t.test('[4.12] a history holds the newest 50', async (t) => {
    const customer = await service.customer(owner.embedId, { email: 'often@history.example' });
    for (let count = 0; count < 51; count += 1) {
      await service.post('/widget/conversations', { body: `Number ${count}` }, customer.token);
      await service.pass(1);
    }
    const { conversations } = (await service.get(`/visitors/${customer.visitorId}/conversations`, owner.token)).body;
    t.strictSame(
      [conversations.length, conversations[0].preview, conversations[49].preview],
      [50, 'Number 50', 'Number 1'],
    );
  });
});
