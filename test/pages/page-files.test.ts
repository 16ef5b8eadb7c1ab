import { request } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import t from 'tap';
import { compressFile } from '../../http/browser/compressed-file.ts';
import { pageAt, pagePaths } from '../../http/pages/paths.ts';
import { startService } from '../support/service.ts';

interface Got {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly bytes: Buffer;
}

t.test("the pages' files", async (t) => {
  const service = await startService(t);
  // fetch would decompress the reply.
  const get = (path: string, headers: Record<string, string> = {}) =>
    new Promise<Got>((resolve, reject) => {
      request(`${service.url}${path}`, { headers }, (response) => {
        const parts: Buffer[] = [];
        response
          .on('data', (part: Buffer) => parts.push(part))
          .on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(parts) }),
          );
      })
        .on('error', reject)
        .end();
    });

  t.test(
    'every address of the pages returns the same document, which loads from here only and runs no text',
    async (t) => {
      const bodies = new Set<string>();
      for (const path of Object.values(pagePaths)) {
        const { status, headers, bytes } = await get(path.replaceAll(/\{\w+\}/g, 'some%20thing'));
        t.equal(status, 200, path);
        t.match(headers, {
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-cache',
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
        });
        const policy = String(headers['content-security-policy']);
        t.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/);
        t.match(policy, "require-trusted-types-for 'script'");
        t.match(policy, "frame-ancestors 'none'");
        t.notMatch(policy, /unsafe|https?:/);
        bodies.add(bytes.toString());
      }
      t.equal(bodies.size, 1);
      const [text = ''] = bodies;
      t.notMatch(text, /<script(?![^>]* src=)/, 'no script in the text');
      for (const [, address = ''] of text.matchAll(/(?:src|href)="([^"]+)"/g))
        t.match(address, /^(?:\/|data:image\/svg)/, 'nothing from elsewhere');
    },
  );

  t.test('what a page needs first is one script and one style sheet', async (t) => {
    const text = (await get('/inbox')).bytes.toString();
    const paths = [...text.matchAll(/\/assets\/[\w.-]+/g)].map(([path]) => path);
    t.match(paths, [/^\/assets\/styles\.\w+\.css$/, /^\/assets\/app\.\w+\.js$/]);
    t.equal(paths.length, 2);
    const script = (await get(String(paths[1]))).bytes.toString();
    t.match(script, /\bimport\("\.\/settings\.\w+\.js"\)/, 'other pages are loaded when they are opened');
    t.notOk(/(?:^|[;}\n])import *["{*\w]/.test(script), 'it needs no other file');
  });

  t.test('its script and its styles are named after their content, and cached for good', async (t) => {
    const text = (await get('/inbox')).bytes.toString();
    const asset = service.running.routes.find(({ operation }) => operation === 'page.asset');
    t.same(asset?.reply.contentType, ['text/javascript', 'text/css'], 'both are declared');
    for (const [path = ''] of text.matchAll(/\/assets\/[\w.-]+/g)) {
      const plain = await get(path);
      t.match(
        plain,
        {
          status: 200,
          headers: {
            'cache-control': 'public, max-age=31536000, immutable',
            'content-type': path.endsWith('.css') ? /^text\/css/ : /^text\/javascript/,
          },
        },
        path,
      );
      const packed = await get(path, { 'Accept-Encoding': 'br' });
      t.equal(packed.headers['content-encoding'], 'br');
      t.ok(brotliDecompressSync(packed.bytes).equals(plain.bytes));
      t.match(await get(path, { 'If-None-Match': String(plain.headers['etag']) }), {
        status: 304,
        bytes: Buffer.alloc(0),
      });
    }
  });

  t.test('missing files', async (t) => {
    for (const path of ['/assets/app-00000000.js', '/assets/..%2fpackage.json', '/assets/', '/inbox/a/b/c', '/setting'])
      t.equal((await get(path)).status, 404, path);
  });

  t.test("a site's widget on a page that only the service's own can frame", async (t) => {
    const { status, headers, bytes } = await get('/preview/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E');
    t.equal(status, 200);
    t.match(String(headers['content-security-policy']), "frame-ancestors 'self'");
    t.match(String(headers['content-security-policy']), "script-src 'self';");
    t.match(bytes.toString(), 'data-site-id="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
  });
});

t.test('a site may be tried on a page of the service, whatever its origins; no other site gains by it', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://support.shop.test', RATE_LIMITS: 'off' } });
  const { embedId } = await service.workspace();
  const open = (origin: string) =>
    service.call('POST', '/widget/sessions', {
      body: { siteId: embedId, url: 'https://shop.example/' },
      headers: { Origin: origin },
    });
  t.equal((await open('https://shop1.example')).status, 200);
  t.equal((await open('https://support.shop.test')).status, 200, 'its own page');
  for (const origin of [
    'http://support.shop.test',
    'https://support.shop.test:444',
    'https://shop.test',
    'https://support.shop.test.evil.test',
    'http://localhost:8080',
    'null',
  ])
    t.equal((await open(origin)).status, 403, origin);

  const local = await startService(t, { env: { BASE_URL: 'http://localhost:8080', RATE_LIMITS: 'off' } });
  const site = await local.workspace();
  const openLocal = (origin: string) =>
    local.call('POST', '/widget/sessions', {
      body: { siteId: site.embedId, url: 'https://shop.example/' },
      headers: { Origin: origin },
    });
  for (const origin of ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080'])
    t.equal((await openLocal(origin)).status, 200, origin);
  for (const origin of ['http://localhost:8081', 'https://localhost:8080', 'http://localhost.evil.test:8080'])
    t.equal((await openLocal(origin)).status, 403, origin);
});

t.test('a failed compression is repeated for the next request, and then kept for all', async (t) => {
  let tries = 0;
  const file = compressFile('a text', async (identity) => {
    tries += 1;
    if (tries === 1) throw new Error('no memory is left');
    return identity;
  });
  await t.rejects(file.bytes('br'), /no memory/);
  t.equal(Buffer.from(await file.bytes('br')).toString(), 'a text');
  await file.bytes('br');
  t.equal(tries, 2);
});

t.test('which page is at an address', async (t) => {
  t.same(pageAt('/'), { page: 'start', params: {} });
  t.same(pageAt('/inbox/mine/0192'), { page: 'conversation', params: { list: 'mine', conversationId: '0192' } });
  t.same(pageAt('/join/a%2Fb'), { page: 'join', params: { code: 'a/b' } });
  t.same(pageAt('/inbox/'), { page: 'inbox', params: {} });
  for (const path of ['/nowhere', '/inbox/a/b/c', '/join/%', '//inbox', '']) t.equal(pageAt(path), undefined, path);
});
