// Webhooks depend on their creator's rights at the moment of delivery: the admin's, the key's, the grant's, the app's.
// Decisions "Settled after the audit".

import t from 'tap';
import { makeKey } from '../support/keys.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type App, postForm, registerApp, tokensOf } from '../support/oauth.ts';
import { type Received, Receiver } from '../support/receiver.ts';
import { type Person, type Service, startService } from '../support/service.ts';

const env = { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: '1' };
const scope = 'webhooks:write conversations:read messages:read agents:read';
const hourMs = 3600_000;

const typesOf = (received: readonly Received[]): string[] => received.map(({ body }) => body.type);

async function subscribe(
  service: Service,
  token: string,
  receiver: Receiver,
  events: readonly string[] = ['message.created'],
): Promise<string> {
  const { status, body } = await service.post('/webhooks', { url: receiver.url, events }, token);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

const read = async (service: Service, webhookId: string, token: string): Promise<any> =>
  (await service.get(`/webhooks/${webhookId}`, token)).body;

t.test("[decisions, After the audit] an app's webhook", async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();

  /** An app with every scope, allowed by an admin, with a webhook for all its events. */
  const scene = async () => {
    const admin = await service.agent(owner, { role: 'admin' });
    const app = await registerApp(service, owner, { scopes: scope.split(' ') });
    const tokens = await tokensOf(service, app, admin, { scope });
    const receiver = await Receiver.start(t);
    const id = await subscribe(service, tokens.access_token, receiver, [
      'message.created',
      'note.created',
      'conversation.created',
    ]);
    return { admin, app, tokens, receiver, id };
  };
  /** A chat with a note; returns what the receiver got. */
  const happen = async (receiver: Receiver) => {
    const before = receiver.received.length;
    const chat = await service.chat(owner, 'a secret');
    await service.post(`/conversations/${chat.id}/notes`, { body: 'another' }, owner.token);
    await service.settled();
    return typesOf(receiver.received.slice(before)).sort();
  };
  const all = ['conversation.created', 'message.created', 'note.created'];

  t.test('is delivered while nothing has changed', async (t) => {
    const { receiver, id, admin, app } = await scene();
    t.same(await happen(receiver), all);
    t.match(await read(service, id, owner.token), {
      status: 'active',
      pausedReason: null,
      agentId: admin.agentId,
      clientId: app.clientId,
    });
  });

  t.test('not if the agent who allowed it is no longer an admin, and again when it is', async (t) => {
    const { admin, receiver, id } = await scene();
    await service.patch(`/agents/${admin.agentId}`, { role: 'agent', channels: ['calls'] }, owner.token);
    t.same(await happen(receiver), []);
    t.match(await read(service, id, owner.token), { status: 'active', pausedReason: 'admin_left' });
    t.same(
      (await service.get(`/webhooks/${id}/deliveries`, owner.token)).body.deliveries,
      [],
      'nothing is even kept for it',
    );
    await service.patch(`/agents/${admin.agentId}`, { role: 'admin' }, owner.token);
    t.same(await happen(receiver), all);
  });

  t.test('not for what the app no longer registers', async (t) => {
    const { app, receiver } = await scene();
    await service.patch(
      `/oauth-apps/${app.id}`,
      { scopes: ['agents:read', 'webhooks:write', 'conversations:read'] },
      owner.token,
    );
    t.same(await happen(receiver), ['conversation.created', 'note.created']);
    t.notOk('preview' in receiver.received[0]?.body.data.conversation, 'nor of members that need it');
    await service.patch(`/oauth-apps/${app.id}`, { scopes: ['agents:read'] }, owner.token);
    t.same(await happen(receiver), []);
  });

  t.test('not once the grant is revoked, whatever a plain agent allows the app', async (t) => {
    const { app, tokens, receiver, id } = await scene();
    await postForm(service, '/oauth/revoke', {
      token: tokens.refresh_token,
      client_id: app.clientId,
      client_secret: app.clientSecret ?? '',
    });
    t.same(await happen(receiver), []);
    t.match(await read(service, id, owner.token), { pausedReason: 'app_not_allowed' });
    await tokensOf(service, app, await service.agent(owner), { scope: 'agents:read' });
    t.same(await happen(receiver), []);
    await tokensOf(service, app, owner, { scope });
    t.same(await happen(receiver), [], 'nor another admin');
  });

  t.test('cannot be redirected by a key that may not read everything the app may', async (t) => {
    const { id, receiver } = await scene();
    const elsewhere = await Receiver.start(t);
    const key = await makeKey(service, owner, { scopes: ['webhooks:write', 'conversations:read'] });
    t.match(await service.patch(`/webhooks/${id}`, { url: elsewhere.url, events: ['conversation.created'] }, key), {
      status: 403,
      body: { error: 'insufficient_scope', detail: { scope: '*' } },
    });
    t.equal(
      (await service.patch(`/webhooks/${id}`, { url: receiver.url, events: ['conversation.created'] }, key)).status,
      200,
      'a change that keeps its place',
    );
    const forAll = await makeKey(service, owner, { scopes: ['*'] });
    t.equal((await service.patch(`/webhooks/${id}`, { url: elsewhere.url }, forAll)).status, 200);
    t.same(await happen(elsewhere), ['conversation.created']);
  });

  t.test('not when its admin leaves', async (t) => {
    const { admin, receiver } = await scene();
    await service.delete(`/agents/${admin.agentId}`, owner.token);
    t.same(await happen(receiver), []);
  });

  t.test('ends with its app, and its pending deliveries too', async (t) => {
    const { app, receiver, id } = await scene();
    receiver.answer = () => 500;
    t.same(await happen(receiver), ['conversation.created'], 'it was tried and waits, the others behind it');
    await service.delete(`/oauth-apps/${app.id}`, owner.token);
    t.equal((await service.get(`/webhooks/${id}`, owner.token)).status, 404);
    t.same(
      (await service.get('/webhooks', owner.token)).body.webhooks.filter((one: { id: string }) => one.id === id),
      [],
    );
    const { db } = service.running.services.engine.workspace(owner.workspaceId) ?? {};
    t.equal(
      db?.get<{ count: number }>(
        `SELECT count(*) AS count FROM outbox WHERE state = 'queued' AND target LIKE 'webhook:${id}%'`,
      )?.count,
      0,
    );
    t.match((await service.audited('webhook.deleted', owner.token))[0], { targetId: id, actorAgentId: owner.agentId });
    const before = receiver.received.length;
    await service.pass(hourMs);
    t.equal(receiver.received.length, before);
  });

  t.test('of an app that is gone elsewhere is gone with the next event', async (t) => {
    const maker = await service.workspace();
    const app = await registerApp(service, maker, { scopes: scope.split(' ') });
    const dataDir = service.dataDir;
    await service.stop();
    const live = await startService(t, {
      dataDir,
      clock: service.clock,
      env: { ...env, OAUTH_LIVE_APPS: app.clientId },
    });
    const receiver = await Receiver.start(t);
    const id = await subscribe(live, (await tokensOf(live, app, owner, { scope })).access_token, receiver);
    await live.chat(owner);
    await live.settled();
    t.equal(receiver.received.length, 1);
    t.equal((await live.delete(`/oauth-apps/${app.id}`, maker.token)).status, 204);
    await live.chat(owner);
    await live.settled();
    t.equal(receiver.received.length, 1);
    t.equal((await live.get(`/webhooks/${id}`, owner.token)).status, 404);
  });
});

t.test('[decisions, After the audit] a pending delivery is judged when it is sent', async (t) => {
  const service = await startService(t, { env, clock: new ManualClock(), random: () => 0 });
  const owner = await service.workspace();
  const admin = await service.agent(owner, { role: 'admin' });
  const app: App = await registerApp(service, owner, { scopes: scope.split(' ') });
  const { access_token: token } = await tokensOf(service, app, admin, { scope });
  const receiver = await Receiver.start(t);
  const id = await subscribe(service, token, receiver, ['message.created', 'conversation.created']);
  receiver.answer = () => 503;
  await service.chat(owner, 'a secret');
  await service.settled();
  t.equal(receiver.received.length, 1);
  receiver.answer = () => 204;
  await service.patch(`/oauth-apps/${app.id}`, { scopes: ['webhooks:write', 'conversations:read'] }, owner.token);
  await service.pass(5000);
  t.same(typesOf(receiver.received.slice(1)), ['conversation.created'], 'later ones are not sent');
  t.equal(receiver.received[1]?.body.data.conversation.preview, undefined);
  const deliveries = async (): Promise<any[]> =>
    (await service.get(`/webhooks/${id}/deliveries`, owner.token)).body.deliveries;
  const failed = (await deliveries()).find(({ event }) => event === 'message.created');
  t.match(failed, { status: 'failed', lastAnswer: /^not sent/, nextAttemptAt: null });

  t.test('and so is one that is sent again by hand', async (t) => {
    t.equal((await service.post(`/webhooks/${id}/deliveries/${failed.id}/retry`, undefined, owner.token)).status, 200);
    await service.settled();
    t.equal(receiver.received.length, 2, 'the caller may, but the app may not');
    await service.patch(`/agents/${admin.agentId}`, { role: 'supervisor' }, owner.token);
    t.match(await service.post(`/webhooks/${id}/deliveries/${failed.id}/retry`, undefined, owner.token), {
      status: 409,
      body: { error: 'conflict', detail: { pausedReason: 'admin_left' } },
    });
    t.match(await service.post(`/webhooks/${id}/test`, undefined, owner.token), {
      status: 409,
      body: { error: 'conflict' },
    });
  });

  t.test('its receiver is not blamed for it', async (t) => {
    await service.pass(6 * 24 * hourMs);
    const { token: again } = (
      await service.post('/auth/login', { email: owner.email, password: 'correct horse battery staple' })
    ).body;
    t.equal((await read(service, id, again)).status, 'active');
  });
});

t.test("[decisions, After the audit] a workspace's own webhook", async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const happen = async (receiver: Receiver): Promise<number> => {
    const before = receiver.received.length;
    await service.chat(owner);
    await service.settled();
    return receiver.received.length - before;
  };

  t.test('ends with the key that made it, and resumes when an admin takes it over', async (t) => {
    const receiver = await Receiver.start(t);
    const { body: made } = await service.post(
      '/api-keys',
      { name: 'x', scopes: ['webhooks:write', 'messages:read'] },
      owner.token,
    );
    const id = await subscribe(service, made.key, receiver);
    t.equal(await happen(receiver), 1);
    await service.delete(`/api-keys/${made.id}`, owner.token);
    t.equal(await happen(receiver), 0);
    t.match(await read(service, id, owner.token), {
      pausedReason: 'key_revoked',
      agentId: owner.agentId,
      clientId: null,
    });
    t.match(await service.patch(`/webhooks/${id}`, { description: 'Mine now' }, owner.token), {
      status: 200,
      body: { pausedReason: null, description: 'Mine now' },
    });
    t.equal(await happen(receiver), 1);
  });

  t.test('ends when its admin is no longer one', async (t) => {
    const receiver = await Receiver.start(t);
    const admin: Person = await service.agent(owner, { role: 'admin' });
    const id = await subscribe(service, admin.token, receiver);
    t.equal(await happen(receiver), 1);
    await service.patch(`/agents/${admin.agentId}`, { role: 'supervisor' }, owner.token);
    t.equal(await happen(receiver), 0);
    t.match(await read(service, id, owner.token), { pausedReason: 'admin_left' });
    await service.patch(`/webhooks/${id}`, { status: 'active' }, owner.token);
    t.equal(await happen(receiver), 1);
    t.equal((await read(service, id, owner.token)).agentId, owner.agentId);
  });

  t.test('contains no member that its key may not read', async (t) => {
    const receiver = await Receiver.start(t);
    const key = await makeKey(service, owner, { scopes: ['webhooks:write', 'conversations:read'] });
    await subscribe(service, key, receiver, ['conversation.created', 'conversation.updated']);
    t.ok((await happen(receiver)) > 0);
    for (const { body } of receiver.received) t.notOk('preview' in body.data.conversation);
    t.ok('subject' in receiver.received[0]?.body.data.conversation, 'the rest exists');
  });

  t.test('of another creator cannot be taken over by a key that may not read its events', async (t) => {
    const receiver = await Receiver.start(t);
    const id = await subscribe(service, owner.token, receiver, ['message.created', 'agent.updated']);
    const key = await makeKey(service, owner, { scopes: ['webhooks:write', 'messages:read'] });
    t.match(await service.patch(`/webhooks/${id}`, { url: receiver.url }, key), {
      status: 403,
      body: { error: 'insufficient_scope', detail: { scope: 'agents:read' } },
    });
    t.equal((await service.patch(`/webhooks/${id}`, { events: ['message.created'] }, key)).status, 200);
  });
});

t.test("[4.21] a test key's webhook only receives test codes", async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  await service.post('/verify/services', { name: 'x' }, owner.token);
  const receiver = await Receiver.start(t);
  const [live, test] = [await makeKey(service, owner), await makeKey(service, owner, { mode: 'test' })];
  t.equal((await service.post('/verify/webhooks', { url: receiver.url }, test)).status, 201);
  for (const key of [live, test]) {
    const { body } = await service.post('/verify', { to: 'kim@example.com', channel: 'email' }, key);
    for (let times = 0; times < 5; times += 1)
      await service.post('/verify/check', { id: body.id, code: '11111111' }, key);
  }
  await service.settled();
  t.same(
    receiver.received.map(({ body }) => body.data.mode),
    ['test'],
  );
});
