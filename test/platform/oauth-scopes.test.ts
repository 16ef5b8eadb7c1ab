// An app is allowed exactly what is shown: on the consent page, in the token's scope, at the redirect address.

import t from 'tap';
import { appScopes } from '../../engine/platform/oauth-apps.ts';
import { judgeRequest } from '../../engine/platform/oauth-request.ts';
import type { OAuthAppRecord } from '../../store/platform/oauth-apps.ts';
import { authorize, consentOf, decide, exchange, refresh, registerApp, request, tokensOf } from '../support/oauth.ts';
import { password, type Service, startService } from '../support/service.ts';

const nothing = { status: 400 };

t.test('[5.14] scopes', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const agent = await service.agent(owner, { role: 'supervisor' });

  t.test('only an admin can allow webhooks:write, and the page says so', async (t) => {
    const app = await registerApp(service, owner, { scopes: ['webhooks:write', 'agents:read'] });
    const scope = 'webhooks:write agents:read';
    t.match(
      (await authorize(service, request(app, { scope }))).text,
      /Subscribe to events[^<]*only an admin can allow it/,
    );
    const {
      access_token: token,
      scope: granted,
      refresh_token: refreshToken,
    } = await tokensOf(service, app, agent, { scope });
    t.equal(granted, 'agents:read', 'the token has its scope');
    t.match(await service.get('/webhooks', token), {
      status: 403,
      body: { error: 'insufficient_scope', detail: { scope: 'webhooks:write' } },
    });
    t.equal((await refresh(service, app, refreshToken)).body.scope, 'agents:read');
    t.match((await service.audited('oauth_app.authorized', owner.token))[0], {
      actorAgentId: agent.agentId,
      context: { scopes: ['agents:read'] },
    });
    const admins = await tokensOf(service, app, owner, { scope });
    t.equal(admins.scope, scope);
    t.equal((await service.get('/webhooks', admins.access_token)).status, 200);
  });

  t.test('an app that asks for nothing else is not allowed by others', async (t) => {
    const app = await registerApp(service, owner, { scopes: ['webhooks:write'] });
    const { status, text, location } = await decide(service, {
      ...request(app, { scope: 'webhooks:write' }),
      email: agent.email,
      password,
      decision: 'allow',
    });
    t.match({ status, location }, { status: 403, location: undefined });
    t.match(text, 'Only an admin can allow what this app requests.');
  });

  t.test('a token loses it when its admin is no longer one', async (t) => {
    const app = await registerApp(service, owner, { scopes: ['webhooks:write', 'agents:read'] });
    const admin = await service.agent(owner, { role: 'admin' });
    const tokens = await tokensOf(service, app, admin, { scope: 'webhooks:write agents:read' });
    await service.patch(`/agents/${admin.agentId}`, { role: 'agent' }, owner.token);
    t.equal((await refresh(service, app, tokens.refresh_token)).body.scope, 'agents:read');
  });

  t.test('[RFC 6749 §5.1] a refreshed token lacks scopes that the app no longer registers', async (t) => {
    const app = await registerApp(service, owner, { scopes: ['conversations:read', 'messages:read'] });
    const scope = 'conversations:read messages:read';
    const tokens = await tokensOf(service, app, owner, { scope });
    t.equal(tokens.scope, scope);
    const code = await consentOf(service, app, owner, { scope });
    await service.patch(`/oauth-apps/${app.id}`, { scopes: ['messages:read'] }, owner.token);
    t.equal((await exchange(service, app, code)).body.scope, 'messages:read', 'nor a first one');
    t.match(await refresh(service, app, tokens.refresh_token, { scope: 'conversations:read' }), {
      status: 400,
      body: { error: 'invalid_scope' },
    });
    const { body } = await refresh(service, app, tokens.refresh_token);
    t.equal(body.scope, 'messages:read');
    await service.patch(`/oauth-apps/${app.id}`, { scopes: scope.split(' ') }, owner.token);
    t.equal(
      (await refresh(service, app, body.refresh_token)).body.scope,
      scope,
      'a scope registered again was granted all the time',
    );
  });

  t.test('sites are read with agents:read, as its page says, and still with conversations:read', async (t) => {
    const app = await registerApp(service, owner, { scopes: appScopes });
    for (const scope of ['agents:read', 'conversations:read'])
      t.equal(
        (await service.get('/sites', (await tokensOf(service, app, owner, { scope })).access_token)).status,
        200,
        scope,
      );
    t.equal(
      (await service.get('/sites', (await tokensOf(service, app, owner, { scope: 'messages:read' })).access_token))
        .status,
      403,
    );
  });

  t.test('the consent page says what a scope allows', async (t) => {
    const app = await registerApp(service, owner, { scopes: ['ai:invoke'] });
    t.match(
      (await authorize(service, request(app, { scope: 'ai:invoke' }))).text,
      /Draft, summarise and rewrite with the language model/,
    );
    t.equal((await tokensOf(service, app, owner, { scope: 'ai:invoke' })).scope, 'ai:invoke');
  });
});

t.test("[RFC 8252 §7.3] an app on the agent's own machine takes any port", async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const registered = [
    'http://127.0.0.1/callback',
    'http://[::1]:8000/callback?kind=x',
    'http://localhost:3000',
    'https://app.example/callback',
  ];
  const app = await registerApp(service, owner, { redirectUris: registered });
  const asked = (redirectUri: string) => authorize(service, request(app, { redirect_uri: redirectUri }));

  t.test('and gets its code there, for that very address', async (t) => {
    for (const uri of [
      'http://127.0.0.1:51234/callback',
      'http://127.0.0.1/callback',
      'http://[::1]:1/callback?kind=x',
      'http://localhost:65535',
      'http://localhost',
    ]) {
      t.equal((await asked(uri)).status, 200, uri);
      const { status, headers } = await decide(service, {
        ...request(app, { redirect_uri: uri }),
        email: owner.email,
        password,
        decision: 'allow',
      });
      const location = headers.get('location') ?? '';
      t.match(
        { status, location },
        { status: 303, location: new RegExp(`^${uri.replaceAll(/[.?[\]]/g, '\\$&')}[?&]code=`) },
        uri,
      );
      const code = new URL(location).searchParams.get('code') ?? '';
      t.match(
        await exchange(service, app, code, { redirect_uri: 'http://127.0.0.1:51235/callback' }),
        { status: 400, body: { error: 'invalid_grant' } },
        'another port is another address by then',
      );
      t.match(await exchange(service, app, code, { redirect_uri: uri }), { status: 200 }, uri);
    }
  });

  t.test('the port, and nothing else', async (t) => {
    for (const uri of [
      'http://127.0.0.1:51234/other',
      'http://127.0.0.1:51234/callback/',
      'http://127.0.0.1:51234/callback?x=1',
      'http://127.0.0.1:51234',
      'https://127.0.0.1:51234/callback',
      'http://127.0.0.1:0/callback',
      'http://127.0.0.1:65536/callback',
      'http://127.0.0.1:/callback',
      'http://127.0.0.1:80@evil.example/callback',
      'http://127.0.0.1:80.evil.example/callback',
      'http://127.0.0.1.evil.example/callback',
      'http://127.0.0.2:80/callback',
      'http://localhost:3000/callback',
      'http://LOCALHOST:3000',
      'http://localhost:3000#x',
      'http://[::1]:8000/callback',
      'http://[0:0:0:0:0:0:0:1]:8000/callback?kind=x',
      'https://app.example:8443/callback',
      'http://127.0.0.1:51234\\callback',
      'http://127.0.0.1:51234/callback\n',
      'http://user@127.0.0.1:51234/callback',
    ]) {
      const { status, location } = await asked(uri);
      t.match({ status, location }, { ...nothing, location: undefined }, uri);
    }
  });
});

t.test('[RFC 3986] text that cannot be sent back in a header is not an address', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const register = (service: Service, uri: string) =>
    service.post('/oauth-apps', { name: 'x', redirectUris: [uri], scopes: ['agents:read'] }, owner.token);
  for (const code of [
    ...Array.from({ length: 33 }, (_, index) => index),
    0x5c,
    0x7f,
    0x80,
    0x9f,
    0xa0,
    0xfc,
    0x2028,
    0x202e,
    0xfeff,
  ]) {
    const uri = `https://app.example/call${String.fromCodePoint(code)}back`;
    t.match(
      await register(service, uri),
      { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { 'redirectUris.0': [String] } } } },
      `U+${code.toString(16)}`,
    );
  }
  for (const uri of ['https://app.example/caf%C3%A9?a=%00&b=~!$', 'com.example.app:/callback', 'http://[::1]:3000/'])
    t.equal((await register(service, uri)).status, 201, uri);
  const app: OAuthAppRecord = {
    id: 'x',
    clientId: 'x',
    sealedSecret: 'x',
    name: 'x',
    redirectUris: ['https://app.example/a\u0000b', 'https://app.example/'],
    scopes: ['agents:read'],
    createdByAgentId: 'x',
    createdAt: '',
  };
  const kindOf = (redirectUri: string): string =>
    judgeRequest({ redirect_uri: redirectUri, scope: 'agents:read' }, app).kind;
  t.same(app.redirectUris.map(kindOf), ['unusable', 'sound'], 'nor one that was registered when such were taken');
});
