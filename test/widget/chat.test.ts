import t from 'tap';
import { startService } from '../support/service.ts';

t.test("the customer's side of a chat", async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  const start = (token: string, body: unknown) => service.post('/widget/conversations', body, token);
  const list = async (id: string, token: string, query = '') =>
    (await service.get(`/widget/conversations/${id}/messages${query}`, token)).body;

  t.test('[4.12] starting a chat: 201 with the conversation and its first message; agents receive both', async (t) => {
    const socket = await service.agentSocket(owner.token);
    const customer = await service.customer(owner.embedId, { email: 'kim@example.org' });
    const file = await service.upload(customer, { filename: 'a.png', contentType: 'image/png', size: 3 });
    const { status, body } = await start(customer.token, { body: 'Hello!', attachments: [file] });
    t.equal(status, 201);
    t.match(body.conversation, {
      channel: 'chat',
      status: 'open',
      subject: null,
      rating: null,
      preview: 'Hello!',
      lastMessageAt: body.message.createdAt,
    });
    t.match(body.message, {
      conversationId: body.conversation.id,
      senderType: 'visitor',
      senderId: customer.visitorId,
      body: 'Hello!',
      attachments: [file],
    });
    t.match((await socket.next('conversation.created')).data.conversation, {
      id: body.conversation.id,
      version: 1,
      visitorId: customer.visitorId,
      siteId: owner.siteId,
      status: 'open',
      assignedAgentId: null,
    });
    t.strictSame((await socket.next('message.created')).data.message, body.message);
    const again = (await start(customer.token, { body: 'Another matter' })).body;
    t.not(again.conversation.id, body.conversation.id, 'each start is a conversation of its own');
    t.equal(
      (
        await service.post('/widget/sessions', {
          siteId: owner.embedId,
          visitorToken: customer.token,
          url: 'https://shop.example/',
        })
      ).body.conversation.id,
      again.conversation.id,
      'the session shows the newest',
    );
  });

  t.test('[8] the same limits as for agents: 1 to 10000 characters, 20 attachments', async (t) => {
    const chat = await service.chat(owner);
    for (const [body, isSound] of [
      [{ body: 'x'.repeat(10_000) }, true],
      [{ body: 'x'.repeat(10_001) }, false],
      [{ body: '' }, false],
      [{ body: ' \n' }, false],
      [{}, false],
      [{ body: 'x', attachments: Array(21).fill({ url: 'https://a.example' }) }, false],
      [{ body: 'x', attachments: [{ url: 'javascript:alert(1)' }] }, false],
    ] as const) {
      for (const path of ['/widget/conversations', `/widget/conversations/${chat.id}/messages`]) {
        const answer = await service.post(path, body, chat.customer.token);
        t.equal(answer.status, isSound ? 201 : 400, `${path} ${JSON.stringify(body).slice(0, 40)}`);
        if (!isSound) t.equal(answer.body.error, 'invalid_body');
      }
    }
    t.match(await start(chat.customer.token, { body: 'x', campaignId: 'x' }), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { campaignId: [String] } } },
    });
  });

  t.test('[4.12] the list has the messages, and nothing about how they are handled', async (t) => {
    const chat = await service.chat(owner, 'question');
    await service.post(
      `/conversations/${chat.id}/assign-to-agent`,
      { agentId: ann.agentId, expectedVersion: chat.version, force: true, note: 'SECRET' },
      owner.token,
    );
    await service.post(`/conversations/${chat.id}/notes`, { body: 'SECRET' }, ann.token);
    await service.put(`/conversations/${chat.id}/tags`, { tags: ['SECRET'] }, ann.token);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'answer' }, ann.token);
    await service.post(`/conversations/${chat.id}/status`, { status: 'pending' }, ann.token);
    const body = await list(chat.id, chat.customer.token);
    t.strictSame(
      body.messages.map((one: any) => [one.senderType, one.body]),
      [
        ['visitor', 'question'],
        ['agent', 'answer'],
      ],
    );
    t.notOk(JSON.stringify(body).includes('SECRET'));
    t.equal(body.nextCursor, null);
    t.equal(
      (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body.messages.filter(
        (one: any) => one.senderType === 'system',
      ).length,
      2,
      "the system's lines exist, for agents",
    );
    const page = await list(chat.id, chat.customer.token, '?limit=1');
    t.equal(
      (await list(chat.id, chat.customer.token, `?limit=1&before=${page.nextCursor}`)).messages[0].body,
      'question',
      'a page skips them',
    );
    for (const [query, status] of [
      ['?limit=200', 200],
      ['?limit=201', 400],
      ['?limit=0', 400],
      ['?before=x', 400],
    ] as const)
      t.equal(
        (await service.get(`/widget/conversations/${chat.id}/messages${query}`, chat.customer.token)).status,
        status,
        query,
      );
  });

  t.test("[4.12] another visitor's conversation is 404, on every route", async (t) => {
    const chat = await service.chat(owner);
    const stranger = await service.workspace();
    const others = [await service.customer(owner.embedId), await service.customer(stranger.embedId)];
    for (const { token } of others) {
      for (const id of [chat.id, '019aa000-0000-7000-8000-000000000000', 'x']) {
        t.match(await service.get(`/widget/conversations/${id}/messages`, token), {
          status: 404,
          body: { error: 'not_found' },
        });
        t.match(await service.post(`/widget/conversations/${id}/messages`, { body: 'x' }, token), {
          status: 404,
          body: { error: 'not_found' },
        });
        t.match(await service.post(`/widget/conversations/${id}/rating`, { rating: 5 }, token), {
          status: 404,
          body: { error: 'not_found' },
        });
        t.match(await service.post(`/widget/conversations/${id}/read`, undefined, token), {
          status: 404,
          body: { error: 'not_found' },
        });
      }
    }
    t.equal((await list(chat.id, chat.customer.token)).messages.length, 1);
    t.equal((await service.conversation(chat.id, owner.token)).rating, null);
  });

  t.test("[4.12] a visitor's token opens nothing of the agents', an agent's nothing of the widget", async (t) => {
    const chat = await service.chat(owner);
    for (const path of [
      '/conversations/queue',
      `/conversations/${chat.id}/messages`,
      '/me',
      '/agents',
      '/workspace/settings',
    ])
      t.match(await service.get(path, chat.customer.token), { status: 401, body: { error: 'unauthorized' } }, path);
    t.match(await service.get(`/widget/conversations/${chat.id}/messages`, owner.token), {
      status: 401,
      body: { error: 'unauthorized' },
    });
  });

  t.test('[4.12] a rating of 1 to 5; the last one counts; agents see it', async (t) => {
    const chat = await service.chat(owner);
    const rate = (body: unknown) => service.post(`/widget/conversations/${chat.id}/rating`, body, chat.customer.token);
    for (const rating of [0, 6, 1.5, '5', null, undefined])
      t.match(
        await rate({ rating }),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { rating: [String] } } } },
        String(rating),
      );
    t.match(await rate({ rating: 5, comment: 'x'.repeat(2001) }), { status: 400, body: { error: 'invalid_body' } });
    const socket = await service.agentSocket(owner.token);
    t.match(await rate({ rating: 1 }), { status: 200, body: { conversation: { id: chat.id, rating: 1 } } });
    t.match(await rate({ rating: 5, comment: 'All is well now.' }), {
      status: 200,
      body: { conversation: { rating: 5 } },
    });
    t.equal((await service.conversation(chat.id, owner.token)).rating, 5);
    t.equal((await socket.next('conversation.updated')).data.conversation.rating, 1);
    t.equal((await socket.next('conversation.updated')).data.conversation.rating, 5);
    await service.post(`/conversations/${chat.id}/status`, { status: 'solved' }, owner.token);
    t.match(
      await rate({ rating: 4 }),
      { status: 200, body: { conversation: { status: 'solved', rating: 4 } } },
      'a rating reopens nothing',
    );
  });

  t.test('[4.10] if the workspace has ratings switched off: 422 semantic_error', async (t) => {
    const shop = await service.workspace();
    const chat = await service.chat(shop);
    await service.put('/workspace/settings', { csatEnabled: false }, shop.token);
    t.match(await service.post(`/widget/conversations/${chat.id}/rating`, { rating: 5 }, chat.customer.token), {
      status: 422,
      body: { error: 'semantic_error' },
    });
    await service.put('/workspace/settings', { csatEnabled: true }, shop.token);
    t.equal(
      (await service.post(`/widget/conversations/${chat.id}/rating`, { rating: 5 }, chat.customer.token)).status,
      200,
    );
  });

  t.test('[decisions] spam looks open to its sender, and accepts its messages silently', async (t) => {
    const chat = await service.chat(owner, 'Buy now');
    const customer = await service.visitorSocket(chat.customer.token);
    await service.post(`/conversations/${chat.id}/spam`, undefined, owner.token);
    t.match(
      await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'Buy again' }, chat.customer.token),
      { status: 201 },
    );
    t.match(
      (
        await service.post('/widget/sessions', {
          siteId: owner.embedId,
          visitorToken: chat.customer.token,
          url: 'https://shop.example/',
        })
      ).body.conversation,
      { id: chat.id, status: 'open' },
    );
    t.strictSame(
      (await list(chat.id, chat.customer.token)).messages.map((one: any) => one.body),
      ['Buy now', 'Buy again'],
    );
    await customer.flushed();
    t.strictSame(customer.events, ['message.created'], 'not even that something changed');
  });
});

t.test(
  '[4.12] a customer receives events that concern it, and only when something visible to it has changed',
  async (t) => {
    const service = await startService(t, { env: { AUTO_CLOSE_DAYS: '1' } });
    const owner = await service.workspace();
    const ann = await service.agent(owner);
    const chat = await service.chat(owner);
    const customer = await service.visitorSocket(chat.customer.token);
    const version = async () => (await service.conversation(chat.id, owner.token)).version;
    const on = (path: string, body?: unknown, token = owner.token) =>
      service.post(`/conversations/${chat.id}/${path}`, body, token);

    await service.put(`/conversations/${chat.id}/tags`, { tags: ['vip'] }, owner.token);
    await on('assign-to-agent', { agentId: ann.agentId, expectedVersion: await version() });
    await on('assignment/accept', undefined, ann.token);
    await on('notes', { body: 'x' });
    const sales = (await service.post('/departments', { name: 'Sales', memberIds: [ann.agentId] }, owner.token)).body
      .id;
    await on('assign-to-department', { departmentId: sales });
    await customer.flushed();
    t.strictSame(customer.events, [], 'tags, handshakes, assignments, notes, departments: nothing');

    await on('messages', { body: 'Hello' });
    await on('read');
    await on('status', { status: 'pending' });
    await on('status', { status: 'solved' });
    await service.pass(24 * 3600_000);
    await customer.flushed();
    t.strictSame(customer.events, [
      'message.created',
      'message.read',
      'conversation.updated',
      'conversation.updated',
      'conversation.closed',
      'conversation.updated',
    ]);
    t.strictSame(
      customer.numbered.flatMap((one) => one.data.conversation?.status ?? []),
      ['pending', 'solved', 'closed', 'closed'],
    );
  },
);
