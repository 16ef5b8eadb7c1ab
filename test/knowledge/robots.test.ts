// What a robots.txt allows the crawler (RFC 9309), and that a hostile one costs others nothing. Decisions 4.3.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import t from 'tap';
import { createCrawler } from '../../workers/knowledge/crawler.ts';
import { createPageReader } from '../../workers/knowledge/page-reader.ts';
import { robotsOf } from '../../workers/knowledge/robots.ts';
import { createFetcher } from '../../workers/providers/fetcher.ts';
import { dnsResolver } from '../../workers/providers/host-resolver.ts';
import { startService } from '../support/service.ts';
import { Names, only127001, Site } from '../support/site.ts';

const mb = 1024 * 1024;
const halfMb = 512 * 1024;

function allowed(text: string, ...paths: string[]): string[] {
  const robots = robotsOf(text, 'Switchboard');
  return paths.filter((path) => robots.allows(new URL(path, 'https://shop.example')));
}

t.test('[4.3] our rules are those of all groups that name us, otherwise those for everyone', async (t) => {
  const named =
    'User-agent: *\nDisallow: /\n\nuser-agent: switchboard/2.0 (bot)\nDisallow: /a\n\nUser-agent: Other\nUser-agent: SWITCHBOARD\nSitemap: https://shop.example/map\nDisallow: /b # not there\n\nUser-agent: Other\nDisallow: /c';
  t.same(allowed(named, '/', '/a', '/b', '/c'), ['/', '/c']);
  t.same(
    allowed(
      'User-agent: Switchboardish\nDisallow: /\nUser-agent: *\nDisallow: /a\nUser-agent: *\nDisallow: /b',
      '/',
      '/a',
      '/b',
    ),
    ['/'],
  );
  t.same(allowed('Disallow: /', '/'), ['/'], 'a rule before the first name applies to no one');
  t.same(allowed('User-agent: Other\nDisallow: /', '/'), ['/']);
  t.same(allowed('\uFEFFUser-agent:*\r\nDisallow:\rDisallow: no-path', '/', '/no-path'), ['/', '/no-path']);
});

t.test('[4.3] the longest rule that fits counts, and of two as long the one that allows', async (t) => {
  t.same(allowed('User-agent: *\nAllow: /page\nDisallow: /*.htm', '/page.htm', '/page', '/x.htm'), ['/page']);
  t.same(allowed('User-agent: *\nDisallow: /folder\nAllow: /folder', '/folder/page'), ['/folder/page']);
  t.same(allowed('User-agent: *\nDisallow: /\nAllow: /$', '/', '/a'), ['/']);
});

t.test('[4.3] a star is anything, a dollar sign the end', async (t) => {
  const forbids = (pattern: string, ...paths: string[]): string[] => {
    const open = allowed(`User-agent: *\nDisallow: ${pattern}`, ...paths);
    return paths.filter((path) => !open.includes(path));
  };
  t.same(forbids('/fish*.php', '/fish.php', '/fishheads/catfish.php?id=1', '/Fish.PHP', '/fish'), [
    '/fish.php',
    '/fishheads/catfish.php?id=1',
  ]);
  t.same(forbids('/*.php$', '/a.php', '/a.php?x', '/a.php.php', '/a.php/'), ['/a.php', '/a.php.php']);
  t.same(forbids('/a*ab$', '/aab', '/ab', '/aXab', '/abab'), ['/aab', '/aXab', '/abab']);
  t.same(forbids('/a$', '/a', '/ab'), ['/a']);
  t.same(forbids('*?*sort=', '/list?page=2&sort=up', '/sort='), ['/list?page=2&sort=up']);
  t.same(forbids('/a$b', '/a$b', '/a'), ['/a$b']);
  t.same(forbids('/caf\u00e9', '/caf%c3%a9', '/cafe'), ['/caf%c3%a9']);
  t.same(forbids('/%7ejoe', '/%7Ejoe', '/~jane'), ['/%7Ejoe']);
});

t.test('[4.3] patterns and addresses are compared in one form', async (t) => {
  for (const [pattern, address] of [
    ['/*?f[', '/x?f[0]=a'],
    ['/a[b]', '/a[b]'],
    ['/a|b', '/a|b'],
    ['/*?x={', '/a?x={b}'],
    ["/*?q='", "/x?q='a"],
    ['/private', '/%70rivate'],
    ['/~x', '/%7Ex'],
    ['/%7ex', '/~x'],
    ['/ö', '/%c3%b6'],
  ] as const)
    t.notOk(
      robotsOf(`User-agent: *\nDisallow: ${pattern}`, 'us').allows(new URL(address, 'https://shop.example')),
      address,
    );
  t.ok(robotsOf('User-agent: *\nDisallow: /a%2Fb', 'us').allows(new URL('https://shop.example/a/b')));
});

t.test('[4.3] the requested pause', async (t) => {
  const delayOf = (text: string): number | undefined => robotsOf(text, 'Switchboard').delayMs;
  t.equal(delayOf('User-agent: *\nCrawl-delay: 2.5\nDisallow: /a'), 2500);
  for (const nonsense of ['', 'soon', '-1']) t.equal(delayOf(`User-agent: *\nCrawl-delay: ${nonsense}`), undefined);
});

t.test('[4.3] an oversized file allows nothing', async (t) => {
  const rules = (count: number): string =>
    `User-agent: *\n${Array.from({ length: count }, (_, index) => `Disallow: /${index}\n`).join('')}`;
  t.same(allowed(rules(1000), '/a'), ['/a']);
  t.same(allowed(rules(1001), '/a'), []);
  t.same(allowed(`User-agent: *\nDisallow: /${'a'.repeat(40_000)}`, '/b'), []);
  t.same(allowed(rules(20_000).replace('*', 'Other'), '/0'), ['/0'], 'rules for others are not kept');
});

t.test('[security] however a file is written, it takes little memory and time', async (t) => {
  const long = new URL(`https://shop.example/${'a'.repeat(2000)}`);
  const files = {
    'very many names, and very many rules for each':
      'User-agent: Switchboard\n'.repeat(11_000) + 'Disallow: /x\n'.repeat(19_000),
    'a rule of stars': `User-agent: *\nDisallow: /${'a*'.repeat(15_000)}z`,
    'rules of stars': `User-agent: *\n${`Disallow: /${'*a'.repeat(14)}*b\n`.repeat(1000)}`,
    'rules that almost fit everywhere': `User-agent: *\n${`Disallow: /*${'a'.repeat(29)}b\n`.repeat(1000)}`,
    'a line of spaces': `User-agent: ${' '.repeat(halfMb)}x`,
    'a name without an end': 'a'.repeat(halfMb) + ' '.repeat(halfMb),
    'nothing but lines': 'a\n'.repeat(halfMb / 2),
  };
  for (const [what, text] of Object.entries(files)) {
    const before = process.memoryUsage().heapUsed;
    const begunMs = performance.now();
    const robots = robotsOf(text, 'Switchboard');
    for (let count = 0; count < 20; count += 1) robots.allows(long);
    t.ok(performance.now() - begunMs < 20_000, `${what}: in good time`);
    t.ok(process.memoryUsage().heapUsed - before < 150 * mb, `${what}: in little room`);
  }
});

t.test('[security] links that are expensive to check do not delay others', async (t) => {
  const [site, names] = [await Site.start(t), await Names.start(t)];
  names.set('shop.test', '127.0.0.1');
  const service = await startService(t, { isPublic: only127001, crawlPauseMs: 0, env: { DNS_SERVERS: names.address } });
  const owner = await service.workspace();
  site.page(
    '/',
    `<html><body><p>A page with long links.</p>${Array.from({ length: 300 }, (_, index) => `<a href="/${'a'.repeat(1900)}${index}">x</a>`).join('')}</body></html>`,
  );
  site.page('/robots.txt', `User-agent: *\n${`Disallow: /*${'a'.repeat(28)}b\n`.repeat(999)}Allow: /$`, {
    'Content-Type': 'text/plain',
  });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const begunMs = performance.now();
  const { status, body } = await service.post(
    '/kb/ingest/url',
    { url: `http://shop.test:${site.port}/`, maxPages: 2, maxDepth: 1 },
    owner.token,
  );
  t.equal(status, 202);
  await service.settled();
  delay.disable();
  const wholeMs = performance.now() - begunMs;
  const longestMs = delay.max / 1e6;
  t.match((await service.get(`/kb/jobs/${body.jobId}`, owner.token)).body, { status: 'done' });
  // If checked in one go, the links would take nearly all of the crawl's time.
  t.ok(longestMs < wholeMs / 3, `the longest wait was ${longestMs.toFixed(0)} ms of ${wholeMs.toFixed(0)} ms`);
});

t.test(
  '[security] the links of a crawl have a time in total; later ones are ignored, and its pages are read',
  async (t) => {
    const [site, names] = [await Site.start(t), await Names.start(t)];
    names.set('shop.test', '127.0.0.1');
    site.page('/', '<html><body><p>The first page of the shop.</p><a href="/next">Next</a></body></html>');
    site.page('/next', '<html><body><p>The next page of the shop.</p></body></html>');
    const reach = { allowPrivate: false, isPublic: only127001 };
    const fetcher = createFetcher({ ...reach, resolveHost: dnsResolver([names.address]), userAgent: 'test' });
    const pageReader = createPageReader();
    t.teardown(() => Promise.all([fetcher.close(), pageReader.stop()]));
    for (const [maxLinksMs, pages] of [
      [60_000, ['/', '/next']],
      [0, ['/']],
    ] as const) {
      const crawler = createCrawler({ ...reach, fetcher, pageReader, shortestPauseMs: 0, maxLinksMs });
      const { signal } = new AbortController();
      const read: (string | undefined)[] = [];
      const wanted = { url: `http://shop.test:${site.port}/`, maxDepth: 2, maxPages: 9, signal };
      for await (const { page } of crawler.crawl(wanted)) if (page !== undefined) read.push(new URL(page.url).pathname);
      t.same(read, pages);
    }
  },
);
