// Crawls as jobs: one at a time, replacing earlier pages atomically, across restarts. Specification 3 (crawl job), 4.3.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ManualClock } from '../support/manual-clock.ts';
import { type Service, type StartOptions, startService, type Teardown } from '../support/service.ts';
import { Names, only127001, Site } from '../support/site.ts';

async function start(t: Teardown, given: StartOptions = {}) {
  const [site, names] = [await Site.start(t), await Names.start(t)];
  names.set('shop.test', '127.0.0.1').set('other.test', '127.0.0.1');
  const options: StartOptions = {
    isPublic: only127001,
    crawlPauseMs: 0,
    ...given,
    env: { DNS_SERVERS: names.address, ...given.env },
  };
  const service = await startService(t, options);
  const owner = await service.workspace();
  return { site, names, service, owner, options, base: `http://shop.test:${site.port}` };
}

async function ingest(service: Service, token: string, body: object): Promise<any> {
  const { status, body: queued } = await service.post('/kb/ingest/url', body, token);
  if (status !== 202) return { status: 'refused', queued };
  await service.settled();
  return (await service.get(`/kb/jobs/${queued.jobId}`, token)).body;
}

const documents = async (service: Service, token: string): Promise<any[]> =>
  (await service.get('/kb/documents', token)).body.documents;
const paths = async (service: Service, token: string): Promise<string[]> =>
  (await documents(service, token)).map(({ sourceUrl }) => new URL(sourceUrl).pathname).sort();
const search = async (service: Service, token: string, query: string, topK?: number): Promise<any> =>
  (await service.post('/kb/search', { query, ...(topK === undefined ? {} : { topK }) }, token)).body;

t.test(
  '[3 crawl job] crawling an address again replaces its documents, all at once, when the new crawl is done',
  async (t) => {
    const { site, service, owner, base } = await start(t);
    site
      .page('/', '<h1>Prices</h1><p>A ticket costs ten crowns for everybody.</p><a href="/old">old</a>')
      .page('/old', '<p>Dogs must stay outside the gates of the park.');
    await ingest(service, owner.token, { url: `${base}/` });
    t.same(await paths(service, owner.token), ['/', '/old']);

    let letGo: () => void = () => undefined;
    site.page('/', '<h1>Prices</h1><p>A ticket costs twenty crowns for everybody.</p><a href="/new">new</a>');
    site.on('/new', (_, response) => {
      letGo = () =>
        response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>Dogs are welcome everywhere in the park.');
    });
    const { body } = await service.post('/kb/ingest/url', { url: `${base}/` }, owner.token);
    while (site.asked.at(-1) !== '/new') await new Promise((resolve) => setImmediate(resolve));
    t.match((await service.get(`/kb/jobs/${body.jobId}`, owner.token)).body, {
      status: 'running',
      stats: { documents: 1 },
    });
    t.same(await paths(service, owner.token), ['/', '/old'], 'half a site is never listed');
    t.match(
      (await search(service, owner.token, 'what does a ticket cost')).chunks[0].text,
      /ten crowns/,
      'nor retrieved',
    );
    letGo();
    await service.settled();
    t.same(await paths(service, owner.token), ['/', '/new']);
    t.match((await search(service, owner.token, 'what does a ticket cost')).chunks[0].text, /twenty crowns/);
    t.notMatch(JSON.stringify(await search(service, owner.token, 'are dogs allowed', 50)), /outside the gates/);
  },
);

t.test('[3 crawl job] the same address in another spelling is the same address', async (t) => {
  const { site, service, owner, base } = await start(t);
  for (const [index, url] of [
    base,
    `${base}/`,
    `${base.replace('http://shop', 'HTTP://SHOP')}`,
    `${base}/#prices`,
  ].entries()) {
    site
      .page('/', `<p>A ticket costs ten crowns for everybody.</p><a href="/only-in-${index}">more</a>`)
      .page(`/only-in-${index}`, `<p>Dogs must stay outside the gates of park ${index}.`);
    t.equal((await ingest(service, owner.token, { url })).status, 'done', url);
    t.same(await paths(service, owner.token), ['/', `/only-in-${index}`], url);
  }
  site.page('/docs', '<p>How to get to the park.');
  await ingest(service, owner.token, { url: `${base}/docs` });
  t.same(await paths(service, owner.token), ['/', '/docs', '/only-in-3'], 'another address is another');
});

t.test('[3 crawl job] a failed crawl says why, and earlier documents stay', async (t) => {
  const { site, service, owner, base } = await start(t);
  site.page('/', '<p>A ticket costs ten crowns for everybody.');
  await ingest(service, owner.token, { url: `${base}/` });
  site.on('/', (_, response) => response.writeHead(500).end('oops'));
  const job = await ingest(service, owner.token, { url: `${base}/` });
  t.equal(job.status, 'failed');
  t.match(job.error, /answered 500/);
  t.ok(job.finishedAt);
  t.match((await search(service, owner.token, 'what does a ticket cost')).chunks[0].text, /ten crowns/);
  const gone = await ingest(service, owner.token, { url: 'http://unknown.test/' });
  t.equal(gone.status, 'failed', 'a site that cannot be reached is a job that fails');
});

t.test('[4.3] the most recent twenty jobs are listed, newest first', async (t) => {
  const { service, owner } = await start(t);
  const ids: string[] = [];
  for (let count = 0; count < 21; count += 1) {
    ids.push((await service.post('/kb/ingest/url', { url: 'http://unknown.test/' }, owner.token)).body.jobId);
    await service.pass(1000);
  }
  const { jobs } = (await service.get('/kb/jobs', owner.token)).body;
  t.same(
    jobs.map(({ id }: any) => id),
    ids.slice(1).reverse(),
  );
});

t.test('[4.3] crawls of a workspace run one after the other, and twenty may wait', async (t) => {
  const { site, service, owner, base } = await start(t);
  const held: (() => void)[] = [];
  site.on('/', (_, response) => void held.push(() => response.writeHead(500).end()));
  site.redirect('/next', 'http://unknown.test/');
  // The request itself checks the address, too; it is answered immediately.
  const first = service.post('/kb/ingest/url', { url: `${base}/` }, owner.token);
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  held.pop()?.();
  t.equal((await first).status, 202);
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  for (let count = 1; count < 20; count += 1)
    t.equal((await service.post('/kb/ingest/url', { url: 'http://unknown.test/' }, owner.token)).status, 202);
  const { jobs } = (await service.get('/kb/jobs', owner.token)).body;
  t.same(
    jobs.map(({ status }: any) => status),
    [...Array.from({ length: 19 }, () => 'queued'), 'running'],
  );
  const over = await service.post('/kb/ingest/url', { url: 'http://unknown.test/' }, owner.token);
  t.same([over.status, over.body.error], [503, 'service_unavailable']);
  held.pop()?.();
  while (site.asked.filter((path) => path === '/').length < 2 || held.length > 0) {
    held.pop()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
});

t.test('[4.3] maxDepth counts links, maxPages counts pages', async (t) => {
  const { site, service, owner, base } = await start(t);
  for (let level = 0; level < 6; level += 1)
    site.page(`/${level}`, `<p>This is the page of level number ${level}.</p><a href="/${level + 1}">on</a>`);
  for (const [maxDepth, expected] of [
    [0, ['/0']],
    [1, ['/0', '/1']],
    [3, ['/0', '/1', '/2', '/3']],
    [undefined, ['/0', '/1', '/2']],
  ] as const) {
    await ingest(service, owner.token, { url: `${base}/0`, ...(maxDepth === undefined ? {} : { maxDepth }) });
    t.same(await paths(service, owner.token), expected, `depth ${maxDepth}`);
  }
  const job = await ingest(service, owner.token, { url: `${base}/0`, maxDepth: 3, maxPages: 2 });
  t.equal(job.stats.documents, 2);
});

t.test(
  '[4.3] a crawl reports what it did not read: skipped pages, with the reason, and addresses it did not reach',
  async (t) => {
    const { site, service, owner, base } = await start(t);
    const links = (...to: string[]): string => to.map((path) => `<a href="${path}">${path}</a>`).join(' ');
    site.page('/', `<p>The museum opens at nine in the morning.</p>${links('/a', '/gone', '/twin', '/b')}`);
    site.page('/a', `<p>Bicycles are parked behind the museum.</p>${links('/', '/a', '/c', '/d', '/files.zip')}`);
    site.page('/b', `<p>Dogs must stay outside.</p>${links('/c', '/e')}`);
    for (const path of ['/c', '/d', '/e']) site.page(path, `<p>This is the page ${path} of the museum.</p>`);
    site.on('/gone', (_, response) => response.writeHead(410).end()).redirect('/twin', '/a');
    const stats = async (about: object) => (await ingest(service, owner.token, { url: `${base}/`, ...about })).stats;
    const skipped = [{ url: `${base}/gone`, reason: 'answered 410' }];
    t.match(
      await stats({}),
      { documents: 6, pagesSkipped: 2, pagesLeft: 0, skipped },
      'pages read under another address are not missing',
    );
    t.match(await stats({ maxDepth: 1 }), { documents: 3, pagesLeft: 3, skipped }, 'further away');
    t.match(await stats({ maxDepth: 0 }), { documents: 1, pagesLeft: 4, skipped: [] });
    t.match(await stats({ maxPages: 2 }), { documents: 2, pagesLeft: 5 }, 'more than were asked for');
    const many = Array.from({ length: 60 }, (_, index) => `/gone/${index}/${'x'.repeat(400)}`);
    site.page('/', `<p>The museum opens at nine in the morning.</p>${links(...many)}`);
    const { skipped: named, pagesSkipped } = await stats({});
    t.equal(pagesSkipped, 60);
    t.same(
      named.map(({ url, reason }: any) => [url.length, reason]),
      Array.from({ length: 50 }, () => [300, 'answered 404']),
      'the first of many, and not all of a long address',
    );
  },
);

t.test('[4.3] a crawl can be cancelled while queued and while running; earlier documents stay', async (t) => {
  const { site, service, owner, base } = await start(t);
  const job = async (id: string) => (await service.get(`/kb/jobs/${id}`, owner.token)).body;
  const cancel = (id: string, token = owner.token) => service.post(`/kb/jobs/${id}/cancel`, undefined, token);
  site.page('/', '<p>A ticket costs ten crowns for everybody.');
  const done = await ingest(service, owner.token, { url: `${base}/` });
  t.match(await cancel(done.id), { status: 409, body: { error: 'conflict' } }, 'one that is over is not');

  let letGo: () => void = () => undefined;
  site
    .page('/', '<p>A ticket costs twenty crowns for everybody.</p><a href="/slow">slow</a><a href="/never">never</a>')
    .page('/never', '<p>Nobody comes here.');
  site.on('/slow', (_, response) => {
    letGo = () => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>The second page of the site.');
  });
  const running = (await service.post('/kb/ingest/url', { url: `${base}/` }, owner.token)).body.jobId;
  const waiting = (await service.post('/kb/ingest/url', { url: `${base}/never` }, owner.token)).body.jobId;
  while (site.asked.at(-1) !== '/slow') await new Promise((resolve) => setImmediate(resolve));
  t.match(await cancel(running, (await service.agent(owner)).token), {
    status: 403,
    body: { error: 'admin_required' },
  });
  for (const id of [running, waiting])
    t.match(await cancel(id), {
      status: 200,
      body: { id, status: 'failed', error: /cancelled it\.$/, finishedAt: String },
    });
  t.equal((await service.get('/kb/documents', owner.token)).body.documents.length, 1, 'its pages are gone at once');
  const asked = site.asked.length;
  letGo();
  await service.settled();
  t.equal(site.asked.length, asked, 'nothing more is requested, of either');
  for (const id of [running, waiting]) t.match(await job(id), { status: 'failed', error: /cancelled it\.$/ });
  t.match((await search(service, owner.token, 'what does a ticket cost')).chunks[0].text, /ten crowns/);
  t.equal((await ingest(service, owner.token, { url: `${base}/never` })).status, 'done', 'and the next one runs');
  t.equal((await cancel('00000000-0000-7000-8000-000000000000')).status, 404);
});

t.test('[3 crawl job] a crawl cut short by the end of the process goes on after the restart', async (t) => {
  const { site, service, owner, base, options } = await start(t);
  let letGo: (() => void)[] = [];
  site.page('/', '<p>The first page of the site.</p><a href="/slow">on</a>');
  site.on(
    '/slow',
    (_, response) =>
      void letGo.push(() =>
        response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>The second page of the site.'),
      ),
  );
  const { body } = await service.post('/kb/ingest/url', { url: `${base}/` }, owner.token);
  while (letGo.length === 0) await new Promise((resolve) => setImmediate(resolve));
  // The folder as a process that dies here would leave it.
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  cpSync(service.dataDir, dataDir, { recursive: true });
  for (const call of letGo) call();
  letGo = [];
  const after = await startService(t, {
    ...options,
    dataDir,
    clock: new ManualClock(new Date(service.clock.now()).toISOString()),
  });
  while (letGo.length === 0) await new Promise((resolve) => setImmediate(resolve));
  for (const call of letGo) call();
  await after.settled();
  t.match((await after.get(`/kb/jobs/${body.jobId}`, owner.token)).body, {
    status: 'done',
    stats: { documents: 2, pagesFetched: 2 },
  });
  t.same(await paths(after, owner.token), ['/', '/slow'], 'each once');
  t.equal(site.asked.filter((path) => path === '/slow').length, 2);
  // Four times for where its address leads, once for its text.
  const pages = site.asked.filter((path) => path === '/').length;
  t.equal(pages, 4, 'a page that was stored is not read again, only where its address leads');
});

t.test('[4.3] a page that cannot be used costs that page alone, and is named with its reason', async (t) => {
  const { site, service, owner, base } = await start(t);
  const bad = ['/headings', '/card', '/empty', '/private', '/moved', '/picture', '/broken', '/good'];
  site.page('/', `<p>The museum opens at nine.</p>${bad.map((path) => `<a href="${path}">${path}</a>`).join(' ')}`);
  site.page('/headings', '<main><h1>Orders</h1><h2>Returns</h2></main>');
  site.page('/card', '<main><h3><a href="/good">How do I return an order?</a></h3></main>');
  site.page('/empty', '<main></main>');
  site.page('/private', '<meta name="robots" content="noindex"><p>Nobody should find this.');
  site.redirect('/moved', 'http://10.1.2.3/');
  site.page('/picture', 'x', { 'Content-Type': 'image/png' });
  site.on('/broken', (_, response) => response.destroy());
  site.page('/good', '<p>Bicycles are parked behind the museum.');
  const job = await ingest(service, owner.token, { url: `${base}/` });
  t.match(job, { status: 'done', error: null, stats: { documents: 4, pagesSkipped: 5 } });
  t.same(
    job.stats.skipped.map(({ url, reason }: any) => [new URL(url).pathname, reason]),
    [
      ['/empty', 'holds no text'],
      ['/private', 'asks not to be indexed'],
      ['/moved', 'is not a public address'],
      ['/picture', 'is not a page or a document'],
      ['/broken', 'could not be reached'],
    ],
  );
  t.same(await paths(service, owner.token), ['/', '/card', '/good', '/headings']);
  t.match((await search(service, owner.token, 'returns of orders')).chunks[0], {
    title: 'Orders',
    text: '## Returns',
  });
});

t.test('[4.3] a start page of headings alone is a site, and one without any text says so', async (t) => {
  const { site, service, owner, base } = await start(t);
  site.page('/', '<h1>Coming soon</h1>');
  t.match(await ingest(service, owner.token, { url: `${base}/` }), {
    status: 'done',
    stats: { documents: 1, chunks: 1 },
  });
  site.page('/', '<main></main>');
  t.match(await ingest(service, owner.token, { url: `${base}/` }), {
    status: 'failed',
    error: `No page at ${base}/ has text that can be used.`,
  });
});

t.test('[4.3] no exception of the service reaches a person: a page that cannot be embedded is left out', async (t) => {
  const { site, service, owner, base } = await start(t);
  const { embedder } = service.running.services;
  const digest = embedder.digest.bind(embedder);
  let failing = /bicycles/i;
  embedder.digest = (document) =>
    failing.test(document.text) ? Promise.reject(new Error('SQLITE_SECRET: no such table')) : digest(document);
  site.page('/', '<p>The museum opens at nine.</p><a href="/a">a</a><a href="/b">b</a>');
  site.page('/a', '<p>Bicycles are parked behind the museum.').page('/b', '<p>Dogs must stay outside.');
  t.match(await ingest(service, owner.token, { url: `${base}/` }), {
    status: 'done',
    stats: { documents: 2, skipped: [{ url: `${base}/a`, reason: 'could not be embedded' }] },
  });
  failing = /./;
  const job = await ingest(service, owner.token, { url: `${base}/` });
  t.match(job, { status: 'failed', error: /^The pages could not be embedded\./ });
  t.notMatch(JSON.stringify(job), /SQLITE/);
  t.same(await paths(service, owner.token), ['/', '/b'], 'what was there stays');
  failing = /^$/;
  const resumed = await service.post(`/kb/jobs/${job.id}/resume`, undefined, owner.token);
  t.match(resumed, { status: 200, body: { id: job.id, status: 'queued', error: null } });
  await service.settled();
  t.match((await service.get(`/kb/jobs/${job.id}`, owner.token)).body, { status: 'done' });
});

t.test('[4.3] a cancelled crawl is resumed where it ended; only a failed one can be', async (t) => {
  const { site, service, owner, base } = await start(t);
  let letGo: () => void = () => undefined;
  site.page('/', '<p>The first page of the site.</p><a href="/slow">on</a><a href="/last">last</a>');
  site.on('/slow', (_, response) => {
    letGo = () => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>The second page of the site.');
  });
  site.page('/last', '<p>The last page of the site.');
  const id = (await service.post('/kb/ingest/url', { url: `${base}/` }, owner.token)).body.jobId;
  const resume = (token = owner.token) => service.post(`/kb/jobs/${id}/resume`, undefined, token);
  while (site.asked.at(-1) !== '/slow') await new Promise((resolve) => setImmediate(resolve));
  t.match(await resume(), { status: 409, body: { error: 'conflict' } });
  await service.post(`/kb/jobs/${id}/cancel`, undefined, owner.token);
  letGo();
  await service.settled();
  t.same(await paths(service, owner.token), []);
  t.match(await resume((await service.agent(owner)).token), { status: 403, body: { error: 'admin_required' } });
  site.page('/slow', '<p>The second page of the site.');
  const asked = site.asked.length;
  t.equal((await resume()).status, 200);
  await service.settled();
  t.match((await service.get(`/kb/jobs/${id}`, owner.token)).body, {
    status: 'done',
    stats: { documents: 3, pagesFetched: 3 },
  });
  t.same(
    site.asked.slice(asked).filter((path) => path !== '/robots.txt'),
    ['/', '/slow', '/last'],
    'the first page only to see where it leads',
  );
  t.same(await paths(service, owner.token), ['/', '/last', '/slow']);
  t.match(await resume(), { status: 409, body: { error: 'conflict' } });
});

t.test(
  '[4.3] the same text is kept once, canonical links are followed, and the sitemap names further pages',
  async (t) => {
    const { site, service, owner, base } = await start(t);
    site.page('/', '<p>The museum opens at nine.</p><a href="/a">a</a><a href="/copy">a</a><a href="/print">a</a>');
    site.page('/a', '<p>Bicycles are parked behind the museum.');
    site.page('/copy', '<body>  <p>Bicycles are  parked behind the museum.</p></body>');
    site.page('/print', '<link rel="canonical" href="/c"><p>Dogs must stay outside, for printing.');
    site.page('/c', '<p>Dogs must stay outside.');
    site.page('/hidden/away', '<link rel="canonical" href="/"><p>Groups of twelve get a guide.');
    site.page('/map.xml', `<urlset><url><loc>${base}/hidden/away</loc></url><url><loc>${base}/c</loc></url></urlset>`, {
      'Content-Type': 'application/xml',
    });
    site.page('/robots.txt', `User-agent: *\nDisallow: /x\nSitemap: ${base}/map.xml`, { 'Content-Type': 'text/plain' });
    const job = await ingest(service, owner.token, { url: `${base}/` });
    t.match(job, { status: 'done', stats: { documents: 4, pagesSkipped: 2, skipped: [] } });
    t.same(await paths(service, owner.token), ['/', '/a', '/c', '/hidden/away'], 'a canonical link home is a mistake');
  },
);

t.test('[4.3] a deleted document is no longer found, and its page returns with the next crawl', async (t) => {
  const { site, service, owner, base } = await start(t);
  site
    .page('/', '<p>The museum opens at nine in the morning.</p><a href="/b">b</a>')
    .page('/b', '<p>Bicycles are parked behind the museum.');
  await ingest(service, owner.token, { url: `${base}/` });
  const document = (await documents(service, owner.token)).find(({ sourceUrl }) => sourceUrl.endsWith('/b'));
  t.equal((await service.delete(`/kb/documents/${document.id}`, owner.token)).status, 204);
  t.same(await paths(service, owner.token), ['/']);
  t.notMatch(JSON.stringify(await search(service, owner.token, 'where do I park my bicycle')), /Bicycles/);
  t.equal((await service.delete(`/kb/documents/${document.id}`, owner.token)).status, 404);
  await ingest(service, owner.token, { url: `${base}/` });
  t.same(await paths(service, owner.token), ['/', '/b']);
});

t.test('[4.3] two sites live side by side', async (t) => {
  const { site, service, owner, base } = await start(t);
  site.page('/', '<p>The museum opens at nine in the morning.');
  await ingest(service, owner.token, { url: `${base}/` });
  await ingest(service, owner.token, { url: `http://other.test:${site.port}/` });
  t.same((await documents(service, owner.token)).map(({ sourceUrl }) => new URL(sourceUrl).hostname).sort(), [
    'other.test',
    'shop.test',
  ]);
});
