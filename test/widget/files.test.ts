import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { startService } from '../support/service.ts';

/** The project's budget for the whole widget, compressed with gzip. */
const budgetBytes = 23_000;

t.test("the widget's scripts", async (t) => {
  const service = await startService(t);
  // fetch would decompress the reply.
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<{ status: number; headers: Record<string, string | string[] | undefined>; bytes: Buffer }>(
      (resolve, reject) => {
        request(`${service.url}${path}`, { method, headers }, (response) => {
          const parts: Buffer[] = [];
          response
            .on('data', (part: Buffer) => parts.push(part))
            .on('end', () =>
              resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(parts) }),
            );
        })
          .on('error', reject)
          .end();
      },
    );
  const appPath = async (): Promise<string> =>
    `/${/widget\/app-[\w-]+\.js/.exec((await get('/widget.js')).bytes.toString())?.[0]}`;

  t.test('[4.12] /widget.js is available to every page, without required headers', async (t) => {
    const { status, headers, bytes } = await get('/widget.js');
    t.equal(status, 200);
    t.match(headers, {
      'content-type': 'text/javascript; charset=utf-8',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
    });
    t.notOk('content-encoding' in headers);
    t.match(
      headers['cache-control'],
      /^public, max-age=\d{2,3}, stale-while-revalidate=\d+$/,
      'not cached for long: its name does not change',
    );
    t.ok(bytes.length < 4096, `${bytes.length} bytes is what a page pays before it is idle`);
  });

  t.test('[4.12] all of it is within its budget', async (t) => {
    const install = await get('/widget.js', { 'Accept-Encoding': 'gzip' });
    const app = await get(await appPath(), { 'Accept-Encoding': 'gzip' });
    const sum = install.bytes.length + app.bytes.length;
    t.ok(sum < budgetBytes, `${sum} bytes`);
    t.ok(sum > 5000, 'and it is the widget');
  });

  t.test('[9] compressed as the browser takes it; the text is the same', async (t) => {
    for (const path of ['/widget.js', await appPath()]) {
      const plain = await get(path);
      const rows: [string, string | undefined, (bytes: Buffer) => Buffer][] = [
        ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
        ['gzip', 'gzip', gunzipSync],
        ['GZIP', 'gzip', gunzipSync],
        ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
        ['br;q=0.0, gzip;q=0', undefined, (bytes) => bytes],
        ['identity', undefined, (bytes) => bytes],
        ['', undefined, (bytes) => bytes],
      ];
      const tags = new Set([plain.headers['etag']]);
      for (const [accepted, encoding, unpack] of rows) {
        const { headers, bytes } = await get(path, { 'Accept-Encoding': accepted });
        t.equal(headers['content-encoding'], encoding, accepted);
        t.ok(unpack(bytes).equals(plain.bytes), accepted);
        t.equal(headers['content-length'], String(bytes.length));
        tags.add(headers['etag']);
      }
      t.equal(tags.size, 3, 'each way has a tag of its own');
    }
  });

  t.test('[9] an unchanged script is not sent again', async (t) => {
    for (const path of ['/widget.js', await appPath()]) {
      const { headers } = await get(path, { 'Accept-Encoding': 'br' });
      const tag = String(headers['etag']);
      for (const named of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const again = await get(path, { 'Accept-Encoding': 'br', 'If-None-Match': named });
        t.equal(again.status, 304, named);
        t.equal(again.bytes.length, 0);
        t.equal(again.headers['etag'], tag);
      }
      for (const named of ['"other"', 'nonsense'])
        t.equal((await get(path, { 'Accept-Encoding': 'br', 'If-None-Match': named })).status, 200, named);
      t.equal(
        (await get(path, { 'Accept-Encoding': 'gzip', 'If-None-Match': tag })).status,
        200,
        'it is the tag of another encoding',
      );
      const head = await get(path, {}, 'HEAD');
      t.equal(head.status, 200);
      t.equal(head.bytes.length, 0);
    }
  });

  t.test('[9] the app is kept for a year under its own name, and not at all under another', async (t) => {
    const path = await appPath();
    t.equal((await get(path)).headers['cache-control'], 'public, max-age=31536000, immutable');
    const other = await get('/widget/app-0000000000000000.js');
    t.equal(other.status, 200, 'an install script of before finds an app');
    t.equal(other.headers['cache-control'], 'no-cache');
    t.ok(other.bytes.equals((await get(path)).bytes));
    for (const wrong of [
      '/widget/app.js',
      '/widget/app-.js',
      '/widget/app-x.css',
      '/widget/install.ts',
      '/widget/..%2Fmain.ts',
      '/widget',
    ])
      t.equal((await get(wrong)).status, 404, wrong);
  });

  t.test('[9] requested many times concurrently it is built once', async (t) => {
    const fresh = await startService(t);
    const texts = await Promise.all(
      Array.from({ length: 10 }, async () => (await fetch(`${fresh.url}/widget.js`)).text()),
    );
    t.equal(new Set(texts).size, 1);
  });
});
