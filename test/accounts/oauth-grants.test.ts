// Agents' app grants can be listed and withdrawn, by them and by admins; changes of keys, apps and grants are mailed to
// those concerned.

import t from 'tap';
import { makeKey } from '../support/keys.ts';
import { consentOf, exchange, postForm, refresh, registerApp, tokensOf } from '../support/oauth.ts';
import { Receiver } from '../support/receiver.ts';
import { type Person, password, type Service, startService } from '../support/service.ts';

const works = async (service: Service, token: string): Promise<boolean> =>
  (await service.get('/agents', token)).status === 200;
const grantsOf = async (service: Service, token: string, path = '/me/grants'): Promise<any[]> =>
  (await service.get(path, token)).body.grants;

t.test('[5.14] apps that agents allowed', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: '1' } });
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const app = await registerApp(service, owner, {
    name: 'Desk',
    scopes: ['agents:read', 'conversations:read', 'webhooks:write'],
  });
  const scope = 'agents:read conversations:read';

  t.test('are listed for the agent who allowed them, with their scopes and last use', async (t) => {
    t.same(await grantsOf(service, agent.token), []);
    const tokens = await tokensOf(service, app, agent, { scope });
    const [grant, ...more] = await grantsOf(service, agent.token);
    t.same(more, []);
    t.strictSame(
      { ...grant, id: typeof grant.id },
      {
        id: 'string',
        agentId: agent.agentId,
        clientId: app.clientId,
        appName: 'Desk',
        scopes: ['conversations:read', 'agents:read'],
        createdAt: new Date(service.clock.now()).toISOString(),
        lastUsedAt: null,
      },
    );
    service.clock.advance(90_000);
    t.equal(await works(service, tokens.access_token), true);
    await service.settled();
    t.equal((await grantsOf(service, agent.token))[0].lastUsedAt, new Date(service.clock.now()).toISOString());
    await service.patch(`/oauth-apps/${app.id}`, { scopes: ['agents:read', 'webhooks:write'] }, owner.token);
    t.same((await grantsOf(service, agent.token))[0].scopes, ['agents:read']);
    await service.patch(
      `/oauth-apps/${app.id}`,
      { scopes: ['agents:read', 'conversations:read', 'webhooks:write'] },
      owner.token,
    );
    t.same(await grantsOf(service, owner.token), [], 'not for others');
    t.match(
      await grantsOf(service, owner.token, '/oauth-grants'),
      [{ agentId: agent.agentId, appName: 'Desk' }],
      'admins see those of all',
    );
    t.match(await service.get('/oauth-grants', agent.token), { status: 403, body: { error: 'admin_required' } });
  });

  t.test('are withdrawn: tokens, refresh tokens and codes end at once, with an audit entry', async (t) => {
    const tokens = await tokensOf(service, app, agent, { scope });
    const code = await consentOf(service, app, agent, { scope });
    const [grant] = await grantsOf(service, agent.token);
    t.equal((await service.delete(`/me/grants/${grant.id}`, owner.token)).status, 404, 'not by others');
    t.equal((await service.delete(`/me/grants/${grant.id}`, agent.token)).status, 204);
    t.match(await service.get('/agents', tokens.access_token), { status: 401, body: { error: 'token_revoked' } });
    t.equal((await refresh(service, app, tokens.refresh_token)).status, 401);
    t.match(
      await exchange(service, app, code),
      { status: 400, body: { error: 'invalid_grant' } },
      'nor a code that it was given',
    );
    t.equal((await service.delete(`/me/grants/${grant.id}`, agent.token)).status, 404, 'it is gone');
    t.match((await service.audited('oauth_app.withdrawn', owner.token))[0], {
      actorAgentId: agent.agentId,
      targetKind: 'oauth_grant',
      targetId: grant.id,
      context: { clientId: app.clientId, name: 'Desk', agentId: agent.agentId },
    });
    for (const { id } of await grantsOf(service, agent.token)) await service.delete(`/me/grants/${id}`, agent.token);
    t.same(await grantsOf(service, agent.token), []);
    t.equal(
      await works(service, (await tokensOf(service, app, agent, { scope })).access_token),
      true,
      'until it is allowed again',
    );
  });

  t.test('one consent at a time: another consent to the same app stays', async (t) => {
    const one = await tokensOf(service, app, agent, { scope });
    const [newest] = await grantsOf(service, agent.token);
    const other = await tokensOf(service, app, agent, { scope });
    await service.delete(`/me/grants/${newest.id}`, agent.token);
    t.same([await works(service, one.access_token), await works(service, other.access_token)], [false, true]);
  });

  t.test('also by an admin, and the agent is notified', async (t) => {
    const told = await service.agent(owner);
    const tokens = await tokensOf(service, app, told, { scope });
    t.match((await service.mail(told.email)).subject, 'You allowed an app to act for you');
    const grant = (await grantsOf(service, owner.token, '/oauth-grants')).find(
      ({ agentId }) => agentId === told.agentId,
    );
    t.equal((await service.delete(`/oauth-grants/${grant.id}`, agent.token)).status, 403);
    t.equal((await service.delete(`/oauth-grants/${grant.id}`, owner.token)).status, 204);
    t.equal(await works(service, tokens.access_token), false);
    const { subject, text } = await service.mail(told.email);
    t.match({ subject, text }, { subject: 'An app can no longer act for you', text: /Desk.*By: .*owner/s });
  });

  t.test('with it go its webhooks, unless another consent of the same agent allows them', async (t) => {
    const admin = await service.agent(owner, { role: 'admin' });
    const receiver = await Receiver.start(t);
    const all = 'webhooks:write agents:read';
    const { access_token: token } = await tokensOf(service, app, admin, { scope: all });
    await tokensOf(service, app, admin, { scope: all });
    const { id } = (await service.post('/webhooks', { url: receiver.url, events: ['agent.updated'] }, token)).body;
    const [first, second] = await grantsOf(service, admin.token);
    await service.delete(`/me/grants/${first.id}`, admin.token);
    t.equal((await service.get(`/webhooks/${id}`, owner.token)).status, 200);
    await service.delete(`/me/grants/${second.id}`, admin.token);
    t.equal((await service.get(`/webhooks/${id}`, owner.token)).status, 404);
  });

  t.test('a family that ended by itself is not listed, but audited', async (t) => {
    const lonely = await service.agent(owner);
    const tokens = await tokensOf(service, app, lonely, { scope });
    await refresh(service, app, tokens.refresh_token);
    t.equal((await grantsOf(service, lonely.token)).length, 1, 'a refresh is no other');
    await refresh(service, app, tokens.refresh_token);
    t.same(await grantsOf(service, lonely.token), []);
    t.match((await service.audited('oauth_app.ended', owner.token))[0], {
      actorAgentId: null,
      context: { agentId: lonely.agentId, reason: 'refresh_token_used_twice' },
    });
    const given = await tokensOf(service, app, lonely, { scope });
    await postForm(service, '/oauth/revoke', {
      token: given.refresh_token,
      client_id: app.clientId,
      client_secret: app.clientSecret ?? '',
    });
    t.same(await grantsOf(service, lonely.token), []);
    t.match((await service.audited('oauth_app.ended', owner.token))[0], { context: { reason: 'given_back' } });
    await tokensOf(service, app, lonely, { scope });
    service.clock.jump(91 * 24 * 3600_000);
    const { token } = (await service.post('/auth/login', { email: lonely.email, password })).body;
    t.same(await grantsOf(service, token), [], 'nor one unused for 90 days');
  });

  t.test('of an app that is deleted nothing is listed', async (t) => {
    const { token } = (await service.post('/auth/login', { email: owner.email, password })).body;
    const gone = await registerApp(service, { ...owner, token }, { name: 'Gone', scopes: ['agents:read'] });
    await tokensOf(service, gone, owner, { scope: 'agents:read' });
    t.equal((await grantsOf(service, token)).length, 1);
    await service.delete(`/oauth-apps/${gone.id}`, token);
    t.same(await grantsOf(service, token), []);
  });
});

t.test('[19] new and removed credentials that act as an agent are mailed to it', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const admin = await service.agent(owner, { role: 'admin', name: 'Ann' });
  const next = async (who: Person) => {
    const { subject, text } = await service.mail(who.email);
    return { subject, text };
  };
  const count = (who: Person): number => service.mailCount(who.email);

  t.test('an API key, with its scopes and where it was created', async (t) => {
    const { body } = await service.call('POST', '/api-keys', {
      body: { name: 'Importer', scopes: ['agents:read', 'verify'] },
      token: admin.token,
      headers: { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' },
    });
    const { subject, text } = await next(admin);
    t.equal(subject, 'An API key was created in your name');
    for (const part of [
      'Importer',
      body.prefix,
      '- Read agents, departments, sites and the workspace',
      '- Send and check one-time codes',
      'Firefox',
      '127.0.0.1',
    ])
      t.ok(text.includes(part), part);
    t.notOk(text.includes(body.key.slice(-20)), 'never the key itself');
    await service.delete(`/api-keys/${body.id}`, owner.token);
    t.match(await next(admin), { subject: 'One of your API keys was revoked', text: /Importer.*By: .*owner/s });
    const own = await service.post('/api-keys', { name: 'x', scopes: ['*'] }, admin.token);
    t.match((await next(admin)).text, 'everything that you can do yourself');
    const before = count(admin);
    await service.delete(`/api-keys/${own.body.id}`, admin.token);
    await service.settled();
    t.equal(count(admin), before, "one's own removals send no notice");
  });

  t.test('an app: registered, changed, given another secret, deleted', async (t) => {
    const app = await registerApp(service, admin, { name: 'Desk' });
    t.match(await next(admin), {
      subject: 'An app was registered in your name',
      text: new RegExp(`Desk \\(${app.clientId}\\)`),
    });
    await service.patch(`/oauth-apps/${app.id}`, { redirectUris: ['https://elsewhere.example/'] }, owner.token);
    t.match(await next(admin), { subject: 'One of your apps was changed', text: /elsewhere\.example.*By: /s });
    await service.patch(`/oauth-apps/${app.id}`, { redirectUris: ['https://elsewhere.example/'] }, owner.token);
    await service.post(`/oauth-apps/${app.id}/rotate-secret`, undefined, owner.token);
    t.match(await next(admin), { subject: 'One of your apps has a new secret' }, 'an unchanged one sends nothing');
    await service.delete(`/oauth-apps/${app.id}`, owner.token);
    t.match(await next(admin), { subject: 'One of your apps was deleted' });
  });

  t.test('a consent, with its scopes', async (t) => {
    const app = await registerApp(service, owner, { name: 'Desk', scopes: ['agents:read', 'webhooks:write'] });
    const agent = await service.agent(owner);
    await tokensOf(service, app, agent, { scope: 'agents:read webhooks:write' });
    const { subject, text } = await next(agent);
    t.match({ subject, text }, { subject: 'You allowed an app to act for you', text: /- Read agents/ });
    t.notMatch(text, 'Subscribe to events', 'only past ones');
  });

  t.test('a stopped webhook: every admin is notified', async (t) => {
    const key = await makeKey(service, admin, { scopes: ['webhooks:write', 'agents:read'] });
    await next(admin);
    await service.post('/webhooks', { url: 'https://shop.example/by-key', events: ['agent.updated'] }, key);
    await service.post('/webhooks', { url: 'https://shop.example/by-hand', events: ['agent.updated'] }, admin.token);
    const { apiKeys } = (await service.get('/api-keys', admin.token)).body;
    const owners = count(owner);
    await service.delete(`/api-keys/${apiKeys[0].id}`, admin.token);
    const first = await next(admin);
    t.match(first, { subject: 'A webhook was paused', text: /by-key: the key that created it was revoked/ });
    t.notMatch(first.text, 'by-hand');
    await service.settled();
    t.equal(count(owner), owners + 1);
    await service.patch(`/agents/${admin.agentId}`, { role: 'agent' }, owner.token);
    await service.settled();
    t.equal(count(owner), owners + 2);
    t.match(service.newestMail(owner.email)?.text, /by-hand: its creator is no longer an admin/);
  });
});

t.test('[19] admins are notified of a disabled webhook', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: '1' } });
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const receiver = await Receiver.start(t);
  receiver.answer = () => 410;
  const { id } = (await service.post('/webhooks', { url: receiver.url, events: ['message.created'] }, owner.token))
    .body;
  await service.chat(owner);
  await service.settled();
  t.match(service.newestMail(owner.email), { subject: 'A webhook was disabled', text: /answered 410/ });
  receiver.answer = () => 500;
  await service.patch(`/webhooks/${id}`, { status: 'active' }, owner.token);
  await service.chat(owner);
  await service.settled();
  await service.pass(5 * 24 * 3600_000);
  t.match(service.newestMail(owner.email), {
    subject: 'A webhook was disabled',
    text: /accepted nothing for five days/,
  });
  t.equal(service.mailCount(agent.email), 1, 'and to no one else: that is its invitation');
});
