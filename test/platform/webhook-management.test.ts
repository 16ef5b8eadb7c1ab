// Managing webhooks: changing and testing one, replacing its secret, seeing deliveries and answers; and the receiver's
// answers that say that it is gone, or when to retry.

import { createHmac } from 'node:crypto';
import t from 'tap';
import { makeKey } from '../support/keys.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type Received, Receiver } from '../support/receiver.ts';
import { startService } from '../support/service.ts';

const env = { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: '1' };
const secondMs = 1000;
const hourMs = 3600 * secondMs;
const nothing = '0194b7a6-1111-7111-8111-111111111111';

for (const { base, types } of [
  { base: '/webhooks', types: ['message.created', 'note.created'] },
  { base: '/verify/webhooks', types: ['verify.failed'] },
]) {
  t.test(`[4.2] changing one of ${base}`, async (t) => {
    const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
    const owner = await service.workspace();
    const { body: made } = await service.post(base, { url: 'https://example.com/a', events: types }, owner.token);
    const { secret: _, ...webhook } = made;
    const change = (fields: unknown, token = owner.token) => service.patch(`${base}/${webhook.id}`, fields, token);

    t.test('address, events, description and status, each separately', async (t) => {
      t.strictSame((await service.get(`${base}/${webhook.id}`, owner.token)).body, webhook);
      for (const fields of [
        { url: 'https://example.com/b' },
        { events: [types[0]] },
        { description: 'For the shop' },
        { description: null },
        { status: 'disabled' },
        { status: 'active' },
      ]) {
        Object.assign(webhook, fields);
        t.strictSame((await change(fields)).body, webhook, JSON.stringify(fields));
      }
      t.match((await service.audited('webhook.updated', owner.token))[0], {
        targetId: webhook.id,
        before: { status: 'disabled' },
        after: { status: 'active' },
      });
      const told = (await service.audited('webhook.updated', owner.token)).length;
      await change({ status: 'active' });
      t.equal((await service.audited('webhook.updated', owner.token)).length, told, 'an unchanged one sends nothing');
    });

    t.test('not to invalid values, nor without access', async (t) => {
      const invalid = base === '/webhooks' ? 'invalid_body' : 'validation_error';
      for (const fields of [
        {},
        { url: 'x' },
        { events: [] },
        { events: ['typing'] },
        { status: 'paused' },
        { description: 7 },
      ])
        t.match(await change(fields), { status: 400, body: { error: invalid } }, JSON.stringify(fields));
      t.match(await change({ url: 'http://127.0.0.1/' }), { status: 400, body: { error: 'forbidden_url' } });
      t.match(await change({ description: 'x' }, (await service.agent(owner, { role: 'supervisor' })).token), {
        status: 403,
        body: { error: 'admin_required' },
      });
      for (const path of ['', '/deliveries', `/deliveries/${nothing}`])
        t.equal((await service.get(`${base}/${nothing}${path}`, owner.token)).status, 404, path);
      for (const path of ['/test', '/rotate-secret', `/deliveries/${nothing}/retry`])
        t.equal((await service.post(`${base}/${nothing}${path}`, {}, owner.token)).status, 404, path);
      t.equal(
        (await service.get(`${base === '/webhooks' ? '/verify/webhooks' : '/webhooks'}/${webhook.id}`, owner.token))
          .status,
        404,
        'each feed has its own',
      );
    });
  });
}

t.test('[4.2] trying one', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const receiver = await Receiver.start(t);
  const { body: webhook } = await service.post(
    '/webhooks',
    { url: receiver.url, events: ['note.created'] },
    owner.token,
  );
  const delivery = async (id: string, token = owner.token): Promise<any> =>
    (await service.get(`/webhooks/${webhook.id}/deliveries/${id}`, token)).body;

  t.test('sends an event without content, and reports the outcome', async (t) => {
    receiver.answer = () => ({ status: 200, headers: {}, body: 'thank you' });
    const { status, body } = await service.post(`/webhooks/${webhook.id}/test`, undefined, owner.token);
    t.match({ status, body }, { status: 201, body: { event: 'webhook.test', status: 'pending' } });
    const [received] = await receiver.count(1);
    t.match(received, {
      headers: { 'webhook-id': body.id, 'webhook-signature': /^v1,/ },
      body: { type: 'webhook.test', workspaceId: owner.workspaceId, data: { webhookId: webhook.id } },
    });
    await service.settled();
    t.match(await delivery(body.id), {
      status: 'delivered',
      lastAnswer: 'answered 200',
      responseBody: 'thank you',
      payload: { type: 'webhook.test', data: { webhookId: webhook.id } },
    });
  });

  t.test('does not queue behind other deliveries', async (t) => {
    receiver.answer = () => 500;
    const chat = await service.chat(owner);
    await service.post(`/conversations/${chat.id}/notes`, { body: 'x' }, owner.token);
    await service.settled();
    receiver.answer = () => 204;
    const count = receiver.received.length;
    await service.post(`/webhooks/${webhook.id}/test`, undefined, owner.token);
    t.equal((await receiver.count(count + 1)).at(-1)?.body.type, 'webhook.test');
  });

  t.test('not on one that is disabled', async (t) => {
    await service.patch(`/webhooks/${webhook.id}`, { status: 'disabled' }, owner.token);
    t.match(await service.post(`/webhooks/${webhook.id}/test`, undefined, owner.token), {
      status: 409,
      body: { error: 'conflict' },
    });
  });
});

t.test('[4.2] payloads and answers', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const receiver = await Receiver.start(t);
  const { body: webhook } = await service.post(
    '/webhooks',
    { url: receiver.url, events: ['message.created', 'conversation.created'] },
    owner.token,
  );
  const logged = async (event: string): Promise<any> =>
    (await service.get(`/webhooks/${webhook.id}/deliveries`, owner.token)).body.deliveries.find(
      (one: { event: string }) => one.event === event,
    );
  const read = async (id: string, token = owner.token): Promise<any> =>
    (await service.get(`/webhooks/${webhook.id}/deliveries/${id}`, token)).body;

  t.test('is shown, the answer by its beginning', async (t) => {
    receiver.answer = ({ text }) => ({ status: 422, headers: {}, body: `no: ${text}${'x'.repeat(5000)}` });
    await service.chat(owner, 'zebracrossing');
    await service.settled();
    const { id } = await logged('conversation.created');
    const shown = await read(id);
    t.match(shown, {
      id,
      status: 'pending',
      lastAnswer: 'answered 422',
      payload: { type: 'conversation.created', data: { conversation: { channel: 'chat' } } },
    });
    t.equal(shown.responseBody.length, 1024);
    t.ok(shown.responseBody.startsWith('no: {"type":"conversation.created"'));
    t.notOk('payload' in (await logged('conversation.created')), 'the list is short');
  });

  t.test('only for callers who may read it: an answer can repeat what was sent', async (t) => {
    receiver.answer = ({ text }) => ({ status: 200, headers: {}, body: text });
    for (const event of ['conversation.created', 'message.created']) {
      await service.post(
        `/webhooks/${webhook.id}/deliveries/${(await logged(event)).id}/retry`,
        undefined,
        owner.token,
      );
      await service.settled();
    }
    const { id } = await logged('message.created');
    t.match(await read(id), {
      status: 'delivered',
      responseBody: /zebracrossing/,
      payload: { data: { message: { body: 'zebracrossing' } } },
    });
    const key = await makeKey(service, owner, { scopes: ['webhooks:write', 'conversations:read'] });
    const shown = await read(id, key);
    t.match(shown, { id, event: 'message.created', status: 'delivered' });
    t.notOk('payload' in shown || 'responseBody' in shown);
    const part = await read((await logged('conversation.created')).id, key);
    t.ok('payload' in part && !('preview' in part.payload.data.conversation) && !('responseBody' in part));
    t.match(await service.get(`/webhooks/${webhook.id}/deliveries/${id}`, (await service.agent(owner)).token), {
      status: 403,
      body: { error: 'admin_required' },
    });
  });

  t.test('a receiver that never ends its answer has answered', async (t) => {
    receiver.answer = () => ({ status: 200, headers: {}, body: 'begun', isEndless: true });
    const { body } = await service.post(`/webhooks/${webhook.id}/test`, undefined, owner.token);
    await service.settled();
    t.match(await read(body.id), { status: 'delivered', responseBody: 'begun' });
  });
});

t.test("[4.2] a receiver's answers", async (t) => {
  const service = await startService(t, { env, clock: new ManualClock(), random: () => 0 });
  const owner = await service.workspace();
  const newest = async (webhookId: string): Promise<any> =>
    (await service.get(`/webhooks/${webhookId}/deliveries`, owner.token)).body.deliveries[0];
  const scene = async () => {
    const receiver = await Receiver.start(t);
    const { body } = await service.post('/webhooks', { url: receiver.url, events: ['message.created'] }, owner.token);
    return { receiver, id: body.id as string };
  };

  t.test('[Standard Webhooks] 410: permanently gone', async (t) => {
    const { receiver, id } = await scene();
    receiver.answer = () => 410;
    await service.chat(owner);
    await service.settled();
    t.match(await newest(id), { status: 'failed', attempts: 1, lastAnswer: 'answered 410', nextAttemptAt: null });
    t.match((await service.get(`/webhooks/${id}`, owner.token)).body, { status: 'disabled' });
    t.match((await service.audited('webhook.disabled', owner.token))[0], {
      targetId: id,
      actorAgentId: null,
      context: { answer: 'answered 410' },
    });
    await service.chat(owner);
    await service.settled();
    t.equal(receiver.received.length, 1);
    receiver.answer = () => 204;
    await service.patch(`/webhooks/${id}`, { status: 'active' }, owner.token);
    await service.chat(owner);
    await service.settled();
    t.equal(receiver.received.length, 2, 'until an admin says otherwise');
  });

  t.test('[RFC 9110 §10.2.3] 429 and 503: when to retry', async (t) => {
    const { receiver, id } = await scene();
    const laterMs = async (status: number, retryAfter: string): Promise<number> => {
      receiver.answer = () => ({ status, headers: { 'Retry-After': retryAfter } });
      await service.chat(owner);
      await service.settled();
      const { nextAttemptAt } = await newest(id);
      receiver.answer = () => 204;
      await service.pass(8 * hourMs);
      return Date.parse(nextAttemptAt) - (service.clock.now() - 8 * hourMs);
    };
    t.equal(await laterMs(429, '120'), 120 * secondMs);
    t.equal(await laterMs(503, '7200'), 2 * hourMs);
    t.equal(await laterMs(429, new Date(service.clock.now() + hourMs).toUTCString()), hourMs, 'as a time');
    t.equal(await laterMs(429, '1'), 5 * secondMs, 'never sooner than the schedule');
    t.equal(await laterMs(429, '999999999'), 8 * hourMs, 'nor for ever');
    for (const odd of ['soon', '-5', '1e3', '']) t.equal(await laterMs(429, odd), 5 * secondMs, JSON.stringify(odd));
    t.equal(await laterMs(500, '120'), 5 * secondMs, 'others say nothing by it');
  });
});

t.test('[4.2] a new secret, with the former one beside it for a while', async (t) => {
  const service = await startService(t, { env, clock: new ManualClock(), random: () => 0 });
  const owner = await service.workspace();
  const receiver = await Receiver.start(t);
  const { body: webhook } = await service.post(
    '/webhooks',
    { url: receiver.url, events: ['message.created'] },
    owner.token,
  );
  const isSigned = ({ headers, text }: Received, secret: string): boolean => {
    const made = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`)
      .digest('base64');
    return String(headers['webhook-signature']).split(' ').includes(`v1,${made}`);
  };
  const next = async (): Promise<Received> => {
    const count = receiver.received.length;
    await service.chat(owner);
    await service.settled();
    const [one] = receiver.received.slice(count);
    if (one === undefined) throw new Error('nothing came');
    return one;
  };
  const rotate = (fields: object = {}) => service.post(`/webhooks/${webhook.id}/rotate-secret`, fields, owner.token);
  const second = await rotate();
  t.match(second, {
    status: 200,
    body: {
      id: webhook.id,
      secret: /^whsec_/,
      formerSecretUntil: new Date(service.clock.now() + 24 * hourMs).toISOString(),
    },
  });
  const both = await next();
  t.same(
    [webhook.secret, second.body.secret].map((secret: string) => isSigned(both, secret)),
    [true, true],
  );
  await service.pass(24 * hourMs);
  const one = await next();
  t.same(
    [webhook.secret, second.body.secret].map((secret: string) => isSigned(one, secret)),
    [false, true],
    'a day later the former is over',
  );
  const third = await rotate({ overlapSeconds: 0 });
  t.match(third.body, { formerSecretUntil: null });
  const last = await next();
  t.same(
    [second.body.secret, third.body.secret].map((secret: string) => isSigned(last, secret)),
    [false, true],
  );
  t.match(await rotate({ overlapSeconds: 8 * 24 * 3600 }), { status: 400 });
  const entries = await service.audited('webhook.secret_rotated', owner.token);
  t.equal(entries.length, 2);
  t.notMatch(JSON.stringify(entries), third.body.secret);
});
