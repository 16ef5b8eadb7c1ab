import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startService } from '../support/service.ts';

t.test('a message that a widget sends again', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const send = (id: string, body: unknown, token: string) =>
    service.post(`/widget/conversations/${id}/messages`, body, token);
  const list = async (id: string, token: string) =>
    (await service.get(`/widget/conversations/${id}/messages`, token)).body.messages;

  t.test('[4.12] is one message, answered as it was the first time', async (t) => {
    const chat = await service.chat(owner);
    const socket = await service.agentSocket(owner.token);
    const messageId = randomUUID();
    const first = await send(chat.id, { messageId, body: 'Once' }, chat.customer.token);
    const again = await send(chat.id, { messageId, body: 'Once' }, chat.customer.token);
    const changed = await send(chat.id, { messageId, body: 'Twice' }, chat.customer.token);
    t.match(first, { status: 201, body: { id: messageId, body: 'Once' } });
    t.strictSame(again.body, first.body);
    t.strictSame(changed.body, first.body, 'the first text stays');
    t.strictSame(
      (await list(chat.id, chat.customer.token)).map((one: { body: string }) => one.body),
      ['Hello, is anybody there?', 'Once'],
    );
    await send(chat.id, { body: 'End' }, chat.customer.token);
    const frames = [await socket.next('message.created'), await socket.next('message.created')];
    t.strictSame(
      frames.map(({ data }) => data.message.body),
      ['Once', 'End'],
      'agents receive it once',
    );
  });

  t.test('[4.12] many times concurrently: one message', async (t) => {
    const chat = await service.chat(owner);
    const messageId = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send(chat.id, { messageId, body: 'Once' }, chat.customer.token)),
    );
    t.ok(answers.every(({ status, body }) => status === 201 && body.id === messageId));
    t.equal((await list(chat.id, chat.customer.token)).length, 2);
  });

  t.test('[4.12] as the first one of a chat: one chat', async (t) => {
    const customer = await service.customer(owner.embedId);
    const messageId = randomUUID();
    const start = () => service.post('/widget/conversations', { messageId, body: 'Hello' }, customer.token);
    const [first, again] = await Promise.all([start(), start()]);
    t.equal(first.status, 201);
    t.equal(again.status, 201);
    t.equal(again.body.conversation.id, first.body.conversation.id);
    t.strictSame(again.body.message, first.body.message);
  });

  t.test('[4.12] does not reopen a conversation solved since', async (t) => {
    const chat = await service.chat(owner);
    const messageId = randomUUID();
    await send(chat.id, { messageId, body: 'Thanks' }, chat.customer.token);
    await service.post(`/conversations/${chat.id}/status`, { status: 'solved' }, owner.token);
    await send(chat.id, { messageId, body: 'Thanks' }, chat.customer.token);
    t.equal((await service.conversation(chat.id, owner.token)).status, 'solved');
  });

  t.test('[4.12] an id of another message, or an invalid one', async (t) => {
    const chat = await service.chat(owner);
    const { body: answer } = await service.post(`/conversations/${chat.id}/messages`, { body: 'Hello' }, owner.token);
    const [mine] = await list(chat.id, chat.customer.token);
    const other = await service.chat(owner);
    t.match(
      await send(chat.id, { messageId: answer.id, body: 'x' }, chat.customer.token),
      { status: 409, body: { error: 'conflict' } },
      "an agent's",
    );
    t.match(
      await send(other.id, { messageId: mine.id, body: 'x' }, other.customer.token),
      { status: 409, body: { error: 'conflict' } },
      "another customer's",
    );
    t.match(await service.post('/widget/conversations', { messageId: mine.id, body: 'x' }, other.customer.token), {
      status: 409,
      body: { error: 'conflict' },
    });
    for (const messageId of ['', 'x', 7, null])
      t.match(
        await send(chat.id, { messageId, body: 'x' }, chat.customer.token),
        { status: 400, body: { error: 'invalid_body' } },
        String(messageId),
      );
    t.equal((await list(other.id, other.customer.token)).length, 1);
  });

  t.test('[4.12] the id of a message elsewhere: refused, since it would not be here', async (t) => {
    const chat = await service.chat(owner);
    const [said] = await list(chat.id, chat.customer.token);
    const next = await service.post('/widget/conversations', { body: 'Another thing' }, chat.customer.token);
    t.equal(next.status, 201);
    t.match(await send(next.body.conversation.id, { messageId: said.id, body: 'x' }, chat.customer.token), {
      status: 409,
      body: { error: 'conflict' },
    });
    t.match(
      await service.post(
        '/widget/tickets',
        { messageId: said.id, email: 'kim@example.org', body: 'x' },
        chat.customer.token,
      ),
      { status: 409, body: { error: 'conflict' } },
    );
    const messageId = randomUUID();
    const left = await service.post(
      '/widget/tickets',
      { messageId, email: 'kim@example.org', body: 'A parcel is missing.' },
      chat.customer.token,
    );
    t.equal(left.status, 201);
    t.match(await service.post('/widget/conversations', { messageId, body: 'x' }, chat.customer.token), {
      status: 409,
      body: { error: 'conflict' },
    });
    t.strictSame(
      (
        await service.post(
          '/widget/tickets',
          { messageId, email: 'kim@example.org', body: 'A parcel is missing.' },
          chat.customer.token,
        )
      ).body,
      left.body,
    );
  });
});
