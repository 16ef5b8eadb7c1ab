// Requests that one node sends on to another: what the client gets is what the other node answered.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { brotliDecompressSync } from 'node:zlib';
import t from 'tap';
import { Type } from 'typebox';
import { NotServed } from '../../engine/runtime/placement.ts';
import { OutcomeUnknown, PeerRequests } from '../../http/cluster/forwarding.ts';
import { markOf } from '../../http/cluster/mark.ts';
import { Places } from '../../http/cluster/places.ts';
import { KnownNodes } from '../../http/cluster/receiving.ts';
import type { Reply, RequestHead } from '../../http/request.ts';
import { type Route, route } from '../../http/route.ts';
import { makeCertificate, noOpenssl } from '../support/certificates.ts';
import { tempFolder } from '../support/folder.ts';
import { nodeRecord } from '../support/node-record.ts';
import { clusterSecret, startEntry, startOwner } from '../support/peers.ts';
import { RawClient, rawRequest } from '../support/raw-http.ts';
import { startService, type Teardown } from '../support/service.ts';

const described = {
  tag: 'System',
  summary: 'For this test',
  access: { kind: 'public' },
  refusals: [],
  anyHeaders: true,
  otherReplies: { 200: { description: 'It' }, 302: { description: 'It' }, 304: { description: 'It' } },
} as const;
const written = { status: 200, schema: null } as const;

/** What the owner saw. */
const echo = route({
  ...described,
  operation: 'test.echo',
  method: 'POST',
  path: '/test/echo/{name}',
  params: Type.Object({ name: Type.String() }),
  query: Type.Object({ q: Type.Optional(Type.String()) }),
  body: Type.Object({ text: Type.String() }),
  reply: { ...written, contentType: 'application/json' },
  send: ({ params, query, body, headers, ip, requestId, userAgent }) => ({
    status: 200,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Set-Cookie': 'a=b; Path=/' },
    body: JSON.stringify({ params, query, chars: body.text.length, headers, ip, requestId, userAgent }),
  }),
});
const text = JSON.stringify('The same words, again and again. '.repeat(2000));
const page = route({
  ...described,
  operation: 'test.page',
  method: 'GET',
  path: '/test/page',
  reply: { ...written, contentType: 'application/json' },
  send: ({ headers }) =>
    headers['if-none-match'] === '"1"'
      ? { status: 304, headers: { ETag: '"1"' }, body: 'x'.repeat(77) }
      : { status: 200, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: text },
});
const redirect = route({
  ...described,
  operation: 'test.redirect',
  method: 'GET',
  path: '/test/redirect',
  reply: written,
  send: () => ({ status: 302, headers: { Location: '/test/elsewhere?a=b' }, body: '' }),
});
/** Takes bytes of any number, answers with their hash. */
const upload = route({
  ...described,
  operation: 'test.upload',
  method: 'PUT',
  path: '/test/upload',
  reply: { ...written, contentType: 'text/plain' },
  async receive({ body }) {
    const hash = createHash('sha256');
    for await (const part of body) hash.update(part);
    return { status: 200, headers: { 'Content-Type': 'text/plain' }, body: hash.digest('hex') };
  },
});
const limited = route({
  ...described,
  operation: 'test.limited',
  method: 'GET',
  path: '/test/limited',
  refusals: ['rate_limited'],
  limit: { by: 'ip', perMinute: 2 },
  reply: written,
  send: ({ ip }) => ({ status: 200, headers: {}, body: ip }),
});

/** A route whose parts the test sends, measured or not. */
function streamOf(parts: () => AsyncGenerator<Uint8Array>, byteLength?: number): Route {
  return route({
    ...described,
    operation: 'test.stream',
    method: 'GET',
    path: '/test/stream',
    reply: { ...written, contentType: 'application/octet-stream' },
    send: () => ({
      status: 200,
      headers: { 'Content-Type': 'application/octet-stream' },
      // The pipeline passes bytes on as it passes text on.
      body: byteLength === undefined ? (parts() as AsyncIterable<any>) : { byteLength, parts: parts() },
    }),
  });
}

const routes = [echo, page, redirect, upload, limited];

t.test('replies are those of the node that the request was sent on to', async (t) => {
  const service = await startService(t);
  const shop = await service.workspace();
  const owner = await startOwner(t, service, { routes });
  const entry = await startEntry(t, service, { owner: owner.record, routes });
  const bearer = { Authorization: `Bearer ${shop.token}`, Accept: 'application/json' };
  const both = (request: Parameters<typeof rawRequest>[1]) =>
    Promise.all([rawRequest(entry.url, request), rawRequest(owner.url, request)]);

  t.test('JSON of the API, with its headers', async (t) => {
    const [there, direct] = await both({ path: '/api/v1/sites', headers: { ...bearer, 'X-Request-Id': 'mine-1' } });
    t.equal(there.status, 200);
    t.strictSame(there.body, direct.body);
    const differing = ['date', 'ratelimit-remaining', 'app-ratelimit-remaining'];
    const shown = (headers: object) =>
      Object.entries(headers)
        .filter(([name]) => !differing.includes(name))
        .sort();
    t.strictSame(shown(there.headers), shown(direct.headers));
    t.equal(there.headers['x-request-id'], 'mine-1', "the client's own id");
    t.notOk('switchboard-node' in there.headers);
  });

  t.test('a command, once', async (t) => {
    const chat = await service.chat(shop);
    const said = await rawRequest(entry.url, {
      method: 'POST',
      path: `/api/v1/conversations/${chat.id}/messages`,
      headers: { ...bearer, 'Content-Type': 'application/json' },
      body: JSON.stringify({ body: 'from the other node' }),
    });
    t.equal(said.status, 201);
    t.strictSame(
      (await service.messages(chat.id, shop.token)).filter(({ body }) => body === 'from the other node').length,
      1,
    );
  });

  t.test('errors, with the id that the first node gave', async (t) => {
    const [there] = await both({ path: '/api/v1/sites', headers: { Accept: 'application/json' } });
    t.equal(there.status, 401);
    t.match(there.headers['x-request-id'], /^[0-9a-f-]{36}$/);
    t.equal(there.headers['www-authenticate'], 'Bearer');
  });

  t.test('a body of 1 MiB; the address, host and other headers of the client', async (t) => {
    const body = JSON.stringify({ text: 'x'.repeat(1024 * 1024 - 100) });
    const { body: seen, headers } = await rawRequest(entry.url, {
      method: 'POST',
      path: '/api/v1/test/echo/one?q=1%2B1',
      headers: {
        Host: 'shop.example',
        'Content-Type': 'application/json',
        'User-Agent': Buffer.from('Gerät 電話 1', 'utf8').toString('latin1'),
        'X-Forwarded-For': '203.0.113.9',
        'X-Kept': 'yes',
        'X-Private': 'of the connection',
        Connection: 'keep-alive, X-Private',
        TE: 'trailers',
        'X-Request-Id': 'mine-2',
      },
      body: Buffer.from(body),
    });
    t.match(seen, {
      params: { name: 'one' },
      query: { q: '1+1' },
      chars: 1024 * 1024 - 100,
      ip: '127.0.0.1',
      requestId: 'mine-2',
      userAgent: 'Gerät 電話 1',
      headers: { host: 'shop.example', 'x-kept': 'yes', 'content-length': String(body.length) },
    });
    for (const name of ['x-private', 'te', 'x-forwarded-for', 'switchboard-node']) t.notOk(name in seen.headers, name);
    t.strictSame(headers['set-cookie'], ['a=b; Path=/']);
  });

  t.test('paths that are not ASCII, escaped or not', async (t) => {
    for (const path of ['/api/v1/test/echo/caf%C3%A9?q=%E9%9B%BB', '/api/v1/test/echo/café?q=電']) {
      const client = await RawClient.open(t, entry.port);
      client.write(Buffer.from(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n{"text":""}`, 'utf8'));
      const { text: answer } = await client.answer();
      t.match(
        JSON.parse(Buffer.from(answer, 'latin1').toString()),
        { params: { name: 'café' }, query: { q: '電' } },
        path,
      );
      client.destroy();
    }
  });

  t.test('compressed and conditional replies, redirects, HEAD', async (t) => {
    const chunks: Buffer[] = [];
    const compressed = await new Promise<{ headers: Record<string, unknown> }>((resolve, reject) => {
      get(`${entry.url}/api/v1/test/page`, { agent: false, headers: { 'Accept-Encoding': 'br' } }, (incoming) => {
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () => resolve({ headers: incoming.headers }));
      }).on('error', reject);
    });
    t.match(compressed.headers, { 'content-encoding': 'br', vary: 'Accept-Encoding' });
    t.equal(brotliDecompressSync(Buffer.concat(chunks)).toString(), text);

    const unchanged = await both({ path: '/api/v1/test/page', headers: { 'If-None-Match': '"1"' } });
    for (const { status, headers } of unchanged)
      t.match({ status, headers }, { status: 304, headers: { etag: '"1"', 'content-length': '77' } });
    const away = await rawRequest(entry.url, { path: '/api/v1/test/redirect' });
    t.match(away, { status: 302, headers: { location: '/test/elsewhere?a=b' } });
    const heads = await both({ method: 'HEAD', path: '/api/v1/test/page' });
    for (const { status, headers, text: body } of heads)
      t.match({ status, headers, body }, { status: 200, headers: { 'content-length': String(text.length) }, body: '' });
    t.equal((await rawRequest(entry.url, { method: 'OPTIONS', path: '/api/v1/test/page' })).status, 204);
    t.equal((await rawRequest(entry.url, { path: '/api/v1/test/nothing' })).status, 404);
  });

  t.test('streams up, with and without their length', async (t) => {
    const parts = Array.from({ length: 80 }, (_, index) => Buffer.alloc(64 * 1024, index));
    const whole = Buffer.concat(parts);
    const hash = createHash('sha256').update(whole).digest('hex');
    const headers = { 'Content-Type': 'application/octet-stream' };
    for (const sent of [{ body: whole }, { chunks: parts }]) {
      const reply = await rawRequest(entry.url, { method: 'PUT', path: '/api/v1/test/upload', headers, ...sent });
      t.match(reply, { status: 200, text: hash });
    }
  });

  t.equal(entry.requests.figures.requests, 0);
  t.strictSame(entry.pipeline.errors, []);
});

t.test('limits by address are counted where the client came in', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'on' } });
  const owner = await startOwner(t, service, { routes });
  const entry = await startEntry(t, service, { owner: owner.record, routes, trustedProxies: 1 });
  const path = '/api/v1/test/limited';
  const headers = { 'X-Forwarded-For': '203.0.113.9' };
  for (let index = 0; index < 5; index += 1)
    t.match(await rawRequest(entry.url, { path, headers }), { status: 200, text: '203.0.113.9' });
  t.equal((await rawRequest(owner.url, { path })).status, 200);
  t.equal((await rawRequest(owner.url, { path })).status, 200);
  t.equal((await rawRequest(owner.url, { path })).status, 429, 'who comes to the owner itself');
});

t.test('streams down: as they come, at the pace of the client, until it leaves', async (t) => {
  const service = await startService(t);

  t.test('each part when it is there', async (t) => {
    const steps = Array.from({ length: 3 }, () => Promise.withResolvers<Uint8Array>());
    const own = [
      streamOf(async function* () {
        for (const { promise } of steps) yield await promise;
      }),
    ];
    const owner = await startOwner(t, service, { routes: own });
    const entry = await startEntry(t, service, { owner: owner.record, routes: own });
    const opening = opened(`${entry.url}/api/v1/test/stream`);
    const ended = opening.then((incoming) => once(incoming, 'end'));
    for (const [index, { resolve }] of steps.entries()) {
      resolve(Buffer.from(`part ${index}`));
      // The head comes with the first.
      const [part] = (await once(await opening, 'data')) as [Buffer];
      t.equal(part.toString(), `part ${index}`);
    }
    await ended;
    t.equal(entry.requests.figures.requests, 0);
  });

  for (const byteLength of [undefined, 1024 ** 4])
    t.test(`a client that does not read, and leaves (${byteLength ?? 'unknown'} bytes)`, async (t) => {
      let made = 0;
      const over = Promise.withResolvers<void>();
      const own = [
        streamOf(async function* () {
          try {
            for (;;) {
              made += 64 * 1024;
              yield Buffer.alloc(64 * 1024);
              await new Promise((resolve) => setImmediate(resolve));
            }
          } finally {
            over.resolve();
          }
        }, byteLength),
      ];
      const owner = await startOwner(t, service, { routes: own });
      const entry = await startEntry(t, service, { owner: owner.record, routes: own });
      const incoming = await opened(`${entry.url}/api/v1/test/stream`);
      incoming.pause();
      t.equal(entry.requests.figures.requests, 1);
      const far = 256 * 1024 * 1024;
      for (let quiet = 0; quiet < 50 && made < far; ) {
        const before = made;
        await service.get('//healthz');
        quiet = made === before ? quiet + 1 : 0;
      }
      t.ok(made < far, `${made} bytes were made, for the buffers of the way`);
      incoming.destroy();
      await over.promise;
      while (entry.requests.figures.requests > 0) await service.get('//healthz');
    });

  t.test('a client that left before the reply came takes no connection', async (t) => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const own = [
      route({
        ...described,
        operation: 'test.late',
        method: 'GET',
        path: '/test/late',
        reply: { ...written, contentType: 'application/octet-stream' },
        async send() {
          asked.resolve();
          await answer.promise;
          return { status: 200, headers: {}, body: { byteLength: 1024 ** 4, parts: endless() } };
        },
      }),
    ];
    const owner = await startOwner(t, service, { routes: own });
    const entry = await startEntry(t, service, { owner: owner.record, routes: own });
    const client = await RawClient.open(t, entry.port);
    client.write('GET /api/v1/test/late HTTP/1.1\r\nHost: a\r\n\r\n');
    await asked.promise;
    client.destroy();
    // The entry has noticed when it has served another connection after that.
    for (let index = 0; index < 20; index += 1) await rawRequest(entry.url, { path: '/nothing' });
    answer.resolve();
    while (entry.requests.figures.requests > 0) await rawRequest(entry.url, { path: '/nothing' });
  });
});

t.test('what a failure means', async (t) => {
  const service = await startService(t);
  const { clock, log } = service.running.services;
  const requests = new PeerRequests({ secret: clusterSecret, clock, log });
  t.teardown(() => requests.close());
  const ask = (url: string, method: string, body: Uint8Array | AsyncIterable<Uint8Array> = Buffer.from('{}')) =>
    requests.forward(nodeRecord('b', { url }), { head: headOf(method), requestId: 'r', body });

  t.test('a node that is not there has done nothing', async (t) => {
    const { url, close } = await plainServer(t, () => {});
    await close();
    for (const method of ['POST', 'GET']) await t.rejects(ask(url, method), NotServed, method);
    let isRead = false;
    const stream = (async function* () {
      isRead = true;
      yield Buffer.from('a');
    })();
    await t.rejects(ask(url, 'PUT', stream), NotServed);
    t.notOk(isRead, 'so that it can be sent to another');
  });

  t.test('one that dies with a command may have carried it out; a read may be asked again', async (t) => {
    const { url } = await plainServer(t, (socket) => socket.once('data', () => socket.destroy()));
    await t.rejects(ask(url, 'POST'), OutcomeUnknown);
    for (const method of ['GET', 'HEAD']) await t.rejects(ask(url, method), NotServed, method);
  });

  t.test('one that dies within a short reply', async (t) => {
    const { url } = await plainServer(t, (socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')),
    );
    await t.rejects(ask(url, 'POST'), OutcomeUnknown);
    await t.rejects(ask(url, 'GET'), NotServed);
  });

  t.test('one that dies within a long reply: its parts end with an error, and the client is cut off', async (t) => {
    const half = `HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1000)}`;
    const { url } = await plainServer(t, (socket) => socket.once('data', () => socket.end(half)));
    const reply = await ask(url, 'GET');
    await t.rejects(bytesIn(reply));
    const entry = await startEntry(t, service, { owner: nodeRecord('b', { url }) });
    await t.rejects(rawRequest(entry.url, { path: '/healthz', headers: { Accept: '*/*' } }), { code: 'ECONNRESET' });
  });

  t.test('one that no longer serves the workspace, or never knew it', async (t) => {
    const owner = await startOwner(t, service, { routes });
    owner.pipeline.doesServe = false;
    await t.rejects(
      requests.forward(owner.record, { head: headOf('GET', '/healthz'), requestId: 'r', body: Buffer.alloc(0) }),
      { name: 'NotServed', retryAfterSeconds: 1 },
    );
    const stream = (async function* () {
      yield Buffer.from('a');
    })();
    const head = headOf('PUT', '/api/v1/test/upload');
    await t.rejects(
      requests.forward(owner.record, { head, requestId: 'r', body: stream }),
      { name: 'Unavailable' },
      'what was read of a stream is gone',
    );
  });

  t.test('a body that fails is its own failure', async (t) => {
    const owner = await startOwner(t, service, { routes });
    const failing = (async function* () {
      yield Buffer.from('a');
      throw new Error('the client was too slow');
    })();
    const head = headOf('PUT', '/api/v1/test/upload');
    await t.rejects(requests.forward(owner.record, { head, requestId: 'r', body: failing }), {
      message: 'the client was too slow',
    });
  });

  t.test('nodes that left are forgotten, and what was asked of them fails', async (t) => {
    const asked = Promise.withResolvers<void>();
    const { url } = await plainServer(t, (socket) => socket.once('data', () => asked.resolve()));
    const asking = ask(url, 'POST');
    await asked.promise;
    requests.keepOnly([]);
    await t.rejects(asking, OutcomeUnknown);
    t.equal(requests.figures.requests, 0);
  });
});

t.test('one network cannot take every place on the way to a node', async (t) => {
  const places = new Places({ ofAll: 3, ofNetwork: 2 });
  t.strictSame(
    ['a', 'a', 'a', 'b', 'c'].map((network) => places.take(network)),
    [true, true, false, true, false],
  );
  places.giveBack('a');
  t.ok(places.take('c'));
  for (const network of ['a', 'b', 'c']) places.giveBack(network);
  t.equal(places.taken, 0);
});

t.test('marks', async (t) => {
  const service = await startService(t);
  const { clock } = service.running.services;
  const owner = await startOwner(t, service, { routes });
  const target = '/api/v1/test/echo/x?q=1';
  const facts = { ip: '198.51.100.7', host: 'shop.example' };
  const good = { secret: clusterSecret, nowMs: clock.now() };
  const ask = (url: string, mark: string) =>
    rawRequest(url, { method: 'POST', path: target, headers: { 'Switchboard-Node': mark }, body: '{"text":""}' });

  t.match(await ask(owner.url, markOf({ method: 'POST', target }, facts, good)), {
    status: 200,
    body: { ip: facts.ip, headers: { host: facts.host } },
  });
  const [own = '', signature = ''] = markOf({ method: 'POST', target }, facts, good).split('.');
  const others = Buffer.from(JSON.stringify({ at: clock.now(), ip: '192.0.2.1', host: 'a' })).toString('base64url');
  const wrong = {
    'of another secret': markOf({ method: 'POST', target }, facts, { ...good, secret: 'x'.repeat(32) }),
    'of another path': markOf({ method: 'POST', target: '/api/v1/test/echo/y' }, facts, good),
    'of another method': markOf({ method: 'PUT', target }, facts, good),
    'from a minute ago': markOf({ method: 'POST', target }, facts, { ...good, nowMs: good.nowMs - 60_001 }),
    'from the future': markOf({ method: 'POST', target }, facts, { ...good, nowMs: good.nowMs + 60_001 }),
    'with other facts': `${others}.${signature}`,
    'without a signature': own,
    'with more behind it': `${own}.${signature}.x`,
    'that is long': `${own}${'A'.repeat(2000)}.${signature}`,
    'that says nothing': '.',
  };
  for (const [what, mark] of Object.entries(wrong)) {
    const { status, headers, body } = await ask(owner.url, mark);
    t.match({ status, headers, body }, { status: 401, headers: { 'switchboard-node': 'refused' } }, `a mark ${what}`);
  }
  const alone = await startOwner(t, service, { routes, nodes: undefined });
  t.match(
    await ask(alone.url, 'anything'),
    { status: 200, body: { ip: '127.0.0.1' } },
    'means nothing to a node alone',
  );

  const entry = await startEntry(t, service, {
    owner: owner.record,
    routes,
    requests: new PeerRequests({ secret: 'y'.repeat(32), clock, log: service.running.services.log }),
  });
  const reply = await rawRequest(entry.url, { method: 'POST', path: target, body: '{"text":""}' });
  t.equal(reply.status, 503, 'the client of a node of another secret is not told that its token is wrong');
  t.match(entry.pipeline.errors, [{ name: 'NotServed' }]);
});

t.test(
  'connections of other nodes are not limited by address, as long as they are nodes',
  { skip: process.platform !== 'linux' && 'only there the loopback has many addresses' },
  async (t) => {
    const service = await startService(t);
    const owner = await startOwner(t, service, { maxConnectionsPerNetwork: 3 });
    const served = async (localAddress: string) => {
      const { answer, socket } = await askFrom(localAddress, owner.port);
      t.teardown(() => void socket.destroy());
      return answer;
    };
    owner.nodes.setAddresses(['127.0.0.2', '::1']);
    for (let index = 0; index < 10; index += 1) t.ok(await served('127.0.0.2'));
    for (let index = 0; index < 3; index += 1) t.ok(await served('127.0.0.3'));
    t.notOk(await served('127.0.0.3'), 'somebody else');
    owner.nodes.setAddresses([]);
    for (let index = 0; index < 3; index += 1) t.ok(await served('127.0.0.2'));
    t.notOk(await served('127.0.0.2'), 'no longer a node');
  },
);

t.test('addresses of nodes, however they are written', async (t) => {
  const nodes = new KnownNodes({ secret: clusterSecret, clock: { now: () => 0 } });
  nodes.setAddresses(['192.0.2.1', '2001:db8::1']);
  for (const address of ['192.0.2.1', '::ffff:192.0.2.1', '2001:0db8:0000:0000:0000:0000:0000:0001'])
    t.ok(nodes.isNode(address), address);
  for (const address of ['192.0.2.2', '2001:db8::2', '', 'nonsense']) t.notOk(nodes.isNode(address), address);
  const urls = ['http://localhost:1', 'https://[2001:db8::3]:2', 'http://192.0.2.3', 'http://nowhere.invalid:3'];
  const earlier = nodes.follow([nodeRecord('z', { url: 'http://192.0.2.4:1' })]);
  await Promise.all([earlier, nodes.follow(urls.map((url, index) => nodeRecord(`${index}`, { url })))]);
  t.ok(nodes.isNode('127.0.0.1') || nodes.isNode('::1'), 'a name');
  for (const address of ['2001:db8::3', '192.0.2.3']) t.ok(nodes.isNode(address), address);
  for (const address of ['192.0.2.1', '192.0.2.4']) t.notOk(nodes.isNode(address), 'of an earlier list');
});

t.test('over TLS, only to a node whose certificate is known', { skip: noOpenssl }, async (t) => {
  const service = await startService(t);
  const folder = tempFolder(t);
  const { cert, key } = makeCertificate(folder, 'localhost');
  const owner = await startOwner(t, service, { routes, tls: { certFile: cert, keyFile: key } });
  const { clock, log } = service.running.services;
  for (const ca of [readFileSync(cert, 'utf8'), undefined]) {
    const requests = new PeerRequests({ secret: clusterSecret, clock, log, ca });
    const entry = await startEntry(t, service, { owner: owner.record, routes, requests });
    const path = '/api/v1/test/page';
    const { status } = await rawRequest(entry.url, { path, headers: { Host: 'shop.example' } });
    t.equal(status, ca === undefined ? 503 : 200);
  }
});

function headOf(method: string, path = '/api/v1/test/page'): RequestHead {
  return { method, path, query: '', headers: { host: 'a', accept: '*/*' }, ip: '127.0.0.1', startedMs: 0 };
}

/** Whether a connection from this address is served. */
async function askFrom(localAddress: string, port: number): Promise<{ answer: boolean; socket: Socket }> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  const answered = Promise.withResolvers<boolean>();
  socket.on('data', () => answered.resolve(true));
  socket.on('close', () => answered.resolve(false));
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  return { answer: await answered.promise, socket };
}

async function plainServer(
  t: Teardown,
  serve: (socket: Socket) => void,
): Promise<{ url: string; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  t.teardown(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

function opened(url: string): Promise<import('node:http').IncomingMessage> {
  return new Promise((resolve, reject) => get(url, { agent: false }, resolve).on('error', reject));
}

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield Buffer.alloc(1024);
}

async function bytesIn({ body }: Reply): Promise<number> {
  let bytes = 0;
  const parts = typeof body === 'object' && 'parts' in body ? body.parts : undefined;
  for await (const part of parts ?? []) bytes += part.byteLength;
  return bytes;
}
