import { Agent } from 'node:http';
import t from 'tap';
import { headOf, RawClient, rawRequest } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

const maxBodyBytes = 1024 * 1024;
const bodyTimeoutMs = 300;
/** The minimum growth of a body in that time. */
const paceBytes = Math.ceil((16 * 1024 * bodyTimeoutMs) / 1000);

t.test('requests that go wrong on the way', async (t) => {
  const service = await startService(t, { bodyTimeoutMs, env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  const path = `/api/v1/conversations/${chat.id}/messages`;
  const Authorization = `Bearer ${owner.token}`;
  const { port } = service.running;
  const stored = async (): Promise<string[]> =>
    (await service.get(`/conversations/${chat.id}/messages?limit=200`, owner.token)).body.messages.map(
      ({ body }: { body: string }) => body,
    );
  const isWell = async (): Promise<void> => {
    t.equal((await service.get('/me', owner.token)).status, 200, 'others are served');
  };

  t.test(
    '[decisions, slow clients] a body that does not arrive is answered 408, whether or not it has begun',
    async (t) => {
      const before = await stored();
      const clients = await Promise.all([1, 2, 3].map(() => RawClient.open(t, port)));
      clients[0]?.write(headOf('POST', path, { Authorization, 'Content-Length': 100 }));
      clients[1]?.write(`${headOf('POST', path, { Authorization, 'Content-Length': 100 })}{"body":`);
      clients[2]?.write(`${headOf('POST', path, { Authorization, 'Transfer-Encoding': 'chunked' })}1\r\n{\r\n`);
      for (const client of clients) {
        t.match(await client.answer(), {
          status: 408,
          headers: { 'x-request-id': /./ },
          body: { statusCode: 408, error: 'request_timeout' },
        });
        await client.closed();
      }
      t.same(await stored(), before);
      await isWell();
    },
  );

  t.test('a large body that keeps coming is not cut off, however long it takes', async (t) => {
    const body = JSON.stringify({ body: 'x'.repeat(9000), padding: 'y'.repeat(4 * paceBytes) });
    const steady = await RawClient.open(t, port);
    steady.write(headOf('POST', path, { Authorization, 'Content-Length': body.length }));
    for (let at = 0; at < body.length; at += 2 * paceBytes) {
      // The stalled one shows when another interval is over.
      const stalled = await RawClient.open(t, port);
      steady.write(body.slice(at, at + 2 * paceBytes));
      stalled.write(headOf('POST', path, { Authorization, 'Content-Length': 1 }));
      if (at + 2 * paceBytes < body.length) t.equal((await stalled.answer()).status, 408);
    }
    t.equal((await steady.answer()).status, 201);
  });

  t.test(
    '[decisions] a body of 1 MiB is read, one byte more is 413, with a length or in chunks, and nothing of it is done',
    async (t) => {
      const before = await stored();
      const fitting = JSON.stringify({ body: 'fits', padding: '' });
      const exact = fitting.replace('""', `"${'z'.repeat(maxBodyBytes - fitting.length)}"`);
      t.equal(exact.length, maxBodyBytes);
      const whole = await RawClient.open(t, port);
      whole.write(headOf('POST', path, { Authorization, 'Content-Length': exact.length }) + exact);
      t.equal((await whole.answer()).status, 201);
      const chunked = await RawClient.open(t, port);
      chunked.write(
        `${headOf('POST', path, { Authorization, 'Transfer-Encoding': 'chunked' })}${exact.length.toString(16)}\r\n${exact}\r\n0\r\n\r\n`,
      );
      t.equal((await chunked.answer()).status, 201);

      const announced = await RawClient.open(t, port);
      announced.write(headOf('POST', path, { Authorization, 'Content-Length': maxBodyBytes + 1 }));
      t.match(
        await announced.answer(),
        { status: 413, body: { error: 'payload_too_large' } },
        'before any of it has come',
      );
      await announced.closed();
      const endless = await RawClient.open(t, port);
      endless.write(headOf('POST', path, { Authorization, 'Transfer-Encoding': 'chunked' }));
      const chunk = 'x'.repeat(64 * 1024);
      for (let sent = 0; sent <= maxBodyBytes; sent += chunk.length)
        endless.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
      t.match(await endless.answer(), { status: 413, body: { error: 'payload_too_large' } });
      await endless.closed();
      t.same((await stored()).slice(before.length), ['fits', 'fits']);
      await isWell();
    },
  );

  t.test(
    'a body that is too large is let in, so that its sender reads the answer, and can send another; beyond 32 MiB it is cut off',
    async (t) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      t.teardown(() => agent.destroy());
      const send = (bytes: number, rest: { chunked?: true } = {}) => {
        const piece = Buffer.alloc(64 * 1024, 'x');
        const headers = { Authorization, Accept: 'application/json', 'Content-Type': 'application/json' };
        return rawRequest(service.url, {
          method: 'POST',
          path,
          headers,
          agent,
          ...(rest.chunked
            ? { chunks: Array.from({ length: bytes / piece.length }, () => piece) }
            : { body: Buffer.alloc(bytes, 'x') }),
        });
      };
      const first = await send(8 * maxBodyBytes);
      t.match(first, { status: 413, body: { error: 'payload_too_large' } });
      const second = await send(8 * maxBodyBytes, { chunked: true });
      t.match(second, { status: 413, body: { error: 'payload_too_large' } });
      const third = await rawRequest(service.url, {
        path: '/api/v1/me',
        headers: { Authorization, Accept: 'application/json' },
        agent,
      });
      t.equal(third.status, 200);
      t.equal(second.localPort, first.localPort, 'over one connection');
      t.not(third.localPort, second.localPort, 'which a chunked body ends');

      const endless = await RawClient.open(t, port);
      endless.write(headOf('POST', path, { Authorization, 'Content-Length': 4 * 1024 ** 3 }));
      for (let sent = 0; sent < 64 && !endless.isClosed; sent += 1) await endless.written(Buffer.alloc(maxBodyBytes));
      await endless.closed();
      await isWell();
    },
  );

  t.test('an aborted request is done or not done, never half; and the service continues', async (t) => {
    const before = await stored();
    const whole: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      const client = await RawClient.open(t, port);
      const text = `aborted ${index}`;
      const body = JSON.stringify({ body: text });
      const request = headOf('POST', path, { Authorization, 'Content-Length': body.length }) + body;
      const isWhole = index % 3 === 0;
      if (isWhole) whole.push(text);
      client.write(isWhole ? request : request.slice(0, Math.floor((request.length * (index % 17)) / 17)));
      await new Promise((resolve) => setImmediate(resolve));
      client.destroy();
    }
    await isWell();
    await service.settled();
    const after = (await stored()).slice(before.length);
    t.equal(new Set(after).size, after.length);
    t.ok(
      after.every((text) => whole.includes(text)),
      `${after.length} of ${whole.length} that were whole were done, and no other`,
    );
    const told =
      service.running.services.engine
        .workspace(owner.workspaceId)
        ?.db.all<{ text: string }>(
          `SELECT body AS text FROM event JOIN message ON message.rowid = event.data ->> '$[0]' WHERE type = 'message.created'`,
        ) ?? [];
    t.ok(
      after.every((text) => told.filter((one) => one.text === text).length === 1),
      'each with its event',
    );
  });

  t.test('requests in one write are answered in their order', async (t) => {
    const client = await RawClient.open(t, port);
    client.write(
      ['one', 'two', 'three'].map((id) => headOf('GET', '/api/v1/nothing', { 'X-Request-Id': id })).join(''),
    );
    for (const id of ['one', 'two', 'three']) {
      const answer = await client.answer().catch((error: unknown) => error);
      // On a busy machine one waits for its turn, and the next, before it is answered, ends the connection.
      if (answer instanceof Error) return t.ok(client.isClosed);
      t.match(answer, { status: 404, headers: { 'x-request-id': id } });
    }
  });

  t.test('a request before the former is answered ends the connection, and is not done', async (t) => {
    const client = await RawClient.open(t, port);
    const request = (text: string): string => {
      const body = JSON.stringify({ body: text });
      return headOf('POST', path, { Authorization, 'Content-Length': body.length }) + body;
    };
    client.write(request('the former') + request('the hasty one'));
    await client.closed();
    await service.settled();
    t.notOk((await stored()).includes('the hasty one'));
    await isWell();
  });

  t.test('heads that are no head: 400 or 431, and the connection ends', async (t) => {
    const rows: [string, number][] = [
      [`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
      [
        `GET /healthz HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 500 }, (_, index) => `X-${index}: y\r\n`).join('')}\r\n`,
        431,
      ],
      [headOf('POST', path, { Authorization, 'Content-Length': 5, 'Transfer-Encoding': 'chunked' }), 400],
      [headOf('POST', path, { Authorization, 'Content-Length': '5, 5' }), 400],
      [headOf('POST', path, { Authorization, 'Content-Length': '-1' }), 400],
    ];
    for (const [text, status] of rows) {
      const client = await RawClient.open(t, port);
      client.write(text);
      t.equal((await client.answer()).status, status, text.slice(0, 60));
      await client.closed();
    }
    await isWell();
  });

  t.test('1,000 idle connections affect no one else', async (t) => {
    const idle = await Promise.all(Array.from({ length: 1000 }, () => RawClient.open(t, port)));
    await isWell();
    t.equal(
      (await service.post(`/conversations/${chat.id}/messages`, { body: 'with a thousand listeners' }, owner.token))
        .status,
      201,
    );
    t.ok(idle.filter(({ isClosed }) => !isClosed).length > 900);
    for (const client of idle) client.destroy();
    await isWell();
  });
});
