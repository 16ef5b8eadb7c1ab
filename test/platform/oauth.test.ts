// OAuth: what an app can request, and how codes and tokens are issued, used once, rotated and revoked. RFC 6749, 7009,
// 7636, 8414, 9207.

import t from 'tap';
import { provesPossession } from '../../engine/platform/oauth.ts';
import { appScopes } from '../../engine/platform/oauth-apps.ts';
import { signatureOf } from '../../http/webhooks/sending.ts';
import { callRoute, paramsOf, soundBody, soundQuery } from '../support/endpoints.ts';
import {
  authorize,
  challenge,
  challengeOf,
  consentOf,
  decide,
  exchange,
  postForm,
  redirectUri,
  refresh,
  registerApp,
  request,
  tokensOf,
  verifier,
} from '../support/oauth.ts';
import { type Received, Receiver } from '../support/receiver.ts';
import { password, startService } from '../support/service.ts';

t.test('RFC 7636, appendix B', async (t) => {
  t.equal(challengeOf(verifier), challenge);
  t.equal(provesPossession(challenge, verifier), true);
  const rows: [string | null, string | undefined, boolean][] = [
    [null, undefined, true],
    [null, verifier, false],
    [challenge, undefined, false],
    [challenge, `${verifier}x`, false],
    [challenge, challenge, false],
    [challengeOf('short'), 'short', false],
    [challengeOf('x'.repeat(43)), 'x'.repeat(43), true],
    [challengeOf('x'.repeat(128)), 'x'.repeat(128), true],
    [challengeOf('x'.repeat(129)), 'x'.repeat(129), false],
    [challengeOf('ä'.repeat(43)), 'ä'.repeat(43), false],
  ];
  for (const [given, proof, proves] of rows)
    t.equal(provesPossession(given, proof), proves, String(proof).slice(0, 20));
});

t.test('[decisions 4.2] apps', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const create = (fields: object = {}) =>
    service.post(
      '/oauth-apps',
      { name: 'Reports', redirectUris: [redirectUri], scopes: ['agents:read'], ...fields },
      owner.token,
    );

  t.test('the secret is shown once; a public app has none', async (t) => {
    const { status, body } = await create();
    t.equal(status, 201);
    t.match(body, {
      clientId: /^app_/,
      clientSecret: /^ocs_/,
      status: 'development',
      public: false,
      redirectUris: [redirectUri],
      scopes: ['agents:read'],
    });
    const read = (await service.get(`/oauth-apps/${body.id}`, owner.token)).body;
    t.same(Object.keys(read).sort(), [
      'clientId',
      'createdAt',
      'id',
      'name',
      'public',
      'redirectUris',
      'scopes',
      'status',
    ]);
    t.match(await create({ public: true }), { status: 201, body: { public: true, clientSecret: null } });
    t.equal((await service.get('/oauth-apps', owner.token)).body.oauthApps.length, 2);
  });

  t.test('allowed redirect addresses', async (t) => {
    const good = [
      'https://app.example',
      'https://app.example:8443/cb?x=1',
      'http://localhost:3000/cb',
      'http://127.0.0.1/cb',
      'http://[::1]:9/cb',
      'com.example.app:/callback',
    ];
    const bad = [
      'http://app.example/cb',
      'javascript:alert(1)',
      'data:text/html,x',
      '//app.example',
      '/cb',
      'https://app.example/#x',
      'https://u:p@app.example/',
      'https://app.example/ x',
      'myapp:/cb',
      'https:\\\\app.example',
      'http://localhost.example/cb',
      'ftp://app.example',
      '',
    ];
    for (const uri of good) t.equal((await create({ redirectUris: [uri] })).status, 201, uri);
    for (const uri of bad)
      t.match(
        await create({ redirectUris: ['https://ok.example', uri] }),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { 'redirectUris.1': [String] } } } },
        uri,
      );
    for (const fields of [
      { redirectUris: [] },
      { scopes: [] },
      { scopes: ['verify'] },
      { scopes: ['*'] },
      { name: ' ' },
    ])
      t.match(await create(fields), { status: 400, body: { error: 'invalid_body' } }, JSON.stringify(fields));
  });

  t.test('a rotated secret replaces the former immediately; tokens stay', async (t) => {
    const app = await registerApp(service, owner);
    const tokens = await tokensOf(service, app, owner);
    const { status, body } = await service.post(`/oauth-apps/${app.id}/rotate-secret`, undefined, owner.token);
    t.equal(status, 200);
    t.not(body.clientSecret, app.clientSecret);
    t.match(await refresh(service, app, tokens.refresh_token), { status: 401, body: { error: 'invalid_client' } });
    t.equal((await refresh(service, { ...app, clientSecret: body.clientSecret }, tokens.refresh_token)).status, 200);
    const open = await registerApp(service, owner, { public: true });
    t.match(await service.post(`/oauth-apps/${open.id}/rotate-secret`, undefined, owner.token), {
      status: 422,
      body: { error: 'semantic_error' },
    });
  });

  t.test('removed scopes end immediately; a deleted app has no tokens left; all of it is audited', async (t) => {
    const app = await registerApp(service, owner);
    const { access_token: token, refresh_token: refreshToken } = await tokensOf(service, app, owner, {
      scope: 'agents:read conversations:read',
    });
    t.equal((await service.get('/agents', token)).status, 200);
    t.match(await service.patch(`/oauth-apps/${app.id}`, { scopes: ['conversations:read'] }, owner.token), {
      status: 200,
      body: { scopes: ['conversations:read'] },
    });
    t.match(await service.get('/agents', token), { status: 403, body: { error: 'insufficient_scope' } });
    t.equal((await service.get('/conversations/queue', token)).status, 200);
    t.match(await service.patch(`/oauth-apps/${app.id}`, {}, owner.token), {
      status: 400,
      body: { error: 'invalid_body' },
    });
    t.equal((await service.delete(`/oauth-apps/${app.id}`, owner.token)).status, 204);
    t.match(await service.get('/conversations/queue', token), { status: 401, body: { error: 'token_revoked' } });
    t.match(await refresh(service, app, refreshToken), { status: 401, body: { error: 'invalid_client' } });
    t.match(await authorize(service, request(app)), { status: 400, location: undefined });
    const { entries } = (await service.get('/workspace/audit-log?limit=4', owner.token)).body;
    t.same(
      entries.map(({ action }: { action: string }) => action),
      ['oauth_app.deleted', 'oauth_app.updated', 'oauth_app.authorized', 'oauth_app.created'],
    );
    t.notMatch(JSON.stringify(entries), /ocs_|v1\./);
  });
});

t.test('[RFC 6749 §4.1.1] the request', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const app = await registerApp(service, owner, { name: 'Reports <b>&' });
  const open = await registerApp(service, owner, { public: true });

  t.test('a valid request is a page: no script, no frame, and back to the app only', async (t) => {
    const { status, text, headers } = await authorize(service, request(app));
    t.equal(status, 200);
    t.match(headers.get('content-type'), /^text\/html/);
    const policy = headers.get('content-security-policy') ?? '';
    t.match(policy, /default-src 'none'/);
    t.match(policy, /form-action 'self' https:\/\/app\.example;/);
    t.match(policy, /frame-ancestors 'none'/);
    t.equal(headers.get('referrer-policy'), 'no-referrer');
    t.match(text, 'Reports &lt;b&gt;&amp;');
    t.match(text, 'Read conversations');
    t.match(text, 'value="a state &amp; more"');
    t.notMatch(text, /<script|<b>/);
  });

  t.test('its policy covers the addresses of every kind of app', async (t) => {
    const sources = {
      'http://localhost:3000/cb': 'http://localhost:3000',
      'http://[::1]:3000/cb': 'http:',
      'com.example.app:/cb': 'com.example.app:',
    };
    const many = await registerApp(service, owner, { redirectUris: Object.keys(sources) });
    for (const [uri, source] of Object.entries(sources)) {
      const { headers } = await authorize(service, request(many, { redirect_uri: uri }));
      t.match(headers.get('content-security-policy'), `form-action 'self' ${source};`, uri);
    }
  });

  t.test('[4.2] the four fields of the contract are enough; response_type is code when it is left out', async (t) => {
    const fields = {
      client_id: app.clientId,
      redirect_uri: redirectUri,
      scope: 'conversations:read',
      state: 'a state & more',
    };
    for (const more of [{}, { response_type: '' }])
      t.match(await authorize(service, { ...fields, ...more }), { status: 200, location: undefined, text: /Allow/ });
    service.clock.advance(12_001);
    const { answer } = await decide(service, { ...fields, email: owner.email, password, decision: 'allow' });
    t.match(answer, { code: /^oac_/, state: 'a state & more' });
    t.match(await exchange(service, app, answer['code'] ?? '', { code_verifier: undefined }), {
      status: 200,
      body: { token_type: 'Bearer' },
    });
  });

  t.test('an unknown client or address is shown to the person, and nothing is sent there', async (t) => {
    const rows: [string, Record<string, string | undefined>][] = [
      ['no client', { client_id: undefined }],
      ['an unknown client', { client_id: 'app_x' }],
      ['a client of an unknown workspace', { client_id: `app_${'A'.repeat(22)}x` }],
      ['no address', { redirect_uri: undefined }],
      ['another address', { redirect_uri: 'https://evil.example/callback' }],
      ['an address that begins the same', { redirect_uri: `${redirectUri}&more=1` }],
      ['another case', { redirect_uri: redirectUri.replace('app.example', 'App.example') }],
      ['a dressed-up one', { redirect_uri: 'https://app.example/callback/../callback?kind=x' }],
      ['encoded', { redirect_uri: 'https://app.example/%63allback?kind=x' }],
      ['script addresses', { redirect_uri: 'javascript:alert(1)' }],
      ['a state that no client would read in an address', { state: '😀'.repeat(501) }],
    ];
    for (const [title, fields] of rows) {
      for (const ask of [authorize, decide]) {
        const { status, location, text } = await ask(service, request(app, fields));
        t.match({ status, location }, { status: 400, location: undefined }, title);
        t.match(text, /role="alert"/);
        t.notMatch(text, 'evil.example');
      }
    }
    const twice = await fetch(`${service.url}/oauth/authorize?client_id=${app.clientId}&client_id=${app.clientId}`, {
      redirect: 'manual',
    });
    t.equal(twice.status, 400, 'a parameter that comes twice');
    t.match(twice.headers.get('content-type'), /^text\/html/);
  });

  t.test('any other fault goes back to the app, with its state and ours', async (t) => {
    const rows: [string, typeof app, Record<string, string | undefined>, string][] = [
      ['another response_type', app, { response_type: 'token' }, 'unsupported_response_type'],
      ['no scope', app, { scope: undefined }, 'invalid_scope'],
      ['a blank one', app, { scope: ' ' }, 'invalid_scope'],
      ['an unknown one', app, { scope: 'conversations:read everything' }, 'invalid_scope'],
      ['one that the app did not register', app, { scope: 'messages:send' }, 'invalid_scope'],
      ['a star', app, { scope: '*' }, 'invalid_scope'],
      ['plain PKCE', app, { code_challenge_method: 'plain' }, 'invalid_request'],
      ['PKCE without a method, which would be plain', app, { code_challenge_method: undefined }, 'invalid_request'],
      ['a method without a challenge', app, { code_challenge: undefined }, 'invalid_request'],
      ['an invalid challenge', app, { code_challenge: 'x' }, 'invalid_request'],
      [
        'a public client without PKCE',
        open,
        { code_challenge: undefined, code_challenge_method: undefined },
        'invalid_request',
      ],
    ];
    for (const [title, client, fields, error] of rows) {
      const { status, location, answer } = await authorize(service, request(client, fields));
      t.equal(status, 303, title);
      t.equal(location?.origin, 'https://app.example', title);
      t.match(
        answer,
        { error, state: 'a state & more', iss: 'http://switchboard.test', kind: 'x', error_description: String },
        title,
      );
    }
    t.equal(
      (await authorize(service, request(app, { code_challenge: undefined, code_challenge_method: undefined }))).status,
      200,
      'a client with a secret may do without PKCE',
    );
    t.notOk(
      'state' in (await authorize(service, request(app, { scope: undefined, state: undefined }))).answer,
      'no state, none back',
    );
  });
});

t.test("[RFC 6749 §4.1.2] the agent's answer", async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const gone = await service.agent(owner);
  const stranger = await service.workspace();
  const app = await registerApp(service, owner);
  const answer = (fields: Record<string, string | undefined>) => decide(service, { ...request(app), ...fields });

  t.test('a state of 2,000 characters that all have to be encoded comes back', async (t) => {
    const state = '&'.repeat(2000);
    t.match(await decide(service, request(app, { state })), { status: 303, answer: { state } });
  });

  t.test('allow: back with a code, the state, and the issuer', async (t) => {
    const {
      status,
      location,
      answer: got,
      headers,
    } = await answer({ email: agent.email, password, decision: 'allow' });
    t.equal(status, 303);
    t.match(String(location), /^https:\/\/app\.example\/callback\?kind=x&code=/);
    t.match(got, { code: /^oac_/, state: 'a state & more', iss: 'http://switchboard.test' });
    t.equal(headers.get('cache-control'), 'no-store');
  });

  t.test('deny, or no answer: access_denied, without a password', async (t) => {
    for (const decision of ['deny', undefined])
      t.match((await answer({ decision })).answer, { error: 'access_denied', state: 'a state & more' });
  });

  t.test('a wrong password, an unknown email, an agent that left: the page again', async (t) => {
    await service.delete(`/agents/${gone.agentId}`, owner.token);
    for (const fields of [
      { email: agent.email, password: 'wrong' },
      { email: 'nobody@example.com', password },
      { email: gone.email, password },
      { email: agent.email },
      { password },
    ]) {
      const { status, location, text } = await answer({ ...fields, decision: 'allow' });
      t.match({ status, location }, { status: 401, location: undefined }, JSON.stringify(fields));
      t.match(text, /role="alert">The email or the password is wrong/);
      t.notMatch(text, password);
    }
  });

  t.test("[8] the login's budget of 5 a minute is its own too", async (t) => {
    service.clock.advance(60_000);
    for (let count = 0; count < 3; count += 1)
      t.equal((await answer({ email: agent.email, password: 'wrong', decision: 'allow' })).status, 401);
    for (let count = 0; count < 2; count += 1)
      t.equal((await service.post('/auth/login', { email: agent.email, password: 'wrong' })).status, 401);
    const { status, text, headers } = await answer({ email: agent.email, password, decision: 'allow' });
    t.equal(status, 429);
    t.match(text, /^<!doctype html>/);
    t.equal(headers.get('retry-after'), '60');
    service.clock.advance(60_000);
  });

  t.test('[5.14] in development an app only works in its own workspace; live, in all', async (t) => {
    const refused = await answer({ email: stranger.email, password, decision: 'allow' });
    t.match(refused, { status: 403, location: undefined, text: /in development/ });
    const dataDir = service.dataDir;
    await service.stop();
    const live = await startService(t, {
      dataDir,
      clock: service.clock,
      env: { OAUTH_LIVE_APPS: ` ${app.clientId} ,app_other` },
    });
    t.match((await live.get(`/oauth-apps/${app.id}`, owner.token)).body, { status: 'live' });
    const tokens = await tokensOf(live, app, stranger);
    t.equal(tokens.workspaceId, stranger.workspaceId);
    t.equal((await live.get('/conversations/queue', tokens.access_token)).status, 200);
    await live.stop();
    const again = await startService(t, { dataDir, clock: service.clock });
    t.match(
      await again.get('/conversations/queue', tokens.access_token),
      { status: 401, body: { error: 'token_revoked' } },
      'no longer listed',
    );
    t.match(await refresh(again, app, tokens.refresh_token), { status: 400, body: { error: 'invalid_grant' } });
  });
});

t.test('[RFC 6749 §4.1.3] a code for tokens', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const app = await registerApp(service, owner);
  const other = await registerApp(service, owner);
  const open = await registerApp(service, owner, { public: true });

  t.test("[2] the contract's answer", async (t) => {
    const { status, body, headers } = await exchange(
      service,
      app,
      await consentOf(service, app, agent, { scope: 'conversations:read agents:read' }),
    );
    t.equal(status, 200);
    t.same(body, {
      access_token: body.access_token,
      refresh_token: body.refresh_token,
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'conversations:read agents:read',
      workspaceId: owner.workspaceId,
    });
    t.equal(headers.get('cache-control'), 'no-store');
    t.equal(headers.get('pragma'), 'no-cache');
  });

  t.test('the client by Basic, in the form, or public', async (t) => {
    const basic = (id: string, secret: string) => ({
      Authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
    });
    const fields = async () => ({
      grant_type: 'authorization_code',
      code: await consentOf(service, app, agent),
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });
    t.equal(
      (await postForm(service, '/oauth/token', await fields(), basic(app.clientId, app.clientSecret ?? ''))).status,
      200,
    );
    const wrong = await postForm(service, '/oauth/token', await fields(), basic(app.clientId, 'wrong'));
    t.match(wrong, { status: 401, body: { error: 'invalid_client' } });
    t.match(wrong.headers.get('www-authenticate'), /^Basic/);
    t.match(
      await postForm(
        service,
        '/oauth/token',
        { ...(await fields()), client_secret: app.clientSecret ?? '' },
        basic(app.clientId, app.clientSecret ?? ''),
      ),
      { status: 400, body: { error: 'invalid_request' } },
    );
    t.match(await postForm(service, '/oauth/token', await fields(), { Authorization: 'Bearer x' }), {
      status: 401,
      body: { error: 'invalid_client' },
    });
    t.equal((await exchange(service, open, await consentOf(service, open, agent))).status, 200);
  });

  t.test('mismatches, before and without using up the code', async (t) => {
    const code = await consentOf(service, app, agent);
    const rows: [string, Record<string, string | undefined>, number, string][] = [
      ['no grant_type', { grant_type: undefined }, 400, 'invalid_request'],
      ['another grant_type', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
      ['no client', { client_id: undefined, client_secret: undefined }, 401, 'invalid_client'],
      ['an unknown client', { client_id: 'app_x' }, 401, 'invalid_client'],
      ['no secret', { client_secret: undefined }, 401, 'invalid_client'],
      ['a wrong secret', { client_secret: `${app.clientSecret}x` }, 401, 'invalid_client'],
      [
        "another app's code",
        { client_id: other.clientId, client_secret: other.clientSecret ?? '' },
        400,
        'invalid_grant',
      ],
      ['no code', { code: undefined }, 400, 'invalid_request'],
      ['invalid codes', { code: 'x' }, 400, 'invalid_grant'],
      ['an unknown code', { code: `${code.slice(0, -1)}${code.endsWith('A') ? 'B' : 'A'}` }, 400, 'invalid_grant'],
      ['no redirect_uri', { redirect_uri: undefined }, 400, 'invalid_request'],
      ['another redirect_uri', { redirect_uri: 'https://app.example/' }, 400, 'invalid_grant'],
    ];
    for (const [title, fields, status, error] of rows)
      t.match(
        await exchange(service, app, code, fields),
        { status, body: { error, error_description: String } },
        title,
      );
    t.equal((await exchange(service, app, code)).status, 200);
  });

  t.test('[RFC 7636 §4.6] a wrong verifier spends the code: a thief has one try', async (t) => {
    for (const verifierSent of [undefined, 'x'.repeat(43), challenge]) {
      const code = await consentOf(service, app, agent);
      t.match(await exchange(service, app, code, { code_verifier: verifierSent }), {
        status: 400,
        body: { error: 'invalid_grant' },
      });
      t.match(await exchange(service, app, code), { status: 400, body: { error: 'invalid_grant' } });
    }
  });

  t.test('a verifier for a code without a challenge is refused', async (t) => {
    const bare = { code_challenge: undefined, code_challenge_method: undefined };
    t.match(await exchange(service, app, await consentOf(service, app, agent, bare)), {
      status: 400,
      body: { error: 'invalid_grant' },
    });
    t.equal(
      (await exchange(service, app, await consentOf(service, app, agent, bare), { code_verifier: undefined })).status,
      200,
    );
  });

  t.test('[decisions] a code lives for 60 seconds', async (t) => {
    const code = await consentOf(service, app, agent);
    const second = await consentOf(service, app, agent);
    service.clock.advance(59_999);
    t.equal((await exchange(service, app, second)).status, 200);
    t.match(await exchange(service, app, code), { status: 400, body: { error: 'invalid_grant' } });
    const third = await consentOf(service, app, agent);
    service.clock.advance(60_000);
    t.match(await exchange(service, app, third), { status: 400, body: { error: 'invalid_grant' } });
  });

  t.test('[RFC 6749 §4.1.2] once: a second use revokes the tokens of the first', async (t) => {
    const code = await consentOf(service, app, agent);
    const { body } = await exchange(service, app, code);
    t.equal((await service.get('/conversations/queue', body.access_token)).status, 200);
    t.match(await exchange(service, app, code), { status: 400, body: { error: 'invalid_grant' } });
    t.match(await service.get('/conversations/queue', body.access_token), {
      status: 401,
      body: { error: 'token_revoked' },
    });
    t.match(await refresh(service, app, body.refresh_token), { status: 401, body: { error: 'invalid_grant' } });
  });

  t.test('twenty concurrent exchanges of one code: one succeeds, and its tokens are revoked', async (t) => {
    const code = await consentOf(service, app, agent);
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(service, app, code)));
    const [won, ...more] = answers.filter(({ status }) => status === 200);
    t.equal(more.length, 0);
    t.equal(answers.filter(({ status, body }) => status === 400 && body.error === 'invalid_grant').length, 19);
    t.equal((await service.get('/conversations/queue', won?.body.access_token)).status, 401);
  });

  t.test('only forms, and each field once', async (t) => {
    const post = (body: string, type: string) =>
      fetch(`${service.url}/oauth/token`, { method: 'POST', body, headers: { 'Content-Type': type } });
    for (const [body, type] of [
      ['{"grant_type":"refresh_token"}', 'application/json'],
      ['grant_type=refresh_token&grant_type=refresh_token', 'application/x-www-form-urlencoded'],
      [`code=${'x'.repeat(2001)}`, 'application/x-www-form-urlencoded'],
    ] as const) {
      const response = await post(body, type);
      t.equal(response.status, 400);
      t.match(await response.json(), { error: 'invalid_request', error_description: String }, type);
    }
    const response = await fetch(`${service.url}/oauth/token`);
    t.equal(response.status, 405);
    t.match(await response.json(), { error: 'method_not_allowed' });
  });
});

t.test('[5.14] tokens', async (t) => {
  const service = await startService(t, { env: { TOKEN_TTL_DAYS: '365' } });
  const owner = await service.workspace();
  const agent = await service.agent(owner, { channels: ['chats'] });
  const app = await registerApp(service, owner, { scopes: appScopes });
  const other = await registerApp(service, owner);
  const scope = 'conversations:read agents:read';
  const works = async (token: string) => (await service.get('/conversations/queue', token)).status === 200;

  t.test('an access token acts as its agent, within its scopes', async (t) => {
    const { access_token: token } = await tokensOf(service, app, agent, { scope });
    t.equal(await works(token), true);
    t.match(await service.get('/agents', token), { status: 200 });
    t.match(await service.post('/conversations/0194b7a6-1111-7111-8111-111111111111/messages', { body: 'x' }, token), {
      status: 403,
      body: { error: 'insufficient_scope', detail: { scope: 'messages:send' } },
    });
    t.match(await service.post('/auth/logout', undefined, token), {
      status: 403,
      body: { error: 'insufficient_scope' },
    });
    t.match(await service.post('/verify', { to: 'a@example.com', channel: 'email' }, token), {
      status: 403,
      body: { error: 'insufficient_scope' },
    });
    const admins = (await tokensOf(service, app, owner, { scope })).access_token;
    t.match(
      await service.get('/oauth-apps', admins),
      { status: 403, body: { error: 'insufficient_scope' } },
      "not even an admin's token reaches routes without a scope",
    );
  });

  t.test('every route asks for its scope: refused without it, whatever else was granted', async (t) => {
    const none = (await tokensOf(service, app, owner, { scope: 'ai:invoke' })).access_token;
    const nothing = '0194b7a6-1111-7111-8111-111111111111';
    const odd: Readonly<Record<string, string>> = { email: 'nobody@example.com', number: '1' };
    const wrong: string[] = [];
    for (const route of service.running.routes) {
      if (route.access.kind !== 'agent' || route.access.scope === 'ai:invoke') continue;
      // So that no minute has too many of them.
      service.clock.advance(200);
      const values = Object.fromEntries(paramsOf(route).map((name) => [name, odd[name] ?? nothing]));
      const { status, body } = await callRoute(service, route, {
        values,
        query: soundQuery(route),
        token: none,
        body: soundBody(route, { agentId: nothing, departmentId: nothing }),
      });
      if (status !== 403 || body.error !== 'insufficient_scope')
        wrong.push(`${route.operation}: ${status} ${body?.error}`);
    }
    t.same(wrong, []);
  });

  t.test('[5.14] an hour, to the millisecond', async (t) => {
    const { access_token: token } = await tokensOf(service, app, agent, { scope });
    service.clock.advance(3_599_999);
    t.equal(await works(token), true);
    service.clock.advance(1);
    t.match(await service.get('/conversations/queue', token), { status: 401, body: { error: 'unauthorized' } });
  });

  t.test('[5.14] a refresh renews both, for 90 days from each use', async (t) => {
    let tokens = await tokensOf(service, app, agent, { scope });
    for (let uses = 0; uses < 3; uses += 1) {
      service.clock.jump(90 * 24 * 3600_000 - 1);
      const { status, body } = await refresh(service, app, tokens.refresh_token);
      t.equal(status, 200);
      t.not(body.refresh_token, tokens.refresh_token);
      t.match(body, { scope, expires_in: 3600, workspaceId: owner.workspaceId });
      t.equal(await works(body.access_token), true);
      tokens = body;
    }
    service.clock.jump(90 * 24 * 3600_000);
    t.match(await refresh(service, app, tokens.refresh_token), { status: 400, body: { error: 'invalid_grant' } });
  });

  t.test('[5.14] a repeated one: 401, and the whole family ends', async (t) => {
    const first = await tokensOf(service, app, agent, { scope });
    const bystander = await tokensOf(service, app, agent, { scope });
    const second = (await refresh(service, app, first.refresh_token)).body;
    const third = (await refresh(service, app, second.refresh_token)).body;
    t.equal(await works(third.access_token), true);
    t.match(await refresh(service, app, first.refresh_token), { status: 401, body: { error: 'invalid_grant' } });
    for (const { access_token: token } of [second, third])
      t.match(await service.get('/conversations/queue', token), { status: 401, body: { error: 'token_revoked' } });
    t.match(await refresh(service, app, third.refresh_token), { status: 401, body: { error: 'invalid_grant' } });
    t.equal(await works(bystander.access_token), true, 'another consent is another family');
  });

  t.test('twenty concurrent refreshes: one succeeds, and the family ends', async (t) => {
    const tokens = await tokensOf(service, app, agent, { scope });
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(service, app, tokens.refresh_token)));
    const won = answers.filter(({ status }) => status === 200);
    t.equal(won.length, 1);
    t.equal(answers.filter(({ status, body }) => status === 401 && body.error === 'invalid_grant').length, 19);
    t.equal(await works(won[0]?.body.access_token), false);
    t.equal((await refresh(service, app, won[0]?.body.refresh_token)).status, 401);
  });

  t.test('a refresh may ask for less, not for more', async (t) => {
    const tokens = await tokensOf(service, app, agent, { scope });
    t.match(await refresh(service, app, tokens.refresh_token, { scope: `${scope} messages:send` }), {
      status: 400,
      body: { error: 'invalid_scope' },
    });
    const less = (await refresh(service, app, tokens.refresh_token, { scope: 'agents:read' })).body;
    t.equal(less.scope, 'agents:read');
    t.equal(await works(less.access_token), false);
    t.equal((await refresh(service, app, less.refresh_token)).body.scope, scope, 'and the next all of it again');
  });

  t.test('a refresh token only works for its client, and is not an access token', async (t) => {
    const tokens = await tokensOf(service, app, agent, { scope });
    t.match(await refresh(service, other, tokens.refresh_token), { status: 400, body: { error: 'invalid_grant' } });
    t.match(await refresh(service, app, tokens.access_token), { status: 400, body: { error: 'invalid_grant' } });
    t.match(await refresh(service, app, 'x'), { status: 400, body: { error: 'invalid_grant' } });
    t.match(await service.get('/agents', tokens.refresh_token), { status: 401, body: { error: 'unauthorized' } });
    t.equal((await refresh(service, app, tokens.refresh_token)).status, 200, 'and none of that has used it up');
  });

  t.test('[RFC 7009] revocation', async (t) => {
    const revoke = (client: typeof app, token: string | undefined, fields = {}) =>
      postForm(service, '/oauth/revoke', {
        token,
        client_id: client.clientId,
        client_secret: client.clientSecret ?? undefined,
        ...fields,
      });
    const tokens = await tokensOf(service, app, agent, { scope });
    t.equal((await revoke(other, tokens.refresh_token)).status, 200);
    t.equal(await works(tokens.access_token), true, "another client's is left unchanged");
    t.equal((await revoke(app, 'x')).status, 200);
    t.match(await revoke(app, undefined), { status: 400, body: { error: 'invalid_request' } });
    t.match(await revoke(app, tokens.refresh_token, { client_secret: 'wrong' }), {
      status: 401,
      body: { error: 'invalid_client' },
    });
    t.equal((await revoke(app, tokens.access_token, { token_type_hint: 'refresh_token' })).status, 200);
    t.equal((await service.get('/conversations/queue', tokens.access_token)).status, 401);
    const next = (await refresh(service, app, tokens.refresh_token)).body;
    t.equal(await works(next.access_token), true, 'the family continues without that access token');
    t.equal((await revoke(app, next.refresh_token)).status, 200);
    t.equal(await works(next.access_token), false);
    t.equal((await refresh(service, app, next.refresh_token)).status, 401);
  });

  t.test('an agent that leaves takes its apps along; one that signs out does not', async (t) => {
    const leaver = await service.agent(owner);
    const tokens = await tokensOf(service, app, leaver, { scope });
    await service.post('/auth/logout', undefined, leaver.token);
    t.equal(await works(tokens.access_token), true);
    await service.delete(`/agents/${leaver.agentId}`, owner.token);
    t.match(await service.get('/conversations/queue', tokens.access_token), {
      status: 401,
      body: { error: 'token_revoked' },
    });
    t.equal((await refresh(service, app, tokens.refresh_token)).status, 401);
  });

  t.test('a returning agent does not restore its apps', async (t) => {
    const leaver = await service.agent(owner);
    const tokens = await tokensOf(service, app, leaver, { scope });
    const code = await consentOf(service, app, leaver);
    for (let told = 0; told < 2; told += 1) await service.mail(leaver.email);
    await service.delete(`/agents/${leaver.agentId}`, owner.token);
    await service.post(`/agents/${leaver.agentId}/resend-invite`, undefined, owner.token);
    const invitation = await service.mail(leaver.email);
    t.equal(
      (await service.post('/auth/join', { code: /\/join\/(\S+)/.exec(invitation.text)?.[1], password })).status,
      200,
    );
    t.match(await service.get('/conversations/queue', tokens.access_token), {
      status: 401,
      body: { error: 'token_revoked' },
    });
    t.equal((await refresh(service, app, tokens.refresh_token)).status, 401);
    t.match(
      await exchange(service, app, code),
      { status: 400, body: { error: 'invalid_grant' } },
      'nor an unexchanged code',
    );
    t.equal(
      await works((await tokensOf(service, app, leaver, { scope })).access_token),
      true,
      'until it allows them again',
    );
  });

  t.test('[decisions, Secrets at rest] no token, code or secret is readable in a file', async (t) => {
    const { readdirSync, readFileSync } = await import('node:fs');
    const { join } = await import('node:path');
    const code = await consentOf(service, app, agent);
    const { body } = await exchange(service, app, code);
    await service.settled();
    const files = readdirSync(join(service.dataDir, 'workspaces'));
    for (const name of files) {
      const bytes = readFileSync(join(service.dataDir, 'workspaces', name));
      for (const secret of [code, body.access_token, body.refresh_token, app.clientSecret ?? '?'])
        t.notOk(bytes.includes(secret.slice(-40)), `${name} ${secret.slice(0, 4)}`);
    }
  });

  t.test('expired tokens are removed in time', async (t) => {
    const view = () =>
      service.running.services.engine
        .workspace(owner.workspaceId)
        ?.db.get<{ count: number }>('SELECT count(*) AS count FROM oauthToken')?.count ?? 0;
    t.ok(view() > 0);
    // As after a pause of the machine: running each tick of 90 days would take minutes.
    service.clock.jump(92 * 24 * 3600_000);
    await service.pass(2 * 24 * 3600_000);
    t.equal(view(), 0);
  });
});

t.test('[5.14] rate limits of apps', async (t) => {
  const service = await startService(t, { env: { RATE_LIMIT_PER_MINUTE: '5' } });
  const owner = await service.workspace();
  const one = await registerApp(service, owner, { name: 'One' });
  const two = await registerApp(service, owner, { name: 'Two' });
  const first = (await tokensOf(service, one, owner)).access_token;
  const second = (await tokensOf(service, two, owner)).access_token;
  service.clock.advance(60_000);
  const told = ({ headers }: { headers: Headers }) =>
    ['RateLimit-Limit', 'RateLimit-Remaining', 'App-RateLimit-Limit', 'App-RateLimit-Remaining'].map((name) =>
      headers.has(name) ? Number(headers.get(name)) : null,
    );
  const call = (token: string) => service.get('/conversations/queue', token);
  t.same(told(await call(first)), [5, 4, 5, 4]);
  t.same(
    told(await call(second)),
    [5, 3, 5, 4],
    'one budget for all apps of the workspace, and each sees its own share',
  );
  t.same(told(await service.get('/me', first)), [10, 9, 10, 9], 'on refusals too');
  for (let count = 0; count < 3; count += 1) await call(first);
  t.match(await call(second), { status: 429, body: { error: 'rate_limited' } });
  t.same(told(await call(owner.token)), [5, 4, null, null], 'the people have theirs');
});

t.test('[decisions, OAuth] webhooks of apps', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: '1' } });
  const owner = await service.workspace();
  const scope = 'webhooks:write messages:read';
  const app = await registerApp(service, owner, { scopes: scope.split(' ') });
  const receiver = await Receiver.start(t);
  const tokens = await tokensOf(service, app, owner, { scope });
  const subscribe = (token: string, events = ['message.created']) =>
    service.post('/webhooks', { url: receiver.url, events }, token);
  const isSignedWith = ({ headers, text }: Received, secret: string) =>
    headers['webhook-signature'] ===
    signatureOf(Buffer.from(secret), {
      id: String(headers['webhook-id']),
      timestamp: String(headers['webhook-timestamp']),
      body: text,
    });

  t.test('are signed with its client secret, and contain what its scopes can read', async (t) => {
    const { status, body } = await subscribe(tokens.access_token);
    t.equal(status, 201);
    t.notOk('secret' in body);
    t.match(await subscribe(tokens.access_token, ['conversation.created']), {
      status: 403,
      body: { error: 'insufficient_scope' },
    });
    await service.chat(owner, 'Hello');
    const [received] = await receiver.count(1);
    t.match(received?.body, { type: 'message.created', data: { message: { body: 'Hello' } } });
    t.equal(received !== undefined && isSignedWith(received, app.clientSecret ?? ''), true);
  });

  t.test('with the new one once it was rotated', async (t) => {
    const { clientSecret } = (await service.post(`/oauth-apps/${app.id}/rotate-secret`, undefined, owner.token)).body;
    await service.chat(owner, 'Again');
    const received = (await receiver.count(2))[1];
    t.equal(
      received !== undefined && isSignedWith(received, clientSecret) && !isSignedWith(received, app.clientSecret ?? ''),
      true,
    );
    await postForm(service, '/oauth/revoke', {
      token: tokens.refresh_token,
      client_id: app.clientId,
      client_secret: clientSecret,
    });
    await service.chat(owner, 'Nobody listens');
    await service.settled();
    t.equal(receiver.received.length, 2, 'and no longer once no one allows it anything');
  });

  t.test('a public app has nothing to sign with', async (t) => {
    const open = await registerApp(service, owner, { scopes: scope.split(' '), public: true });
    t.match(await subscribe((await tokensOf(service, open, owner, { scope })).access_token), {
      status: 422,
      body: { error: 'semantic_error' },
    });
  });
});

t.test('[RFC 8414] metadata', async (t) => {
  const service = await startService(t);
  const { status, body, headers } = await service.call('GET', '//.well-known/oauth-authorization-server', {
    headers: { Accept: undefined },
  });
  t.equal(status, 200);
  t.match(headers.get('content-type'), /^application\/json/);
  t.match(body, {
    issuer: 'http://switchboard.test',
    authorization_endpoint: 'http://switchboard.test/oauth/authorize',
    token_endpoint: 'http://switchboard.test/oauth/token',
    revocation_endpoint: 'http://switchboard.test/oauth/revoke',
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    authorization_response_iss_parameter_supported: true,
  });
  t.same(body.scopes_supported, [
    'conversations:read',
    'conversations:write',
    'messages:send',
    'messages:read',
    'visitors:read',
    'visitors:write',
    'agents:read',
    'webhooks:write',
    'reports:read',
    'ai:read',
    'ai:invoke',
  ]);
});
