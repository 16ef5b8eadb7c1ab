// Where a request ends, which host it is for, and how long its connection stays open: what a strict proxy and a strict
// client expect (RFC 9110, 9112).

import t from 'tap';
import { headOf, RawClient } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

t.test('framing', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const { port } = service.running;
  const Authorization = `Bearer ${owner.token}`;
  const smuggled =
    headOf('POST', '/api/v1/departments', { Authorization, 'Content-Length': 18 }) + '{"name":"Smuggled"}'.slice(0, 18);
  /** One request with exactly these header lines. */
  const raw = (method: string, lines: readonly string[], body = ''): string =>
    `${method} /api/v1/me/status HTTP/1.1\r\n${['Accept: application/json', 'Content-Type: application/json', `Authorization: ${Authorization}`, ...lines].map((line) => `${line}\r\n`).join('')}\r\n${body}`;
  const host = 'Host: switchboard.test';

  t.test(
    '[RFC 9112 6.3] two lengths, and codings that are not chunked, are refused, and nothing behind them is read',
    async (t) => {
      const body = '{"status":"away"}';
      const rows: [lines: string[], header: string][] = [
        [[host, `Content-Length: ${body.length}`, `Content-Length: ${body.length + 4}`], 'Content-Length'],
        [[host, `Content-Length: ${body.length}`, `Content-Length: ${body.length}`], 'Content-Length'],
        [[host, 'Transfer-Encoding: gzip'], 'Transfer-Encoding'],
        [[host, 'Transfer-Encoding: xchunked'], 'Transfer-Encoding'],
        [[host, 'Transfer-Encoding: gzip, chunked'], 'Transfer-Encoding'],
        [[host, 'Transfer-Encoding: chunked, identity'], 'Transfer-Encoding'],
        [[host, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], 'Transfer-Encoding'],
        [[host, 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], 'Transfer-Encoding'],
      ];
      for (const [lines, header] of rows) {
        const client = await RawClient.open(t, port);
        client.write(raw('POST', lines, lines.some((line) => line.startsWith('Transfer')) ? '0\r\n\r\n' : body));
        t.match(
          await client.answer(),
          {
            status: 400,
            headers: { connection: 'close', 'x-request-id': String },
            body: { error: 'invalid_body', detail: { fieldErrors: { [header]: [String] } } },
          },
          lines.join(' | '),
        );
        await client.closed();

        const together = await RawClient.open(t, port);
        together.write(
          raw('POST', lines, lines.some((line) => line.startsWith('Transfer')) ? '0\r\n\r\n' : body) + smuggled,
        );
        await together.closed();
      }
      for (const lines of [
        [host, 'Content-Length: 5', 'Transfer-Encoding: chunked'],
        [host, 'Transfer-Encoding: chunked', 'Content-Length: 5'],
        [host, 'Content-Length: 5, 5'],
        [host, 'Content-Length: +5'],
        [host, 'Content-Length: -1'],
        [host, 'Content-Length: 1e1'],
        [host, 'Content-Length: '],
      ]) {
        const client = await RawClient.open(t, port);
        client.write(raw('POST', lines, '0\r\n\r\n'));
        t.equal((await client.answer()).status, 400, lines.join(' | '));
        await client.closed();
      }
      await service.settled();
      t.same((await service.get('/departments', owner.token)).body.departments, []);
      const chunked = await RawClient.open(t, port);
      chunked.write(raw('POST', [host, 'Transfer-Encoding: Chunked'], `11\r\n${body}\r\n0\r\n\r\n`));
      t.match(await chunked.answer(), { status: 200, headers: { connection: 'close' } });
      await chunked.closed();
    },
  );

  t.test('[RFC 9112 7.1] nothing behind a chunked body is read as a request', async (t) => {
    const body = '{"status":"away"}';
    const upload = (
      await service.post('/uploads/presigned', { filename: 'a.txt', contentType: 'text/plain', size: 5 }, owner.token)
    ).body;
    t.type(upload.uploadUrl, 'string');
    const uploadPath = new URL(upload.uploadUrl).pathname + new URL(upload.uploadUrl).search;
    const put = `PUT ${uploadPath} HTTP/1.1\r\n${host}\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n`;
    for (const [name, start, chunks] of [
      ['a request', undefined, `11\r\n${body}\r\n0\r\n\r\n`],
      ['no line end after the last chunk', undefined, `11\r\n${body}\r\n0\r\nxx`],
      ['a chunk without its line end', undefined, `11\r\n${body}XX0\r\n\r\n`],
      ['a refused body', undefined, '5\r\n{"a":\r\n0\r\nxx'],
      ['an upload', put, '5\r\nhello\r\n0\r\nxx'],
      ['a trailer that is a request', undefined, `11\r\n${body}\r\n0\r\nxxGET: /healthz HTTP/1.1\r\n${host}\r\n\r\n`],
    ] as const) {
      const client = await RawClient.open(t, port);
      client.write((start ?? raw('POST', [host, 'Transfer-Encoding: chunked'])) + chunks + smuggled);
      await client.closed();
      t.ok(client.received.split('HTTP/1.1 ').length <= 2, `${name}: at most one answer`);
    }
    await service.settled();
    t.same((await service.get('/departments', owner.token)).body.departments, []);
  });

  t.test('[RFC 9112 3.2] a request is for one host', async (t) => {
    for (const lines of [
      [host, 'Host: other.test'],
      ['Host: a, b'],
      ['Host: a b'],
      ['Host: http://a/'],
      ['Host: a@b'],
      [],
    ]) {
      const client = await RawClient.open(t, port);
      client.write(raw('GET', lines));
      t.equal((await client.answer()).status, 400, lines.join(' | '));
      await client.closed();
    }
    for (const name of [
      'switchboard.test',
      'switchboard.test:8080',
      '[::1]:8080',
      '127.0.0.1',
      'b%C3%BCcher.example',
      '',
    ]) {
      const client = await RawClient.open(t, port);
      client.write(raw('GET', [`Host: ${name}`]).replace('/me/status', '/me'));
      t.equal((await client.answer()).status, 200, name || 'none to speak of');
    }
    const head = await RawClient.open(t, port);
    head.write(raw('HEAD', [host, 'Host: other.test']));
    await head.closed();
    const upgrade = await RawClient.open(t, port);
    upgrade.write(
      `GET /agent HTTP/1.1\r\n${host}\r\nHost: other.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    );
    await upgrade.closed();
  });

  t.test('[RFC 9110 9.1] methods are spelled in capitals', async (t) => {
    for (const method of ['get', 'Get', 'delete'])
      t.equal(
        (
          await (async () => {
            const client = await RawClient.open(t, port);
            client.write(raw(method, [host]));
            return client.answer();
          })()
        ).status,
        405,
        method,
      );
  });

  t.test("a request's line and headers have 16 KiB", async (t) => {
    const ask = async (line: string, path = '/api/v1/me'): Promise<number> => {
      const client = await RawClient.open(t, port);
      client.write(
        `GET ${path} HTTP/1.1\r\n${host}\r\nAccept: application/json\r\nAuthorization: ${Authorization}\r\n${line}\r\n\r\n`,
      );
      return (await client.answer()).status;
    };
    t.equal(await ask(`Cookie: ${'x'.repeat(15_000)}`), 200);
    t.equal(await ask('X-A: b', `/api/v1/agents?unknown=${'x'.repeat(15_000)}`), 200);
    t.equal(await ask(`Cookie: ${'x'.repeat(17_000)}`), 431);
  });

  t.test('[RFC 9112 9] replies say how long a connection is kept, and which reply is its last', async (t) => {
    const client = await RawClient.open(t, port);
    client.write(headOf('GET', '/healthz', {}));
    t.match((await client.answer()).headers, { connection: 'keep-alive', 'keep-alive': 'timeout=7' });
    client.write(headOf('GET', '/healthz', { Connection: 'close' }));
    t.match((await client.answer()).headers, { 'keep-alive': undefined });
    await client.closed();
  });

  t.test('replies do not name the server software, and over plain HTTP do not require TLS', async (t) => {
    for (const path of ['/healthz', '/nowhere', '/api/v1/me']) {
      const { headers } = await fetch(service.url + path);
      t.same(
        [
          headers.get('server'),
          headers.get('uwebsockets'),
          headers.get('x-powered-by'),
          headers.get('strict-transport-security'),
        ],
        [null, null, null, null],
        path,
      );
    }
  });

  t.test('the page for a wrong address loads nothing and cannot be framed', async (t) => {
    // The second is refused before the page is looked up.
    for (const [path, method] of [
      ['/nowhere', 'GET'],
      ['/oauth/authorize', 'POST'],
    ] as const) {
      const { status, headers } = await fetch(service.url + path, {
        method,
        headers: { Accept: 'text/html' },
        ...(method === 'POST' ? { body: 'x' } : {}),
      });
      t.equal(status, method === 'GET' ? 404 : 400, path);
      t.match(headers.get('content-type'), /^text\/html/);
      for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"])
        t.match(headers.get('content-security-policy'), rule);
      t.equal(headers.get('referrer-policy'), 'no-referrer');
    }
  });

  t.test('[5] a request without Accept is told what to send', async (t) => {
    const client = await RawClient.open(t, port);
    client.write(`GET /api/v1/me HTTP/1.1\r\n${host}\r\nAuthorization: ${Authorization}\r\n\r\n`);
    t.match(await client.answer(), {
      status: 400,
      body: {
        error: 'invalid_body',
        message: 'Accept is required: send Accept: application/json with every call.',
        detail: { fieldErrors: { Accept: ['is required'] } },
      },
    });
  });
});

t.test('[RFC 6797] over https, browsers are told to stay with it', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://help.example' } });
  for (const path of ['/healthz', '/nowhere', '/widget.js'])
    t.equal((await fetch(service.url + path)).headers.get('strict-transport-security'), 'max-age=31536000', path);
});

t.test('a body in small pieces is one body, and one that crumbles ends its connection', async (t) => {
  const service = await startService(t);
  const port = Number(new URL(service.url).port);
  const head =
    'POST /api/v1/auth/login HTTP/1.1\r\nHost: switchboard.test\r\nAccept: */*\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const inPieces = (text: string): string => [...text].map((letter) => `1\r\n${letter}\r\n`).join('');
  const whole = await RawClient.open(t, port);
  whole.write(`${head}${inPieces(JSON.stringify({ email: 'kim@example.com', password: 'x'.repeat(500) }))}0\r\n\r\n`);
  t.match(await whole.answer(), { status: 401, body: { error: 'invalid_credentials' } });
  for (const path of [
    '/auth/login',
    `/storage/${'0'.repeat(8)}-0000-4000-8000-000000000000/attachment/00000000-0000-4000-8000-000000000000/x.png`,
  ]) {
    const crumbling = await RawClient.open(t, port);
    await crumbling.written(
      `${head.replace('POST /api/v1/auth/login', path.startsWith('/auth') ? 'POST /api/v1/auth/login' : `PUT ${path}`)}${inPieces('x'.repeat(3000))}`,
    );
    await crumbling.closed();
    t.ok(crumbling.isClosed, path);
  }
});
