import t from 'tap';
import { registerApp, request } from '../support/oauth.ts';
import { headOf, RawClient } from '../support/raw-http.ts';
import { password, type Service, startService } from '../support/service.ts';

const refused = { status: 429, body: { statusCode: 429, error: 'rate_limited' } };
const budgetOf = (headers: Headers): (number | null)[] =>
  ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) =>
    headers.has(name) ? Number(headers.get(name)) : null,
  );

t.test('[8] the auth limits, from both sides', async (t) => {
  const rows: [
    title: string,
    limit: number,
    call: (service: Service, ip: string, index: number) => ReturnType<Service['call']>,
  ][] = [
    [
      'register: 5 a minute per address',
      5,
      (service, ip, index) =>
        service.call('POST', '/auth/register', {
          body: { email: `limit${index}@example.com`, password, workspaceName: 'x' },
          headers: { 'X-Forwarded-For': ip },
        }),
    ],
    [
      'forgot-password: 3 a minute per address',
      3,
      (service, ip, index) =>
        service.call('POST', '/auth/forgot-password', {
          body: { email: `limit${index}@example.com` },
          headers: { 'X-Forwarded-For': ip },
        }),
    ],
    [
      'reset-password: 5 a minute per address',
      5,
      (service, ip) =>
        service.call('POST', '/auth/reset-password', {
          body: { token: 'x', newPassword: password },
          headers: { 'X-Forwarded-For': ip },
        }),
    ],
    [
      'join: 5 a minute per address',
      5,
      (service, ip) =>
        service.call('POST', '/auth/join', { body: { code: 'x', password }, headers: { 'X-Forwarded-For': ip } }),
    ],
  ];
  for (const [title, limit, call] of rows) {
    t.test(title, async (t) => {
      const service = await startService(t, { env: { TRUST_PROXY: '1' } });
      for (let count = 1; count <= limit; count += 1)
        t.not((await call(service, '192.0.2.1', count)).status, 429, `call ${count}`);
      service.clock.advance(12_500);
      const answer = await call(service, '192.0.2.1', 99);
      t.match(answer, { ...refused, body: { ...refused.body, retryAfter: 48 } });
      t.equal(answer.headers.get('retry-after'), '48', 'as many seconds as the window still has');
      t.same(budgetOf(answer.headers), [null, null, null], 'no other budget is reported');
      t.not((await call(service, '192.0.2.2', limit + 1)).status, 429, 'another address');
      service.clock.advance(47_499);
      t.match(
        await call(service, '192.0.2.1', 99),
        { ...refused, body: { retryAfter: 1 } },
        'a millisecond before the minute is over',
      );
      service.clock.advance(1);
      t.not((await call(service, '192.0.2.1', limit + 2)).status, 429);
    });
  }

  t.test('login: 5 a minute per email, whatever its case, from wherever', async (t) => {
    const service = await startService(t, { env: { TRUST_PROXY: '1' } });
    const owner = await service.workspace();
    const login = (email: string, given: string, ip = '192.0.2.1') =>
      service.call('POST', '/auth/login', { body: { email, password: given }, headers: { 'X-Forwarded-For': ip } });
    for (const [index, email] of [
      owner.email,
      owner.email.toUpperCase(),
      owner.email,
      owner.email,
      owner.email,
    ].entries())
      t.equal((await login(email, 'wrong', `192.0.2.${index}`)).status, 401);
    t.match(await login(owner.email, password, '192.0.2.77'), refused, 'even with the right password');
    t.equal((await login('other@example.com', 'wrong')).status, 401, 'another email from the same address');
    service.clock.advance(60_000);
    t.equal((await login(owner.email, password)).status, 200);
    for (const email of ['nobody', '', 7, null, 'x'.repeat(300)])
      t.match(
        await service.post('/auth/login', { email, password }),
        { status: 400 },
        'an invalid email is refused, and counts for no account',
      );
  });

  t.test('invalid requests count, too', async (t) => {
    const service = await startService(t);
    for (let count = 0; count < 5; count += 1) t.equal((await service.post('/auth/register', {})).status, 400);
    t.match(await service.post('/auth/register', { email: 'a@example.com', password, workspaceName: 'x' }), refused);
  });
});

t.test('[8] limits by address', async (t) => {
  const from = (service: Service, ip: string, path: string, body: object) =>
    service.call('POST', path, { body, headers: { 'X-Forwarded-For': ip } });
  const proxied = (t: Parameters<typeof startService>[0]) => startService(t, { env: { TRUST_PROXY: '1' } });
  const login = (service: Service, ip: string, email: string) =>
    from(service, ip, '/auth/login', { email, password: 'wrong' });

  t.test('addresses of one IPv6 /64 share a budget, those of another /64 have theirs', async (t) => {
    const service = await proxied(t);
    const forgot = (ip: string) =>
      from(service, ip, '/auth/forgot-password', { email: `nobody${ip.length}@example.com` });
    for (const ip of ['2001:db8:1:1::1', '2001:db8:1:1:ffff::2', '2001:0DB8:0001:0001::3'])
      t.equal((await forgot(ip)).status, 204, ip);
    t.match(await forgot('2001:db8:1:1:a:b:c:d'), refused);
    t.equal((await forgot('2001:db8:1:2::1')).status, 204);
  });

  t.test('a /48 has the budget of ten of its networks', async (t) => {
    const service = await proxied(t);
    const statuses: number[] = [];
    for (let network = 0; network < 12; network += 1) {
      for (let call = 0; call < 4; call += 1)
        statuses.push(
          (
            await from(service, `2001:db8:2:${network.toString(16)}::${call}`, '/auth/reset-password', {
              token: 'x',
              newPassword: password,
            })
          ).status,
        );
    }
    t.same(
      [statuses.filter((status) => status === 410).length, statuses.filter((status) => status === 429).length],
      [48, 0],
      'four of each are within it',
    );
    for (const network of ['c', 'd'])
      t.equal(
        (await from(service, `2001:db8:2:${network}::1`, '/auth/reset-password', { token: 'x', newPassword: password }))
          .status,
        410,
      );
    t.match(
      await from(service, '2001:db8:2:e::1', '/auth/reset-password', { token: 'x', newPassword: password }),
      refused,
      'the 51st of the site',
    );
    t.equal(
      (await from(service, '2001:db8:3:e::1', '/auth/reset-password', { token: 'x', newPassword: password })).status,
      410,
      'another site',
    );
  });

  t.test('login: 60 a minute from one network, over all accounts, consent pages included', async (t) => {
    const service = await proxied(t);
    const statuses = await Promise.all(
      Array.from({ length: 58 }, (_, index) => login(service, `2001:db8:4:1::${index}`, `nobody${index}@example.com`)),
    );
    t.same(new Set(statuses.map(({ status }) => status)), new Set([401]));
    const owner = await service.workspace();
    const app = await registerApp(service, owner);
    // The minute started when the workspace was created.
    for (let index = 0; index < 59; index += 1)
      t.equal((await from(service, '192.0.2.1', '/auth/login', { email: 'x' })).status, 400);
    const consent = (ip: string) =>
      fetch(`${service.url}/oauth/authorize`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'X-Forwarded-For': ip },
        body: new URLSearchParams(
          Object.entries({ ...request(app), email: 'nobody@example.com', password: 'x', decision: 'allow' }).flatMap(
            ([name, value]) => (value === undefined ? [] : [[name, value] as [string, string]]),
          ),
        ),
      });
    t.equal((await consent('192.0.2.1')).status, 401);
    t.equal((await consent('192.0.2.1')).status, 429);
    t.match(await login(service, '192.0.2.1', owner.email), refused);
    t.equal((await login(service, '192.0.2.2', owner.email)).status, 401, 'no one else is locked out');
  });

  t.test('login: invalid requests count for their network and for no account', async (t) => {
    const service = await proxied(t);
    const owner = await service.workspace();
    for (let index = 0; index < 10; index += 1)
      t.equal((await from(service, '192.0.2.1', '/auth/login', { email: owner.email })).status, 400);
    t.equal((await from(service, '192.0.2.2', '/auth/login', { email: owner.email, password })).status, 200);
  });

  t.test('forgot-password: one address is sent ten an hour, from wherever', async (t) => {
    const service = await proxied(t);
    const owner = await service.workspace();
    const forgot = (index: number, email = owner.email) =>
      from(service, `192.0.2.${index}`, '/auth/forgot-password', { email });
    for (let index = 1; index <= 10; index += 1)
      t.equal((await forgot(index, index % 2 === 0 ? owner.email : owner.email.toUpperCase())).status, 204);
    t.match(await forgot(11), refused);
    t.equal((await forgot(12, 'nobody@example.com')).status, 204, 'another address');
    for (let index = 13; index < 23; index += 1) await forgot(index, 'nobody@example.com');
    t.match(await forgot(23, 'nobody@example.com'), refused, 'an unknown one is treated alike');
    await service.settled();
    t.equal(service.mailCount(owner.email), 10);
    service.clock.advance(3600_000);
    t.equal((await forgot(11)).status, 204);
  });

  t.test('one-time codes: a source is its network', async (t) => {
    const service = await proxied(t);
    const owner = await service.workspace();
    const { body: key } = await service.post('/api-keys', { name: 'x', scopes: ['verify'] }, owner.token);
    await service.post('/verify/services', { name: 'x', perMinuteCap: 100 }, owner.token);
    const send = (index: number, ip: string) =>
      service.call('POST', '/verify', {
        token: key.key,
        body: { to: `kim${index}@example.org`, channel: 'email' },
        headers: { 'X-Forwarded-For': ip },
      });
    for (let index = 0; index < 10; index += 1) t.equal((await send(index, `2001:db8:5:5::${index}`)).status, 201);
    t.match(await send(10, '2001:db8:5:5::a'), { status: 429, body: { error: 'rate_limited', scope: 'destination' } });
    t.equal((await send(11, '2001:db8:5:6::1')).status, 201);
  });
});

t.test('[8] 600 a minute per agent', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const colleague = await service.agent(owner, { role: 'admin' });

  t.test('the headers report it, on refusals too', async (t) => {
    t.same(budgetOf((await service.get('/agents', owner.token)).headers), [600, 599, 60]);
    service.clock.advance(20_000);
    t.same(budgetOf((await service.get('/sites/1', owner.token)).headers), [600, 598, 40], '404');
    t.same(budgetOf((await service.post('/departments', {}, owner.token)).headers), [600, 597, 40], '400');
    t.same(budgetOf((await service.get('/agents')).headers), [null, null, null], 'no known network has called');
  });

  t.test('the 600th is served, the 601st is not, and a colleague is not concerned', async (t) => {
    service.clock.advance(60_000);
    const statuses: number[] = [];
    for (let batch = 0; batch < 6; batch += 1)
      statuses.push(
        ...(await Promise.all(Array.from({ length: 100 }, () => service.get('/departments', owner.token)))).map(
          ({ status }) => status,
        ),
      );
    t.same(new Set(statuses), new Set([200]));
    service.clock.advance(15_000);
    const over = await service.get('/departments', owner.token);
    t.match(over, { ...refused, body: { retryAfter: 45 } });
    t.equal(over.headers.get('retry-after'), '45');
    t.same(budgetOf(over.headers), [600, 0, 45]);
    t.match(await service.post('/me/status', { status: 'away' }, owner.token), refused, 'one budget for all of them');
    const socket = await service.agentSocket(owner.token);
    t.match(await socket.call('agent.setStatus', { status: 'away' }), refused, 'and for socket calls');
    await socket.close();
    t.equal((await service.get('/departments', colleague.token)).status, 200);
    t.equal((await service.get('/me', owner.token)).status, 200, '/me has a budget of its own');
    service.clock.advance(45_000);
    t.equal((await service.get('/departments', owner.token)).status, 200);
  });

  t.test('[8] twice as many of /me and of /me/workspace', async (t) => {
    service.clock.advance(60_000);
    for (const path of ['/me', '/me/workspace']) {
      t.same(budgetOf((await service.get(path, owner.token)).headers), [1200, 1199, 60], path);
      for (let batch = 0; batch < 11; batch += 1)
        await Promise.all(Array.from({ length: 109 }, () => service.get(path, owner.token)));
      const last = await service.get(path, owner.token);
      t.match(last, refused, `the 1201st of ${path}`);
      t.same(budgetOf(last.headers), [1200, 0, 60]);
    }
    t.same(
      budgetOf((await service.get('/departments', owner.token)).headers),
      [600, 599, 60],
      'and they took nothing of the others',
    );
  });
});

t.test('[decisions] settings', async (t) => {
  t.test('RATE_LIMIT_PER_MINUTE moves the default cap, and /me with it, and no auth limit', async (t) => {
    const service = await startService(t, { env: { RATE_LIMIT_PER_MINUTE: '3' } });
    const owner = await service.workspace();
    const statuses = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await service.get('/agents', owner.token)).status);
    t.same(statuses, [200, 200, 200, 429]);
    t.same(budgetOf((await service.get('/me', owner.token)).headers), [6, 5, 60]);
    for (let count = 0; count < 5; count += 1)
      t.equal((await service.post('/auth/login', { email: owner.email, password: 'wrong' })).status, 401);
    t.match(await service.post('/auth/login', { email: owner.email, password }), refused);
  });

  t.test('RATE_LIMITS=off lifts every cap, and the headers stay', async (t) => {
    const service = await startService(t, { env: { RATE_LIMITS: 'off', RATE_LIMIT_PER_MINUTE: '2' } });
    const owner = await service.workspace();
    for (let count = 0; count < 5; count += 1) t.equal((await service.get('/agents', owner.token)).status, 200);
    t.same(budgetOf((await service.get('/agents', owner.token)).headers), [2, 0, 60]);
    for (let count = 0; count < 8; count += 1) {
      t.equal((await service.post('/auth/login', { email: owner.email, password: 'wrong' })).status, 401);
      t.equal((await service.post('/auth/forgot-password', { email: 'nobody@example.com' })).status, 204);
    }
  });

  t.test("TRUST_PROXY: off, no claimed address counts; on, the nearest proxy's does", async (t) => {
    const forgot = (service: Service, forwarded: string) =>
      service.call('POST', '/auth/forgot-password', {
        body: { email: 'nobody@example.com' },
        headers: { 'X-Forwarded-For': forwarded },
      });
    const wary = await startService(t);
    for (const ip of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) t.equal((await forgot(wary, ip)).status, 204);
    t.match(await forgot(wary, '192.0.2.4'), refused);
    const trusting = await startService(t, { env: { TRUST_PROXY: 'on' } });
    for (const claimed of ['198.51.100.1', '198.51.100.2', '198.51.100.3'])
      t.equal((await forgot(trusting, `${claimed}, 192.0.2.1`)).status, 204);
    t.match(
      await forgot(trusting, '198.51.100.4, 192.0.2.1'),
      refused,
      "the caller's own claims before it do not count",
    );
    t.equal((await forgot(trusting, '192.0.2.2')).status, 204);
  });
});

t.test('[8] a body costs its sender the same if its content is refused', async (t) => {
  const service = await startService(t, { env: { TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: '20' } });
  const owner = await service.workspace();
  const hostile: [title: string, body: string][] = [
    ['too many values', `{"name":[${'1,'.repeat(500_000)}1]}`],
    ['too many levels', `{"name":${'['.repeat(100)}${']'.repeat(100)}}`],
    ['no JSON', '{"name":'],
  ];
  const send = (path: string, text: string, options: { token?: string } = {}) =>
    service.call('POST', path, { body: text, token: options.token, headers: { 'X-Forwarded-For': '192.0.2.1' } });
  for (const [title, text] of hostile) {
    t.test(`${title}: by an agent, a key, a visitor, an address`, async (t) => {
      const { key } = (await service.post('/api-keys', { name: title, scopes: ['*'] }, owner.token)).body;
      const agent = await service.agent(owner);
      const customer = await service.customer(owner.embedId);
      service.clock.advance(60_000);
      for (const [path, token] of [
        ['/saved-replies', agent.token],
        ['/departments', key],
        ['/widget/conversations', customer.token],
      ] as const) {
        for (let count = 0; count < 20; count += 1)
          t.match(await send(path, text, { token }), { status: 400, body: { error: 'invalid_body' } });
        t.match(await send(path, text, { token }), refused, path);
      }
      for (let count = 0; count < 5; count += 1) t.equal((await send('/auth/reset-password', text)).status, 400);
      t.match(await send('/auth/reset-password', text), refused);
      service.clock.advance(60_000);
    });
  }

  t.test('a body without a token is not parsed', async (t) => {
    for (const [, text] of hostile) t.equal((await send('/departments', text)).status, 401);
    for (const [, text] of hostile) t.equal((await send('/departments', text, { token: 'ey.made.up' })).status, 401);
  });

  t.test(
    'over the limit a large body is not waited for, and the connection of one that arrives stays open',
    async (t) => {
      const customer = await service.customer(owner.embedId);
      for (let count = 0; count < 20; count += 1) await send('/widget/conversations', '{}', { token: customer.token });
      const line = await RawClient.open(t, service.running.port);
      const body = 'x'.repeat(100_000);
      const head = headOf('POST', '/api/v1/widget/conversations', {
        Authorization: `Bearer ${customer.token}`,
        'Content-Length': body.length,
      });
      line.write(head + body);
      const answer = await line.answer();
      t.match(answer, refused);
      t.match(answer.headers, {
        'ratelimit-limit': /^\d+$/,
        'ratelimit-remaining': '0',
        'ratelimit-reset': /^\d+$/,
      });
      line.write(head + body.slice(1));
      t.match(await line.answer(), refused);
      await line.closed();
    },
  );
});
