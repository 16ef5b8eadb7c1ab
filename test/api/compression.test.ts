// Replies in the encodings that their callers accept.

import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { encodingFor } from '../../http/browser/compressed-file.ts';
import { Compression } from '../../http/edge/compression.ts';
import { HeldBytes, NetworkRoom } from '../../http/limits/held-bytes.ts';
import type { Reply } from '../../http/request.ts';
import { startService } from '../support/service.ts';

interface Got {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly bytes: Buffer;
}

const unpack: Readonly<Record<string, (bytes: Buffer) => Buffer>> = { br: brotliDecompressSync, gzip: gunzipSync };

t.test('compression', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  for (let index = 0; index < 20; index += 1)
    await service.post(
      `/conversations/${chat.id}/messages`,
      { body: `Message number ${index}, which says nothing new.` },
      owner.token,
    );
  // fetch would decompress the reply.
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> =>
    new Promise((resolve, reject) => {
      request(
        `${service.url}${path}`,
        { method, headers: { Accept: '*/*', Authorization: `Bearer ${owner.token}`, ...headers } },
        (response) => {
          const parts: Buffer[] = [];
          response
            .on('data', (part: Buffer) => parts.push(part))
            .on('end', () =>
              resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(parts) }),
            );
        },
      )
        .on('error', reject)
        .end();
    });
  const exported = new URL((await service.get('/reports/export?type=conversations&format=json', owner.token)).body.url)
    .pathname;
  const messages = `/api/v1/conversations/${chat.id}/messages`;

  for (const path of [
    '/api/v1/openapi.json',
    '/api/v1/asyncapi.json',
    '/docs',
    messages,
    `/api/v1/conversations/${chat.id}/export`,
    exported,
    '/metrics',
  ]) {
    t.test(
      `${path.replaceAll(/[0-9a-f-]{36}|exports\/.*/g, '…')} is sent in the accepted encoding, with Vary`,
      async (t) => {
        const plain = await get(path);
        t.equal(plain.status, 200);
        t.equal(plain.headers['content-encoding'], undefined);
        t.equal(plain.headers['vary'], 'Accept-Encoding');
        for (const [accepted, encoding] of [
          ['gzip, deflate, br', 'br'],
          ['gzip', 'gzip'],
        ] as const) {
          const packed = await get(path, { 'Accept-Encoding': accepted });
          t.equal(packed.headers['content-encoding'], encoding);
          t.equal(packed.headers['vary'], 'Accept-Encoding');
          const text = unpack[encoding]?.(packed.bytes).toString() ?? '';
          // Figures change.
          if (path === '/metrics') t.match(text, 'switchboard_request_seconds');
          else t.equal(text, plain.bytes.toString());
          t.ok(packed.bytes.length < plain.bytes.length * 0.6, `${packed.bytes.length} of ${plain.bytes.length} bytes`);
          if (packed.headers['content-length'] !== undefined)
            t.equal(packed.headers['content-length'], String(packed.bytes.length));
          const head = await get(path, { 'Accept-Encoding': accepted }, 'HEAD');
          t.match(head, { status: 200, headers: { 'content-encoding': encoding } });
          if (path !== '/metrics') t.equal(head.headers['content-length'], packed.headers['content-length']);
          t.equal(head.bytes.length, 0);
        }
      },
    );
  }

  t.test('unchanged documents are answered with 304 to clients that have them', async (t) => {
    for (const path of ['/api/v1/openapi.json', '/api/v1/asyncapi.json', '/docs']) {
      for (const accepted of ['br', 'gzip', 'identity']) {
        const { headers, bytes } = await get(path, { 'Accept-Encoding': accepted });
        t.equal(headers['cache-control'], 'no-cache');
        const again = await get(path, { 'Accept-Encoding': accepted, 'If-None-Match': String(headers['etag']) });
        t.match(
          again,
          {
            status: 304,
            headers: { etag: headers['etag'], vary: 'Accept-Encoding', 'content-length': String(bytes.length) },
          },
          `${path} ${accepted}`,
        );
        t.equal(again.bytes.length, 0);
        t.equal((await get(path, { 'Accept-Encoding': accepted, 'If-None-Match': '"another"' })).status, 200);
      }
    }
  });

  t.test('short, refused and compressed replies are sent unchanged', async (t) => {
    for (const path of ['/healthz', '/api/v1/me/workspace', '/api/v1/nowhere'])
      t.equal((await get(path, { 'Accept-Encoding': 'br, gzip' })).headers['content-encoding'], undefined, path);
    t.equal((await get(messages, { 'Accept-Encoding': 'br;q=0, zstd' })).headers['content-encoding'], undefined);
    const script = await get('/widget.js', { 'Accept-Encoding': 'br' });
    t.equal(script.headers['content-encoding'], 'br');
    t.match(brotliDecompressSync(script.bytes).toString(), 'Switchboard', 'once');
  });
});

t.test('the encoding is the smallest that is accepted', async (t) => {
  for (const [accepted, encoding] of [
    [undefined, 'identity'],
    ['', 'identity'],
    ['br', 'br'],
    ['gzip;q=1.0, br;q=0.1', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['deflate', 'identity'],
    ['GZIP', 'gzip'],
  ] as const)
    t.equal(encodingFor(accepted), encoding, String(accepted));
});

t.test(
  'the number at once is limited: replies beyond it are sent uncompressed, as are failed ones, and memory is released',
  async (t) => {
    const compression = new Compression();
    const held = new HeldBytes();
    const reply = (body: Reply['body']): Reply => ({
      status: 200,
      headers: { 'Content-Type': 'application/json' },
      body,
    });
    const room = (): NetworkRoom => new NetworkRoom(held, () => 'a');
    const text = JSON.stringify(Array(4000).fill('something'));
    const asked = Array.from({ length: 100 }, () => {
      const of = room();
      return { of, answer: compression.reply(reply(text), 'gzip', of) };
    });
    const made = await Promise.all(asked.map(({ answer }) => answer));
    t.ok(asked.filter(({ answer }) => answer instanceof Promise).length >= 64);
    t.ok(
      made.some(({ headers }) => headers['Content-Encoding'] === undefined),
      'too many',
    );
    for (const { headers, body } of made)
      t.equal(headers['Content-Encoding'] === 'gzip' ? gunzipSync(body as Uint8Array).toString() : body, text);
    t.equal(
      held.all,
      made.reduce((sum, { body }) => sum + (body instanceof Uint8Array ? body.length : 0), 0),
      'unsent data is held until it is read',
    );
    for (const { of } of asked) of.releaseAll();
    t.equal(held.all, 0);
    const full = room();
    full.reserve(32 * 1024 * 1024);
    t.equal((await compression.reply(reply(text), 'gzip', full)).body, text, 'the network holds all it may');

    async function* failing(): AsyncGenerator<string> {
      yield 'x'.repeat(100_000);
      throw new Error('broke off');
    }
    const { body } = (await compression.reply(reply(failing()), 'gzip', room())) as { body: AsyncIterable<Uint8Array> };
    await t.rejects(
      async () => {
        for await (const _ of body);
      },
      /broke off/,
      'the rest is missed, not looked complete',
    );
    let ended = false;
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) yield `${Math.random()}`.repeat(1000);
      } finally {
        ended = true;
      }
    }
    const stream = (await compression.reply(reply(endless()), 'br', room())) as { body: AsyncIterable<Uint8Array> };
    for await (const _ of stream.body) break;
    while (!ended) await new Promise((resolve) => setImmediate(resolve));
    t.pass('a client that stops reading ends the production');
  },
);
