// The addresses that a crawl visits: only public ones, whatever their spelling and DNS, on one host, within its
// robots.txt, each page once. Decisions 4.3.

import t from 'tap';
import { isPublicAddress, placeOf } from '../../workers/providers/host-resolver.ts';
import { type Service, type StartOptions, startService, type Teardown } from '../support/service.ts';
import { Names, only127001, Site } from '../support/site.ts';

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

t.test('[4.3] every spelling of a private address is refused before any request', async (t) => {
  const service = await startService(t);
  const { token } = await service.workspace();
  const hosts = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
    '0.0.0.0',
    '0',
    '10.0.0.1',
    '10.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:8.8.8.8]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fe80::1]',
    '[fc00::1]',
    '[fd12:3456::1]',
    '[ff02::1]',
    '[2001:db8::1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'printer.local',
    'api.internal',
    'api.internal.',
    '①②⑦.⓪.⓪.①',
    '１２７.0.0.1',
    'ｌocalhost',
    '127。0。0。1',
  ];
  for (const host of hosts) {
    const { status, body } = await service.post('/kb/ingest/url', { url: `http://${host}/` }, token);
    t.same([status, body.error], [400, 'website_not_public'], host);
  }
  for (const host of ['8.8.8.8', '134744072', '0x08080808', '[2606:4700::1111]']) {
    const { status, body } = await service.post('/kb/ingest/url', { url: `https://${host}/` }, token);
    t.same([status, body.error], [400, 'validation_error'], `${host}: a public address is no name`);
  }
  for (const url of [
    'http://user@127.0.0.1/',
    'http://example.com@127.0.0.1/',
    'http://127.0.0.1#@example.com/',
    'http://127.0.0.1\\@example.com/',
    'http://a:b@example.com/',
  ]) {
    const { status, body } = await service.post('/kb/ingest/url', { url }, token);
    t.ok(
      status === 400 && ['website_not_public', 'validation_error'].includes(body.error),
      `${url}: ${status} ${body.error}`,
    );
  }
  t.same((await service.get('/kb/jobs', token)).body.jobs, [], 'nothing was queued');
});

t.test('[4.3] public and other addresses are distinguished at the edges of each range', async (t) => {
  const isPublic = [
    '9.255.255.255',
    '11.0.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '223.255.255.255',
    '2606:4700::1',
    '2a00::1',
  ];
  const isNot = [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.0.0',
    '192.168.255.255',
    '100.64.0.0',
    '100.127.255.255',
    '127.0.0.0',
    '127.255.255.255',
    '224.0.0.0',
    '239.255.255.255',
    '240.0.0.0',
    '255.255.255.255',
    '169.254.0.0',
    '::',
    '::1',
    'fe80::1',
    'febf::1',
    'fc00::',
    'fdff::1',
    'ff00::',
    '::ffff:8.8.8.8',
    'nonsense',
    '',
    '1.2.3',
  ];
  for (const address of isPublic) t.equal(isPublicAddress(address), true, address);
  for (const address of isNot) t.equal(isPublicAddress(address), false, address);
  t.equal(placeOf(new URL('http://example.com./')), 'name');
});

t.test(
  '[7 KB] a start that leads to a private address is website_not_public, by name, redirect or second answer',
  async (t) => {
    const { site, names, service, owner, base } = await start(t);
    names.set('inside.test', '10.0.0.1').set('half.test', '127.0.0.1', '127.0.0.2').set('mapped.test', '127.0.0.2');
    site
      .redirect('/to-name', 'http://inside.test/')
      .redirect('/to-literal', `http://127.0.0.2:${site.port}/`)
      .redirect('/two', '/to-name')
      .redirect('/to-metadata', 'http://169.254.169.254/latest/meta-data');
    // The same name, which now has another address: a new connection resolves it again.
    site.on('/again', (_, response) =>
      response.writeHead(302, { Location: `http://half.test:${site.port}/`, Connection: 'close' }).end(),
    );
    for (const url of [
      'http://inside.test/',
      `http://mapped.test:${site.port}/`,
      `${base}/to-name`,
      `${base}/to-literal`,
      `${base}/two`,
      `${base}/to-metadata`,
      `http://half.test:${site.port}/again`,
    ]) {
      const { status, body } = await service.post('/kb/ingest/url', { url }, owner.token);
      t.same([status, body.error], [400, 'website_not_public'], url);
    }
  },
);

t.test('[4.3] a name that changes its address is connected where it was checked, or not at all', async (t) => {
  const { site, names, service, owner } = await start(t);
  const inside = await Site.start(t, '127.0.0.2');
  inside.page('*', text('secrets'));
  site.on('*', (_, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html', Connection: 'close' }).end(linking('/a', '/b', '/c')),
  );
  names.set('rebind.test', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2');
  const { documents } = await crawl(service, owner.token, `http://rebind.test:${site.port}/`);
  t.ok(names.asked.filter((name) => name === 'rebind.test').length > 4, 'it did change its mind');
  t.same(inside.asked, [], 'no one called there');
  t.notMatch(JSON.stringify(documents), /secrets/);
});

t.test('[4.3] a private hop met on the way skips that page', async (t) => {
  const { site, names, service, owner, base } = await start(t);
  names.set('inside.test', '10.0.0.1');
  site
    .page('/', linking('/good', '/bad', '/worse'))
    .page('/good', text('goods'))
    .redirect('/bad', 'http://inside.test/')
    .redirect('/worse', 'http://127.0.0.2/');
  const { job, paths } = await crawl(service, owner.token, `${base}/`);
  t.match(job, { status: 'done', stats: { documents: 2, pagesSkipped: 2 } });
  t.same(paths, ['/', '/good']);
});

t.test("[4.3] a crawl stays on its host, and follows the start's redirects", async (t) => {
  const { site, names, service, owner, base } = await start(t);
  names.set('www.shop.test', '127.0.0.1').set('other.test', '127.0.0.1');
  site
    .redirect('/begin', `http://www.shop.test:${site.port}/`)
    .page(
      '/',
      linking(
        '/own',
        `http://other.test:${site.port}/foreign`,
        'mailto:a@b.example',
        'javascript:void(0)',
        'http://[bad',
      ),
    )
    .page('/own', text('our own'))
    .page('/foreign', text('foreign things'));
  const { documents } = await crawl(service, owner.token, `${base}/begin`);
  t.same(documents.map(({ sourceUrl }: any) => sourceUrl.replace(/:\d+/, '')).sort(), [
    'http://www.shop.test/',
    'http://www.shop.test/own',
  ]);
});

t.test('[4.3] robots.txt is kept', async (t) => {
  const { site, service, owner, base } = await start(t);
  site
    .page('/', linking('/open', '/closed/a', '/closed/open', '/for-others'))
    .page('/open', text('open doors'))
    .page('/closed/a', text('closed doors'))
    .page('/closed/open', text('a gap in the fence'))
    .page('/for-others', text('others'));
  site.page(
    '/robots.txt',
    'User-agent: Other\nDisallow: /\n\nUser-agent: Switchboard\nDisallow: /closed/\nAllow: /closed/open\nDisallow: /for-others',
    { 'Content-Type': 'text/plain' },
  );
  t.same((await crawl(service, owner.token, `${base}/`)).paths, ['/', '/closed/open', '/open']);
  t.notOk(site.asked.includes('/closed/a') || site.asked.includes('/for-others'), 'they are not even asked for');
  site.page('/robots.txt', 'User-agent: *\nDisallow: /', { 'Content-Type': 'text/plain' });
  t.match((await crawl(service, owner.token, `${base}/`)).job, { status: 'failed', error: /robots/ });
  site.on('/robots.txt', (_, response) => response.writeHead(503).end());
  t.match(
    (await crawl(service, owner.token, `${base}/`)).job,
    { status: 'failed', error: /robots/ },
    'one that cannot be read forbids all',
  );
});

t.test('[4.3] cycles, spellings and canonical addresses make one document of one page', async (t) => {
  const { site, service, owner, base } = await start(t);
  site.page('/', linking('/', '/#top', '/?utm_source=mail', '/round', '/print', '/a/../b', '/B', '/b?x=1'));
  site.redirect('/round', '/circle').redirect('/circle', '/round');
  site.page(
    '/print',
    `<html><head><link rel="canonical" href="/b"></head><body><p>The page about b, as it is printed on paper.</p></body></html>`,
  );
  site.page('/b', text('the letter b'));
  const { job, paths } = await crawl(service, owner.token, `${base}/`);
  t.equal(job.status, 'done');
  t.equal(paths.filter((path) => path === '/').length, 1);
  t.equal(paths.filter((path) => path === '/b').length, 1);
  t.notOk(paths.includes('/print'), 'its canonical address is the one that is kept');
  t.equal(
    site.asked.filter((path) => path === '/').length,
    3,
    'its target is checked when requested and when the crawl begins; it is read once',
  );
});
