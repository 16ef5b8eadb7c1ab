// Images that the service fetches. Specification 4.9; decisions 4.9 and "Settled questions".

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { type Service, startService, type Teardown } from '../support/service.ts';
import { Names, only127001, Site } from '../support/site.ts';

const mb = 1024 * 1024;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const padded = (length: number): Buffer => Buffer.concat([png, Buffer.alloc(length - png.length)]);

async function start(t: Teardown) {
  const [site, names] = [await Site.start(t), await Names.start(t)];
  names.set('shop.test', '127.0.0.1');
  const service = await startService(t, { env: { DNS_SERVERS: names.address }, isPublic: only127001 });
  const owner = await service.workspace();
  const importFrom = (url: string) => service.post('/uploads/import-from-url', { url }, owner.token);
  return { site, names, service, owner, importFrom, base: `http://shop.test:${site.port}` };
}

async function stored(service: Service): Promise<string[]> {
  return (await readdir(join(service.dataDir, 'storage'), { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
}

t.test('[4.9] an image is kept as a logo, whatever its server calls it', async (t) => {
  const { site, service, owner, importFrom, base } = await start(t);
  site.page('/img/Our%20Logo.jpg', png, { 'Content-Type': 'image/jpeg' }).redirect('/old', '/img/Our%20Logo.jpg');
  const { status, body } = await importFrom(`${base}/old`);
  t.equal(status, 201);
  t.match(body, { contentType: 'image/png', size: png.length });
  t.match(body.key, new RegExp(`^${owner.workspaceId}/logo/[0-9a-f-]{36}/Our-Logo\\.jpg\\.png$`));
  t.equal(body.url, `http://switchboard.test/storage/${body.key}`);
  const served = await fetch(body.url.replace('http://switchboard.test', service.url));
  t.equal(served.headers.get('content-type'), 'image/png');
  t.ok(Buffer.from(await served.arrayBuffer()).equals(png));
});

t.test('[8 file size] two megabytes are accepted, one byte more is not, compressed or not', async (t) => {
  const { site, service, importFrom, base } = await start(t);
  site.page('/2mb', padded(2 * mb), { 'Content-Type': 'image/png' });
  site.page('/more', padded(2 * mb + 1), { 'Content-Type': 'image/png' });
  site.on('/unsaid', (_, response) => {
    response.writeHead(200, { 'Content-Type': 'image/png' });
    response.write(padded(mb));
    response.write(Buffer.alloc(mb));
    response.end('x');
  });
  site.page('/bomb', gzipSync(padded(100 * mb)), { 'Content-Type': 'image/png', 'Content-Encoding': 'gzip' });
  t.equal((await importFrom(`${base}/2mb`)).status, 201);
  for (const path of ['/more', '/unsaid', '/bomb']) {
    const answer = await importFrom(base + path);
    t.same([answer.status, answer.body.error], [400, 'file_too_large'], path);
  }
  t.equal((await stored(service)).length, 1);
});

t.test('[4.9] other files than images are refused, whatever their name', async (t) => {
  const { site, service, importFrom, base } = await start(t);
  site.page('/page', '<p>hello', {});
  site.page('/svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', { 'Content-Type': 'image/svg+xml' });
  site.page('/exe.png', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(300)]), { 'Content-Type': 'image/png' });
  site.page('/empty', '', { 'Content-Type': 'image/png' });
  site.page('/pdf', '%PDF-1.7', { 'Content-Type': 'application/octet-stream' });
  for (const path of ['/page', '/svg', '/exe.png', '/empty', '/pdf']) {
    const answer = await importFrom(base + path);
    t.same([answer.status, answer.body.error], [400, 'content_type_not_allowed'], path);
  }
  t.same(await stored(service), []);
});

t.test('[4.9] an address that is not public, or answers nothing of use, is invalid_body', async (t) => {
  const { site, names, service, importFrom, base } = await start(t);
  names.set('inside.test', '10.0.0.1').set('both.test', '127.0.0.2');
  site
    .redirect('/away', `http://127.0.0.2:${site.port}/a.png`)
    .redirect('/named', `http://inside.test/a.png`)
    .redirect('/round', '/round')
    .redirect('/file', 'file:///etc/passwd');
  const addresses = [
    `${base}/missing`,
    `${base}/away`,
    `${base}/named`,
    `${base}/round`,
    `${base}/file`,
    'http://inside.test/a.png',
    'http://unknown.test/a.png',
    'http://localhost/a.png',
    'http://shop.internal/a.png',
    'http://printer.local/a.png',
    'http://169.254.169.254/latest/meta-data',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://8.8.8.8/a.png',
    `http://user:secret@shop.test:${site.port}/a.png`,
    'ftp://shop.test/a.png',
    'javascript:alert(1)',
    'not an address',
    '',
  ];
  for (const address of addresses) {
    const answer = await importFrom(address);
    t.same([answer.status, answer.body.error], [400, 'invalid_body'], address);
  }
  t.same(await stored(service), []);
});
