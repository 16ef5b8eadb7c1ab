import t from 'tap';
import { startService } from '../support/service.ts';

t.test('messages', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const ann = await service.agent(owner);
  const send = (id: string, body: unknown, token = owner.token) =>
    service.post(`/conversations/${id}/messages`, body, token);
  const list = async (id: string, query = '', token = owner.token) =>
    (await service.get(`/conversations/${id}/messages${query}`, token)).body;

  t.test('[4.5] a sent message answers 201 with the whole message, and is in the list', async (t) => {
    const chat = await service.chat(owner, 'Where is my order?');
    const [named, bare] = [await service.upload(ann), await service.upload(owner, { filename: '請求書.pdf', size: 7 })];
    const sent = await send(chat.id, { body: 'Let me look.', attachments: [named, { url: bare.url }] }, ann.token);
    t.equal(sent.status, 201);
    t.strictSame(
      { ...sent.body, id: 'id', createdAt: 'at' },
      {
        id: 'id',
        conversationId: chat.id,
        senderType: 'agent',
        senderId: ann.agentId,
        body: 'Let me look.',
        bodyHtml: '<p>Let me look.</p>',
        attachments: [named, bare],
        deliveryStatus: null,
        mail: null,
        threading: null,
        readAt: null,
        createdAt: 'at',
      },
    );
    const { messages, nextCursor } = await list(chat.id);
    t.equal(nextCursor, null);
    t.strictSame(
      messages.map((one: any) => [one.senderType, one.senderId, one.body]),
      [
        ['visitor', chat.customer.visitorId, 'Where is my order?'],
        ['agent', ann.agentId, 'Let me look.'],
      ],
    );
    t.strictSame(messages[1], sent.body, 'it reads as it was answered');
  });

  t.test('[8] a body has 1 to 10000 characters, counted as characters', async (t) => {
    const { id } = await service.chat(owner);
    const rows: [string, number][] = [
      ['a', 201],
      ['a'.repeat(10_000), 201],
      ['a'.repeat(10_001), 400],
      ['🎈'.repeat(10_000), 201],
      ['🎈'.repeat(10_001), 400],
      ['', 400],
      [' \n\t\u00a0 ', 400],
    ];
    for (const [body, status] of rows) {
      const answer = await send(id, { body });
      t.equal(answer.status, status, `${[...body].length} characters`);
      if (status === 400) t.match(answer.body, { error: 'invalid_body', detail: { fieldErrors: { body: [String] } } });
      else t.equal(answer.body.body, body, 'kept as it is');
    }
  });

  t.test('[8] a body is text: a missing one, or one of another type, is refused with its field', async (t) => {
    const { id } = await service.chat(owner);
    for (const body of [{}, { body: 7 }, { body: null }, { body: ['x'] }]) {
      const answer = await send(id, body);
      t.match(
        answer,
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { body: [String] } } } },
        JSON.stringify(body),
      );
    }
    t.match(
      await send(id, { body: 'x', bodyHtml: '<b>x</b>', senderType: 'visitor', createdAt: '2020-01-01T00:00:00.000Z' }),
      { status: 201, body: { bodyHtml: '<p>x</p>', senderType: 'agent' } },
      'bodyHtml and the sender cannot be given',
    );
  });

  t.test('[8] up to 20 attachments, each the address of an upload', async (t) => {
    const { id } = await service.chat(owner);
    const { url: own } = await service.upload(owner);
    const some = (count: number) => Array.from({ length: count }, () => ({ url: own }));
    t.strictSame((await send(id, { body: 'x', attachments: [] })).body.attachments, []);
    t.equal((await send(id, { body: 'x', attachments: some(20) })).body.attachments.length, 20);
    t.match(await send(id, { body: 'x', attachments: some(21) }), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { attachments: [String] } } },
    });
    const refused = [
      '',
      'files.example/a',
      '/a',
      'ftp://files.example/a',
      'javascript:alert(1)',
      'data:text/html,x',
      'https://',
      'https:///a',
      'https://?x',
      'https://files.example/a b',
      'https://files.example/"><script>',
      `https://files.example/${'a'.repeat(2027)}`,
      7,
      null,
    ];
    for (const url of refused) {
      const answer = await send(id, { body: 'x', attachments: [{ url: own }, { url }] });
      t.match(
        answer,
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { 'attachments.1.url': [String] } } } },
        String(url).slice(0, 60),
      );
    }
    for (const [attachment, field] of [
      [{ name: 'x' }, 'attachments.0.url'],
      [{ url: 'https://a.example', size: -1 }, 'attachments.0.size'],
      [{ url: 'https://a.example', size: 1.5 }, 'attachments.0.size'],
      [{ url: 'https://a.example', name: 'n'.repeat(501) }, 'attachments.0.name'],
    ] as const) {
      t.hasOwnProp((await send(id, { body: 'x', attachments: [attachment] })).body.detail.fieldErrors, field, field);
    }
  });

  t.test('[2] messages are append-only: nothing changes or removes one', async (t) => {
    const { id } = await service.chat(owner);
    const { body } = await send(id, { body: 'It stays.' });
    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST'])
      t.equal(
        (
          await service.call(method, `/conversations/${id}/messages/${body.id}`, {
            token: owner.token,
            ...(method === 'DELETE' ? {} : { body: {} }),
          })
        ).status,
        404,
        method,
      );
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      t.match(
        await service.call(method, `/conversations/${id}/messages`, { token: owner.token }),
        { status: 405, body: { error: 'method_not_allowed' } },
        method,
      );
    t.strictSame((await list(id)).messages.at(-1), body);
  });

  t.test('[7] no messages while the status is spam, solved or closed: 409 conversation_archived', async (t) => {
    const { id } = await service.chat(owner);
    t.equal((await service.post(`/conversations/${id}/status`, { status: 'pending' }, owner.token)).status, 200);
    t.equal((await send(id, { body: 'Pending takes them.' })).status, 201);
    const refused = async (status: string) =>
      t.match(await send(id, { body: 'No.' }), { status: 409, body: { error: 'conversation_archived' } }, status);
    await service.post(`/conversations/${id}/status`, { status: 'spam' }, owner.token);
    await refused('spam');
    await service.post(`/conversations/${id}/status`, { status: 'open' }, owner.token);
    await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
    await refused('solved');
  });
});

t.test('[decisions] a closed conversation takes no messages of agents either', async (t) => {
  const service = await startService(t, { env: { AUTO_CLOSE_DAYS: '0.001' } });
  const owner = await service.workspace();
  const { id } = await service.chat(owner);
  await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
  await service.pass(86_400);
  t.equal((await service.conversation(id, owner.token)).status, 'closed');
  t.match(await service.post(`/conversations/${id}/messages`, { body: 'No.' }, owner.token), {
    status: 409,
    body: { error: 'conversation_archived' },
  });
});

t.test('the effects of a message on its conversation', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();

  t.test('[4.5] firstResponseAt is the first message of an agent, and stays', async (t) => {
    const chat = await service.chat(owner);
    t.equal((await service.conversation(chat.id, owner.token)).firstResponseAt, null);
    await service.pass(60_000);
    const first = await service.post(`/conversations/${chat.id}/messages`, { body: 'Hello!' }, owner.token);
    await service.pass(60_000);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'Still here.' }, owner.token);
    const record = await service.conversation(chat.id, owner.token);
    t.equal(record.firstResponseAt, first.body.createdAt);
    t.ok(record.lastMessageAt > first.body.createdAt);
  });

  t.test(
    '[4.5] preview is the start of the latest message, no character cut in half; system lines do not change it',
    async (t) => {
      const chat = await service.chat(owner, 'short');
      const preview = async () => (await service.conversation(chat.id, owner.token)).preview;
      t.equal(await preview(), 'short');
      await service.post(`/conversations/${chat.id}/messages`, { body: 'x'.repeat(141) }, owner.token);
      t.equal(await preview(), 'x'.repeat(140));
      await service.post(`/conversations/${chat.id}/messages`, { body: `x${'🎈'.repeat(200)}` }, owner.token);
      t.equal(await preview(), `x${'🎈'.repeat(139)}`);
      const { lastMessageAt } = await service.conversation(chat.id, owner.token);
      await service.pass(1000);
      await service.post(`/conversations/${chat.id}/status`, { status: 'pending' }, owner.token);
      const record = await service.conversation(chat.id, owner.token);
      t.match(record, { preview: `x${'🎈'.repeat(139)}`, lastMessageAt });
      t.ok(record.updatedAt > lastMessageAt);
    },
  );

  t.test(
    '[decisions] half a character, which JSON can spell, is the same in the answer and when it is read',
    async (t) => {
      const chat = await service.chat(owner);
      const sent = await service.post(`/conversations/${chat.id}/messages`, '{"body":"a\\ud83dz"}', owner.token);
      t.equal(sent.status, 201);
      t.equal(sent.body.body, 'a\ufffdz');
      t.strictSame(
        (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body.messages.at(-1),
        sent.body,
      );
    },
  );
});

t.test('read marks', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();

  t.test("[4.5] reading marks the customer's messages, once, notifies both sides, and keeps the version", async (t) => {
    const chat = await service.chat(owner, 'one');
    await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'two' }, chat.customer.token);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'answer' }, owner.token);
    const agent = await service.agentSocket(owner.token);
    const customer = await service.visitorSocket(chat.customer.token);
    const before = await service.conversation(chat.id, owner.token);
    await service.pass(5000);
    const at = new Date(service.clock.now()).toISOString();
    t.match(await service.post(`/conversations/${chat.id}/read`, undefined, owner.token), {
      status: 200,
      body: { conversation: { id: chat.id, version: before.version, updatedAt: before.updatedAt } },
    });
    const { messages } = (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body;
    t.strictSame(
      messages.map((one: any) => [one.body, one.readAt]),
      [
        ['one', at],
        ['two', at],
        ['answer', null],
      ],
    );
    const told = (await agent.next('message.read')).data;
    t.strictSame(told, {
      read: {
        conversationId: chat.id,
        senderType: 'visitor',
        readUpTo: messages.at(-1).createdAt,
        readAt: at,
        count: 2,
      },
    });
    t.strictSame((await customer.next('message.read')).data, told);

    await service.pass(1000);
    await service.post(`/conversations/${chat.id}/read`, undefined, owner.token);
    t.notOk(
      (await agent.flushed()).some((frame) => frame.type === 'message.read' && frame.data.read.readAt !== at),
      'nothing new, no event',
    );
    await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'three' }, chat.customer.token);
    await service.post(`/conversations/${chat.id}/read`, undefined, owner.token);
    t.match((await agent.next('message.read')).data.read, { count: 1 }, 'only later ones');
    t.equal(
      (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body.messages[0].readAt,
      at,
      'the first mark stays',
    );
  });

  t.test("[4.12] the customer's own mark is for agents' messages; system lines cannot be read", async (t) => {
    const chat = await service.chat(owner, 'question');
    await service.post(`/conversations/${chat.id}/messages`, { body: 'answer' }, owner.token);
    await service.post(`/conversations/${chat.id}/status`, { status: 'pending' }, owner.token);
    const agent = await service.agentSocket(owner.token);
    const { version } = await service.conversation(chat.id, owner.token);
    t.match(await service.post(`/widget/conversations/${chat.id}/read`, undefined, chat.customer.token), {
      status: 200,
      body: { conversation: { id: chat.id, status: 'pending' } },
    });
    t.match((await agent.next('message.read')).data.read, { senderType: 'agent', count: 1 });
    const { messages } = (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body;
    t.strictSame(
      messages.map((one: any) => [one.senderType, one.readAt !== null]),
      [
        ['visitor', false],
        ['agent', true],
        ['system', false],
      ],
    );
    t.equal((await service.conversation(chat.id, owner.token)).version, version);
  });

  t.test('[4.5] a message is not read before it was written, also when many share a moment', async (t) => {
    const chat = await service.chat(owner, 'm0');
    for (let index = 1; index < 5; index += 1)
      await service.post(`/widget/conversations/${chat.id}/messages`, { body: `m${index}` }, chat.customer.token);
    await service.post(`/conversations/${chat.id}/read`, undefined, owner.token);
    const { messages } = (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body;
    for (const { readAt, createdAt } of messages) t.ok(readAt >= createdAt, `${createdAt} read ${readAt}`);
  });
});
