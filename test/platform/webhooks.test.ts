// Webhooks from an event to its receiver: the payload, the signature, the order, and what happens if the receiver
// refuses it.

import { basename } from 'node:path';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import t from 'tap';
import { webhookEventTypes } from '../../engine/events.ts';
import { contentsIn } from '../support/folder.ts';
import { DnsZone } from '../support/mail-servers.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type Received, Receiver } from '../support/receiver.ts';
import { type Service, startService } from '../support/service.ts';

const env = { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: '1' };
const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const idOf = ({ headers }: Received): string => String(headers['webhook-id']);
const bodiesOf = (received: readonly Received[]): string[] => received.map(({ body }) => body.data.message.body);

/** As a receiver verifies with the reference library, at the service's time. */
function verify(secret: string, { text, headers }: Received, nowMs: number): unknown {
  const realNow = Date.now;
  Date.now = () => nowMs;
  try {
    return new Webhook(secret).verify(text, headers as Record<string, string>);
  } finally {
    Date.now = realNow;
  }
}

async function subscribe(
  service: Service,
  token: string,
  receiver: Receiver,
  events: readonly string[] = ['message.created'],
): Promise<{ id: string; secret: string }> {
  const { status, body } = await service.post('/webhooks', { url: receiver.url, events }, token);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
}

const deliveriesOf = async (service: Service, token: string, webhookId: string): Promise<any[]> =>
  (await service.get(`/webhooks/${webhookId}/deliveries?limit=200`, token)).body.deliveries;

t.test('[6] the content of a delivery', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const receiver = await Receiver.start(t);
  const { id, secret } = await subscribe(service, owner.token, receiver);
  const chat = await service.chat(owner, 'Grüße 🎉');
  const [received] = await receiver.count(1);
  if (received === undefined) return;
  await service.settled();

  t.test('[6] is the event, as on the sockets', async (t) => {
    t.match(received, {
      path: '/hook',
      headers: { 'content-type': 'application/json', 'user-agent': /^Switchboard-Webhooks/ },
      body: {
        type: 'message.created',
        workspaceId: owner.workspaceId,
        conversationId: chat.id,
        seq: Number,
        timestamp: new Date(service.clock.now()).toISOString(),
        data: { message: { body: 'Grüße 🎉', senderType: 'visitor' } },
      },
    });
  });

  t.test('[6] is signed by Standard Webhooks: the reference library accepts it', async (t) => {
    t.match(verify(secret, received, service.clock.now()), received.body);
    t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  t.test('[6] and nothing else passes: another secret, id, time or body, a replay', async (t) => {
    const { headers, text } = received;
    const wrong: [string, string, Received, number][] = [
      ['another secret', `whsec_${Buffer.alloc(32, 1).toString('base64')}`, received, 0],
      ['another id', secret, { ...received, headers: { ...headers, 'webhook-id': 'x' } }, 0],
      [
        'another time',
        secret,
        { ...received, headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) } },
        0,
      ],
      ['another body', secret, { ...received, text: text.replace('🎉', '💣') }, 0],
      ['no signature', secret, { ...received, headers: { ...headers, 'webhook-signature': 'v1,' } }, 0],
      ['six minutes later', secret, received, 6 * minuteMs],
    ];
    for (const [title, key, forged, laterMs] of wrong)
      t.throws(() => verify(key, forged, service.clock.now() + laterMs), WebhookVerificationError, title);
  });

  t.test('[decisions, Secrets at rest] the secret is in no file', async (t) => {
    for (const [path, bytes] of contentsIn(service.dataDir)) t.notOk(bytes.includes(secret.slice(6)), basename(path));
  });

  t.test('[4.2] the log has it', async (t) => {
    t.match(await deliveriesOf(service, owner.token, id), [
      {
        id: idOf(received),
        event: 'message.created',
        status: 'delivered',
        attempts: 1,
        lastAnswer: 'answered 204',
        nextAttemptAt: null,
        deliveredAt: String,
        lastAttemptAt: String,
      },
    ]);
  });
});

t.test('[4.2] who receives what', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();

  t.test('[4.2] every event of the catalogue can be subscribed to, one by one or all', async (t) => {
    for (const event of [...webhookEventTypes, '*']) {
      const { status, body } = await service.post(
        '/webhooks',
        { url: 'https://example.com/', events: [event] },
        owner.token,
      );
      t.match({ status, body }, { status: 201, body: { events: [event], status: 'active', description: null } }, event);
      await service.delete(`/webhooks/${body.id}`, owner.token);
    }
    for (const events of [[], ['typing'], ['message.deleted'], ['resync'], 'message.created'])
      t.match(await service.post('/webhooks', { url: 'https://example.com/', events }, owner.token), {
        status: 400,
        body: { error: 'invalid_body' },
      });
  });

  t.test('[4.2] each receives its events, once, and none of another workspace', async (t) => {
    const [notes, all] = [await Receiver.start(t), await Receiver.start(t)];
    await subscribe(service, owner.token, notes, ['note.created', 'note.created', 'note.deleted']);
    await subscribe(service, owner.token, all, ['*', 'note.created']);
    const socket = await service.agentSocket(owner.token);
    const next = await service.workspace();
    await service.chat(next);
    const chat = await service.chat(owner);
    await service.post(`/conversations/${chat.id}/notes`, { body: 'x' }, owner.token);
    await service.settled();
    t.same(
      notes.received.map(({ body }) => body.type),
      ['note.created'],
    );
    const told = all.received.map(({ body }) => body).sort((a, b) => a.seq - b.seq);
    t.ok(told.length >= 3 && told.every(({ workspaceId }) => workspaceId === owner.workspaceId));
    const frames = await socket.flushed();
    for (const { seq, type, data } of told)
      t.match(
        frames.find((frame) => frame.seq === seq),
        { seq, type, data },
        `${type} ${seq}`,
      );
    await socket.close();
  });

  t.test('[5.14] a key receives what it could read, and no more', async (t) => {
    const keyWith = async (...scopes: string[]): Promise<string> =>
      (await service.post('/api-keys', { name: 'x', scopes: ['webhooks:write', ...scopes] }, owner.token)).body.key;
    const rows: [events: string[], scopes: string[], missing: string | undefined][] = [
      [['message.created'], [], 'messages:read'],
      [['message.created', 'message.read'], ['messages:read'], undefined],
      [['message.created', 'note.created'], ['messages:read'], 'conversations:read'],
      [['conversation.updated', 'assignment.pending', 'note.deleted'], ['conversations:read'], undefined],
      [['agent.updated'], ['conversations:read'], 'agents:read'],
      [['visitor.online'], ['messages:read'], 'visitors:read'],
      [['*'], ['messages:read', 'conversations:read'], 'agents:read'],
    ];
    for (const [events, scopes, missing] of rows) {
      const answer = await service.post('/webhooks', { url: 'https://example.com/', events }, await keyWith(...scopes));
      if (missing === undefined) t.equal(answer.status, 201, events.join());
      else
        t.match(
          answer,
          { status: 403, body: { error: 'insufficient_scope', detail: { scope: missing } } },
          events.join(),
        );
    }
    const all = (await service.post('/api-keys', { name: 'x', scopes: ['*'] }, owner.token)).body.key;
    t.equal((await service.post('/webhooks', { url: 'https://example.com/', events: ['*'] }, all)).status, 201);
  });

  t.test('[8] at most 50', async (t) => {
    const crowded = await service.workspace();
    for (let count = 0; count < 50; count += 1)
      t.equal(
        (await service.post('/webhooks', { url: 'https://example.com/', events: ['*'] }, crowded.token)).status,
        201,
      );
    t.match(await service.post('/webhooks', { url: 'https://example.com/', events: ['*'] }, crowded.token), {
      status: 422,
      body: { error: 'semantic_error', detail: { maxWebhooks: 50 } },
    });
  });

  t.test('[4.2] making and ending one is audited, without the secret', async (t) => {
    const { body } = await service.post(
      '/webhooks',
      { url: 'https://example.com/a', events: ['*'], description: 'For the shop' },
      owner.token,
    );
    t.equal((await service.delete(`/webhooks/${body.id}`, owner.token)).status, 204);
    t.equal((await service.delete(`/webhooks/${body.id}`, owner.token)).status, 404);
    t.equal((await service.get(`/webhooks/${body.id}/deliveries`, owner.token)).status, 404);
    const { entries } = (await service.get('/workspace/audit-log?limit=2', owner.token)).body;
    t.match(entries, [
      { action: 'webhook.deleted', targetId: body.id },
      {
        action: 'webhook.created',
        targetId: body.id,
        after: { url: 'https://example.com/a', description: 'For the shop' },
      },
    ]);
    t.notMatch(JSON.stringify(entries), body.secret);
    t.notMatch(JSON.stringify((await service.get('/webhooks', owner.token)).body), body.secret);
  });
});

t.test('[decisions, Slugs] addresses', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const receiver = await Receiver.start(t);
  const subscribeTo = (url: unknown) => service.post('/webhooks', { url, events: ['*'] }, owner.token);

  t.test('[decisions, Slugs] a private address is forbidden_url', async (t) => {
    const urls = [
      receiver.url,
      'http://localhost/',
      'http://LOCALHOST:80/',
      'https://10.0.0.1/',
      'https://192.168.1.1/',
      'https://172.16.0.1/',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/',
      'https://[fd00::1]/',
      'https://[::ffff:10.0.0.1]/',
      'http://2130706433/',
      'http://0x7f.1/',
      'https://db.internal/',
      'https://printer.local/',
      'https://0.0.0.0/',
      'https://100.64.0.1/',
    ];
    for (const url of urls) t.match(await subscribeTo(url), { status: 400, body: { error: 'forbidden_url' } }, url);
  });

  t.test('anything but a web address is invalid_body', async (t) => {
    for (const url of [
      '',
      'x',
      'ftp://example.com/',
      'https://',
      'file:///etc/passwd',
      'https://user:secret@93.184.215.14/',
      7,
      null,
    ])
      t.match(await subscribeTo(url), { status: 400, body: { error: 'invalid_body' } }, String(url));
  });

  t.test(
    '[decisions, Slugs] a name that leads inside later is not followed there: the address is checked when it is called',
    async (t) => {
      const zone = await DnsZone.start(t);
      const service = await startService(t, { env: { RATE_LIMITS: 'off', DNS_SERVERS: zone.address } });
      const owner = await service.workspace();
      const url = `http://hooks.example:${new URL(receiver.url).port}/`;
      zone.add({ type: 'A', name: 'hooks.example', value: '93.184.215.14' });
      const { id } = (await service.post('/webhooks', { url, events: ['message.created'] }, owner.token)).body;
      zone.remove('hooks.example', 'A');
      zone.add({ type: 'A', name: 'hooks.example', value: '127.0.0.1' });
      await service.chat(owner);
      await service.settled();
      t.match(await deliveriesOf(service, owner.token, id), [
        { status: 'pending', attempts: 1, lastAnswer: /not a public host|no answer/ },
      ]);
      t.equal(receiver.received.length, 0);
      t.match(
        await service.post('/webhooks', { url, events: ['*'] }, owner.token),
        { status: 400, body: { error: 'forbidden_url' } },
        'by now it would not be taken either',
      );
      zone.add({ type: 'A', name: 'hooks.example', value: '93.184.215.14' });
      t.match(
        await service.post('/webhooks', { url, events: ['*'] }, owner.token),
        { status: 400, body: { error: 'forbidden_url' } },
        'one address inside is enough',
      );
    },
  );
});

t.test('[4.2] a receiver that does not take it', async (t) => {
  const service = await startService(t, { env, clock: new ManualClock(), random: () => 0 });
  const owner = await service.workspace();
  const receiver = await Receiver.start(t);
  const { id, secret } = await subscribe(service, owner.token, receiver);

  t.test('[4.2] is retried under the same id for a day, signed each time, then it is failed', async (t) => {
    receiver.answer = () => 500;
    await service.chat(owner, 'never taken');
    const begunMs = service.clock.now();
    await receiver.count(1);
    await service.settled();
    for (const [index, pauseMs] of [
      5 * secondMs,
      5 * minuteMs,
      30 * minuteMs,
      2 * hourMs,
      5 * hourMs,
      8 * hourMs,
      8 * hourMs,
    ].entries()) {
      const [pending] = await deliveriesOf(service, owner.token, id);
      t.match(pending, {
        status: 'pending',
        attempts: index + 1,
        lastAnswer: 'answered 500',
        nextAttemptAt: new Date(service.clock.now() + pauseMs).toISOString(),
      });
      await service.pass(pauseMs - 1);
      t.equal(receiver.received.length, index + 1, 'not before its time');
      await service.pass(1);
      t.equal(receiver.received.length, index + 2);
    }
    t.match((await deliveriesOf(service, owner.token, id))[0], {
      status: 'failed',
      attempts: 8,
      nextAttemptAt: null,
      deliveredAt: null,
    });
    t.ok(service.clock.now() - begunMs > 23 * hourMs && service.clock.now() - begunMs <= dayMs);
    await service.pass(dayMs);
    t.equal(receiver.received.length, 8, 'and nothing more');
    t.equal(new Set(receiver.received.map(idOf)).size, 1);
    t.equal(new Set(receiver.received.map(({ text }) => text)).size, 1, 'the same bytes');
    t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-timestamp'])).size, 8);
    for (const received of receiver.received)
      t.ok(verify(secret, received, Number(received.headers['webhook-timestamp']) * 1000));
  });

  t.test('[4.2] can be sent to again by hand, under the same id', async (t) => {
    receiver.answer = () => 200;
    const [failed] = await deliveriesOf(service, owner.token, id);
    const before = receiver.received.length;
    t.match(await service.post(`/webhooks/${id}/deliveries/${failed.id}/retry`, undefined, owner.token), {
      status: 200,
      body: { id: failed.id, status: 'pending' },
    });
    await service.settled();
    t.match((await deliveriesOf(service, owner.token, id))[0], {
      id: failed.id,
      status: 'delivered',
      attempts: 9,
      lastAnswer: 'answered 200',
    });
    t.match(
      await service.post(`/webhooks/${id}/deliveries/${failed.id}/retry`, undefined, owner.token),
      { status: 200 },
      'also removed ones',
    );
    await service.settled();
    t.same(receiver.received.slice(before).map(idOf), [failed.id, failed.id]);
    const { body: other } = await service.post(
      '/webhooks',
      { url: receiver.url, events: ['note.created'] },
      owner.token,
    );
    t.equal(
      (await service.post(`/webhooks/${other.id}/deliveries/${failed.id}/retry`, undefined, owner.token)).status,
      404,
      'it does not exist for another webhook',
    );
  });

  t.test('[4.2] a pending one is sent now on request', async (t) => {
    receiver.answer = () => 503;
    await service.chat(owner, 'impatient');
    await service.settled();
    const [waiting] = await deliveriesOf(service, owner.token, id);
    t.match(waiting, { status: 'pending', attempts: 1 });
    receiver.answer = () => 200;
    await service.post(`/webhooks/${id}/deliveries/${waiting.id}/retry`, undefined, owner.token);
    await service.settled();
    t.match((await deliveriesOf(service, owner.token, id))[0], { id: waiting.id, status: 'delivered', attempts: 2 });
    await service.pass(dayMs);
    t.equal(receiver.received.filter((one) => idOf(one) === waiting.id).length, 2, 'and not again when its time comes');
  });

  t.test('[4.2] only 2xx counts; redirects are not followed', async (t) => {
    const elsewhere = await Receiver.start(t);
    for (const status of [200, 201, 202, 204, 299]) {
      receiver.answer = () => status;
      await service.chat(owner);
      await service.settled();
      t.match((await deliveriesOf(service, owner.token, id))[0], {
        status: 'delivered',
        lastAnswer: `answered ${status}`,
      });
    }
    for (const answer of [300, 302, 307, 400, 404, 429, 500]) {
      receiver.answer = () => ({ status: answer, headers: { Location: elsewhere.url } });
      await service.chat(owner);
      await service.settled();
      t.match((await deliveriesOf(service, owner.token, id))[0], {
        status: 'pending',
        lastAnswer: `answered ${answer}`,
      });
    }
    t.equal(elsewhere.received.length, 0);
  });
});

t.test('[4.2] order', async (t) => {
  const service = await startService(t, { env, random: () => 0 });
  const owner = await service.workspace();
  const receiver = await Receiver.start(t);
  await subscribe(service, owner.token, receiver);
  const [stuck, free] = [await service.chat(owner, 'stuck 0'), await service.chat(owner, 'free 0')];
  await service.settled();

  t.test('[4.2] later events of a conversation wait for earlier ones; other conversations do not', async (t) => {
    receiver.received.length = 0;
    receiver.answer = ({ body }) => (body.data.message.body === 'stuck 1' ? 500 : 204);
    for (const [chat, name] of [
      [stuck, 'stuck'],
      [free, 'free'],
    ] as const)
      for (const count of [1, 2, 3])
        await service.post(`/conversations/${chat.id}/messages`, { body: `${name} ${count}` }, owner.token);
    await service.settled();
    t.same(bodiesOf(receiver.received).sort(), ['free 1', 'free 2', 'free 3', 'stuck 1']);
    receiver.answer = () => 204;
    await service.pass(5 * secondMs);
    t.same(
      bodiesOf(receiver.received).filter((body) => body.startsWith('stuck')),
      ['stuck 1', 'stuck 1', 'stuck 2', 'stuck 3'],
    );
    t.same(
      bodiesOf(receiver.received).filter((body) => body.startsWith('free')),
      ['free 1', 'free 2', 'free 3'],
    );
  });

  t.test('[4.2] a hundred messages of ten conversations concurrently, each conversation in order', async (t) => {
    receiver.received.length = 0;
    let failures = 0;
    receiver.answer = () => ((failures += 1) % 7 === 0 ? 503 : 204);
    const chats = await Promise.all(Array.from({ length: 10 }, () => service.chat(owner, 'first')));
    for (let count = 0; count < 10; count += 1)
      await Promise.all(
        chats.map((chat) => service.post(`/conversations/${chat.id}/messages`, { body: String(count) }, owner.token)),
      );
    for (let round = 0; round < 20; round += 1) await service.pass(30 * minuteMs);
    for (const chat of chats) {
      const seen = new Set<string>();
      const order = receiver.received
        .filter(({ body }) => body.conversationId === chat.id)
        .filter((one) => !seen.has(idOf(one)) && seen.add(idOf(one)));
      t.same(bodiesOf(order), ['first', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    }
  });
});

t.test('[4.2] a receiver that is down for an hour, while the service restarts, gets every event', async (t) => {
  const clock = new ManualClock();
  const first = await startService(t, { env, clock, random: () => 0 });
  const owner = await first.workspace();
  const receiver = await Receiver.start(t);
  const { id, secret } = await subscribe(first, owner.token, receiver);
  await receiver.goAway();
  const chat = await first.chat(owner, 'before');
  await first.pass(10 * minuteMs);
  await first.stop();
  clock.advance(20 * minuteMs);

  const second = await startService(t, { env, clock, random: () => 0, dataDir: first.dataDir });
  await second.post(`/conversations/${chat.id}/messages`, { body: 'after the restart' }, owner.token);
  await second.pass(30 * minuteMs);
  t.equal(receiver.received.length, 0);
  await receiver.comeBack();
  await second.pass(2 * hourMs);
  t.same(bodiesOf(receiver.received), ['before', 'after the restart']);
  for (const received of receiver.received)
    t.ok(verify(secret, received, Number(received.headers['webhook-timestamp']) * 1000));
  t.same(
    (await deliveriesOf(second, owner.token, id)).map(({ status }) => status),
    ['delivered', 'delivered'],
  );
});

t.test("[4.2] a receiver that never answers holds up neither mail nor another workspace's receiver", async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const other = await service.workspace();
  const [silent, lively] = [await Receiver.start(t), await Receiver.start(t)];
  silent.answer = () => 'never';
  await subscribe(service, owner.token, silent);
  await subscribe(service, other.token, lively);
  for (let count = 0; count < 20; count += 1) await service.chat(owner);
  await silent.count(4);
  await service.post('/agents/invite', { email: 'new@example.com', name: 'New', role: 'agent' }, owner.token);
  t.match(await service.mail('new@example.com'), { subject: /^Join/ });
  await service.chat(other);
  await lively.count(1);
  t.equal(silent.received.length, 4, 'which gets four connections at once, and no more');
  await silent.goAway();
});

t.test('[4.2] five days of failing', async (t) => {
  const service = await startService(t, { env: { ...env, TOKEN_TTL_DAYS: '365' }, random: () => 0 });
  const owner = await service.workspace();
  const receiver = await Receiver.start(t);
  receiver.answer = () => 500;
  const statusOf = async (id: string) =>
    (await service.get('/webhooks', owner.token)).body.webhooks.find((one: { id: string }) => one.id === id).status;
  const { id } = await subscribe(service, owner.token, receiver);
  await service.chat(owner);
  await service.settled();

  t.test('[4.2] one accepted delivery starts the five days again', async (t) => {
    await service.pass(4 * dayMs);
    receiver.answer = () => 204;
    await service.chat(owner);
    await service.settled();
    await service.pass(2 * dayMs);
    t.equal(await statusOf(id), 'active');
    receiver.answer = () => 500;
    await service.chat(owner);
    await service.settled();
  });

  t.test('[4.2] then it is disabled, with an audit entry', async (t) => {
    await service.pass(5 * dayMs - 1);
    t.equal(await statusOf(id), 'active');
    await service.pass(1);
    t.equal(await statusOf(id), 'disabled');
    const { entries } = (await service.get('/workspace/audit-log?limit=1', owner.token)).body;
    t.match(entries, [
      { actorAgentId: null, action: 'webhook.disabled', targetId: id, context: { failingSince: String } },
    ]);
  });

  t.test('[4.2] and nothing more is sent, not even by hand', async (t) => {
    receiver.received.length = 0;
    await service.chat(owner);
    await service.pass(dayMs);
    t.equal(receiver.received.length, 0);
    const [last] = await deliveriesOf(service, owner.token, id);
    t.match(await service.post(`/webhooks/${id}/deliveries/${last.id}/retry`, undefined, owner.token), {
      status: 409,
      body: { error: 'conflict' },
    });
  });

  t.test('[4.2] deliveries pending when it was disabled or deleted are not sent', async (t) => {
    receiver.answer = () => 500;
    const { id: deleted } = await subscribe(service, owner.token, receiver);
    await service.chat(owner);
    await service.settled();
    const before = receiver.received.length;
    await service.delete(`/webhooks/${deleted}`, owner.token);
    await service.pass(dayMs);
    t.equal(receiver.received.length, before);
    t.equal(service.running.services.engine.figures.outboxUnderWay, 0);
  });

  t.test('[4.2] the log is kept for seven days', async (t) => {
    receiver.answer = () => 204;
    const { id: other } = await subscribe(service, owner.token, receiver);
    await service.chat(owner);
    await service.settled();
    t.equal((await deliveriesOf(service, owner.token, other)).length, 1);
    for (let day = 0; day < 9; day += 1) await service.pass(dayMs);
    t.equal((await deliveriesOf(service, owner.token, other)).length, 0);
  });
});
