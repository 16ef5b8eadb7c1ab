// Web Push to agents without an open page: from the customer's message to what the browser decrypts.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { putSealedSecret } from '../../store/workspace/sealed-secrets.ts';
import { createSecretBox } from '../../workers/secrets/secret-box.ts';
import { password } from '../support/api.ts';
import { claimLine, ringLine } from '../support/calls.ts';
import { contentsIn } from '../support/folder.ts';
import { type PushBrowser, PushService } from '../support/push-browsers.ts';
import { type Person, type Service, startService } from '../support/service.ts';

const env = { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: '1' };
const minuteMs = 60_000;

async function subscribed(service: Service, pushes: PushService, { token }: { token: string }): Promise<PushBrowser> {
  const { publicKey } = (await service.get('/me/push', token)).body;
  const browser = await pushes.browser(publicKey);
  const { status, body } = await service.post('/me/push', browser.subscription, token);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return browser;
}

const browsersOf = async (service: Service, token: string): Promise<any[]> =>
  (await service.get('/me/push', token)).body.subscriptions;

const force = (service: Service, chat: { id: string; version: number }, by: Person, to: Person) =>
  service.post(
    `/conversations/${chat.id}/assign-to-agent`,
    { agentId: to.agentId, expectedVersion: chat.version, force: true },
    by.token,
  );

t.test('subscribing', async (t) => {
  const service = await startService(t, { env });
  const pushes = await PushService.start(t);
  const owner = await service.workspace();

  t.test('the key is made once, the same for colleagues and another in another workspace', async (t) => {
    const { body } = await service.get('/me/push', owner.token);
    t.match(body, { publicKey: /^B[\w-]{86}$/, subscriptions: [] });
    const colleague = await service.agent(owner);
    t.equal((await service.get('/me/push', colleague.token)).body.publicKey, body.publicKey);
    const other = await service.workspace();
    t.not((await service.get('/me/push', other.token)).body.publicKey, body.publicKey);
  });

  t.test('a browser is listed once, keeps its id, and is deleted by its agent only', async (t) => {
    const browser = await subscribed(service, pushes, owner);
    const [first] = await browsersOf(service, owner.token);
    t.match(first, { id: String, isCurrent: true, endpoint: browser.subscription.endpoint, device: String });
    const again = await service.post('/me/push', browser.subscription, owner.token);
    t.match(again, { status: 201, body: { id: first.id } });
    t.equal((await browsersOf(service, owner.token)).length, 1);
    const colleague = await service.agent(owner);
    t.match(await service.delete(`/me/push/${first.id}`, colleague.token), { status: 404 });
    t.equal((await service.delete(`/me/push/${first.id}`, owner.token)).status, 204);
    t.same(await browsersOf(service, owner.token), []);
    t.match(await service.delete(`/me/push/${first.id}`, owner.token), { status: 404 });
  });

  t.test('an endpoint belongs to whoever subscribed it last', async (t) => {
    const browser = await subscribed(service, pushes, owner);
    const colleague = await service.agent(owner);
    t.equal((await service.post('/me/push', browser.subscription, colleague.token)).status, 201);
    t.same(await browsersOf(service, owner.token), []);
    t.equal((await browsersOf(service, colleague.token)).length, 1);
  });

  t.test('keys that are no keys are refused, and so are other credentials', async (t) => {
    const { subscription } = await pushes.browser('');
    const { keys } = subscription;
    for (const wrong of [
      { ...keys, p256dh: keys.p256dh.slice(1) },
      { ...keys, p256dh: `B${'A'.repeat(86)}` },
      { ...keys, auth: 'x' },
    ])
      t.match(await service.post('/me/push', { ...subscription, keys: wrong }, owner.token), {
        status: 400,
        body: { error: 'invalid_body' },
      });
    const { key } = (await service.post('/api-keys', { name: 'x', scopes: ['*'] }, owner.token)).body;
    t.match(await service.post('/me/push', subscription, key), { status: 403 });
    t.match(await service.get('/me/push'), { status: 401 });
  });
});

t.test('an endpoint must be https and public', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const pushes = await PushService.start(t);
  const owner = await service.workspace();
  const { subscription } = await pushes.browser('');
  const at = (endpoint: string) => service.post('/me/push', { ...subscription, endpoint }, owner.token);
  t.match(await at('http://push.example.com/x'), { status: 400, body: { error: 'invalid_body' } });
  t.match(await at('https://127.0.0.1/x'), { status: 400, body: { error: 'forbidden_url' } });
  t.match(await at('https://169.254.169.254/x'), { status: 400, body: { error: 'forbidden_url' } });
  t.same(await browsersOf(service, owner.token), []);
});

t.test('a push', async (t) => {
  const service = await startService(t, { env });
  const pushes = await PushService.start(t);
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const ofOwner = await subscribed(service, pushes, owner);
  const ofAgent = await subscribed(service, pushes, agent);
  const fresh = async (): Promise<void> => {
    await service.settled();
    for (const { received } of [ofOwner, ofAgent]) received.length = 0;
  };

  t.test('of a chat that no one has reaches everyone who may take it, encrypted and signed', async (t) => {
    const customer = await service.customer(owner.embedId, { name: 'Dana', email: 'dana@example.org' });
    const { body } = await service.post('/widget/conversations', { body: 'Grüße 🎉' }, customer.token);
    await service.settled();
    const { id } = body.conversation;
    const notice = { reason: 'queue', title: 'Dana', body: 'Grüße 🎉', tag: id, url: `/inbox/unassigned/${id}` };
    t.same(ofOwner.notices, [notice]);
    t.same(ofAgent.notices, [notice]);
    t.match(ofOwner.received[0], {
      headers: {
        ttl: /^\d{4,5}$/,
        urgency: 'normal',
        topic: /^[\w-]{32}$/,
        'content-type': 'application/octet-stream',
      },
      claims: { aud: pushes.url, sub: /^mailto:/ },
    });
    const { exp = 0 } = ofOwner.received[0]?.claims ?? {};
    const inSeconds = exp - service.clock.now() / 1000;
    t.ok(inSeconds > 0 && inSeconds <= 24 * 3600, `${inSeconds} s`);
  });

  t.test('of an own chat reaches its assignee alone', async (t) => {
    const chat = await service.chat(owner);
    await force(service, chat, owner, agent);
    await fresh();
    await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'Still there?' }, chat.customer.token);
    await service.settled();
    t.match(ofAgent.notices, [{ reason: 'own_messages', body: 'Still there?', url: `/inbox/mine/${chat.id}` }]);
    t.same(ofOwner.notices, []);
  });

  t.test('does not go to an agent with an open socket, and goes again once it is closed', async (t) => {
    await fresh();
    const socket = await service.agentSocket(agent.token);
    await service.settled();
    const chat = await service.chat(owner);
    await service.settled();
    t.equal(ofOwner.notices.length, 1);
    t.same(ofAgent.notices, []);
    const others = await service.agentSocket(owner.token);
    socket.close();
    await others.next('agent.presence');
    others.close();
    await service.settled();
    await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'Hello?' }, chat.customer.token);
    await service.settled();
    t.match(ofAgent.notices, [{ body: 'Hello?' }]);
  });

  t.test('of an offer reaches its recipient, urgently; one of a conversation given says so', async (t) => {
    const chat = await service.chat(owner);
    await service.post(`/conversations/${chat.id}/read`, undefined, owner.token);
    await fresh();
    const offered = await service.post(
      `/conversations/${chat.id}/assign-to-agent`,
      { agentId: agent.agentId, expectedVersion: chat.version, note: 'Yours?' },
      owner.token,
    );
    await service.settled();
    t.match(ofAgent.received, [
      { headers: { ttl: '30', urgency: 'high' }, notice: { reason: 'offers', body: /offers you this.* Yours\?$/ } },
    ]);
    t.same(ofOwner.notices, []);
    await fresh();
    await force(service, offered.body.conversation, owner, agent);
    await service.settled();
    t.match(ofAgent.notices, [{ reason: 'offers', body: 'This conversation is yours now.' }]);
  });

  t.test('of a call reaches those who could answer, and tells of a missed one', async (t) => {
    const line = await claimLine(service, owner);
    await service.patch(`/phone-numbers/${line.id}`, { voicemailEnabled: false }, owner.token);
    await fresh();
    const call = await ringLine(service, line);
    await service.settled();
    t.match(ofAgent.received, [
      { headers: { urgency: 'high' }, notice: { reason: 'calls', body: 'Is calling now.', url: `/calls/${call.id}` } },
    ]);
    await service.pass(31_000);
    t.match(ofAgent.notices[1], { reason: 'calls', body: 'Missed call.' });
    t.equal(ofOwner.notices.length, 2);
  });

  t.test('of what an agent turned off is not sent', async (t) => {
    await service.patch('/me/notifications', { push: ['own_messages'] }, agent.token);
    await fresh();
    await service.chat(owner);
    await service.settled();
    t.equal(ofOwner.notices.length, 1);
    t.same(ofAgent.notices, []);
    await service.patch('/me/notifications', { push: ['queue', 'own_messages', 'offers', 'calls'] }, agent.token);
  });

  t.test('is not of spam, of what an agent wrote, nor of channels and departments that are not its own', async (t) => {
    const caller = await service.agent(owner, { channels: ['calls'] });
    const ofCaller = await subscribed(service, pushes, caller);
    const chat = await service.chat(owner);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'Hello' }, owner.token);
    await service.settled();
    t.same(ofCaller.notices, []);
    await fresh();
    await service.post(`/conversations/${chat.id}/messages`, { body: 'Hello again' }, owner.token);
    await service.settled();
    t.same([...ofOwner.notices, ...ofAgent.notices], []);
  });

  t.test('is repeated while its service is down, and dropped once someone has looked', async (t) => {
    await fresh();
    pushes.answer = () => 503;
    const chat = await service.chat(owner);
    await service.settled();
    pushes.answer = () => 201;
    await fresh();
    await service.pass(minuteMs);
    t.equal(ofOwner.notices.length, 1);
    pushes.answer = () => 503;
    await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'Well?' }, chat.customer.token);
    await service.settled();
    pushes.answer = () => 201;
    await service.post(`/conversations/${chat.id}/read`, undefined, owner.token);
    await fresh();
    await service.pass(minuteMs);
    t.same([...ofOwner.notices, ...ofAgent.notices], []);
  });

  for (const status of [404, 410]) {
    t.test(`${status} forgets the subscription, another refusal does not`, async (t) => {
      const third = await service.agent(owner);
      await subscribed(service, pushes, third);
      pushes.answer = () => 400;
      await service.chat(owner);
      await service.settled();
      t.equal((await browsersOf(service, third.token)).length, 1);
      pushes.answer = (path) => (path === new URL(ofOwner.subscription.endpoint).pathname ? 201 : status);
      await service.chat(owner);
      await service.settled();
      t.same(await browsersOf(service, third.token), []);
      t.equal((await browsersOf(service, owner.token)).length, 1);
      pushes.answer = () => 201;
      if ((await browsersOf(service, agent.token)).length === 0)
        await service.post('/me/push', ofAgent.subscription, agent.token);
    });
  }

  t.test('ends with its sign-in', async (t) => {
    const login = () => service.post('/auth/login', { email: agent.email, password });
    const [one, two] = [(await login()).body, (await login()).body];
    const ofOne = await subscribed(service, pushes, one);
    const ofTwo = await subscribed(service, pushes, two);
    await service.delete('/me/sessions/current', one.token);
    t.same(
      (await browsersOf(service, two.token)).map(({ endpoint }) => endpoint).sort(),
      [ofAgent.subscription.endpoint, ofTwo.subscription.endpoint].sort(),
    );
    await service.post('/auth/logout', undefined, two.token);
    await fresh();
    await service.chat(owner);
    await service.settled();
    t.same([...ofOne.notices, ...ofTwo.notices, ...ofAgent.notices], []);
    t.equal(ofOwner.notices.length, 1);
    const three = (await login()).body;
    t.same(await browsersOf(service, three.token), []);
  });
});

t.test('a push that was queued when the service stopped leaves after the restart, with the same key', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-push-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const pushes = await PushService.start(t);
  const before = await startService(t, { env, dataDir });
  const owner = await before.workspace();
  const browser = await subscribed(before, pushes, owner);
  const { publicKey } = (await before.get('/me/push', owner.token)).body;
  pushes.answer = () => 500;
  await before.chat(owner);
  await before.settled();
  await before.stop();
  browser.received.length = 0;
  pushes.answer = () => 201;
  const after = await startService(t, { env, dataDir, clock: before.clock });
  t.equal((await after.get('/me/push', owner.token)).body.publicKey, publicKey);
  await after.pass(minuteMs);
  t.match(browser.notices, [{ reason: 'queue' }]);
});

t.test('choices', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const all = ['own_messages', 'queue', 'offers', 'calls'];
  t.same((await service.get('/me/notifications', owner.token)).body, { push: all, mail: [], show: all, sound: all });
  const changed = await service.patch('/me/notifications', { mail: ['calls', 'own_messages'], sound: [] }, owner.token);
  const expected = { push: all, mail: ['own_messages', 'calls'], show: all, sound: [] };
  t.match(changed, { status: 200 });
  t.same(changed.body, expected);
  t.same((await service.get('/me/notifications', owner.token)).body, expected);
  const colleague = await service.agent(owner);
  t.same((await service.get('/me/notifications', colleague.token)).body.mail, []);
  for (const wrong of [{ push: ['everything'] }, { push: 'queue' }, {}, { sms: [] }])
    t.match(await service.patch('/me/notifications', wrong, owner.token), {
      status: 400,
      body: { error: 'invalid_body' },
    });
});

t.test('a key that can no longer be opened is replaced, and browsers subscribe anew', async (t) => {
  const service = await startService(t, { env });
  const pushes = await PushService.start(t);
  const owner = await service.workspace();
  const former = await subscribed(service, pushes, owner);
  const lose = command('test.losePushKey', (ctx, _: object): void => {
    const sealed = createSecretBox('another key of the service, long enough').seal('x', `${ctx.workspaceId}:push`);
    putSealedSecret(ctx.db, { name: 'push', sealed, createdAt: ctx.at });
  });
  const { publicKey } = (await service.get('/me/push', owner.token)).body;
  await service.running.services.engine.execute(lose, {
    workspaceId: owner.workspaceId,
    caller: systemCaller,
    params: {},
  });
  const { status, body } = await service.get('/me/push', owner.token);
  t.equal(status, 200);
  t.not(body.publicKey, publicKey);
  t.same(body.subscriptions, []);
  const browser = await subscribed(service, pushes, owner);
  await service.chat(owner);
  await service.settled();
  t.equal(browser.notices.length, 1);
  t.same(former.notices, []);
});

t.test('the private key is in no file', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  await service.get('/me/push', owner.token);
  const { engine, secrets } = service.running.services;
  const sealed = engine
    .workspace(owner.workspaceId)
    ?.db.get<{ sealed: string }>(`SELECT sealed FROM sealedSecret WHERE name = 'push'`)?.sealed;
  const key = secrets.open(sealed ?? '', `${owner.workspaceId}:push`);
  t.match(key, /^[\w-]{43}$/);
  for (const [path, bytes] of contentsIn(service.dataDir)) t.notOk(bytes.includes(key), basename(path));
});
