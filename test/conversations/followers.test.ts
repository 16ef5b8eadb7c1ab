// Who else is kept informed of a conversation: agents who follow it, people who receive copies of its mails.

import t from 'tap';
import { makeKey } from '../support/keys.ts';
import { startService } from '../support/service.ts';

const minuteMs = 60_000;

t.test('followers', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', MAIL_HOST: 'mail.switchboard.test' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  const bob = await service.agent(owner, { name: 'Bob' });
  const chatter = await service.agent(owner, { name: 'Chad', channels: ['chats'] });
  const stranger = await service.workspace();
  const mailbox = await service.mailbox(owner);
  let mails = 0;
  const write = (mail: object = {}) => {
    mails += 1;
    return service.deliver(mailbox, { messageId: `<follow${mails}@customer.example>`, text: `Mail ${mails}`, ...mail });
  };
  const mailed = async () => {
    await write({ from: `Cleo <cleo${mails}@customer.example>`, subject: `Order ${mails}` });
    const ticket = (await service.tickets(owner.token)).at(-1);
    return {
      id: ticket.id as string,
      customer: `cleo${mails - 1}@customer.example`,
      mailId: `<follow${mails}@customer.example>`,
    };
  };
  const record = async (id: string) => (await service.get(`/conversations/${id}`, owner.token)).body.conversation;
  const follow = (id: string, agentId?: string, token = bob.token) =>
    service.post(`/conversations/${id}/followers`, { agentId }, token);
  const unfollow = (id: string, agentId?: string, token = bob.token) =>
    service.delete(`/conversations/${id}/followers${agentId === undefined ? '' : `?agentId=${agentId}`}`, token);

  t.test('an agent follows, adds a colleague, and stops; each change is told and audited', async (t) => {
    const { id } = await mailed();
    const { version } = await record(id);
    const socket = await service.agentSocket(owner.token);
    t.match(await follow(id), { status: 200, body: { conversation: { followerIds: [bob.agentId] } } });
    t.match(await socket.next('conversation.updated'), { data: { conversation: { followerIds: [bob.agentId] } } });
    t.match(await follow(id), { status: 200, body: { conversation: { followerIds: [bob.agentId] } } });
    t.match(await follow(id, ann.agentId), { body: { conversation: { followerIds: [bob.agentId, ann.agentId] } } });
    t.equal((await record(id)).version, version, 'no one decides by the followers');
    t.match((await service.audited('conversation.followers_changed', owner.token))[0], {
      targetId: id,
      before: { followerIds: [bob.agentId] },
      after: { followerIds: [bob.agentId, ann.agentId] },
    });
    t.match(await unfollow(id), { status: 200, body: { conversation: { followerIds: [ann.agentId] } } });
    t.match(await unfollow(id), { status: 200 }, 'again');
    t.match(await unfollow(id, ann.agentId), { status: 200, body: { conversation: { followerIds: [] } } });
    t.equal((await service.audited('conversation.followers_changed', owner.token)).length, 4);
  });

  t.test(
    'a follower is mailed about an unseen message like the assignee, as long as it sees the conversation',
    async (t) => {
      for (const { token } of [ann, bob]) await service.patch('/me/notifications', { mail: ['own_messages'] }, token);
      const { id, customer, mailId } = await mailed();
      await service.post(`/conversations/${id}/take`, {}, ann.token);
      await follow(id);
      const before = service.mailCount(bob.email);
      const again = () =>
        write({ from: `Cleo <${customer}>`, headers: { 'In-Reply-To': mailId }, text: 'Still there?' });
      await again();
      await service.pass(6 * minuteMs);
      t.equal(service.mailCount(bob.email), before + 1);
      t.match(service.newestMail(bob.email), { text: /Still there\?/ });
      await service.post(`/conversations/${id}/read`, {}, ann.token);
      await again();
      await service.post(`/conversations/${id}/read`, {}, ann.token);
      await service.pass(6 * minuteMs);
      t.equal(service.mailCount(bob.email), before + 1, 'what was read is no news');
      await again();
      const socket = await service.agentSocket(bob.token);
      await service.pass(6 * minuteMs);
      t.equal(service.mailCount(bob.email), before + 1, 'nor is what came while it was there');
      await socket.close();
      await service.post(`/conversations/${id}/read`, {}, ann.token);
      const department = (await service.post('/departments', { name: 'Legal' }, owner.token)).body;
      const path = `/conversations/${id}/assign-to-department`;
      await service.post(path, { departmentId: department.id }, owner.token);
      await again();
      await service.pass(6 * minuteMs);
      t.equal(service.mailCount(bob.email), before + 1, 'following gives no access');
      t.match(await service.get(`/conversations/${id}`, bob.token), { status: 403 });
      await service.post(path, { departmentId: null }, owner.token);
      await unfollow(id);
      await again();
      await service.pass(6 * minuteMs);
      t.equal(service.mailCount(bob.email), before + 1, 'and neither does one who stopped');
    },
  );

  t.test('refused: out of reach, who does not see it, an unknown agent, the twenty-first', async (t) => {
    const { id } = await mailed();
    t.match(await follow(id, undefined, chatter.token), { status: 403 });
    t.match(await unfollow(id, undefined, chatter.token), { status: 403 });
    t.match(await follow(id, undefined, stranger.token), { status: 404 });
    t.match(await follow(id, chatter.agentId), { status: 422, body: { error: 'semantic_error' } });
    t.match(await follow(id, stranger.agentId), { status: 404 });
    const gone = await service.agent(owner);
    await service.delete(`/agents/${gone.agentId}`, owner.token);
    t.match(await follow(id, gone.agentId), { status: 422 });
    for (let index = 0; index < 20; index += 1) await follow(id, (await service.agent(owner)).agentId);
    t.match(await follow(id), { status: 422, body: { detail: { maxFollowers: 20 } } });
    t.equal((await record(id)).followerIds.length, 20);
    const key = await service.post('/api-keys', { name: 'k', scopes: ['conversations:read'] }, owner.token);
    t.match(await follow(id, undefined, key.body.key), { status: 403, body: { error: 'insufficient_scope' } });
  });

  t.test('[copies] are changed without a message; the people receive answers and may answer', async (t) => {
    const { id, customer } = await mailed();
    const put = (copiedTo: string[], more: object = {}, token = ann.token, of = id) =>
      service.put(`/conversations/${of}/copied-to`, { copiedTo, ...more }, token);
    const { version } = await record(id);
    t.match(await put(['Dora@customer.example', 'dora@customer.example'], { expectedVersion: version }), {
      status: 200,
      body: { conversation: { copiedTo: ['dora@customer.example'], version } },
    });
    t.match((await service.audited('conversation.copies_changed', owner.token))[0], {
      before: { copiedTo: [] },
      after: { copiedTo: ['dora@customer.example'] },
    });
    await service.post(`/conversations/${id}/messages`, { body: 'To both' }, ann.token);
    await service.settled();
    t.match(service.newestMail('dora@customer.example'), { text: /To both/ });
    await write({ from: 'dora@customer.example', headers: { 'In-Reply-To': `<follow${mails}@customer.example>` } });
    t.match((await service.messages(id, owner.token)).at(-1), { mail: { from: { address: 'dora@customer.example' } } });
    t.match(await put([]), { status: 200, body: { conversation: { copiedTo: [] } } });
    const field = { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { 'copiedTo.0': [String] } } } };
    t.match(await put([customer]), field);
    t.match(await put([mailbox.address]), field);
    t.match(await put(['nonsense']), field);
    t.match(await put(Array.from({ length: 51 }, (_, index) => `x${index}@customer.example`)), { status: 400 });
    t.match(await put([], { expectedVersion: 99 }), { status: 409, body: { error: 'stale_version' } });
    t.match(await put([], {}, chatter.token), { status: 403 });
    t.match(await put([], {}, stranger.token), { status: 404 });
    const scopes = ['conversations:write', 'visitors:read', 'messages:read', 'messages:send'];
    for (const missing of scopes) {
      const key = await makeKey(service, owner, { scopes: scopes.filter((scope) => scope !== missing) });
      const refused = { status: 403, body: { error: 'insufficient_scope', detail: { scope: missing } } };
      t.match(await put(['dora@customer.example'], {}, key), refused);
    }
    t.match(await put([], {}, await makeKey(service, owner, { scopes })), { status: 200 });
    const chat = await service.chat(owner);
    t.match(await put([], {}, owner.token, chat.id), { status: 422, body: { error: 'semantic_error' } });
  });
});
