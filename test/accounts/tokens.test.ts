// Every route that needs a bearer token, called without one and with each invalid kind.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import t from 'tap';
import { callRoute, paramsOf, soundBody } from '../support/endpoints.ts';
import { startService } from '../support/service.ts';

t.test('bearers', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const deactivated = await service.agent(owner);
  const customer = await service.customer(owner.embedId);
  const stranger = await service.workspace();
  const { routes, services } = service.running;
  const anyId = '0194b7a6-1111-7111-8111-111111111111';
  const authenticated = routes.filter(({ access }) => access.kind !== 'public');
  const values = {
    ...Object.fromEntries(authenticated.flatMap(paramsOf).map((name) => [name, anyId])),
    email: 'nobody@example.com',
  };

  const claims = {
    agentId: agent.agentId,
    workspaceId: agent.workspaceId,
    tokenVersion: 0,
    expiresMs: service.clock.now() + 3600_000,
  };
  const secret = new TextEncoder().encode(readFileSync(join(service.dataDir, 'jwt-secret'), 'utf8').trim());
  const signed = (key: Uint8Array, header: { alg: string }, payload: object = {}) =>
    new SignJWT({ wid: agent.workspaceId, ver: 0, ...payload })
      .setProtectedHeader(header)
      .setSubject(agent.agentId)
      .setExpirationTime('1h')
      .sign(key);
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ sub: agent.agentId, wid: agent.workspaceId, ver: 0, exp: 9e9 })).toString('base64url')}.`;
  await service.delete(`/agents/${deactivated.agentId}`, owner.token);
  const loggedOut = await service.agent(owner);
  await service.post('/auth/logout', undefined, loggedOut.token);

  t.equal(
    (await service.get('/me', await signed(secret, { alg: 'HS256' }))).status,
    200,
    'a token made as the service makes them is taken',
  );

  /** The Authorization header, and the slug it is refused with. */
  const wrong: [title: string, authorization: string | undefined, slug: string][] = [
    ['no header', undefined, 'unauthorized'],
    ['an empty one', '', 'unauthorized'],
    ['no scheme', agent.token, 'unauthorized'],
    ['another scheme', `Basic ${Buffer.from('a:b').toString('base64')}`, 'unauthorized'],
    ['two tokens', `Bearer ${agent.token} ${agent.token}`, 'unauthorized'],
    ['invalid tokens', 'Bearer x', 'unauthorized'],
    ['a changed signature', `Bearer ${agent.token.slice(0, -4)}AAAA`, 'unauthorized'],
    ['no signature', `Bearer ${unsigned}`, 'unauthorized'],
    [
      'another key',
      `Bearer ${await signed(new TextEncoder().encode('x'.repeat(48)), { alg: 'HS256' })}`,
      'unauthorized',
    ],
    ['another algorithm', `Bearer ${await signed(secret, { alg: 'HS512' })}`, 'unauthorized'],
    [
      'an expired one',
      `Bearer ${await services.accessTokens.issue({ ...claims, expiresMs: service.clock.now() })}`,
      'unauthorized',
    ],
    [
      'of an unknown workspace',
      `Bearer ${await services.accessTokens.issue({ ...claims, workspaceId: anyId })}`,
      'unauthorized',
    ],
    [
      'of a workspace that is a path',
      `Bearer ${await services.accessTokens.issue({ ...claims, workspaceId: '../directory' })}`,
      'unauthorized',
    ],
    [
      'of an unknown agent',
      `Bearer ${await services.accessTokens.issue({ ...claims, agentId: anyId })}`,
      'unauthorized',
    ],
    [
      'of an agent in another workspace',
      `Bearer ${await services.accessTokens.issue({ ...claims, workspaceId: stranger.workspaceId })}`,
      'unauthorized',
    ],
    ['after logout', `Bearer ${loggedOut.token}`, 'token_revoked'],
    ['after deactivation', `Bearer ${deactivated.token}`, 'token_revoked'],
    [
      'of a version that is not yet',
      `Bearer ${await services.accessTokens.issue({ ...claims, tokenVersion: 7 })}`,
      'token_revoked',
    ],
    ["a visitor's", `Bearer ${customer.token}`, 'unauthorized'],
  ];
  const wrongForVisitors: typeof wrong = [
    ...wrong.filter(([, , slug]) => slug === 'unauthorized').filter(([title]) => title !== "a visitor's"),
    ["an agent's", `Bearer ${agent.token}`, 'unauthorized'],
    ['a visitor token that is cut', `Bearer ${customer.token.slice(0, -1)}`, 'unauthorized'],
    [
      "a visitor token of another visitor's name",
      `Bearer vt_${'A'.repeat(44)}${customer.token.slice(47)}`,
      'unauthorized',
    ],
  ];

  for (const kind of ['agent', 'visitor'] as const) {
    t.test(`[5] every ${kind} route refuses every bearer that does not count`, async (t) => {
      const of = authenticated.filter(({ access }) => access.kind === kind);
      t.ok(of.length > 5, `${of.length} routes`);
      for (const [title, authorization, slug] of kind === 'agent' ? wrong : wrongForVisitors) {
        const answers = await Promise.all(
          of.map((route) =>
            callRoute(service, route, {
              values,
              body: soundBody(route, { agentId: anyId, departmentId: anyId }),
              ...(authorization === undefined ? {} : { headers: { Authorization: authorization } }),
            }),
          ),
        );
        const others = answers.flatMap(({ status, body, headers }, index) =>
          status === 401 && body.error === slug && headers.get('www-authenticate') === 'Bearer'
            ? []
            : [`${of[index]?.operation}: ${status} ${body?.error}`],
        );
        t.same(others, [], title);
      }
    });
  }

  t.test('[5] Bearer is read without regard to case', async (t) => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      t.equal(
        (await service.call('GET', '/me', { headers: { Authorization: `${scheme} ${agent.token}` } })).status,
        200,
        scheme,
      );
  });

  t.test('[4.1] register, login, forgot, reset and join take none', async (t) => {
    const open = routes
      .filter((route) => route.access.kind === 'public' && route.path.startsWith('/auth/'))
      .map(({ path }) => path);
    t.same(open.sort(), [
      '/auth/forgot-password',
      '/auth/join',
      '/auth/login',
      '/auth/register',
      '/auth/registration',
      '/auth/reset-password',
    ]);
    t.equal(
      (
        await service.call('POST', '/auth/forgot-password', {
          body: { email: 'nobody@example.com' },
          headers: { Authorization: 'Bearer x' },
        })
      ).status,
      204,
      'and do not look at one',
    );
  });
});
