import { Agent } from 'node:http';
import t from 'tap';
import { type Document, ReplyRules } from '../fuzz/replies.ts';
import { HeldDisk } from '../support/held-disk.ts';
import { headOf, type RawAnswer, RawClient, rawRequest } from '../support/raw-http.ts';
import { type CallOptions, startService } from '../support/service.ts';

const accept = { Accept: 'application/json' };
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

t.test('headers', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const bearer = { Authorization: `Bearer ${owner.token}` };
  const raw = (
    headers: Record<string, string | string[]>,
    rest: { method?: string; path?: string; body?: string } = {},
  ) => rawRequest(service.url, { path: '/api/v1/me', ...rest, headers });

  t.test('[5] Accept must be there and admit JSON', async (t) => {
    for (const value of [
      'application/json',
      '*/*',
      'application/*',
      'Application/JSON',
      'text/html, application/json;q=0.5',
      'text/html,*/*;q=0.1',
      'application/json; charset=utf-8',
    ]) {
      t.equal((await raw({ ...bearer, Accept: value })).status, 200, value);
    }
    t.equal((await raw({ ...bearer, Accept: ['text/html', 'application/json'] })).status, 200, 'over two lines');
    for (const value of [
      'text/html',
      'application/xml',
      'application/jsonp',
      'application/vnd.api+json',
      'application/json;q=0',
      '*/*;q=0.0',
      'json',
      '',
    ]) {
      t.match(
        await raw({ ...bearer, Accept: value }),
        {
          status: 400,
          body: {
            statusCode: 400,
            error: 'invalid_body',
            detail: { fieldErrors: { Accept: ['must allow application/json'] } },
          },
        },
        value || 'nothing',
      );
    }
    t.match(await raw(bearer), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { Accept: ['is required'] } } },
    });
    t.match(await raw({}), { status: 400, body: { error: 'invalid_body' } }, 'before the caller is identified');
  });

  t.test('[5] Content-Type must be JSON if there is a body', async (t) => {
    const send = (type: string | undefined, body = '{"status":"away"}') =>
      raw(
        { ...bearer, ...accept, ...(type === undefined ? {} : { 'Content-Type': type }) },
        { method: 'POST', path: '/api/v1/me/status', body },
      );
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'])
      t.equal((await send(type)).status, 200, type);
    for (const type of [
      undefined,
      '',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonx',
      'application/json-patch+json',
    ]) {
      t.match(
        await send(type),
        {
          status: 400,
          body: { error: 'invalid_body', detail: { fieldErrors: { 'Content-Type': ['must be application/json'] } } },
        },
        type ?? 'none',
      );
    }
    t.equal(
      (await raw({ ...bearer, ...accept }, { method: 'POST', path: '/api/v1/auth/logout' })).status,
      204,
      'none is needed without a body',
    );
  });

  t.test('[RFC 9110 8.4] a compressed body is refused as such, not parsed as something else', async (t) => {
    const form = {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Encoding': 'br' },
      body: 'grant_type=refresh_token',
    };
    for (const [coding, status] of [
      ['gzip', 400],
      ['br', 400],
      ['gzip, identity', 400],
      ['identity', 401],
      ['Identity', 401],
    ] as const) {
      const headers = { Accept: 'application/json', 'Content-Type': 'application/json', 'Content-Encoding': coding };
      const answer = await fetch(`${service.url}/api/v1/auth/login`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ email: 'kim@example.com', password: 'a long enough one' }),
      });
      t.equal(answer.status, status, coding);
      if (status === 400)
        t.match(await answer.json(), {
          error: 'invalid_body',
          detail: { fieldErrors: { 'Content-Encoding': [String] } },
        });
    }
    t.equal((await fetch(`${service.url}/oauth/token`, form)).status, 400);
  });

  t.test('[decisions] pages, documents, health and figures take no notice of them', async (t) => {
    for (const path of [
      '/healthz',
      '/readyz',
      '/metrics',
      '/docs',
      '/join/x',
      '/reset-password?token=x',
      '/api/v1/openapi.json',
      '/api/v1/asyncapi.json',
    ])
      t.equal((await raw({}, { path })).status, 200, path);
  });

  t.test("[decisions] X-Request-Id: the caller's when it is sane, else ours, on every answer", async (t) => {
    for (const id of ['a', 'A-1.b_2', 'x'.repeat(128)])
      t.equal((await raw({ ...accept, 'X-Request-Id': id })).headers['x-request-id'], id);
    for (const id of ['', 'x'.repeat(129), 'a b', 'a/b', 'ü', '<script>', 'a,b'])
      t.match(
        (await raw({ ...accept, 'X-Request-Id': Buffer.from(id).toString('latin1') })).headers['x-request-id'],
        uuidV7,
        JSON.stringify(id).slice(0, 20),
      );
    t.match((await raw({ ...accept, 'X-Request-Id': ['a', 'b'] })).headers['x-request-id'], uuidV7, 'two of them');
    const answers = await Promise.all([
      raw(accept),
      raw({}),
      raw(accept, { path: '/nowhere' }),
      raw(accept, { method: 'PUT' }),
      raw({}, { method: 'OPTIONS' }),
      raw({ ...accept, 'Service-Version': 'x' }),
      raw({ ...accept, 'Content-Type': 'application/json' }, { method: 'POST', path: '/api/v1/auth/login', body: '{' }),
      raw({ ...accept, 'Content-Length': String(2 ** 21) }, { method: 'POST', path: '/api/v1/auth/login' }),
    ]);
    for (const { status, headers } of answers) t.match(headers['x-request-id'], uuidV7, String(status));
    t.equal(new Set(answers.map(({ headers }) => headers['x-request-id'])).size, answers.length);
  });

  t.test('[9] Service-Version: a date, echoed as the version in force', async (t) => {
    const latest = '2026-11-20';
    const { token } = (
      await service.post('/auth/login', { email: owner.email, password: 'correct horse battery staple' })
    ).body;
    const ask = (version: string | undefined) =>
      service.call('GET', '/me', { token, headers: { 'Service-Version': version } });
    for (const version of [undefined, latest, '2030-01-01', '2020-01-01', '0001-01-01'])
      t.equal((await ask(version)).headers.get('service-version'), latest, String(version));
    for (const version of ['', 'latest', '2026-13-01', '2026-02-30', '20261120', '2026-11-20T00:00:00Z', '2026-1-1'])
      t.match(
        await ask(version),
        { status: 400, body: { error: 'invalid_query', detail: { fieldErrors: { 'Service-Version': [String] } } } },
        version,
      );
    t.equal((await service.get('/me')).headers.get('service-version'), latest, 'also on a refusal');
  });

  t.test('nothing is cached or sniffed, and the server is not named', async (t) => {
    const { headers } = await raw({ ...accept });
    t.match(headers, {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'www-authenticate': 'Bearer',
    });
  });
});

t.test('bodies', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const send = (body: string | Uint8Array, path = '/api/v1/me/status') =>
    rawRequest(service.url, {
      method: 'POST',
      path,
      body,
      headers: { ...accept, Authorization: `Bearer ${owner.token}`, 'Content-Type': 'application/json' },
    });

  t.test('[7] malformed JSON', async (t) => {
    for (const body of [
      '{',
      '{"status":"away"',
      'status=away',
      "{'status':'away'}",
      '{"status":"away"} x',
      '\u0000',
      '{"status":NaN}',
    ]) {
      t.match(
        await send(body),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { body: ['must be JSON'] } } } },
        body,
      );
    }
    t.match(
      await send(Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])),
      { status: 400, body: { detail: { fieldErrors: { body: ['must be JSON'] } } } },
      'bytes that are no UTF-8',
    );
    t.equal(
      (await send(`\uFEFF${JSON.stringify({ status: 'away' })}`)).status,
      200,
      'a byte order mark is passed over',
    );
  });

  t.test('[7] bodies that are not objects', async (t) => {
    for (const body of ['null', '[]', '"text"', '7', 'true'])
      t.match(
        await send(body),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { body: ['must be object'] } } } },
        body,
      );
    const chat = await service.chat(owner);
    t.match(
      await send('null', `/api/v1/conversations/${chat.id}/assignment/accept`),
      { status: 400, body: { error: 'invalid_body' } },
      'also where every field is optional',
    );
  });

  t.test('[decisions] unknown fields are ignored, whatever they are called', async (t) => {
    t.match(await send('{"status":"away","unknown":{"deep":[1]},"__proto__":{"role":"x"},"constructor":1}'), {
      status: 200,
      body: { status: 'away' },
    });
    t.equal(Object.hasOwn(Object.prototype, 'role'), false);
    t.match(
      await service.get('/agents?limit=5&unknown=1&__proto__=a&__proto__=b&constructor=x&toString=y', owner.token),
      { status: 200 },
    );
  });

  t.test('[8] a body may have 1 MiB; one byte more is 413', async (t) => {
    const mebibyte = 1024 * 1024;
    const sized = (bytes: number): string => `{"status":"away","pad":"${'x'.repeat(bytes - 26)}"}`;
    t.equal(Buffer.byteLength(sized(mebibyte)), mebibyte);
    t.equal((await send(sized(mebibyte))).status, 200);
    t.match(await send(sized(mebibyte + 1)), { status: 413, body: { statusCode: 413, error: 'payload_too_large' } });
    const headers = { ...accept, Authorization: `Bearer ${owner.token}`, 'Content-Type': 'application/json' };
    const chunks = (count: number): string[] => [
      '{"status":"away","pad":"',
      ...Array.from({ length: count }, () => 'x'.repeat(64 * 1024)),
      '"}',
    ];
    t.equal(
      (await rawRequest(service.url, { method: 'POST', path: '/api/v1/me/status', headers, chunks: chunks(15) }))
        .status,
      200,
      'of unannounced length',
    );
    t.match(await rawRequest(service.url, { method: 'POST', path: '/api/v1/me/status', headers, chunks: chunks(16) }), {
      status: 413,
      body: { error: 'payload_too_large' },
    });
    t.equal((await service.get('/me', owner.token)).status, 200, 'and the service continues');
  });

  t.test('an announced body that does not arrive is 408', async (t) => {
    const impatient = await startService(t, { bodyTimeoutMs: 50 });
    const head = (length: number): string =>
      `POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
    const client = await RawClient.open(t, Number(new URL(impatient.url).port));
    client.write(`${head(100)}{"email":`);
    t.match(await client.answer(), {
      status: 408,
      headers: { connection: 'close' },
      body: { error: 'request_timeout' },
    });
    await client.closed();
  });

  t.test('a body at a path that has none is left unread, and the connection lives on', async (t) => {
    const request = (path: string, body: string, last: boolean): string =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nContent-Length: ${body.length}\r\n${last ? 'Connection: close\r\n' : ''}\r\n${body}`;
    const client = await RawClient.open(t, Number(new URL(service.url).port));
    client.write(request('/nowhere', 'x'.repeat(5000), false) + request('/api/v1/auth/logout', '', true));
    t.same([(await client.answer()).status, (await client.answer()).status], [404, 401]);
    await client.closed();
  });
});

t.test('paths and methods', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();

  t.test('[decisions] an unknown path is 404 in the shape of every error', async (t) => {
    for (const path of [
      '//nowhere',
      '/nowhere',
      '/agents/',
      '//api/v2/me',
      '//favicon.ico',
      '//..%2f..%2fetc/passwd',
      '/agents/%E0%A4%A',
    ]) {
      const { status, body } = await service.get(path, owner.token);
      t.equal(status, 404, path);
      t.match(body, { statusCode: 404, error: 'not_found', message: String });
    }
  });

  t.test('for a missing address, people get a page and programs the error', async (t) => {
    const browser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const page = await fetch(`${service.url}/nowhere?x=<script>`, { headers: browser });
    t.equal(page.status, 404);
    t.match(page.headers.get('content-type'), /^text\/html/);
    t.match(await page.text(), /There is no page here[^]*href="\/"/);
    for (const [path, headers] of [
      ['/nowhere', { Accept: '*/*' }],
      ['/api/v1/nowhere', browser],
      ['/oauth/nowhere', { Accept: 'application/json' }],
    ] as const) {
      const reply = await fetch(service.url + path, { headers });
      t.equal(reply.status, 404, path);
      t.match(reply.headers.get('content-type'), /^application\/json/, path);
    }
  });

  t.test('[decisions] another method is 405 with Allow', async (t) => {
    const id = '0194b7a6-1111-7111-8111-111111111111';
    const rows: [string, string, string][] = [
      ['DELETE', '/me', 'GET, HEAD, OPTIONS'],
      ['GET', '/auth/login', 'POST, OPTIONS'],
      ['HEAD', '/auth/login', 'POST, OPTIONS'],
      ['PUT', `/agents/${id}`, 'GET, HEAD, PATCH, DELETE, OPTIONS'],
      ['POST', `/workspaces/${id}`, 'GET, HEAD, PATCH, OPTIONS'],
      ['PROPFIND', '/agents', 'GET, HEAD, OPTIONS'],
    ];
    for (const [method, path, allow] of rows) {
      const { status, body, headers } = await service.call(method, path, { token: owner.token });
      t.equal(status, 405, `${method} ${path}`);
      t.equal(headers.get('allow'), allow);
      if (method !== 'HEAD') t.match(body, { statusCode: 405, error: 'method_not_allowed' });
    }
  });

  t.test('HEAD answers as GET does, without the body', async (t) => {
    for (const path of ['/me', '/agents', '//healthz']) {
      const get = await service.get(path, owner.token);
      const head = await rawRequest(service.url, {
        method: 'HEAD',
        path: path.startsWith('//') ? path.slice(1) : `/api/v1${path}`,
        headers: { ...accept, Authorization: `Bearer ${owner.token}` },
      });
      t.equal(head.status, get.status);
      t.equal(head.text, '');
      t.equal(head.headers['content-type'], get.headers.get('content-type'));
      t.equal(head.headers['content-length'], get.headers.get('content-length'));
    }
  });

  t.test('an answer without a body announces none, and the connection serves the next request', async (t) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    const options = { headers: { ...accept, Authorization: `Bearer ${owner.token}` }, agent };
    const { id } = (await service.post('/departments', { name: 'Short-lived' }, owner.token)).body;
    const deleted = await rawRequest(service.url, { method: 'DELETE', path: `/api/v1/departments/${id}`, ...options });
    t.equal(deleted.status, 204);
    t.equal(deleted.headers['content-length'], undefined);
    t.equal(deleted.headers['transfer-encoding'], undefined);
    const next = await rawRequest(service.url, { path: '/api/v1/me', ...options });
    t.equal(next.status, 200);
    const head = await rawRequest(service.url, { method: 'HEAD', path: '/api/v1/me', ...options });
    const last = await rawRequest(service.url, { path: '/api/v1/me', ...options });
    t.equal(last.status, 200);
    t.equal(last.localPort, head.localPort, 'after a HEAD, too');
    t.equal(next.localPort, deleted.localPort, 'on the same connection');
  });

  t.test('[decisions] a malformed id is 404, whatever it is', async (t) => {
    for (const id of [
      '1',
      'undefined',
      'null',
      owner.agentId.slice(1),
      `${owner.agentId}0`,
      `${owner.agentId}%00`,
      '*',
      '%7B%7D',
      "'%20OR%201=1",
    ]) {
      t.match(await service.get(`/agents/${id}`, owner.token), { status: 404, body: { error: 'not_found' } }, id);
    }
    const badBoth = await service.patch('/agents/1', { name: 7 }, owner.token);
    t.match(badBoth, { status: 404 }, 'before its body is looked at');
  });
});

t.test('CORS', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const origin = 'https://anywhere.example';
  const call = (method: string, path: string, options: CallOptions = {}) =>
    service.call(method, path, { ...options, headers: { ...options.headers, Origin: origin } });

  t.test('[5] any origin can call with a bearer token, and read the necessary headers', async (t) => {
    for (const [path, token, status] of [
      ['/me', owner.token, 200],
      ['/me', 'x', 401],
      ['/nowhere', owner.token, 404],
    ] as const) {
      const { headers, ...answer } = await call('GET', path, { token });
      t.equal(answer.status, status);
      t.equal(headers.get('access-control-allow-origin'), '*');
      const exposed = headers.get('access-control-expose-headers')?.toLowerCase() ?? '';
      for (const name of [
        'x-request-id',
        'service-version',
        'sunset',
        'ratelimit-limit',
        'ratelimit-remaining',
        'ratelimit-reset',
        'retry-after',
        'allow',
      ])
        t.match(exposed, name);
      t.equal(headers.get('access-control-allow-credentials'), null, 'no cookie is ever asked for');
    }
    t.equal(
      (await service.get('/me', owner.token)).headers.get('access-control-allow-origin'),
      null,
      'clients other than browsers are not told',
    );
  });

  t.test('[5] a preflight is answered for every method and header of the API', async (t) => {
    const { status, body, headers } = await call('OPTIONS', '/agents/invite', {
      headers: {
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,content-type',
      },
    });
    t.equal(status, 204);
    t.equal(body, null);
    t.equal(headers.get('access-control-allow-origin'), '*');
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
      t.match(headers.get('access-control-allow-methods'), method);
    for (const name of ['Authorization', 'Content-Type', 'Accept', 'Service-Version', 'X-Request-Id'])
      t.match(headers.get('access-control-allow-headers'), name);
    t.ok(Number(headers.get('access-control-max-age')) > 0);
    t.equal(headers.get('allow'), 'POST, OPTIONS');
    t.equal((await call('OPTIONS', '/nowhere')).headers.get('allow'), null);
  });
});

t.test('a stopping service answers on its remaining connections that it is not ready, as documented', async (t) => {
  const disk = new HeldDisk({ isHeld: false });
  const service = await startService(t, { syncToDisk: disk.sync });
  const owner = await service.workspace();
  const document: Document = (await service.get('/openapi.json')).body;
  const rules = new ReplyRules(document);
  const responses = document.paths['/readyz']?.['get']?.responses ?? {};
  const problemOf = ({ status, body }: RawAnswer): string | undefined =>
    rules.schemaProblem(
      `/readyz ${status}`,
      responses[status]?.content?.['application/json']?.schema ?? { not: {} },
      body,
    );
  const client = await RawClient.open(t, service.running.port);
  const ask = (): Promise<RawAnswer> => {
    client.write(headOf('GET', '/readyz', {}));
    return client.answer();
  };

  const before = await ask();
  t.match(before, { status: 200, body: { status: 'ready' } });
  t.equal(problemOf(before), undefined);

  disk.hold();
  const underWay = service.post('/me/status', { status: 'available' }, owner.token);
  await disk.asked();
  const stopped = service.stop();
  const after = await ask();
  t.match(after, {
    status: 503,
    headers: { 'retry-after': '1', 'content-type': /^application\/json/ },
    body: { status: 'not ready' },
  });
  t.equal(problemOf(after), undefined);
  t.match(problemOf({ ...after, body: { status: 'ready' } }), /not as declared/, 'the document says which words');
  disk.letGo();
  t.equal((await underWay).status, 200);
  await stopped;
});

t.test('health and readiness', async (t) => {
  const service = await startService(t);
  t.same((await service.get('//healthz')).body, { status: 'ok' });
  t.same((await service.get('//readyz')).body, { status: 'ready' });
  const { body, headers } = await service.get('//metrics');
  t.match(headers.get('content-type'), /^text\/plain/);
  for (const name of [
    'switchboard_request_seconds',
    'switchboard_agent_sockets',
    'switchboard_event_loop_delay_p99_seconds',
    'switchboard_lane_depth',
    'switchboard_commit_seconds',
    'switchboard_sync_seconds',
    'switchboard_outbox_age_seconds',
  ])
    t.match(body, name);
});
