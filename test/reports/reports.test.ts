import t from 'tap';
import { claimLine, deliver, ringLine } from '../support/calls.ts';
import { type Person, startService } from '../support/service.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

t.test('reports', async (t) => {
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '365', AUTO_CLOSE_DAYS: '3650' },
  });
  const iso = (ms = service.clock.now()): string => new Date(ms).toISOString();
  const report = async (path: string, token: string): Promise<any> => {
    const { status, body } = await service.get(`/reports/${path}`, token);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const write = (id: string, token: string) => service.post(`/conversations/${id}/messages`, { body: 'Hello' }, token);
  const setStatus = (id: string, status: string, token: string) =>
    service.post(`/conversations/${id}/status`, { status }, token);
  const give = async (chat: { id: string }, to: Person, by: Person) => {
    const { version } = (await service.conversation(chat.id, by.token)) as { version: number };
    await service.post(
      `/conversations/${chat.id}/assign-to-agent`,
      { agentId: to.agentId, expectedVersion: version, force: true },
      by.token,
    );
  };

  t.test("[4.13] volume: a series in the workspace's time zone and its total; empty buckets are 0", async (t) => {
    const owner = await service.workspace();
    await service.patch(`/workspaces/${owner.workspaceId}`, { timezone: 'Asia/Kolkata' }, owner.token);
    await service.chat(owner);
    await service.pass(2 * dayMs);
    await service.chat(owner);
    await service.chat(owner);
    const body = await report('chats/total', owner.token);
    t.strictSame(Object.keys(body).sort(), ['filters', 'range', 'series', 'total']);
    t.strictSame([body.total, body.filters], [3, { departmentId: null, agentId: null }]);
    t.strictSame(body.range, { start: iso(service.clock.now() - 7 * dayMs), end: iso() });
    t.equal(body.series.length, 8, 'seven days touch eight');
    for (const { bucket } of body.series) t.match(bucket, /^\d{4}-\d\d-\d\dT00:00:00\.000\+05:30$/);
    t.equal(
      body.series.reduce((sum: number, one: { value: number }) => sum + one.value, 0),
      3,
    );
    t.strictSame(
      body.series.map((one: { value: number }) => one.value).filter((value: number) => value > 0),
      [1, 2],
    );
    t.equal((await report('tickets/total', owner.token)).total, 0);
    t.match(
      await service.get('/reports/tickets/total?channel=chat', owner.token),
      { status: 400, body: { error: 'invalid_query', detail: { fieldErrors: { channel: [String] } } } },
      'each channel has a report of its own',
    );
    t.equal((await report('chats/total?channel=chat', owner.token)).total, 3);
    const hours = await report('chats/total?range=1d', owner.token);
    t.equal(hours.series.length, 25, 'hours by default up to two days');
    t.match(hours.series[0].bucket, /:00:00\.000\+05:30$/);
    t.equal(hours.total, 2);
    t.match(await report('chats/total?range=30d&granularity=month', owner.token), { total: 3 });
    const weeks = await report('chats/total?range=30d&granularity=week', owner.token);
    for (const { bucket } of weeks.series)
      t.equal(new Date(Date.parse(bucket) + 5.5 * hourMs).getUTCDay(), 1, `${bucket} is a Monday`);
  });

  t.test('[4.13] ranges: [from, to), malformed, reversed, too long', async (t) => {
    const owner = await service.workspace();
    await service.pass(7);
    await service.chat(owner);
    const at = service.clock.now();
    const total = async (from: number, to: number): Promise<number> =>
      (await report(`chats/total?range=custom&from=${iso(from)}&to=${iso(to)}`, owner.token)).total;
    t.equal(await total(at, at + 1), 1, 'from counts');
    t.equal(await total(at - hourMs, at), 0, 'to does not');
    t.equal(await total(at + 1, at + hourMs), 0);
    t.equal(await total(at - 364 * dayMs, at + dayMs), 1, '365 days');
    const refused = async (query: string, status: number, error: string): Promise<void> =>
      void t.match(await service.get(`/reports/chats/total?${query}`, owner.token), { status, body: { error } }, query);
    await refused(`range=custom&from=${iso(at - 365 * dayMs - 1)}&to=${iso(at)}`, 422, 'range_too_large');
    await refused(`range=custom&from=${iso(at)}&to=${iso(at)}`, 400, 'invalid_query');
    await refused(`range=custom&from=${iso(at)}&to=${iso(at - 1)}`, 400, 'invalid_query');
    await refused(`range=custom&to=${iso(at)}`, 400, 'invalid_query');
    await refused(`range=custom&from=${iso(at)}`, 400, 'invalid_query');
    await refused('range=custom&from=yesterday&to=today', 400, 'invalid_query');
    await refused('range=2d', 400, 'invalid_query');
    await refused('granularity=minute', 400, 'invalid_query');
    await refused('range=90d&granularity=hour', 400, 'invalid_query');
    await refused('channel=fax', 400, 'invalid_query');
    await refused('agentId=x', 400, 'invalid_query');
    await refused('agentId=019aa000-0000-7000-8000-000000000001', 404, 'not_found');
    await refused('departmentId=019aa000-0000-7000-8000-000000000001', 404, 'not_found');
    t.equal((await report('chats/total?range=30d&granularity=hour', owner.token)).total, 1);
  });

  t.test(
    '[4.13] status, response times, satisfaction, abandonment: of the present state, not of past ones',
    async (t) => {
      const owner = await service.workspace();
      const times: [number, number][] = [
        [30, 300],
        [60, 600],
        [90, 1200],
        [1000, 50_000],
      ];
      const chats = [];
      for (const [firstSeconds, solvedSeconds] of times) {
        const chat = await service.chat(owner);
        chats.push(chat);
        await service.pass(firstSeconds * 1000);
        await write(chat.id, owner.token);
        await service.pass((solvedSeconds - firstSeconds) * 1000);
        await setStatus(chat.id, 'solved', owner.token);
      }
      const times1 = await report('tickets/response-times?channel=chat', owner.token);
      t.strictSame(
        [times1.firstResponse, times1.resolution],
        [
          { medianSeconds: 75, p90Seconds: 1000 },
          { medianSeconds: 900, p90Seconds: 50_000 },
        ],
      );
      t.strictSame(
        await report('tickets/response-times', owner.token).then(({ firstResponse, resolution }) => [
          firstResponse,
          resolution,
        ]),
        Array.from({ length: 2 }, () => ({ medianSeconds: null, p90Seconds: null })),
        'no tickets, no times',
      );

      const missed = await service.chat(owner);
      await setStatus(missed.id, 'solved', owner.token);
      await setStatus((await service.chat(owner)).id, 'pending', owner.token);
      const waiting = await service.chat(owner);
      const spam = await service.chat(owner);
      await service.post(`/conversations/${spam.id}/spam`, undefined, owner.token);
      t.match(await report('tickets/by-status?channel=chat', owner.token), {
        counts: { open: 1, pending: 1, solved: 5, closed: 0 },
        total: 7,
      });
      const customers = await report('customers', owner.token);
      t.strictSame(customers.queued, { chat: 1, ticket: 0, call: 0 });
      t.strictSame(customers.abandonment.chat, { abandoned: 1, total: 7, rate: 0.1429 });
      t.strictSame(customers.abandonment.ticket, { abandoned: 0, total: 0, rate: 0 });
      await service.post(`/conversations/${spam.id}/not-spam`, undefined, owner.token);
      await service.post(
        `/widget/conversations/${missed.id}/messages`,
        { body: 'Still there?' },
        missed.customer.token,
      );
      t.match(
        await report('customers', owner.token),
        { queued: { chat: 3 }, abandonment: { chat: { abandoned: 0, total: 8 } } },
        'a returned one is not abandoned',
      );

      await service.post(`/widget/conversations/${chats[0]?.id}/rating`, { rating: 5 }, chats[0]?.customer.token);
      await service.post(`/widget/conversations/${chats[1]?.id}/rating`, { rating: 1 }, chats[1]?.customer.token);
      await service.post(`/widget/conversations/${chats[1]?.id}/rating`, { rating: 2 }, chats[1]?.customer.token);
      const satisfaction = await report('tickets/satisfaction?channel=chat', owner.token);
      t.match(satisfaction, { responses: 2, total: 2, average: 3.5 });
      t.strictSame(
        satisfaction.series
          .filter((one: { responses: number }) => one.responses > 0)
          .map((one: { value: number }) => one.value),
        [3.5],
      );
      t.match(await report('tickets/satisfaction', owner.token), { responses: 0, average: null });
      t.ok(
        satisfaction.series.every((one: { mean: number | null; value: number; responses: number }) =>
          one.responses === 0 ? one.mean === null && one.value === 0 : one.mean === one.value,
        ),
        'a day without ratings has no mean',
      );

      const ids = async (query: string): Promise<string[]> =>
        (await report(`conversations?${query}`, owner.token)).conversations.map((one: { id: string }) => one.id);
      t.strictSame(await ids('rated=1'), [chats[1]?.id, chats[0]?.id]);
      t.strictSame(await ids('missed=1'), []);
      await setStatus(waiting.id, 'solved', owner.token);
      t.strictSame(await ids('missed=1&channel=chat'), [waiting.id]);
      t.strictSame(await ids('missed=1&rated=1'), []);
      t.strictSame(await ids('status=pending&channel=ticket'), []);
      t.equal((await ids('status=solved')).length, 5);
      t.strictSame(await ids('status=spam'), []);
      const page = await report('conversations?limit=2&offset=1', owner.token);
      t.strictSame([page.total, page.conversations.length, page.conversations[0].id], [8, 2, waiting.id]);
      for (const query of ['limit=0', 'limit=201', 'offset=-1', 'rated=2', 'missed=yes', 'status=done'])
        t.match(
          await service.get(`/reports/conversations?${query}`, owner.token),
          { status: 400, body: { error: 'invalid_query' } },
          query,
        );
    },
  );

  t.test(
    '[4.13] a ticket opened for the customer waited for no one: no response time, and not abandoned',
    async (t) => {
      const owner = await service.workspace();
      const open = async (): Promise<{ id: string }> =>
        (
          await service.post(
            '/tickets',
            { customerEmail: 'kim@customer.example', subject: 'Your order', body: 'It left today.' },
            owner.token,
          )
        ).body;
      await setStatus((await open()).id, 'solved', owner.token);
      const { id } = await open();
      await service.pass(hourMs);
      await write(id, owner.token);
      const asked = await service.customer(owner.embedId);
      await service.post('/widget/tickets', { body: 'Where is it?', email: 'lou@customer.example' }, asked.token);
      const question = (await service.get('/conversations/queue?channel=ticket', owner.token)).body.conversations.find(
        (one: { id: string }) => one.id !== id,
      );
      await setStatus(question.id, 'solved', owner.token);
      t.match(await report('tickets/response-times', owner.token), {
        firstResponse: { medianSeconds: null, p90Seconds: null },
      });
      t.strictSame(
        (await report('customers', owner.token)).abandonment.ticket,
        { abandoned: 1, total: 3, rate: 0.3333 },
        'but an unanswered question was',
      );
      t.strictSame(
        (await report('conversations?missed=1', owner.token)).conversations.map((one: { id: string }) => one.id),
        [question.id],
      );
    },
  );

  t.test('[4.13] agents see their own figures, supervisors those of their departments, admins all', async (t) => {
    const owner = await service.workspace();
    const sales = (await service.post('/departments', { name: 'Sales', memberIds: [] }, owner.token)).body;
    const support = (await service.post('/departments', { name: 'Support', memberIds: [] }, owner.token)).body;
    const boss = await service.agent(owner, { role: 'supervisor', groupIds: [sales.id], name: 'Boss' });
    const seller = await service.agent(owner, { groupIds: [sales.id], name: 'Seller' });
    const helper = await service.agent(owner, { groupIds: [support.id], name: 'Helper' });
    const caller = await service.agent(owner, { channels: ['calls'], name: 'Caller' });
    const inDepartment = async (departmentId: string, to?: Person) => {
      const chat = await service.chat(owner);
      await service.post(`/conversations/${chat.id}/assign-to-department`, { departmentId }, owner.token);
      if (to !== undefined) await give(chat, to, owner);
      return chat;
    };
    const sold = await inDepartment(sales.id, seller);
    await service.pass(5000);
    await write(sold.id, seller.token);
    await setStatus(sold.id, 'solved', seller.token);
    await service.post(`/widget/conversations/${sold.id}/rating`, { rating: 4 }, sold.customer.token);
    await inDepartment(sales.id);
    await inDepartment(support.id, helper);
    await service.chat(owner);
    const total = async (token: string, query = ''): Promise<number> =>
      (await report(`chats/total${query}`, token)).total;
    t.equal(await total(owner.token), 4);
    t.equal(await total(boss.token), 3, 'Sales, and conversations without a department');
    t.equal(await total(seller.token), 1);
    t.strictSame((await report('chats/total', seller.token)).filters, { departmentId: null, agentId: seller.agentId });
    t.equal(await total(owner.token, `?departmentId=${sales.id}`), 2);
    t.equal(await total(boss.token, `?departmentId=${sales.id}`), 2);
    t.equal(await total(owner.token, `?departmentId=${sales.id}&agentId=${seller.agentId}`), 1);
    t.equal(await total(owner.token, `?departmentId=${support.id}&agentId=${seller.agentId}`), 0);
    t.equal(await total(boss.token, `?agentId=${seller.agentId}`), 1);
    t.equal((await report('conversations', boss.token)).total, 3);
    t.equal((await report('conversations', seller.token)).total, 1);
    for (const [token, query] of [
      [boss.token, `departmentId=${support.id}`],
      [boss.token, `agentId=${helper.agentId}`],
      [seller.token, `agentId=${helper.agentId}`],
      [seller.token, `agentId=${owner.agentId}`],
      [caller.token, ''],
      [seller.token, `agentId=${boss.agentId}`],
    ] as const) {
      t.match(
        await service.get(`/reports/chats/total?${query}`, token),
        { status: 403, body: { error: 'forbidden' } },
        query,
      );
    }
    const performance = async (token: string, query = ''): Promise<any[]> =>
      (await report(`agents/performance${query}`, token)).agents;
    t.strictSame(await performance(seller.token), [
      {
        agent: { id: seller.agentId, name: 'Seller' },
        conversations: 1,
        firstResponseMedianSeconds: 5,
        fullResolutionMedianSeconds: 5,
        csatScore: 4,
        csatResponses: 1,
      },
    ]);
    t.strictSame(
      (await performance(boss.token)).map((row) => row.agent.name).filter((name) => name !== 'Shop'),
      (await performance(boss.token)).map((row) => row.agent.name),
    );
    t.notOk((await performance(boss.token)).some((row) => row.agent.name === 'Helper'));
    t.ok((await performance(owner.token)).some((row) => row.agent.name === 'Helper' && row.conversations === 1));
    t.equal((await performance(owner.token, `?agentId=${helper.agentId}`)).length, 1);
    t.match((await report('customers', helper.token)).queued, { chat: 1 }, 'the queue that it takes from');
    t.match((await report('customers', boss.token)).queued, { chat: 2 });

    await service.delete(`/agents/${helper.agentId}`, owner.token);
    t.notOk(
      (await performance(owner.token)).some((row) => row.agent.name === 'Helper'),
      'former agents whose conversations others have',
    );
    await service.delete(`/agents/${seller.agentId}`, owner.token);
    t.ok(
      (await performance(owner.token)).some((row) => row.agent.name === 'Seller'),
      'former agents with conversations to report',
    );
    const other = await service.workspace();
    t.equal((await report('chats/total', other.token)).total, 0);
    t.equal((await service.get(`/reports/chats/total?agentId=${owner.agentId}`, other.token)).status, 404);
  });

  t.test('[4.13] a call that ended unanswered is missed; one that was answered is not', async (t) => {
    const owner = await service.workspace({ available: true });
    const line = await claimLine(service, owner);
    const missed = await ringLine(service, line, { from: '+4917011111111' });
    t.match((await report('customers', owner.token)).abandonment.call, { abandoned: 0, total: 1 });
    await deliver(service, line, { type: 'ended', callId: missed.callId, from: '+4917011111111' });
    const answered = await ringLine(service, line, { from: '+4917022222222' });
    await service.pass(4000);
    await service.post(`/calls/${answered.id}/answer`, undefined, owner.token);
    await service.pass(60_000);
    await deliver(service, line, { type: 'ended', callId: answered.callId, from: '+4917022222222' });
    t.match((await report('customers', owner.token)).abandonment.call, { abandoned: 1, total: 2, rate: 0.5 });
    t.strictSame(
      (await report('conversations?missed=1', owner.token)).conversations.map((one: { id: string }) => one.id),
      [missed.id],
    );
    t.match(await report('tickets/response-times?channel=call', owner.token), { firstResponse: { medianSeconds: 4 } });
  });

  t.test('[4.13] a written message after a missed call is not a response', async (t) => {
    const owner = await service.workspace();
    const line = await claimLine(service, owner);
    const { id, callId } = await ringLine(service, line);
    await deliver(service, line, { type: 'ended', callId });
    await service.post(`/conversations/${id}/messages`, { body: 'Rang back, nobody there' }, owner.token);
    t.strictSame((await report('customers', owner.token)).abandonment.call, { abandoned: 1, total: 1, rate: 1 });
    t.match(await report('tickets/response-times?channel=call', owner.token), {
      firstResponse: { medianSeconds: null },
    });
    t.equal((await report('conversations?missed=1', owner.token)).total, 1);
  });

  t.test(
    '[4.13] the first response is credited to its author, a rating to the last agent who wrote before it, the solution to the assignee',
    async (t) => {
      const owner = await service.workspace();
      const [ann, bob, cid] = [
        await service.agent(owner, { name: 'Ann' }),
        await service.agent(owner, { name: 'Bob' }),
        await service.agent(owner, { name: 'Cid' }),
      ];
      const chat = await service.chat(owner);
      await give(chat, ann, owner);
      await service.pass(2000);
      await write(chat.id, ann.token);
      await give(chat, bob, owner);
      await service.pass(8000);
      await write(chat.id, bob.token);
      await give(chat, cid, owner);
      await setStatus(chat.id, 'solved', cid.token);
      await service.post(
        `/widget/conversations/${chat.id}/rating`,
        { rating: 4, comment: 'Bob was kind.' },
        chat.customer.token,
      );
      const row = async ({ agentId, token }: Person): Promise<unknown> =>
        (await report('agents/performance', token)).agents.find(
          (one: { agent: { id: string } }) => one.agent.id === agentId,
        );
      t.match(await row(ann), {
        conversations: 1,
        firstResponseMedianSeconds: 2,
        fullResolutionMedianSeconds: null,
        csatScore: null,
        csatResponses: 0,
      });
      t.match(await row(bob), {
        conversations: 1,
        firstResponseMedianSeconds: null,
        fullResolutionMedianSeconds: null,
        csatScore: 4,
        csatResponses: 1,
      });
      t.match(await row(cid), {
        conversations: 1,
        firstResponseMedianSeconds: null,
        fullResolutionMedianSeconds: 10,
        csatScore: null,
        csatResponses: 0,
      });
      for (const [one, rated] of [
        [ann, 0],
        [bob, 1],
        [cid, 0],
      ] as const) {
        t.equal((await report('chats/total', one.token)).total, 1);
        t.equal((await report('conversations', one.token)).total, 1);
        t.equal(
          (await report('conversations?rated=1', one.token)).total,
          rated,
          'the list behind a figure has its count',
        );
      }
      t.match((await report('conversations', owner.token)).conversations, [
        { rating: 4, ratingComment: 'Bob was kind.' },
      ]);
      const legal = (await service.post('/departments', { name: 'Legal' }, owner.token)).body;
      await service.post(`/conversations/${chat.id}/assign-to-department`, { departmentId: legal.id }, owner.token);
      await give(chat, owner, owner);
      t.match(await row(ann), { conversations: 1 });
      t.match(
        await report('conversations', ann.token),
        { total: 0, conversations: [] },
        'conversations that left its departments are counted and not shown',
      );
      t.equal((await report('conversations', owner.token)).total, 1);
    },
  );

  t.test('[4.13] an export has names for its ids, and customers for readers of visitors', async (t) => {
    const owner = await service.workspace();
    const ann = await service.agent(owner, { name: 'Ann' });
    const customer = await service.customer(owner.embedId, { name: 'Kim', email: 'kim@customer.example' });
    const { id } = (await service.post('/widget/conversations', { body: 'Hello' }, customer.token)).body.conversation;
    await give({ id }, ann, owner);
    await write(id, ann.token);
    const rate = (rating: number, comment: string) =>
      service.post(`/widget/conversations/${id}/rating`, { rating, comment }, customer.token);
    await rate(4, '  ');
    t.equal((await service.conversation(id, owner.token)).ratingComment, null, 'a blank comment is none');
    await rate(5, 'Quick, thanks');
    const csv = async (token: string): Promise<Record<string, string>> => {
      const { url } = (await service.get('/reports/export?type=conversations&format=csv', token)).body;
      const [head = '', row = ''] = (
        await (await fetch(url.replace('http://switchboard.test', service.url))).text()
      ).split('\r\n');
      const cells = [...row.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell = '']) =>
        cell.replace(/^"|"$/g, ''),
      );
      return Object.fromEntries(head.split(',').map((name, index) => [name, cells[index] ?? '']));
    };
    t.match(await csv(owner.token), {
      assignedAgentName: 'Ann',
      firstResponderName: 'Ann',
      customerName: 'Kim',
      customerEmail: 'kim@customer.example',
      ratingComment: 'Quick, thanks',
      siteName: /./,
    });
    const { key } = (await service.post('/api-keys', { name: 'Figures', scopes: ['reports:read'] }, owner.token)).body;
    const limited = await csv(key);
    t.equal(limited['assignedAgentName'], 'Ann');
    t.notOk('customerName' in limited || 'customerEmail' in limited);
  });

  t.test('[4.13] a link is refused when the report that it is of would be', async (t) => {
    const owner = await service.workspace();
    const chatter = await service.agent(owner, { channels: ['chats'] });
    t.match(await service.get('/reports/export?type=tickets/total&format=csv', chatter.token), {
      status: 403,
      body: { error: 'forbidden' },
    });
    t.match(await service.get('/reports/export?type=tickets/by-status&format=csv', chatter.token), {
      status: 403,
      body: { error: 'forbidden' },
    });
    t.equal((await service.get('/reports/export?type=chats/total&format=csv', chatter.token)).status, 200);
    for (const query of [
      'type=chats/total&granularity=hour&range=90d',
      'type=conversions/goals&granularity=hour&range=90d',
      'type=chats/total&channel=ticket',
    ]) {
      t.match(
        await service.get(`/reports/export?${query}&format=json`, owner.token),
        { status: 400, body: { error: 'invalid_query' } },
        query,
      );
    }
    t.equal(
      (await service.get('/reports/export?type=agents/performance&granularity=hour&range=90d&format=json', owner.token))
        .status,
      200,
      'reports without buckets',
    );
  });

  t.test('[4.13] conversions: by goal and time, by attributed agent; a deleted goal stays', async (t) => {
    const owner = await service.workspace();
    const agent = await service.agent(owner);
    const goal = async (name: string, value: string, valueCents: number) =>
      (await service.post('/goals', { name, condition: { operator: 'contains', value }, valueCents }, owner.token))
        .body;
    const order = await goal('Order', '/thanks', 500);
    await service.pass(1);
    const signup = await goal('Signup', '/welcome', 100);
    const view = (token: string, path: string) =>
      service.post('/widget/page-views', { url: `https://shop.example${path}` }, token);
    const chat = await service.chat(owner);
    await give(chat, agent, owner);
    await view(chat.customer.token, '/thanks');
    await view((await service.customer(owner.embedId)).token, '/thanks');
    await view((await service.customer(owner.embedId)).token, '/welcome');
    const all = await report('conversions/goals', owner.token);
    t.match(all, { total: 3, totalValueCents: 1100 });
    t.strictSame(all.goals, [
      { goalId: order.id, name: 'Order', status: 'active', completions: 2, valueCents: 1000 },
      { goalId: signup.id, name: 'Signup', status: 'active', completions: 1, valueCents: 100 },
    ]);
    t.equal(
      all.series.reduce((sum: number, one: { value: number }) => sum + one.value, 0),
      3,
    );
    t.match(await report('conversions/goals', agent.token), {
      total: 1,
      totalValueCents: 500,
      filters: { agentId: agent.agentId },
    });
    await service.delete(`/goals/${signup.id}`, owner.token);
    t.match((await report('conversions/goals', owner.token)).goals, [
      { status: 'active' },
      { goalId: signup.id, status: 'deleted', completions: 1 },
    ]);
    await service.pass(8 * dayMs);
    t.strictSame((await report('conversions/goals', owner.token)).goals, [
      { goalId: order.id, name: 'Order', status: 'active', completions: 0, valueCents: 0 },
    ]);
  });

  t.test('[4.13] export: a signed address for 15 minutes, CSV and JSON, of every report', async (t) => {
    const owner = await service.workspace();
    const agent = await service.agent(owner, { name: '=cmd|calc' });
    const chat = await service.chat(owner, '=1+1, "quoted"');
    await give(chat, agent, owner);
    const link = async (query: string, token = owner.token): Promise<{ url: string; expiresAt: string }> => {
      const { status, body } = await service.get(`/reports/export?${query}`, token);
      t.equal(status, 200, query);
      t.ok(body.url.startsWith('http://switchboard.test/api/v1/reports/exports/'), body.url);
      return body;
    };
    const download = (url: string) => fetch(url.replace('http://switchboard.test', service.url));
    const types = [
      'chats/total',
      'tickets/total',
      'tickets/by-status',
      'tickets/response-times',
      'tickets/satisfaction',
      'conversations',
      'agents/performance',
      'customers',
      'conversions/goals',
    ];
    for (const type of types) {
      const json = await download((await link(`type=${type}&format=json&range=30d`)).url);
      t.equal(json.headers.get('content-type'), 'application/json; charset=utf-8', type);
      const direct = await report(`${type}?range=30d`, owner.token);
      const body = (await json.json()) as Record<string, unknown>;
      t.strictSame({ ...body, range: null }, { ...direct, range: null }, `${type} as JSON is the report itself`);
      const csv = await download((await link(`type=${type}&format=csv&range=30d`)).url);
      t.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
      t.match(csv.headers.get('content-disposition'), /^attachment; filename="[a-z-]+\.csv"$/);
      t.match(await csv.text(), /^[A-Za-z0-9,]+\r\n/, type);
    }
    const conversations = await (await download((await link('type=conversations&format=csv')).url)).text();
    t.match(conversations, `"'=1+1, ""quoted"""`, "a customer's text is not a formula");
    t.match(await (await download((await link('type=agents/performance&format=csv')).url)).text(), `'=cmd|calc`);
    for (const query of [
      'type=nothing&format=csv',
      'type=chats/total&format=xlsx',
      'format=csv',
      'type=chats/total',
      'type=chats/total&format=csv&range=custom',
    ])
      t.match(
        await service.get(`/reports/export?${query}`, owner.token),
        { status: 400, body: { error: 'invalid_query' } },
        query,
      );
    t.match(await service.get(`/reports/export?type=chats/total&format=csv&agentId=${owner.agentId}`, agent.token), {
      status: 403,
      body: { error: 'forbidden' },
    });

    const own = await link('type=conversations&format=json', agent.token);
    t.equal(((await (await download(own.url)).json()) as { total: number }).total, 1);
    t.equal(own.expiresAt, iso(service.clock.now() + 15 * minuteMs));
    const again = await service.chat(owner);
    t.equal(
      ((await (await download((await link('type=conversations&format=json')).url)).json()) as { total: number }).total,
      2,
    );
    t.ok(again.id);
    const flipped = own.url.slice(0, -1) + (own.url.endsWith('A') ? 'B' : 'A');
    for (const url of [flipped, own.url.slice(0, -5), `${own.url}x`, own.url.replace(/exports\/.*/, 'exports/x.y')])
      t.equal((await download(url)).status, 404, url.slice(-20));
    await service.pass(15 * minuteMs - 1);
    t.equal((await download(own.url)).status, 200);
    await service.pass(1);
    const gone = await download(own.url);
    t.strictSame([gone.status, ((await gone.json()) as { error: string }).error], [410, 'gone']);
    const left = await link('type=conversations&format=json', agent.token);
    await service.delete(`/agents/${agent.agentId}`, owner.token);
    t.equal((await download(left.url)).status, 410, 'the link of a deactivated agent');
  });
});
