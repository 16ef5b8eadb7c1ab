// The inbox's API besides its lists: one conversation, unread messages, spam, visitors by their ids, and messages that
// an agent sends again.

import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startService } from '../support/service.ts';

t.test("the inbox's requests", async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const stranger = await service.workspace();

  t.test('[4.5] a conversation by its id, in every status', async (t) => {
    const chat = await service.chat(owner);
    const read = () => service.get(`/conversations/${chat.id}`, owner.token);
    t.strictSame((await read()).body, { conversation: await service.conversation(chat.id, owner.token) });
    await service.post(`/conversations/${chat.id}/spam`, undefined, owner.token);
    t.match(await read(), { status: 200, body: { conversation: { id: chat.id, status: 'spam' } } });
    t.match(await service.get(`/conversations/${randomUUID()}`, owner.token), {
      status: 404,
      body: { error: 'not_found' },
    });
    t.match(await service.get(`/conversations/${chat.id}`, stranger.token), {
      status: 404,
      body: { error: 'not_found' },
    });
    t.match(await service.get(`/conversations/${chat.id}`, chat.customer.token), { status: 401 });
  });

  t.test('[4.5] unread means customer messages after the last read by an agent', async (t) => {
    const chat = await service.chat(owner);
    const marks = async () => {
      const { lastCustomerMessageAt, agentsReadUpTo } = (await service.get(`/conversations/${chat.id}`, owner.token))
        .body.conversation;
      return {
        lastCustomerMessageAt,
        agentsReadUpTo,
        isUnread: agentsReadUpTo === null || lastCustomerMessageAt > agentsReadUpTo,
      };
    };
    const [first] = await service.messages(chat.id, owner.token);
    t.strictSame(await marks(), { lastCustomerMessageAt: first.createdAt, agentsReadUpTo: null, isUnread: true });
    await service.post(`/conversations/${chat.id}/read`, undefined, owner.token);
    t.equal((await marks()).isUnread, false);
    service.clock.advance(1000);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'Hello' }, owner.token);
    t.strictSame(
      await marks(),
      { lastCustomerMessageAt: first.createdAt, agentsReadUpTo: first.createdAt, isUnread: false },
      "an agent's own is nothing unread",
    );
    service.clock.advance(1000);
    const { body: second } = await service.post(
      `/widget/conversations/${chat.id}/messages`,
      { body: 'And?' },
      chat.customer.token,
    );
    t.strictSame(await marks(), {
      lastCustomerMessageAt: second.createdAt,
      agentsReadUpTo: first.createdAt,
      isUnread: true,
    });
  });

  t.test('[4.5] spam, newest first, page by page, to agents with access', async (t) => {
    const here = await service.workspace();
    const { body: sales } = await service.post('/departments', { name: 'Sales' }, here.token);
    const [seller, guest, caller] = [
      await service.agent(here, { groupIds: [sales.id] }),
      await service.agent(here),
      await service.agent(here, { channels: ['calls'] }),
    ];
    const made: string[] = [];
    for (const departmentId of [null, sales.id, null]) {
      const { id } = await service.chat(here);
      if (departmentId !== null)
        await service.post(`/conversations/${id}/assign-to-department`, { departmentId }, here.token);
      await service.post(`/conversations/${id}/spam`, undefined, here.token);
      made.unshift(id);
      service.clock.advance(1000);
    }
    await service.chat(here);
    const spam = async (token: string, query = '') => {
      const { body } = await service.get(`/conversations/spam${query}`, token);
      return { ids: body.conversations.map(({ id }: { id: string }) => id), nextCursor: body.nextCursor };
    };
    t.strictSame((await spam(here.token)).ids, made);
    t.strictSame((await spam(seller.token)).ids, made);
    t.strictSame((await spam(guest.token)).ids, [made[0], made[2]]);
    t.strictSame((await spam(caller.token)).ids, []);
    t.strictSame((await spam(stranger.token)).ids, []);
    const first = await spam(here.token, '?limit=2');
    t.strictSame(first.ids, made.slice(0, 2));
    t.strictSame(
      (await spam(here.token, `?limit=2&cursor=${encodeURIComponent(first.nextCursor)}`)).ids,
      made.slice(2),
    );
    t.match(await service.get('/conversations/spam?limit=0', here.token), {
      status: 400,
      body: { error: 'invalid_query' },
    });
  });

  t.test('[4.12] visitors by their ids: existing ones of this workspace', async (t) => {
    const [kim, lee] = [
      await service.customer(owner.embedId, { name: 'Kim', email: 'kim@example.org' }),
      await service.customer(owner.embedId),
    ];
    const theirs = await service.customer(stranger.embedId);
    const ids = [kim.visitorId, lee.visitorId, theirs.visitorId, randomUUID()];
    const { status, body } = await service.get(`/visitors?ids=${ids.join(',')}`, owner.token);
    t.equal(status, 200);
    t.strictSame(body.visitors.map(({ id }: { id: string }) => id).sort(), [kim.visitorId, lee.visitorId].sort());
    const one = await service.get(`/visitors/${kim.visitorId}`, owner.token);
    t.match(one.body, {
      visitor: { id: kim.visitorId, name: 'Kim', email: 'kim@example.org', currentPageUrl: 'https://shop.example/' },
    });
    t.notOk('visitorToken' in one.body.visitor);
    t.match(await service.get(`/visitors/${theirs.visitorId}`, owner.token), {
      status: 404,
      body: { error: 'not_found' },
    });
    for (const bad of [
      '',
      'ids=',
      'ids=x',
      `ids=${kim.visitorId},`,
      `ids=${Array.from({ length: 51 }, () => randomUUID()).join(',')}`,
    ])
      t.match(
        await service.get(`/visitors?${bad}`, owner.token),
        { status: 400, body: { error: 'invalid_query' } },
        bad,
      );
    t.equal(
      (await service.get(`/visitors?ids=${Array.from({ length: 50 }, () => randomUUID()).join(',')}`, owner.token))
        .status,
      200,
    );
    t.equal((await service.get(`/visitors?ids=${kim.visitorId}`, kim.token)).status, 401);
  });

  t.test("[6] agents receive a visitor's new identity, and a block", async (t) => {
    const kim = await service.customer(owner.embedId);
    const socket = await service.agentSocket(owner.token);
    await service.patch('/widget/visitor', { name: 'Kim' }, kim.token);
    t.match((await socket.next('visitor.updated')).data, {
      visitor: { id: kim.visitorId, name: 'Kim', blockedAt: null },
    });
    await service.post(`/visitors/${kim.visitorId}/block`, undefined, owner.token);
    t.match((await socket.next('visitor.updated')).data, { visitor: { id: kim.visitorId, blockedAt: String } });
  });

  t.test('[4.6] agents receive that a mail was sent', async (t) => {
    const socket = await service.agentSocket(owner.token);
    const { body: ticket } = await service.post(
      '/tickets',
      { customerEmail: 'kim@example.org', subject: 'A parcel', body: 'It is on its way.' },
      owner.token,
    );
    const { data } = await socket.next('message.updated');
    t.match(data.message, { conversationId: ticket.id, deliveryStatus: 'sent', body: 'It is on its way.' });
    t.strictSame(data.message, (await service.messages(ticket.id, owner.token))[0]);
  });
});

t.test('a message that an agent sends again', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const send = (id: string, body: unknown, token = owner.token) =>
    service.post(`/conversations/${id}/messages`, body, token);

  t.test(
    '[4.5] is one message, answered as it was the first time, also when the conversation was solved since',
    async (t) => {
      const chat = await service.chat(owner);
      const messageId = randomUUID();
      const answers = await Promise.all(Array.from({ length: 10 }, () => send(chat.id, { messageId, body: 'Once' })));
      for (const answer of answers)
        t.strictSame({ status: answer.status, body: answer.body }, { status: 201, body: answers[0]?.body });
      await service.post(`/conversations/${chat.id}/status`, { status: 'solved' }, owner.token);
      t.match(await send(chat.id, { messageId, body: 'Once' }), { status: 201, body: { id: messageId, body: 'Once' } });
      t.match(await send(chat.id, { messageId: randomUUID(), body: 'Another' }), {
        status: 409,
        body: { error: 'conversation_archived' },
      });
      t.equal((await service.messages(chat.id, owner.token)).length, 2);
    },
  );

  t.test('[4.6] on a ticket it is mailed once', async (t) => {
    const { body: ticket } = await service.post(
      '/tickets',
      { customerEmail: 'once@example.org', subject: 'A parcel', body: 'It is on its way.' },
      owner.token,
    );
    const messageId = randomUUID();
    await send(ticket.id, { messageId, body: 'It is there.' });
    await send(ticket.id, { messageId, body: 'It is there.' });
    await service.settled();
    t.equal(service.mailCount('once@example.org'), 2);
  });

  t.test("[4.5] an id that is another message's, or none", async (t) => {
    const chat = await service.chat(owner);
    const [theirs] = await service.messages(chat.id, owner.token);
    const ann = await service.agent(owner, { role: 'supervisor' });
    const { body: mine } = await send(chat.id, { body: 'Mine' });
    const other = await service.chat(owner);
    t.match(
      await send(chat.id, { messageId: theirs.id, body: 'x' }),
      { status: 409, body: { error: 'conflict' } },
      "a customer's",
    );
    t.match(
      await send(chat.id, { messageId: mine.id, body: 'x' }, ann.token),
      { status: 409, body: { error: 'conflict' } },
      "another agent's",
    );
    t.match(
      await send(other.id, { messageId: mine.id, body: 'x' }),
      { status: 409, body: { error: 'conflict' } },
      'of another conversation',
    );
    t.match(await send(chat.id, { messageId: 'x', body: 'x' }), { status: 400, body: { error: 'invalid_body' } });
  });
});
