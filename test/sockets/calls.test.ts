import t from 'tap';
import { HeldDisk } from '../support/held-disk.ts';
import { startService } from '../support/service.ts';

t.test('calls over a socket', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner);
  const customer = await service.customer(owner.embedId);
  const routes = service.running.routes;
  const isCallable = (kind: 'agent' | 'visitor') => (route: (typeof routes)[number]) =>
    route.access.kind === kind && route.httpOnly !== true && route.send === undefined;
  const noSuchMethod = /^There is no method/;

  t.test('[6] every operation that is not HTTP-only is callable in its namespace, and no other', async (t) => {
    // An agent with few rights whose sign-in no other test needs: empty calls are refused, and others do no harm.
    const guest = await service.agent(owner);
    const [agent, visitor] = [await service.agentSocket(guest.token), await service.visitorSocket(customer.token)];
    let count = 0;
    for (const route of routes) {
      for (const [kind, socket] of [
        ['agent', agent],
        ['visitor', visitor],
      ] as const) {
        const { status, body } = await socket.call(route.operation, {});
        const isThere = !(status === 404 && noSuchMethod.test(body?.message ?? ''));
        t.equal(isThere, isCallable(kind)(route), `${route.operation} for ${kind}: ${status}`);
        if (isThere) count += 1;
      }
    }
    t.ok(count > 40, `${count} methods`);
    for (const method of [
      '',
      'nonsense',
      'message',
      'toString',
      '__proto__',
      'constructor',
      'auth.login',
      'POST /conversations',
    ])
      t.match(await agent.call(method, {}), { status: 404, body: { error: 'not_found' } }, method);
  });

  t.test('[decisions] params hold path, query and body fields together, and the reply is that of HTTP', async (t) => {
    const socket = await service.agentSocket(owner.token);
    const chat = await service.chat(owner);
    const conversationId = chat.id;
    const sent = await socket.call('message.send', {
      conversationId,
      body: 'Over the socket',
      attachments: [await service.upload(owner)],
    });
    t.equal(sent.status, 201);
    t.strictSame(
      sent.body,
      (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body.messages.at(-1),
    );
    const page = await socket.call('message.list', { conversationId, limit: 1 });
    t.strictSame(page, {
      status: 200,
      body: (await service.get(`/conversations/${chat.id}/messages?limit=1`, owner.token)).body,
    });
    t.strictSame(
      (
        await socket.call('message.list', { conversationId, limit: '1', before: page.body.nextCursor })
      ).body.messages.map((one: any) => one.body),
      ['Hello, is anybody there?'],
    );
    t.match(await socket.call('conversation.setTags', { conversationId, tags: ['a', 'b'] }), {
      status: 200,
      body: { conversation: { tags: ['a', 'b'] } },
    });
    const { version } = await service.conversation(chat.id, owner.token);
    t.match(
      await socket.call('conversation.assignToAgent', {
        conversationId,
        agentId: ann.agentId,
        expectedVersion: version,
      }),
      { status: 200, body: { conversation: { handshake: { toAgentId: ann.agentId } } } },
    );
    t.match(await (await service.agentSocket(ann.token)).call('assignment.accept', { conversationId }), {
      status: 200,
      body: { conversation: { assignedAgentId: ann.agentId } },
    });
    t.match(await socket.call('conversation.status', { conversationId, status: 'solved' }), {
      status: 200,
      body: { conversation: { status: 'solved' } },
    });
    const { note } = (await socket.call('note.create', { conversationId, body: 'x' })).body;
    t.strictSame(
      await socket.call('note.delete', { conversationId, noteId: note.id }),
      { status: 204, body: null },
      'no body is null',
    );
    t.match(
      await socket.call('conversation.queue'),
      { status: 200, body: { conversations: Array } },
      'params may be left out',
    );
    t.match(await socket.call('visitor.block', { visitorId: chat.customer.visitorId }), {
      status: 200,
      body: { visitor: { id: chat.customer.visitorId } },
    });
  });

  t.test("[decisions] the visitor's calls", async (t) => {
    const one = await service.customer(owner.embedId);
    const socket = await service.visitorSocket(one.token);
    const started = await socket.call('widget.startChat', { body: 'Hello over the socket' });
    t.match(started, {
      status: 201,
      body: { conversation: { status: 'open' }, message: { body: 'Hello over the socket' } },
    });
    const conversationId = started.body.conversation.id;
    t.match(await socket.call('widget.sendMessage', { conversationId, body: 'And on' }), { status: 201 });
    await service.post(`/conversations/${conversationId}/messages`, { body: 'Answer' }, owner.token);
    t.match(await socket.call('widget.read', { conversationId }), { status: 200 });
    t.strictSame(
      (await socket.call('widget.listMessages', { conversationId })).body.messages.map((message: any) => [
        message.body,
        message.readAt !== null,
      ]),
      [
        ['Hello over the socket', false],
        ['And on', false],
        ['Answer', true],
      ],
    );
    t.match(await socket.call('widget.rate', { conversationId, rating: 5 }), {
      status: 200,
      body: { conversation: { rating: 5 } },
    });
    t.match(await socket.call('widget.viewPage', { url: 'https://shop.example/x' }), {
      status: 200,
      body: { campaigns: [] },
    });
    t.match(await socket.call('widget.identify', { name: 'Kim' }), { status: 200, body: { visitor: { name: 'Kim' } } });
    const stranger = await service.chat(owner);
    t.match(await socket.call('widget.listMessages', { conversationId: stranger.id }), {
      status: 404,
      body: { error: 'not_found' },
    });
  });

  t.test('[decisions] a refusal is the HTTP error body, word for word', async (t) => {
    const outsider = await service.agent(owner, { channels: ['tickets'] });
    const chat = await service.chat(owner);
    const sockets = {
      owner: await service.agentSocket(owner.token),
      outsider: await service.agentSocket(outsider.token),
    };
    const conversationId = chat.id;
    const on = `/conversations/${chat.id}`;
    const rows: [keyof typeof sockets, string, object, string, string, object?][] = [
      ['owner', 'message.send', { conversationId, body: '' }, 'POST', `${on}/messages`, { body: '' }],
      [
        'owner',
        'message.send',
        { conversationId, body: ' ', attachments: [] },
        'POST',
        `${on}/messages`,
        { body: ' ', attachments: [] },
      ],
      [
        'owner',
        'message.send',
        { conversationId, attachments: [{ url: 'x' }] },
        'POST',
        `${on}/messages`,
        { attachments: [{ url: 'x' }] },
      ],
      ['owner', 'message.list', { conversationId, limit: 201 }, 'GET', `${on}/messages?limit=201`],
      ['owner', 'message.list', { conversationId, before: 'x' }, 'GET', `${on}/messages?before=x`],
      ['owner', 'conversation.queue', { cursor: 'x' }, 'GET', '/conversations/queue?cursor=x'],
      ['owner', 'message.list', { conversationId: 'x' }, 'GET', '/conversations/x/messages'],
      [
        'owner',
        'conversation.assignToAgent',
        { conversationId, agentId: owner.agentId, expectedVersion: 99 },
        'POST',
        `${on}/assign-to-agent`,
        { agentId: owner.agentId, expectedVersion: 99 },
      ],
      ['owner', 'conversation.status', { conversationId, status: 'open' }, 'POST', `${on}/status`, { status: 'open' }],
      ['owner', 'assignment.accept', { conversationId }, 'POST', `${on}/assignment/accept`],
      ['outsider', 'message.list', { conversationId }, 'GET', `${on}/messages`],
      [
        'outsider',
        'conversation.status',
        { conversationId, status: 'solved' },
        'POST',
        `${on}/status`,
        { status: 'solved' },
      ],
      ['outsider', 'note.list', { conversationId }, 'GET', `${on}/notes`],
      [
        'outsider',
        'agent.invite',
        { email: 'a@example.org', name: 'A', role: 'agent' },
        'POST',
        '/agents/invite',
        { email: 'a@example.org', name: 'A', role: 'agent' },
      ],
    ];
    for (const [who, method, params, verb, path, body] of rows) {
      const byHttp = await service.call(verb, path, { body, token: who === 'owner' ? owner.token : outsider.token });
      t.ok(byHttp.status >= 400, `${method}: ${byHttp.status} ${byHttp.body.error}`);
      t.strictSame(
        await sockets[who].call(method, params),
        { status: byHttp.status, body: byHttp.body },
        `${method} for ${who}`,
      );
    }
  });

  t.test('[6] a call without an id, or an invalid one, is reported; the socket stays', async (t) => {
    const socket = await service.agentSocket(owner.token);
    const wrong = [
      { type: 'call' },
      { type: 'call', method: 'conversation.queue' },
      { type: 'call', id: null, method: 'conversation.queue' },
      { type: 'call', id: {}, method: 'conversation.queue' },
      { type: 'call', id: 1 },
      { type: 'call', id: 1, method: 7 },
      { type: 'call', id: 1, method: 'conversation.queue', params: [] },
      { type: 'call', id: 1, method: 'conversation.queue', params: null },
      { type: 'call', id: 1, method: 'conversation.queue', params: 'x' },
    ];
    for (const frame of wrong) {
      socket.send(frame);
      t.match(
        await socket.next('error'),
        { type: 'error', error: 'invalid_body', message: String },
        JSON.stringify(frame),
      );
    }
    t.notOk((await socket.flushed()).some((frame) => frame.type === 'reply'));
    for (const id of ['a', 7, '', 0, -1, 'x'.repeat(1000)]) {
      socket.send({ type: 'call', id, method: 'workspace.settings' });
      t.match(await socket.next('reply'), { id, status: 200 }, String(id).slice(0, 20));
    }
  });

  t.test('calls of one socket are answered each once, whatever their order', async (t) => {
    const socket = await service.agentSocket(owner.token);
    const chat = await service.chat(owner);
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        index % 3 === 0
          ? socket.call('conversation.queue')
          : socket.call('message.send', { conversationId: chat.id, body: String(index) }),
      ),
    );
    t.ok(replies.every(({ status }, index) => status === (index % 3 === 0 ? 200 : 201)));
    const ids = socket.frames.flatMap((frame) => (frame.type === 'reply' ? frame['id'] : []));
    t.equal(new Set(ids).size, 60);
    t.equal(ids.length, 60);
    const { messages } = (await service.get(`/conversations/${chat.id}/messages?limit=200`, owner.token)).body;
    t.strictSame(
      messages.slice(1).map((one: any) => Number(one.body)),
      Array.from({ length: 60 }, (_, index) => index).filter((index) => index % 3 !== 0),
      'sent in order, written in order',
    );
  });
});

t.test('[6] the rate limit counts socket calls, typing and HTTP together', async (t) => {
  const service = await startService(t, { env: { RATE_LIMIT_PER_MINUTE: '10' } });
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  await service.pass(60_000);
  const [socket, second] = [await service.agentSocket(owner.token), await service.agentSocket(owner.token)];
  for (let count = 0; count < 3; count += 1) t.equal((await socket.call('workspace.settings')).status, 200);
  for (let count = 0; count < 3; count += 1) t.equal((await second.call('workspace.settings')).status, 200);
  for (let count = 0; count < 2; count += 1) socket.send({ type: 'typing', conversationId: chat.id });
  await socket.flushed();
  const http = await service.get('/workspace/settings', owner.token);
  t.equal(http.headers.get('ratelimit-remaining'), '1');
  t.equal((await socket.call('workspace.settings')).status, 200);
  for (const one of [socket, second])
    t.match(await one.call('workspace.settings'), {
      status: 429,
      body: { statusCode: 429, error: 'rate_limited', retryAfter: 60 },
    });
  t.match(await service.get('/workspace/settings', owner.token), {
    status: 429,
    body: { error: 'rate_limited', retryAfter: 60 },
  });
  const visitor = await service.visitorSocket(chat.customer.token);
  socket.send({ type: 'typing', conversationId: chat.id });
  await socket.flushed();
  await visitor.flushed();
  t.notOk(
    visitor.frames.some((frame) => frame.type === 'typing'),
    'nor is typing sent beyond it',
  );
  t.equal(
    (await visitor.call('widget.viewPage', { url: 'https://shop.example/' })).status,
    200,
    'a visitor has a budget of its own',
  );
  await service.pass(60_000);
  t.equal((await socket.call('workspace.settings')).status, 200);
});

t.test('[8] a socket can have 64 calls in progress; the next is refused at once, and none is lost', async (t) => {
  const disk = new HeldDisk({ isHeld: false });
  const service = await startService(t, { syncToDisk: disk.sync });
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  const [socket, other] = [await service.agentSocket(owner.token), await service.agentSocket(owner.token)];
  disk.hold();
  const calls = Array.from({ length: 64 }, (_, index) =>
    socket.call('message.send', { conversationId: chat.id, body: String(index) }),
  );
  await disk.asked();
  t.match(await socket.call('message.send', { conversationId: chat.id, body: 'too many' }), {
    status: 429,
    body: { error: 'rate_limited', retryAfter: Number },
  });
  const fromOther = other.call('message.send', { conversationId: chat.id, body: 'from another socket' });
  await other.flushed();
  disk.letGo();
  t.ok((await Promise.all(calls)).every(({ status }) => status === 201));
  t.equal((await fromOther).status, 201);
  t.equal((await socket.call('message.send', { conversationId: chat.id, body: 'again' })).status, 201);
  const bodies = (await service.get(`/conversations/${chat.id}/messages?limit=200`, owner.token)).body.messages.map(
    (one: any) => one.body,
  );
  t.equal(bodies.length, 1 + 64 + 2);
  t.notOk(bodies.includes('too many'));
});
