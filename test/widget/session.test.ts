import t from 'tap';
import { insertContact, unsetContact } from '../../store/customers/writes.ts';
import { startService } from '../support/service.ts';

t.test('widget sessions', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const other = await service.workspace();
  const secondSite = (await service.post('/sites', { name: 'Second', domain: 'second.example' }, owner.token)).body;
  const open = (body: object, headers: Record<string, string> = {}) =>
    service.call('POST', '/widget/sessions', {
      body: { siteId: owner.embedId, url: 'https://shop1.example/start', ...body },
      headers,
    });

  t.test('[4.12] a first session makes a visitor, and answers all that the widget needs', async (t) => {
    const at = new Date(service.clock.now()).toISOString();
    const { status, body } = await open({ name: 'Kim' }, { 'User-Agent': 'Browser/1' });
    t.equal(status, 200);
    t.strictSame(Object.keys(body).sort(), [
      'availability',
      'campaigns',
      'conversation',
      'csatEnabled',
      'hasArticles',
      'nextOpenAt',
      'officeHoursOpen',
      'replyTimeSeconds',
      'seq',
      'site',
      'takesTickets',
      'visitor',
      'visitorToken',
    ]);
    t.match(body, {
      conversation: null,
      officeHoursOpen: true,
      campaigns: [],
      site: { embedId: owner.embedId, name: 'Shop 1', launcherPosition: 'right' },
    });
    t.strictSame(
      { ...body.visitor, id: 'id' },
      { id: 'id', siteId: owner.siteId, name: 'Kim', email: null, firstSeenAt: at, lastSeenAt: at, visitCount: 1 },
    );
    const row = (await service.post(`/visitors/${body.visitor.id}/unblock`, undefined, owner.token)).body.visitor;
    t.match(
      row,
      {
        ip: '127.0.0.1',
        userAgent: 'Browser/1',
        currentPageUrl: 'https://shop1.example/start',
        visitorToken: body.visitorToken,
        contactId: null,
        blockedAt: null,
      },
      'agents see the rest of the row',
    );
  });

  t.test('[4.12] its token brings the visitor back, with its chat', async (t) => {
    const first = (await open({ name: 'Kim' })).body;
    await service.post('/widget/conversations', { body: 'Hello' }, first.visitorToken);
    await service.pass(5000);
    const second = (await open({ visitorToken: first.visitorToken, url: 'https://shop1.example/again' })).body;
    t.equal(second.visitorToken, first.visitorToken, 'the token stays');
    t.match(second.visitor, {
      id: first.visitor.id,
      name: 'Kim',
      firstSeenAt: first.visitor.firstSeenAt,
      lastSeenAt: new Date(service.clock.now()).toISOString(),
      visitCount: 2,
    });
    t.match(second.conversation, { channel: 'chat', status: 'open', preview: 'Hello' });
    t.strictSame(
      Object.keys(second.conversation).sort(),
      ['channel', 'createdAt', 'id', 'lastMessageAt', 'preview', 'rating', 'status', 'subject', 'updatedAt'],
      'nothing internal in it',
    );
    const row = (await service.post(`/visitors/${first.visitor.id}/unblock`, undefined, owner.token)).body.visitor;
    t.equal(row.currentPageUrl, 'https://shop1.example/again');
  });

  t.test(
    "[4.12] a token that is not this site's starts a new visitor: of another site, another workspace, forged, cut off",
    async (t) => {
      const mine = (await open({})).body;
      const ofSecondSite = (await open({ siteId: secondSite.embedId })).body.visitorToken;
      const ofOther = (await open({ siteId: other.embedId })).body.visitorToken;
      const token: string = mine.visitorToken;
      const flipped = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
      const named = token.slice(0, 30) + (token[30] === 'A' ? 'B' : 'A') + token.slice(31);
      for (const [what, visitorToken] of Object.entries({
        ofSecondSite,
        ofOther,
        flipped,
        named,
        cutOff: token.slice(0, -1),
        longer: `${token}A`,
        empty: '',
        prefix: 'vt_',
        words: 'let me in',
        jwt: owner.token.slice(0, 200),
      })) {
        const { status, body } = await open({ visitorToken });
        t.equal(status, 200, what);
        t.not(body.visitor.id, mine.visitor.id, what);
        t.equal(body.visitor.visitCount, 1, what);
      }
      t.match(await open({ visitorToken: 'x'.repeat(201) }), { status: 400, body: { error: 'invalid_body' } });
      for (const wrong of [flipped, named, token.slice(0, -1), `${token}A`, 'vt_', 'nonsense', owner.token])
        t.match(await service.post('/widget/page-views', { url: 'https://shop1.example/' }, wrong), {
          status: 401,
          body: { error: 'unauthorized' },
        });
      t.match(await service.post('/widget/page-views', { url: 'https://shop1.example/' }), {
        status: 401,
        body: { error: 'unauthorized' },
      });
      t.equal((await service.post('/widget/page-views', { url: 'https://shop1.example/' }, token)).status, 200);
    },
  );

  t.test('[7] an unknown site: 404; an invalid address, name or email: 400', async (t) => {
    for (const siteId of [
      'nonsense',
      owner.siteId,
      `${owner.embedId}x`,
      owner.embedId.slice(0, -1),
      other.embedId.slice(0, 22) + owner.embedId.slice(22),
      'A'.repeat(100),
    ]) {
      t.match(await open({ siteId }), { status: 404, body: { error: 'not_found' } }, siteId);
    }
    const rows: [object, string][] = [
      [{ siteId: '' }, 'siteId'],
      [{ siteId: 'x'.repeat(101) }, 'siteId'],
      [{ url: 'shop1.example' }, 'url'],
      [{ url: 'javascript:alert(1)' }, 'url'],
      [{ url: undefined }, 'url'],
      [{ url: `https://shop1.example/${'x'.repeat(2048)}` }, 'url'],
      [{ email: 'kim' }, 'email'],
      [{ name: '' }, 'name'],
      [{ name: ' ' }, 'name'],
      [{ name: 'x'.repeat(121) }, 'name'],
    ];
    for (const [body, field] of rows)
      t.match(
        await open(body),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
        JSON.stringify(body).slice(0, 60),
      );
  });

  t.test("[4.12] a page's address is the browser's, in its spelling, which is not always a URI", async (t) => {
    const { visitorToken } = (await open({})).body;
    for (const typed of [
      '/s?filter[color]=red&size[]=9',
      '/a|b',
      '/?q=a^b',
      '/?q={x}',
      '/100%',
      '/#!/cart#2',
      '/?q=`',
      '/?q=<b>"\\ ü',
      `/${'x'.repeat(2048 - 'https://shop1.example/'.length)}`,
    ]) {
      const url = new URL(typed, 'https://shop1.example').href;
      const opened = await open({ url });
      t.equal(opened.status, 200, url.slice(0, 60));
      t.equal((await service.post('/widget/page-views', { url }, visitorToken)).status, 200, url.slice(0, 60));
      t.equal((await service.get(`/visitors/${opened.body.visitor.id}`, owner.token)).body.visitor.currentPageUrl, url);
    }
  });

  t.test("[4.12] agents receive a visitor's arrival, and the pages it goes to", async (t) => {
    const socket = await service.agentSocket(owner.token);
    const { visitor, visitorToken } = (await open({ name: 'Lou' })).body;
    t.match((await socket.next('visitor.online')).data.visitor, {
      id: visitor.id,
      name: 'Lou',
      currentPageUrl: 'https://shop1.example/start',
    });
    await service.pass(3000);
    t.strictSame(
      (await service.post('/widget/page-views', { url: 'https://shop1.example/cart?x=1' }, visitorToken)).body,
      { campaigns: [] },
    );
    t.match((await socket.next('visitor.page_viewed')).data.visitor, {
      id: visitor.id,
      currentPageUrl: 'https://shop1.example/cart?x=1',
      lastSeenAt: new Date(service.clock.now()).toISOString(),
    });
    t.notOk(JSON.stringify(socket.frames).includes(visitorToken), 'its token is its own');
    for (const body of [{}, { url: 'x' }, { url: 7 }])
      t.match(await service.post('/widget/page-views', body, visitorToken), {
        status: 400,
        body: { error: 'invalid_body', detail: { fieldErrors: { url: [String] } } },
      });
  });

  t.test(
    '[4.12] a visitor that gives an email is linked to the oldest contact with it, whatever the case, else to a new one',
    async (t) => {
      const linked = async (visitorId: string) =>
        (await service.post(`/visitors/${visitorId}/unblock`, undefined, owner.token)).body.visitor;
      const first = (await open({ name: 'Kim', email: 'Kim@Example.org' })).body.visitor;
      const contactId = (await linked(first.id)).contactId;
      t.type(contactId, 'string');
      const second = (await open({ email: 'kim@example.ORG' })).body.visitor;
      t.equal((await linked(second.id)).contactId, contactId);
      const elsewhere = (
        await service.post('/widget/sessions', {
          siteId: other.embedId,
          url: 'https://shop.example/',
          email: 'kim@example.org',
        })
      ).body.visitor;
      t.not(
        (await service.post(`/visitors/${elsewhere.id}/unblock`, undefined, other.token)).body.visitor.contactId,
        contactId,
        "contacts are a workspace's own",
      );

      const db = service.running.services.engine.workspace(owner.workspaceId)?.db;
      if (db === undefined) throw new Error('no workspace');
      const contact = {
        ...unsetContact,
        email: 'lou@example.org',
        customFields: {},
        lifetimeValueCents: 0,
        firstSeenAt: '2026-01-01T00:00:00.000Z',
        lastSeenAt: '2026-01-01T00:00:00.000Z',
      };
      insertContact(db, {
        ...contact,
        id: '019aa000-0000-7000-8000-000000000002',
        createdAt: '2026-01-02T00:00:00.000Z',
      });
      insertContact(db, {
        ...contact,
        id: '019aa000-0000-7000-8000-000000000001',
        createdAt: '2026-01-03T00:00:00.000Z',
      });
      const lou = (await open({ email: 'lou@example.org' })).body.visitor;
      t.equal((await linked(lou.id)).contactId, '019aa000-0000-7000-8000-000000000002', 'the oldest of two');
    },
  );

  t.test(
    "[4.12] a visitor identified later: its earlier chats become its contact's, and agents are notified",
    async (t) => {
      const chat = await service.chat(owner);
      t.equal((await service.conversation(chat.id, owner.token)).contactId, null);
      const socket = await service.agentSocket(owner.token);
      const { status, body } = await service.patch(
        '/widget/visitor',
        { name: 'Max', email: 'max@example.org' },
        chat.customer.token,
      );
      t.equal(status, 200);
      t.match(body.visitor, { id: chat.customer.visitorId, name: 'Max', email: 'max@example.org' });
      const row = (await service.post(`/visitors/${chat.customer.visitorId}/unblock`, undefined, owner.token)).body
        .visitor;
      t.type(row.contactId, 'string');
      t.equal((await service.conversation(chat.id, owner.token)).contactId, row.contactId);
      t.equal((await socket.next('conversation.updated')).data.conversation.contactId, row.contactId);
      const next = (await service.post('/widget/conversations', { body: 'Another' }, chat.customer.token)).body
        .conversation;
      t.equal((await service.conversation(next.id, owner.token)).contactId, row.contactId);
    },
  );

  t.test('[4.12] PATCH takes a name, an email or both; nothing known in it: 400 empty_patch', async (t) => {
    const { token } = await service.customer(owner.embedId);
    t.match(await service.patch('/widget/visitor', { name: 'Ada' }, token), {
      status: 200,
      body: { visitor: { name: 'Ada', email: null } },
    });
    t.match(await service.patch('/widget/visitor', { email: 'ada@example.org' }, token), {
      status: 200,
      body: { visitor: { name: 'Ada', email: 'ada@example.org' } },
    });
    for (const body of [{}, { phone: '+1' }, undefined])
      t.match(
        await service.patch('/widget/visitor', body, token),
        { status: 400, body: { error: 'empty_patch' } },
        JSON.stringify(body),
      );
    for (const body of [{ name: '' }, { name: 7 }, { email: 'x' }, { email: null }])
      t.match(
        await service.patch('/widget/visitor', body, token),
        { status: 400, body: { error: 'invalid_body' } },
        JSON.stringify(body),
      );
  });
});

t.test('[8] sessions per minute from one address are limited', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const results = await Promise.all(
    Array.from({ length: 601 }, () =>
      service.post('/widget/sessions', { siteId: owner.embedId, url: 'https://shop.example/' }),
    ),
  );
  t.equal(results.filter(({ status }) => status === 200).length, 600);
  t.match(
    results.find(({ status }) => status !== 200),
    { status: 429, body: { error: 'rate_limited', retryAfter: Number } },
  );
  await service.pass(60_000);
  t.equal(
    (await service.post('/widget/sessions', { siteId: owner.embedId, url: 'https://shop.example/' })).status,
    200,
  );
});

t.test("[8] a visitor's calls are counted on their own", async (t) => {
  const service = await startService(t, { env: { RATE_LIMIT_PER_MINUTE: '20' } });
  const owner = await service.workspace();
  const [one, two] = [await service.customer(owner.embedId), await service.customer(owner.embedId)];
  const view = (token: string) => service.post('/widget/page-views', { url: 'https://shop.example/' }, token);
  for (let count = 0; count < 20; count += 1) t.equal((await view(one.token)).status, 200);
  const refused = await view(one.token);
  t.match(refused, { status: 429, body: { error: 'rate_limited', retryAfter: Number } });
  t.equal(refused.headers.get('retry-after'), String(refused.body.retryAfter));
  t.equal((await view(two.token)).status, 200);
  await service.pass(60_000);
  t.equal((await view(one.token)).status, 200);
});
