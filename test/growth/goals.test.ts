import t from 'tap';
import { startService } from '../support/service.ts';

const hourMs = 3600_000;
const thanks = { operator: 'contains', value: '/thanks' };

t.test('goals', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '365' } });
  const owner = await service.workspace();
  const other = await service.workspace();
  const supervisor = await service.agent(owner, { role: 'supervisor' });
  const agent = await service.agent(owner, { name: 'Grace' });
  const create = async (fields: object = {}) =>
    (await service.post('/goals', { name: 'Order', condition: thanks, valueCents: 4200, ...fields }, owner.token)).body;
  const view = (token: string, url = 'https://shop.example/thanks') =>
    service.post('/widget/page-views', { url }, token);
  const completions = async (goalId: string, query = '') =>
    (await service.get(`/goals/${goalId}/completions${query}`, agent.token)).body;
  const deleteAll = async () => {
    for (const { id } of (await service.get('/goals', owner.token)).body.goals)
      await service.delete(`/goals/${id}`, owner.token);
  };

  t.test('[4.15] POST answers 201 with an active goal; a value is optional', async (t) => {
    const { status, body } = await service.post(
      '/goals',
      { name: 'Order', condition: { ...thanks, extra: 1 }, valueCents: 0 },
      owner.token,
    );
    t.equal(status, 201);
    t.strictSame(
      { ...body, id: 'id' },
      {
        id: 'id',
        name: 'Order',
        condition: thanks,
        valueCents: 0,
        status: 'active',
        createdAt: new Date(service.clock.now()).toISOString(),
      },
    );
    t.strictSame((await service.get(`/goals/${body.id}`, agent.token)).body, body);
    await service.pass(1000);
    const second = await create({ valueCents: undefined });
    t.equal(second.valueCents, null);
    t.strictSame(
      (await service.get('/goals', agent.token)).body.goals.map((goal: { id: string }) => goal.id),
      [second.id, body.id],
      'newest first',
    );
  });

  t.test('[4.15] each limit from both sides, an unknown operator, an invalid regex', async (t) => {
    const rows: [object, string][] = [
      [{ name: '' }, 'name'],
      [{ name: 'x'.repeat(121) }, 'name'],
      [{ name: undefined }, 'name'],
      [{ condition: undefined }, 'condition'],
      [{ condition: { operator: 'is', value: 'x' } }, 'condition.operator'],
      [{ condition: { operator: 'contains', value: '' } }, 'condition.value'],
      [{ condition: { operator: 'regex', value: '(' } }, 'condition.value'],
      [{ condition: { operator: 'regex', value: '((a{100}){100}){100}' } }, 'condition.value'],
      [{ condition: { operator: 'regex', value: 'x'.repeat(501) } }, 'condition.value'],
      [{ valueCents: -1 }, 'valueCents'],
      [{ valueCents: 1_000_000_001 }, 'valueCents'],
      [{ valueCents: 1.5 }, 'valueCents'],
      [{ valueCents: '5' }, 'valueCents'],
    ];
    for (const [fields, path] of rows) {
      const { status, body } = await service.post(
        '/goals',
        { name: 'Limits', condition: thanks, ...fields },
        owner.token,
      );
      t.match({ status, error: body.error }, { status: 400, error: 'invalid_body' }, path);
      t.type(body.detail.fieldErrors[path], Array, `${path} in ${Object.keys(body.detail.fieldErrors).join()}`);
    }
    for (const fields of [
      { name: 'x'.repeat(120) },
      { valueCents: 1_000_000_000 },
      { valueCents: null },
      { condition: { operator: 'regex', value: '(a+)+$' } },
    ]) {
      t.equal(
        (await service.post('/goals', { name: 'Limits', condition: thanks, ...fields }, owner.token)).status,
        201,
      );
    }
  });

  t.test("[4.15] written by admins and supervisors, read by all; another workspace's is not there", async (t) => {
    const { id } = await create();
    t.equal((await service.post('/goals', { name: 'S', condition: thanks }, supervisor.token)).status, 201);
    for (const [method, path] of [
      ['POST', '/goals'],
      ['PATCH', `/goals/${id}`],
      ['DELETE', `/goals/${id}`],
    ] as const) {
      t.match(
        await service.call(method, path, {
          token: agent.token,
          ...(method === 'DELETE' ? {} : { body: { name: 'x', condition: thanks } }),
        }),
        { status: 403, body: { error: 'forbidden' } },
        method,
      );
    }
    for (const [method, path] of [
      ['GET', `/goals/${id}`],
      ['GET', `/goals/${id}/completions`],
      ['PATCH', `/goals/${id}`],
      ['DELETE', `/goals/${id}`],
    ] as const) {
      t.match(
        await service.call(method, path, {
          token: other.token,
          ...(method === 'PATCH' ? { body: { name: 'x' } } : {}),
        }),
        { status: 404, body: { error: 'not_found' } },
        `${method} ${path}`,
      );
    }
    t.strictSame((await service.get('/goals', other.token)).body, { goals: [] });
  });

  t.test('[4.15] a matching page completes it, by session and by page view; agents are notified', async (t) => {
    await deleteAll();
    const goal = await create();
    const socket = await service.agentSocket(agent.token);
    const { body } = await service.post('/widget/sessions', {
      siteId: owner.embedId,
      url: 'https://shop.example/thanks?order=1',
    });
    const frame = await socket.next('goal.completed');
    const completion = {
      goalId: goal.id,
      goalName: 'Order',
      url: 'https://shop.example/thanks?order=1',
      valueCents: 4200,
      completedAt: new Date(service.clock.now()).toISOString(),
      visitorId: body.visitor.id,
      conversationId: null,
      attributedAgentId: null,
      attributedAgentName: null,
    };
    t.match(frame.data.completion, completion);
    t.strictSame(await completions(goal.id), {
      completions: [frame.data.completion],
      total: 1,
      totalValueCents: 4200,
      nextOffset: null,
    });
    const { token } = await service.customer(owner.embedId);
    await view(token, 'https://shop.example/other');
    t.equal((await completions(goal.id)).total, 1);
    await view(token);
    t.equal((await completions(goal.id)).total, 2);
    t.equal(
      (await service.post('/widget/sessions', { siteId: other.embedId, url: 'https://shop.example/thanks' })).status,
      200,
    );
    t.equal((await completions(goal.id)).total, 2, "another workspace's pages are its own");
    const ofVisitor = async (visitorId: string, by = agent) =>
      (await service.get(`/visitors/${visitorId}/completions`, by.token)).body;
    t.strictSame(await ofVisitor(body.visitor.id), { completions: [frame.data.completion] }, 'of the one visitor');
    await service.delete(`/goals/${goal.id}`, owner.token);
    t.match(await ofVisitor(body.visitor.id), { completions: [{ goalName: 'Order' }] }, 'the goal was deleted since');
    t.equal((await ofVisitor(body.visitor.id, other)).error, 'not_found', 'another workspace has no such visitor');
  });

  t.test('[8] once per visitor within 24 hours', async (t) => {
    await deleteAll();
    const goal = await create();
    const second = await create({ name: 'Any page', condition: { operator: 'starts-with', value: 'https://' } });
    const { token } = await service.customer(owner.embedId);
    const totals = async () => [
      (await completions(goal.id, '?from=2020-01-01T00:00:00Z')).total,
      (await completions(second.id, '?from=2020-01-01T00:00:00Z')).total,
    ];
    await view(token);
    await view(token);
    t.strictSame(await totals(), [1, 1], 'the session itself completed the second');
    await service.pass(24 * hourMs - 1);
    await view(token);
    t.strictSame(await totals(), [1, 1]);
    await service.pass(1);
    await view(token);
    t.strictSame(await totals(), [2, 2]);
    await view((await service.customer(owner.embedId)).token);
    t.strictSame(await totals(), [3, 3], 'each visitor for itself');
  });

  t.test('[3 goal] paused and archived ones match nothing, active again they do; deleted ones are gone', async (t) => {
    await deleteAll();
    const { id } = await create();
    const { token } = await service.customer(owner.embedId);
    for (const status of ['paused', 'archived']) {
      t.match(await service.patch(`/goals/${id}`, { status }, owner.token), { status: 200, body: { status } });
      await view(token);
      t.equal((await completions(id)).total, 0, status);
    }
    await service.patch(`/goals/${id}`, { status: 'active', valueCents: null, name: 'Renamed' }, supervisor.token);
    await view(token);
    t.match(await completions(id), {
      total: 1,
      totalValueCents: 0,
      completions: [{ valueCents: null, goalName: 'Renamed' }],
    });
    for (const body of [{}, { status: 'done' }, { condition: { operator: 'regex', value: '[' } }, { nothing: 1 }])
      t.match(await service.patch(`/goals/${id}`, body, owner.token), { status: 400, body: { error: 'invalid_body' } });
    await service.patch(`/goals/${id}`, { condition: { operator: 'ends-with', value: '/done' } }, owner.token);
    await view((await service.customer(owner.embedId)).token);
    t.equal((await completions(id)).total, 1, 'the old condition no longer counts');
    await view((await service.customer(owner.embedId)).token, 'https://shop.example/done');
    t.equal((await completions(id)).total, 2);
    t.equal((await service.delete(`/goals/${id}`, owner.token)).status, 204);
    for (const path of [`/goals/${id}`, `/goals/${id}/completions`])
      t.equal((await service.get(path, owner.token)).status, 404);
    t.equal((await service.delete(`/goals/${id}`, owner.token)).status, 404);
    await view((await service.customer(owner.embedId)).token, 'https://shop.example/done');
    t.strictSame((await service.get('/goals', owner.token)).body.goals, []);
  });

  t.test("[4.15] attributed to the visitor's newest conversation of 30 days and to its assignee", async (t) => {
    await deleteAll();
    const goal = await create();
    const chat = await service.chat(owner);
    await service.post(
      `/conversations/${chat.id}/assign-to-agent`,
      { agentId: agent.agentId, expectedVersion: chat.version, force: true },
      owner.token,
    );
    await service.pass(1000);
    await view(chat.customer.token);
    t.match((await completions(goal.id)).completions, [
      { conversationId: chat.id, attributedAgentId: agent.agentId, attributedAgentName: 'Grace' },
    ]);
    const spam = await service.chat(owner);
    await service.post(`/conversations/${spam.id}/spam`, undefined, owner.token);
    await service.pass(1000);
    await view(spam.customer.token);
    t.match((await completions(goal.id)).completions[0], {
      visitorId: spam.customer.visitorId,
      conversationId: null,
      attributedAgentId: null,
    });
    const old = await service.chat(owner);
    await service.pass(31 * 24 * hourMs);
    await view(old.customer.token);
    t.match(
      (await completions(goal.id)).completions,
      [{ visitorId: old.customer.visitorId, conversationId: null }],
      'and only the last 7 days are listed',
    );
  });

  t.test('[4.15] completions by range and page, with the totals of the range', async (t) => {
    await deleteAll();
    const goal = await create({ valueCents: 100 });
    const times: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      await service.pass(hourMs);
      times.push(new Date(service.clock.now()).toISOString());
      await view((await service.customer(owner.embedId)).token);
    }
    const [first = '', second = '', third = ''] = times;
    t.equal((await completions(goal.id, '?limit=2')).nextOffset, 2, 'missing parts are reported');
    t.equal((await completions(goal.id, '?limit=2&offset=2')).nextOffset, null);
    t.match(
      await completions(goal.id, `?from=${first}&to=${third}`),
      { total: 2, totalValueCents: 200, completions: [{ completedAt: second }, { completedAt: first }] },
      'from counts, to does not',
    );
    t.match(await completions(goal.id, '?limit=1&offset=1'), {
      total: 3,
      totalValueCents: 300,
      completions: [{ completedAt: second }],
    });
    t.strictSame((await completions(goal.id, '?offset=3')).completions, []);
    for (const query of [
      `?from=${third}&to=${first}`,
      `?from=${first}&to=${first}`,
      '?from=yesterday',
      '?limit=0',
      '?limit=201',
      '?offset=-1',
      '?from=2026-02-30T00:00:00Z&to=x',
    ]) {
      t.match(
        await service.get(`/goals/${goal.id}/completions${query}`, owner.token),
        { status: 400, body: { error: 'invalid_query' } },
        query,
      );
    }
  });

  t.test('[4.15] a condition is tried on an address without being kept', async (t) => {
    const attempt = (condition: object, url: string) => service.post('/url-match', { condition, url }, owner.token);
    const address = 'https://shop.example/thanks?order=7';
    for (const [operator, value, matches] of [
      ['contains', '/thanks', true],
      ['contains', '/Thanks', false],
      ['equals', address, true],
      ['starts-with', 'https://shop.example/', true],
      ['ends-with', '/thanks', false],
      ['regex', 'order=\\d+$', true],
      ['regex', '^/thanks', false],
    ] as const) {
      t.same((await attempt({ operator, value }, address)).body, { matches }, `${operator} ${value}`);
    }
    for (const value of ['(', '(?=a)', '((a{100}){100}){100}'])
      t.match(
        await attempt({ operator: 'regex', value }, address),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { 'condition.value': [String] } } } },
        value,
      );
    t.match(await attempt({ operator: 'equals', value: 'x' }, 'x'.repeat(2049)), {
      status: 400,
      body: { detail: { fieldErrors: { url: [String] } } },
    });
  });

  t.test('[4.12] a blocked visitor completes nothing', async (t) => {
    await deleteAll();
    const goal = await create();
    const { token, visitorId } = await service.customer(owner.embedId);
    await service.post(`/visitors/${visitorId}/block`, undefined, owner.token);
    t.equal((await view(token)).status, 403);
    await service.post('/widget/sessions', {
      siteId: owner.embedId,
      url: 'https://shop.example/thanks',
      visitorToken: token,
    });
    t.equal((await completions(goal.id)).total, 0);
  });
});
