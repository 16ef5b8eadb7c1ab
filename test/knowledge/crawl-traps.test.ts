// Odd, broken and hostile sites. A crawl stores their pages, skips the rest, and ends in time. Decisions 4.3.

import { brotliCompressSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { type Service, type StartOptions, startService, type Teardown } from '../support/service.ts';
import { Names, only127001, Site } from '../support/site.ts';

const mb = 1024 * 1024;
const text = (about: string): string =>
  `<html><body><h1>${about}</h1><p>This page tells you something about ${about}, and nothing else.</p></body></html>`;

async function start(t: Teardown, given: StartOptions = {}) {
  const [site, names] = [await Site.start(t), await Names.start(t)];
  names.set('shop.test', '127.0.0.1');
  const service = await startService(t, {
    isPublic: only127001,
    crawlPauseMs: 0,
    ...given,
    env: { DNS_SERVERS: names.address, ...given.env },
  });
  const owner = await service.workspace();
  return { site, names, service, owner, base: `http://shop.test:${site.port}` };
}

async function crawl(service: Service, token: string, url: string, about: object = {}) {
  const { status, body } = await service.post('/kb/ingest/url', { url, ...about }, token);
  if (status !== 202) throw new Error(JSON.stringify(body));
  await service.settled();
  const job = (await service.get(`/kb/jobs/${body.jobId}`, token)).body;
  const { documents } = (await service.get('/kb/documents', token)).body;
  return {
    job,
    documents,
    paths: documents
      .map(({ sourceUrl }: any) => new URL(sourceUrl).pathname + new URL(sourceUrl).search)
      .sort() as string[],
  };
}

/** A home page that links to each of these. */
const linking = (...to: string[]): string =>
  `<html><body><p>The home page of a shop that has much to say.</p>${to.map((one) => `<a href="${one}">x</a>`).join('')}</body></html>`;

t.test('[4.3] other content than pages, oversized, compressed bombs and missing pages are skipped', async (t) => {
  const { site, service, owner, base } = await start(t);
  const paths = [
    '/pdf',
    '/image',
    '/json',
    '/missing',
    '/gone',
    '/error',
    '/large',
    '/bomb',
    '/brotli-bomb',
    '/nonsense',
    '/empty',
    '/unknown-coding',
    '/redirects/0',
    '/packed-thrice',
    '/packed-often',
    '/good',
    '/packed',
    '/packed-twice',
    '/plain',
  ];
  site.page('/', linking(...paths));
  site
    .page('/pdf', '%PDF-1.7', { 'Content-Type': 'application/pdf' })
    .page('/image', 'x', { 'Content-Type': 'image/png' })
    .page('/json', '{}', { 'Content-Type': 'application/json' });
  site
    .on('/gone', (_, response) => response.writeHead(410, { 'Content-Type': 'text/html' }).end(text('deleted ones')))
    .on('/error', (_, response) => response.writeHead(500).end());
  site.page('/large', text('size') + ' '.repeat(2 * mb));
  site.page('/bomb', gzipSync(Buffer.alloc(200 * mb, 'a')), { 'Content-Encoding': 'gzip' });
  site.page('/brotli-bomb', brotliCompressSync(Buffer.alloc(50 * mb, 'a')), { 'Content-Encoding': 'br' });
  site
    .page('/nonsense', 'not packed at all', { 'Content-Encoding': 'gzip' })
    .page('/empty', '')
    .page('/unknown-coding', 'x', { 'Content-Encoding': 'zstd' });
  for (let hop = 0; hop < 10; hop += 1) site.redirect(`/redirects/${hop}`, `/redirects/${hop + 1}`);
  const packed = (times: number): Uint8Array =>
    Array.from({ length: times }).reduce<Uint8Array>(
      (bytes) => gzipSync(bytes),
      Buffer.from(text(`things packed ${times} times`)),
    );
  site
    .page('/packed-twice', packed(2), { 'Content-Encoding': 'gzip, gzip' })
    .page('/packed-thrice', packed(3), { 'Content-Encoding': 'gzip, gzip, gzip' });
  site.page('/packed-often', 'x', { 'Content-Encoding': Array(4000).fill('br').join(',') });
  site
    .page('/good', text('good things'))
    .page('/packed', gzipSync(text('packed things')), { 'Content-Encoding': 'gzip' })
    .page('/plain', '# Plain text\nwritten by hand', { 'Content-Type': 'text/plain' });
  const { job, paths: kept } = await crawl(service, owner.token, `${base}/`);
  t.equal(job.status, 'done');
  t.same(kept, ['/', '/good', '/packed', '/packed-twice', '/plain']);
  t.equal(job.stats.pagesSkipped, paths.length - 4);
});

t.test('[4.3] a site without an end is walked to maxPages', async (t) => {
  const { site, service, owner, base } = await start(t);
  let count = 0;
  site.on('*', (_, response) => {
    count += 1;
    response
      .writeHead(200, { 'Content-Type': 'text/html' })
      .end(
        `<html><body><p>Day number ${count} of a calendar that never ends.</p><a href="/day/${count + 1}">next</a><a href="/day/${count + 1000}">later</a></body></html>`,
      );
  });
  site.on('/robots.txt', (_, response) => response.writeHead(404).end());
  const { job } = await crawl(service, owner.token, `${base}/`, { maxPages: 10, maxDepth: 3 });
  t.match(job, { status: 'done', stats: { documents: 10 } });
});

t.test('[4.3] broken and hostile HTML costs a page at the most', async (t) => {
  const { site, service, owner, base } = await start(t);
  site.page('/', linking('/unclosed', '/bare', '/words', '/deep', '/attributes', '/nulls', '/tables', '/last'));
  site.page('/unclosed', '<html><body><p>A paragraph <b>that <i>nobody closed<p>And another <a href="/last">one');
  site.page('/bare', '<title>Bare</title><h2>No body</h2><p>A page without its outer tags is a page all the same.');
  site.page('/words', 'Only words, served as HTML, without a single tag.');
  site.page('/deep', `<html><body>${'<div>'.repeat(3000)}deep text</body></html>`);
  site.page(
    '/attributes',
    `<html><body><p ${'a="b" '.repeat(50_000)}>A paragraph with very many attributes.</p></body></html>`,
  );
  site.page('/nulls', '<html><body><p>Zero\u0000bytes in the mid\u0000dle of words.</p></body></html>');
  site.page('/tables', '<table><tr><td>Size<td>Length<tr><td>Small<td>Seventy centimetres</table>');
  site.page('/last', text('the last page'));
  const { job, paths } = await crawl(service, owner.token, `${base}/`);
  t.equal(job.status, 'done');
  for (const path of ['/', '/unclosed', '/bare', '/words', '/attributes', '/nulls', '/tables', '/last'])
    t.ok(paths.includes(path), path);
  const { chunks } = (await service.post('/kb/search', { query: 'paragraph that nobody closed', topK: 1 }, owner.token))
    .body;
  t.match(chunks[0].text, /nobody closed/);
});

t.test('[4.3] text is read in the encoding that it is in', async (t) => {
  const { site, service, owner, base } = await start(t);
  const latin = (html: string): Uint8Array => Buffer.from(html, 'latin1');
  site.page('/', linking('/header', '/meta', '/guess', '/bom'));
  site.page('/header', latin('<html><body><p>Grüße aus Köln vom Bürgermeister</p></body></html>'), {
    'Content-Type': 'text/html; charset=ISO-8859-1',
  });
  site.page(
    '/meta',
    latin('<html><head><meta charset="windows-1252"></head><body><p>Ærlig talt, blåbær på fjellet</p></body></html>'),
    { 'Content-Type': 'text/html' },
  );
  site.page(
    '/guess',
    latin(
      '<html><body><p>Le café est fermé, les élèves sont à la plage après l’été dernier, où était Hélène</p></body></html>'.replace(
        '’',
        "'",
      ),
    ),
    { 'Content-Type': 'text/html' },
  );
  site.page(
    '/bom',
    Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from('<html><body><p>Zażółć gęślą jaźń dzisiaj</p></body></html>', 'utf16le'),
    ]),
    { 'Content-Type': 'text/html' },
  );
  await crawl(service, owner.token, `${base}/`);
  const all = JSON.stringify((await service.post('/kb/search', { query: 'page', topK: 50 }, owner.token)).body);
  for (const words of ['Grüße aus Köln', 'blåbær på fjellet', 'Le café est fermé', 'Zażółć gęślą jaźń'])
    t.ok(all.includes(words), words);
});

t.test('[4.3] a silent server costs only its page', async (t) => {
  const { site, service, owner, base } = await start(t);
  site.page('/', linking('/cut', '/good')).page('/good', text('good things'));
  site.on('/cut', (_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Length': '1000' });
    response.write('half a');
    setImmediate(() => response.destroy());
  });
  t.same((await crawl(service, owner.token, `${base}/`)).paths, ['/', '/good']);
});
