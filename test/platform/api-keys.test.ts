// API keys: created once, shown once, limited to their scopes, revoked immediately.

import { basename } from 'node:path';
import t from 'tap';
import { scopeNames } from '../../engine/rights/scopes.ts';
import { shapeAt } from '../../http/pipeline/error-shapes.ts';
import { fullPath } from '../../http/route.ts';
import { callRoute, paramsOf, soundBody, soundQuery } from '../support/endpoints.ts';
import { contentsIn } from '../support/folder.ts';
import { password, type Service, startService } from '../support/service.ts';

type Mode = 'live' | 'test';
const nothing = '0194b7a6-1111-7111-8111-111111111111';

async function keyOf(
  service: Service,
  token: string,
  scopes: readonly string[],
  mode?: Mode,
): Promise<{ id: string; key: string; prefix: string }> {
  return (await service.post('/api-keys', { name: 'x', scopes, mode }, token)).body;
}

t.test('[4.21] a key', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();

  t.test('[4.21] is shown once, when it is made', async (t) => {
    for (const [mode, form] of [
      [undefined, /^sk_live_/],
      ['live', /^sk_live_/],
      ['test', /^sk_test_/],
    ] as const) {
      const { status, body } = await service.post(
        '/api-keys',
        { name: 'Shop', scopes: ['agents:read', 'agents:read'], mode },
        owner.token,
      );
      t.match(
        { status, body },
        { status: 201, body: { name: 'Shop', scopes: ['agents:read'], lastUsedAt: null, key: form } },
      );
      t.ok(
        body.key.startsWith(body.prefix) && body.key.length > body.prefix.length + 43,
        'the prefix tells little of it',
      );
      const listed = (await service.get('/api-keys', owner.token)).body.apiKeys.find(
        (one: { id: string }) => one.id === body.id,
      );
      t.same(Object.keys(listed).sort(), ['createdAt', 'id', 'lastUsedAt', 'name', 'prefix', 'scopes']);
      t.equal(listed.prefix, body.prefix);
    }
    const prefixes = (await service.get('/api-keys', owner.token)).body.apiKeys.map(
      ({ prefix }: { prefix: string }) => prefix,
    );
    t.equal(new Set(prefixes).size, 3, 'keys are distinguishable');
  });

  t.test('[decisions, Secrets at rest] is in no file', async (t) => {
    const { key } = await keyOf(service, owner.token, ['*']);
    await service.settled();
    const secret = key.slice(-43);
    const files = contentsIn(service.dataDir);
    t.ok([...files.keys()].some((path) => basename(path) === `${owner.workspaceId}.db-wal`));
    for (const [path, bytes] of files) t.notOk(bytes.includes(secret), basename(path));
  });

  t.test('[4.21] acts as its admin, and counts against the same budget', async (t) => {
    const { key } = await keyOf(service, owner.token, ['*']);
    t.equal((await service.get('/me', key)).body.agent.id, owner.agentId);
    const { body } = await service.post('/departments', { name: 'By a key' }, key);
    const [entry] = (await service.get('/workspace/audit-log?limit=1', owner.token)).body.entries;
    t.match(entry, { actorAgentId: owner.agentId, action: 'department.created', targetId: body.id });
  });

  t.test('[4.21] is audited when it is made and when it goes, without its text', async (t) => {
    const { id, key } = await keyOf(service, owner.token, ['verify']);
    await service.delete(`/api-keys/${id}`, owner.token);
    const { entries } = (await service.get('/workspace/audit-log?limit=2', owner.token)).body;
    t.match(entries, [
      { action: 'api_key.deleted', targetId: id },
      { action: 'api_key.created', targetId: id, after: { scopes: ['verify'] } },
    ]);
    t.notMatch(JSON.stringify(entries), key.slice(-43));
  });

  t.test('[4.21] shows its last use, to the minute', async (t) => {
    const { id, key } = await keyOf(service, owner.token, ['agents:read']);
    const lastUsedAt = async () =>
      (await service.get('/api-keys', owner.token)).body.apiKeys.find((one: { id: string }) => one.id === id)
        .lastUsedAt;
    t.equal(await lastUsedAt(), null);
    await service.get('/agents', key);
    await service.settled();
    const first = await lastUsedAt();
    t.equal(first, new Date(service.clock.now()).toISOString());
    service.clock.advance(59_999);
    await service.get('/agents', key);
    await service.settled();
    t.equal(await lastUsedAt(), first);
    service.clock.advance(1);
    await service.get('/agents', key);
    await service.settled();
    t.equal(await lastUsedAt(), new Date(service.clock.now()).toISOString());
  });

  t.test('[4.21] stops working everywhere once deleted, and cannot be restored', async (t) => {
    const { id, key } = await keyOf(service, owner.token, ['*']);
    const others = await keyOf(service, owner.token, ['*']);
    t.equal((await service.get('/agents', key)).status, 200);
    t.equal((await service.delete(`/api-keys/${id}`, owner.token)).status, 204);
    for (const path of ['/agents', '/me', '/conversations/queue'])
      t.match(await service.get(path, key), { status: 401, body: { error: 'unauthorized' } }, path);
    t.equal((await service.delete(`/api-keys/${id}`, owner.token)).status, 404, 'it is gone');
    t.notOk((await service.get('/api-keys', owner.token)).body.apiKeys.some((one: { id: string }) => one.id === id));
    t.equal((await service.get('/agents', others.key)).status, 200, 'another one is not concerned');
  });

  t.test('[4.21] ends with its admin, and has no more rights than it', async (t) => {
    const admin = await service.agent(owner, { role: 'admin' });
    const { key } = await keyOf(service, admin.token, ['*']);
    t.match((await service.mail(admin.email)).subject, 'An API key was created');
    t.equal((await service.get('/api-keys', key)).status, 200);
    await service.patch(`/agents/${admin.agentId}`, { role: 'agent' }, owner.token);
    t.match(await service.get('/api-keys', key), { status: 403, body: { error: 'admin_required' } });
    t.equal((await service.get('/agents', key)).status, 200);
    await service.post('/auth/logout', undefined, admin.token);
    t.equal((await service.get('/agents', key)).status, 200, 'signing out is about sign-ins');
    await service.delete(`/agents/${admin.agentId}`, owner.token);
    t.match(await service.get('/agents', key), { status: 401, body: { error: 'unauthorized' } });
    await service.post(`/agents/${admin.agentId}/resend-invite`, undefined, owner.token);
    const code = /\/join\/(\S+)/.exec((await service.mail(admin.email)).text)?.[1];
    t.equal((await service.post('/auth/join', { code, password })).status, 200);
    t.match(await service.get('/agents', key), { status: 401 }, 'and does not come back with it');
  });

  t.test('[4.21] invalid keys', async (t) => {
    const { key } = await keyOf(service, owner.token, ['*']);
    const stranger = await service.workspace();
    const theirs = (await keyOf(service, stranger.token, ['*'])).key;
    const swapped = key.slice(0, 16) + theirs.slice(16, 38) + key.slice(38);
    for (const wrong of [
      'sk_live_',
      'sk_test_x',
      key.slice(0, -1),
      `${key}A`,
      key.replace('live', 'test'),
      key.toUpperCase(),
      swapped,
    ])
      t.match(
        await service.get('/agents', wrong),
        { status: 401, body: { error: 'unauthorized' } },
        wrong.slice(0, 20),
      );
    t.equal(
      (await service.get('/agents', theirs)).body.agents[0].id,
      stranger.agentId,
      'a key opens its own workspace',
    );
    t.match(
      await service.call('GET', '/widget/conversations/x/messages', { token: key }),
      { status: 401 },
      'and is no visitor',
    );
    const socket = await service.agentSocket(key).catch((error: unknown) => error);
    t.ok(socket instanceof Error, 'nor opens a socket');
  });

  t.test('[4.21] survives a restart', async (t) => {
    const { id, key } = await keyOf(service, owner.token, ['agents:read']);
    const revoked = await keyOf(service, owner.token, ['agents:read']);
    await service.delete(`/api-keys/${revoked.id}`, owner.token);
    await service.stop();
    const again = await startService(t, { dataDir: service.dataDir, clock: service.clock });
    t.equal((await again.get('/agents', key)).status, 200);
    t.match(await again.get('/agents', revoked.key), { status: 401 });
    t.ok((await again.get('/api-keys', owner.token)).body.apiKeys.some((one: { id: string }) => one.id === id));
  });
});

t.test('[4.21] the form of a key', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const rows: [string, object, string][] = [
    ['no scope', { name: 'x', scopes: [] }, 'scopes'],
    ['an unknown scope', { name: 'x', scopes: ['conversations:delete'] }, 'scopes.0'],
    ['no name', { name: ' ', scopes: ['*'] }, 'name'],
    ['a name too long', { name: 'x'.repeat(121), scopes: ['*'] }, 'name'],
    ['an unknown mode', { name: 'x', scopes: ['*'], mode: 'prod' }, 'mode'],
  ];
  for (const [title, body, field] of rows)
    t.match(
      await service.post('/api-keys', body, owner.token),
      { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
      title,
    );
  t.equal(
    (await service.post('/api-keys', { name: 'x'.repeat(120), scopes: [...scopeNames, '*'] }, owner.token)).status,
    201,
    'all of them',
  );

  t.test('[8] at most 100', async (t) => {
    for (let count = 1; count < 100; count += 1)
      t.equal((await service.post('/api-keys', { name: 'x', scopes: ['*'] }, owner.token)).status, 201);
    t.match(await service.post('/api-keys', { name: 'x', scopes: ['*'] }, owner.token), {
      status: 422,
      body: { error: 'semantic_error', detail: { maxKeys: 100 } },
    });
    const { apiKeys } = (await service.get('/api-keys', owner.token)).body;
    t.equal(apiKeys.length, 100);
    await service.delete(`/api-keys/${apiKeys[0].id}`, owner.token);
    t.equal((await service.post('/api-keys', { name: 'x', scopes: ['*'] }, owner.token)).status, 201);
  });
});

/** The request must be valid before its caller's rights are checked. */
t.test('[5.14] each route asks for its scope, and for no other', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const keys = new Map<string, string>();
  for (const scope of [...scopeNames, '*']) keys.set(scope, (await keyOf(service, owner.token, [scope])).key);
  const odd: Readonly<Record<string, string>> = { email: 'nobody@example.com', number: '1' };
  const values = Object.fromEntries(
    service.running.routes.flatMap(paramsOf).map((name) => [name, odd[name] ?? nothing]),
  );

  for (const route of service.running.routes) {
    const { access } = route;
    if (access.kind !== 'agent' || route.operation === 'auth.logout') continue;
    t.test(route.operation, async (t) => {
      for (const [scope, key] of keys) {
        const named = { scope: access.scope ?? '*' };
        const answer = await callRoute(service, route, {
          values,
          query: soundQuery(route),
          token: key,
          body: soundBody(route, { agentId: nothing, departmentId: nothing }),
        });
        if (access.credential === 'person') {
          t.match(
            answer,
            { status: 403, body: { error: 'insufficient_scope' } },
            `${scope}: routes for signed-in agents only`,
          );
          continue;
        }
        // A webhook also needs the scopes of its events.
        if (scope === '*' || scope === access.scope || scope === access.or)
          t.not(
            answer.body?.error === 'insufficient_scope' ? (answer.body.detail ?? answer.body).scope : undefined,
            access.scope ?? '*',
            scope,
          );
        else
          t.match(
            answer,
            {
              status: 403,
              body: {
                error: 'insufficient_scope',
                ...(shapeAt(fullPath(route)).name === 'Error' ? { detail: named } : named),
              },
            },
            scope,
          );
      }
    });
  }
});
