import t from 'tap';
import { startService } from '../support/service.ts';

const hourMs = 3600_000;
const content = { body: 'Need a hand?' };

t.test('campaigns', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '365' } });
  const owner = await service.workspace();
  const other = await service.workspace();
  const supervisor = await service.agent(owner, { role: 'supervisor' });
  const agent = await service.agent(owner);
  const create = async (fields: object = {}) =>
    (
      await service.post(
        '/campaigns',
        { name: 'Welcome', status: 'draft', triggerRules: {}, content, ...fields },
        owner.token,
      )
    ).body;
  const live = async (fields: object = {}) =>
    (await service.patch(`/campaigns/${(await create(fields)).id}`, { status: 'live' }, owner.token)).body;
  const archiveAll = async () => {
    for (const { id } of (await service.get('/campaigns?status=live', owner.token)).body.campaigns)
      await service.delete(`/campaigns/${id}`, owner.token);
  };
  const session = (url = 'https://shop.example/', visitorToken?: string) =>
    service.post('/widget/sessions', {
      siteId: owner.embedId,
      url,
      ...(visitorToken === undefined ? {} : { visitorToken }),
    });
  const pageView = async (token: string, url: string): Promise<string[]> =>
    (await service.post('/widget/page-views', { url }, token)).body.campaigns.map((one: { id: string }) => one.id);
  const note = (token: string, campaignId: string, type = 'impression') =>
    service.post('/widget/campaign-events', { campaignId, type }, token);

  t.test('[4.4] POST answers 201 with a draft, whatever status is given', async (t) => {
    const at = new Date(service.clock.now()).toISOString();
    const triggerRules = {
      urlMatch: { operator: 'contains', value: '/cart' },
      showAfterMs: 600_000,
      exitIntent: true,
      scrollDepthPct: 100,
      frequency: 'once',
      officeHoursOnly: true,
    };
    const full = {
      body: 'x'.repeat(2000),
      agentName: 'Ada',
      agentAvatarUrl: 'https://shop.example/ada.png',
      quickReplies: [
        { label: 'Chat', action: 'start-chat' },
        { label: 'No', action: 'dismiss' },
        { label: 'See', action: 'navigate', value: '/sale' },
      ],
    };
    const { status, body } = await service.post(
      '/campaigns',
      { name: 'Cart', status: 'live', triggerRules: { ...triggerRules, idle: 7 }, content: { ...full, html: '<b>' } },
      owner.token,
    );
    t.equal(status, 201);
    t.strictSame(
      { ...body, id: 'id' },
      {
        id: 'id',
        name: 'Cart',
        status: 'draft',
        triggerRules,
        content: full,
        stats: { impressions: 0, clicks: 0, startedChats: 0 },
        createdAt: at,
        updatedAt: at,
      },
      'and without unknown parts',
    );
    t.strictSame((await service.get(`/campaigns/${body.id}`, agent.token)).body, body);
    t.strictSame((await create({ status: undefined })).triggerRules, {}, 'rules may be empty');
  });

  t.test('[4.4] null clears only optional fields', async (t) => {
    const { id } = await create({
      triggerRules: { urlMatch: { operator: 'contains', value: '/cart' }, showAfterMs: 5 },
      content: { ...content, agentName: 'Ada', quickReplies: [{ label: 'No', action: 'dismiss', value: null }] },
    });
    const change = (changes: object) => service.patch(`/campaigns/${id}`, changes, owner.token);
    t.strictSame((await service.get(`/campaigns/${id}`, owner.token)).body.content.quickReplies, [
      { label: 'No', action: 'dismiss' },
    ]);
    const { status, body } = await change({
      triggerRules: {
        urlMatch: null,
        showAfterMs: null,
        exitIntent: null,
        scrollDepthPct: null,
        frequency: null,
        officeHoursOnly: null,
      },
      content: { body: 'Hello', agentName: null, agentAvatarUrl: null, quickReplies: null },
    });
    t.equal(status, 200);
    t.strictSame([body.triggerRules, body.content], [{}, { body: 'Hello' }]);
    for (const changes of [
      { name: null },
      { status: null },
      { triggerRules: null },
      { content: null },
      { content: { body: null } },
    ])
      t.match(await change(changes), { status: 400, body: { error: 'invalid_body' } }, JSON.stringify(changes));
  });

  t.test('[4.4] each limit from both sides', async (t) => {
    const rows: [object, string][] = [
      [{ name: '' }, 'name'],
      [{ name: ' ' }, 'name'],
      [{ name: 'x'.repeat(121) }, 'name'],
      [{ name: undefined }, 'name'],
      [{ triggerRules: undefined }, 'triggerRules'],
      [{ triggerRules: { showAfterMs: -1 } }, 'triggerRules.showAfterMs'],
      [{ triggerRules: { showAfterMs: 600_001 } }, 'triggerRules.showAfterMs'],
      [{ triggerRules: { showAfterMs: 0.5 } }, 'triggerRules.showAfterMs'],
      [{ triggerRules: { showAfterMs: '5' } }, 'triggerRules.showAfterMs'],
      [{ triggerRules: { scrollDepthPct: -1 } }, 'triggerRules.scrollDepthPct'],
      [{ triggerRules: { scrollDepthPct: 101 } }, 'triggerRules.scrollDepthPct'],
      [{ triggerRules: { exitIntent: 'yes' } }, 'triggerRules.exitIntent'],
      [{ triggerRules: { frequency: 'daily' } }, 'triggerRules.frequency'],
      [{ triggerRules: { urlMatch: { operator: 'matches', value: 'x' } } }, 'triggerRules.urlMatch.operator'],
      [{ triggerRules: { urlMatch: { operator: 'contains', value: '' } } }, 'triggerRules.urlMatch.value'],
      [{ triggerRules: { urlMatch: { operator: 'contains', value: 'x'.repeat(501) } } }, 'triggerRules.urlMatch.value'],
      [{ triggerRules: { urlMatch: { operator: 'contains' } } }, 'triggerRules.urlMatch.value'],
      [{ content: undefined }, 'content'],
      [{ content: {} }, 'content.body'],
      [{ content: { body: '' } }, 'content.body'],
      [{ content: { body: '\n ' } }, 'content.body'],
      [{ content: { body: 'x'.repeat(2001) } }, 'content.body'],
      [{ content: { body: 'x', agentAvatarUrl: 'javascript:alert(1)' } }, 'content.agentAvatarUrl'],
      [
        { content: { body: 'x', quickReplies: Array.from({ length: 4 }, () => ({ label: 'a', action: 'dismiss' })) } },
        'content.quickReplies',
      ],
      [{ content: { body: 'x', quickReplies: [{ label: 'a', action: 'open' }] } }, 'content.quickReplies.0.action'],
      [{ content: { body: 'x', quickReplies: [{ label: '', action: 'dismiss' }] } }, 'content.quickReplies.0.label'],
      ...[undefined, '', 'javascript:alert(1)', 'sale', '//evil.example', '/\\evil.example', 'https://'].map(
        (value): [object, string] => [
          {
            content: {
              body: 'x',
              quickReplies: [
                { label: 'a', action: 'dismiss' },
                { label: 'b', action: 'navigate', ...(value === undefined ? {} : { value }) },
              ],
            },
          },
          'content.quickReplies.1.value',
        ],
      ),
    ];
    for (const [fields, path] of rows) {
      const { status, body } = await service.post(
        '/campaigns',
        { name: 'Limits', triggerRules: {}, content, ...fields },
        owner.token,
      );
      t.match({ status, error: body.error }, { status: 400, error: 'invalid_body' }, path);
      t.type(body.detail.fieldErrors[path], Array, `${path} in ${Object.keys(body.detail.fieldErrors).join()}`);
    }
    for (const fields of [
      { name: 'x'.repeat(120) },
      { triggerRules: { showAfterMs: 0, scrollDepthPct: 0 } },
      { triggerRules: { urlMatch: { operator: 'equals', value: 'x'.repeat(500) } } },
    ]) {
      t.equal(
        (await service.post('/campaigns', { name: 'Limits', triggerRules: {}, content, ...fields }, owner.token))
          .status,
        201,
      );
    }
  });

  t.test(
    '[4.4] an invalid regex is 400; a catastrophic one costs nothing; one that grows without bound is refused',
    async (t) => {
      for (const value of ['[', '(', '*', 'a{1001}', '(?=x)', '\\1', '((a{100}){100}){100}', '(.*){1000}']) {
        const { status, body } = await service.post(
          '/campaigns',
          { name: 'R', triggerRules: { urlMatch: { operator: 'regex', value } }, content },
          owner.token,
        );
        t.match(
          { status, body },
          {
            status: 400,
            body: { error: 'invalid_body', detail: { fieldErrors: { 'triggerRules.urlMatch.value': [String] } } },
          },
          value,
        );
      }
      const ids = [];
      for (const value of ['(a+)+$', '(a|aa)+!', '(x+x+)+y', '(.*)*='])
        ids.push((await live({ name: value, triggerRules: { urlMatch: { operator: 'regex', value } } })).id);
      const { token } = await service.customer(owner.embedId);
      // Four patterns that double with each letter, on two thousand letters: an engine that backtracks would never
      // finish.
      t.same(await pageView(token, `https://shop.example/${'a'.repeat(2000)}?`), []);
      await archiveAll();
      t.equal(ids.length, 4);
    },
  );

  t.test('[4.4] the cost of live campaigns per page view is limited', async (t) => {
    const value = 'x{190}';
    for (let count = 0; count < 5; count += 1) await live({ triggerRules: { urlMatch: { operator: 'regex', value } } });
    const sixth = await create({ triggerRules: { urlMatch: { operator: 'regex', value } } });
    t.match(await service.patch(`/campaigns/${sixth.id}`, { status: 'live' }, owner.token), {
      status: 422,
      body: { error: 'semantic_error' },
    });
    t.equal((await service.get(`/campaigns/${sixth.id}`, owner.token)).body.status, 'draft');
    t.equal((await service.patch(`/campaigns/${sixth.id}`, { status: 'paused' }, owner.token)).status, 200);
    await archiveAll();
  });

  t.test(
    '[3 campaign] draft, live and paused lead to each other; DELETE archives, and an archived one is not changed',
    async (t) => {
      const { id } = await create();
      for (const status of ['live', 'paused', 'draft', 'paused', 'live', 'draft'])
        t.match(await service.patch(`/campaigns/${id}`, { status }, owner.token), { status: 200, body: { status } });
      for (const status of ['archived', 'open', ''])
        t.match(
          await service.patch(`/campaigns/${id}`, { status }, owner.token),
          { status: 400, body: { error: 'invalid_body' } },
          status,
        );
      for (const body of [{}, { colour: 'red' }])
        t.match(await service.patch(`/campaigns/${id}`, body, owner.token), {
          status: 400,
          body: { error: 'invalid_body' },
        });
      await service.pass(1000);
      const changed = await service.patch(
        `/campaigns/${id}`,
        { name: 'Renamed', triggerRules: { frequency: 'always' }, content: { body: 'Hi' } },
        owner.token,
      );
      t.match(changed, {
        status: 200,
        body: { name: 'Renamed', updatedAt: new Date(service.clock.now()).toISOString() },
      });
      t.strictSame(
        [changed.body.triggerRules, changed.body.content],
        [{ frequency: 'always' }, { body: 'Hi' }],
        'objects are replaced wholesale',
      );
      t.match(
        await service.patch(
          `/campaigns/${id}`,
          { triggerRules: { urlMatch: { operator: 'regex', value: '(' } } },
          owner.token,
        ),
        { status: 400, body: { error: 'invalid_body' } },
      );
      for (let twice = 0; twice < 2; twice += 1)
        t.match(await service.delete(`/campaigns/${id}`, owner.token), {
          status: 200,
          body: { id, status: 'archived' },
        });
      for (const body of [{ name: 'x' }, { status: 'live' }, {}])
        t.match(await service.patch(`/campaigns/${id}`, body, owner.token), {
          status: 409,
          body: { error: 'campaign_archived' },
        });
      const copy = await service.post(`/campaigns/${id}/duplicate`, undefined, owner.token);
      t.match(copy, {
        status: 201,
        body: {
          status: 'draft',
          name: 'Renamed (copy)',
          content: { body: 'Hi' },
          triggerRules: { frequency: 'always' },
        },
      });
      t.not(copy.body.id, id);
      const long = await create({ name: 'x'.repeat(120) });
      t.equal((await service.post(`/campaigns/${long.id}/duplicate`, undefined, owner.token)).body.name.length, 120);
    },
  );

  t.test('[4.4] the list: newest first, by status', async (t) => {
    await archiveAll();
    const one = await live();
    await service.pass(1000);
    const two = await create();
    const ids = async (query: string) =>
      (await service.get(`/campaigns${query}`, agent.token)).body.campaigns.map(
        (campaign: { id: string }) => campaign.id,
      );
    t.strictSame((await ids('')).slice(0, 2), [two.id, one.id]);
    t.strictSame(await ids('?status=live'), [one.id]);
    t.notOk((await ids('?status=archived')).includes(one.id));
    t.match(await service.get('/campaigns?status=open', owner.token), {
      status: 400,
      body: { error: 'invalid_query' },
    });
  });

  t.test("[4.4] access: every agent reads, admins write; another workspace's do not exist", async (t) => {
    const { id } = await create();
    const calls = [
      ['POST', '/campaigns'],
      ['PATCH', `/campaigns/${id}`],
      ['DELETE', `/campaigns/${id}`],
      ['POST', `/campaigns/${id}/duplicate`],
    ] as const;
    for (const { token } of [supervisor, agent]) {
      for (const [method, path] of calls)
        t.match(
          await service.call(method, path, {
            token,
            ...(method === 'DELETE' ? {} : { body: { name: 'x', triggerRules: {}, content } }),
          }),
          { status: 403, body: { error: 'admin_required' } },
          `${method} ${path}`,
        );
      t.equal((await service.get(`/campaigns/${id}`, token)).status, 200);
    }
    for (const [method, path] of [['GET', `/campaigns/${id}`], ...calls.slice(1)] as const) {
      t.match(
        await service.call(method, path, {
          token: other.token,
          ...(method === 'PATCH' ? { body: { name: 'x' } } : {}),
        }),
        { status: 404, body: { error: 'not_found' } },
        `${method} ${path}`,
      );
    }
    t.strictSame((await service.get('/campaigns', other.token)).body, { campaigns: [] });
    t.equal((await service.get('/campaigns/nonsense', owner.token)).status, 404);
  });

  t.test('[4.12] a page is offered live campaigns that match its address: every operator', async (t) => {
    await archiveAll();
    const url = 'https://shop.example/cart?item=7';
    const rows: [string, string, boolean][] = [
      ['contains', '/cart', true],
      ['contains', '/Cart', false],
      ['equals', url, true],
      ['equals', 'https://shop.example/cart', false],
      ['starts-with', 'https://shop.example/c', true],
      ['starts-with', 'shop', false],
      ['ends-with', 'item=7', true],
      ['ends-with', '/cart', false],
      ['regex', '/cart\\?item=\\d+$', true],
      ['regex', '^/cart', false],
    ];
    const { token } = await service.customer(owner.embedId);
    for (const [operator, value, isMet] of rows) {
      const { id } = await live({ triggerRules: { urlMatch: { operator, value } } });
      t.strictSame(await pageView(token, url), isMet ? [id] : [], `${operator} ${value}`);
      await service.patch(`/campaigns/${id}`, { status: 'paused' }, owner.token);
      t.strictSame(await pageView(token, url), [], 'not when it is paused');
    }
  });

  t.test(
    '[4.12] the session and the page view offer the same: what to show and when, nothing of how it was chosen',
    async (t) => {
      await archiveAll();
      const plain = await live({ name: 'Internal name' });
      await service.pass(1000);
      const timed = await live({
        triggerRules: {
          urlMatch: { operator: 'contains', value: 'shop' },
          showAfterMs: 5000,
          exitIntent: true,
          scrollDepthPct: 50,
          frequency: 'always',
        },
      });
      const { body } = await session();
      t.strictSame(body.campaigns, [
        {
          id: plain.id,
          triggerRules: { showAfterMs: 0, exitIntent: false, scrollDepthPct: 0, frequency: 'session' },
          content,
        },
        {
          id: timed.id,
          triggerRules: { showAfterMs: 5000, exitIntent: true, scrollDepthPct: 50, frequency: 'always' },
          content,
        },
      ]);
      t.strictSame(
        (await service.post('/widget/page-views', { url: 'https://shop.example/' }, body.visitorToken)).body.campaigns,
        body.campaigns,
      );
      t.strictSame(
        (await service.post('/widget/sessions', { siteId: other.embedId, url: 'https://shop.example/' })).body
          .campaigns,
        [],
        'not in another workspace',
      );
    },
  );

  t.test(
    '[4.12] frequency: once, once a session, always; a session ends after half an hour without a page',
    async (t) => {
      await archiveAll();
      const once = (await live({ triggerRules: { frequency: 'once' } })).id;
      await service.pass(1000);
      const perSession = (await live({ triggerRules: {} })).id;
      await service.pass(1000);
      const always = (await live({ triggerRules: { frequency: 'always' } })).id;
      const { token } = await service.customer(owner.embedId);
      const someoneElse = (await service.customer(owner.embedId)).token;
      const see = () => pageView(token, 'https://shop.example/x');
      t.strictSame(await see(), [once, perSession, always]);
      t.strictSame(await see(), [once, perSession, always], 'an offer not shown yet is offered again');
      for (const id of [once, perSession, always])
        t.match(await note(token, id), { status: 200, body: { counted: true } });
      t.strictSame(await see(), [always]);
      await service.pass(hourMs / 2 - 1);
      t.strictSame(await see(), [always], 'still the same session');
      t.strictSame(
        (await session('https://shop.example/', token)).body.campaigns.map((one: { id: string }) => one.id),
        [always],
        'a page that opens the widget again, too',
      );
      await service.pass(hourMs / 2);
      t.strictSame(await see(), [perSession, always]);
      t.strictSame(
        await pageView(someoneElse, 'https://shop.example/x'),
        [once, perSession, always],
        'each visitor for itself',
      );
    },
  );

  t.test('[4.12] officeHoursOnly: only while the site is open', async (t) => {
    await archiveAll();
    const { id } = await live({ triggerRules: { officeHoursOnly: true } });
    const { token } = await service.customer(owner.embedId);
    t.strictSame(await pageView(token, 'https://shop.example/'), [id], 'no hours: always open');
    const rule = (await service.post('/business-hours', { name: 'Never', days: [], holidays: [] }, owner.token)).body;
    t.strictSame(await pageView(token, 'https://shop.example/'), []);
    await service.delete(`/business-hours/${rule.id}`, owner.token);
    t.strictSame(await pageView(token, 'https://shop.example/'), [id]);
  });

  t.test('[4.4] impressions, clicks and started chats of the last 30 days', async (t) => {
    await archiveAll();
    const { id } = await live({ triggerRules: { frequency: 'once' } });
    const stats = async () => (await service.get(`/campaigns/${id}`, owner.token)).body.stats;
    const { token } = await service.customer(owner.embedId);
    t.match(await note(token, id), { body: { counted: true } });
    t.match(await note(token, id), { status: 200, body: { counted: false } }, 'reported twice');
    await note(token, id, 'click');
    await note(token, id, 'dismiss');
    const chat = await service.post('/widget/conversations', { body: 'Yes please', campaignId: id }, token);
    t.equal(chat.status, 201);
    t.strictSame(await stats(), { impressions: 1, clicks: 1, startedChats: 1 });
    t.strictSame(
      (await service.get('/campaigns', owner.token)).body.campaigns.find((one: { id: string }) => one.id === id).stats,
      { impressions: 1, clicks: 1, startedChats: 1 },
    );
    const lines = (
      await service.get(`/conversations/${chat.body.conversation.id}/messages`, owner.token)
    ).body.messages.map((message: { body: string }) => message.body);
    t.strictSame(lines, ['The customer came from the campaign Welcome.', 'Yes please']);
    await service.pass(29 * 24 * hourMs);
    t.match(await stats(), { impressions: 1 });
    await service.pass(24 * hourMs);
    t.strictSame(await stats(), { impressions: 0, clicks: 0, startedChats: 0 });
  });

  t.test("[4.12] campaign events: unknown, other workspaces', drafts, malformed, blocked", async (t) => {
    const { id } = await live();
    const draft = await create();
    const { token, visitorId } = await service.customer(owner.embedId);
    const stranger = (await service.customer(other.embedId)).token;
    t.match(await note(stranger, id), { status: 404, body: { error: 'not_found' } });
    t.match(await note(token, '019aa000-0000-7000-8000-000000000001'), { status: 404, body: { error: 'not_found' } });
    t.match(await note(token, draft.id), { status: 200, body: { counted: false } });
    for (const body of [
      {},
      { campaignId: id },
      { campaignId: 'x', type: 'click' },
      { campaignId: id, type: 'start-chat' },
    ])
      t.match(await service.post('/widget/campaign-events', body, token), {
        status: 400,
        body: { error: 'invalid_body' },
      });
    t.match(
      await service.post(
        '/widget/conversations',
        { body: 'x', campaignId: '019aa000-0000-7000-8000-000000000001' },
        token,
      ),
      { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { campaignId: [String] } } } },
    );
    t.strictSame((await session('https://shop.example/', token)).body.conversation, null, 'nothing half done');
    await service.delete(`/campaigns/${id}`, owner.token);
    t.equal(
      (await service.post('/widget/conversations', { body: 'x', campaignId: id }, token)).status,
      201,
      'a campaign that was archived while it stood there',
    );
    const again = await live();
    await service.post(`/visitors/${visitorId}/block`, undefined, owner.token);
    t.match(await note(token, again.id), { status: 403, body: { error: 'forbidden' } });
    t.strictSame(
      (await session('https://shop.example/', token)).body.campaigns,
      [],
      'a blocked visitor is offered nothing',
    );
  });
});
