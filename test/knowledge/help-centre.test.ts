// The public help centre: what everyone sees of it, and what nobody does.

import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { type Service, startService, type Teardown } from '../support/service.ts';

interface Centre {
  readonly service: Service;
  readonly owner: Awaited<ReturnType<Service['workspace']>>;
  /** From the root. */
  readonly path: string;
  read(path?: string, headers?: Record<string, string>): Promise<{ status: number; text: string; headers: Headers }>;
  write(article: object): Promise<{ id: string; slug: string; version: number }>;
}

async function open(t: Teardown, env: Record<string, string> = {}): Promise<Centre> {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', ...env } });
  const owner = await service.workspace();
  const { helpCentreUrl } = (await service.patch('/kb/settings', { helpCentre: true }, owner.token)).body;
  const path = new URL(helpCentreUrl).pathname;
  return {
    service,
    owner,
    path,
    async read(below = '', headers = {}) {
      const answer = await fetch(service.url + path + below, { headers, redirect: 'manual' });
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    },
    async write(article) {
      const { body } = await service.post('/kb/articles', { status: 'published', ...article }, owner.token);
      await service.settled();
      return body;
    },
  };
}

const returns = {
  title: 'How do I return a tent?',
  body: '# Within 30 days\nSend the tent back within **30 days**, with the label that came with it.',
  collection: 'Returns',
};

t.test('[help] it is off until an admin turns it on', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const agent = await service.agent(owner, { role: 'agent' });
  const settings = (await service.get('/kb/settings', owner.token)).body;
  t.match(settings, { helpCentre: false, helpCentreUrl: /\/help\/[a-z0-9-]+$/ });
  const home = `${service.url}${new URL(settings.helpCentreUrl).pathname}`;
  await service.post('/kb/articles', { ...returns, status: 'published' }, owner.token);
  for (const path of ['', '/how-do-i-return-a-tent', '/search?q=tent', '/suggestions?q=tent', '/sitemap.xml'])
    t.equal((await fetch(home + path)).status, 404, path);
  const asPerson = await fetch(home, { headers: { accept: 'text/html' } });
  t.match(await asPerson.text(), /There is no page here/);
  t.equal((await service.patch('/kb/settings', { helpCentre: true }, agent.token)).body.error, 'admin_required');
  await service.patch('/kb/settings', { helpCentre: true }, owner.token);
  t.equal((await fetch(home)).status, 200);
  t.equal((await fetch(home.toUpperCase().replace(/.*\/HELP/, `${service.url}/help`))).status, 200, 'in any case');
  t.equal((await fetch(`${service.url}/help/nobody`)).status, 404);
  await service.patch('/kb/settings', { helpCentre: false }, owner.token);
  t.equal((await fetch(home)).status, 404);
});

t.test('[help] published articles by collection; drafts and imported texts are not there', async (t) => {
  const centre = await open(t);
  const { service, owner } = centre;
  const { id, slug } = await centre.write(returns);
  await centre.write({ title: 'Opening hours', body: 'From 9 to 5.' });
  await centre.write({ title: 'A secret plan', body: 'Not yet.', status: 'draft' });
  t.equal(slug, 'how-do-i-return-a-tent');
  const home = await centre.read();
  t.match(home.text, /<h2>Returns<\/h2><ul class="links"><li><a href="\/help\/[^"]+\/how-do-i-return-a-tent">/);
  t.ok(home.text.indexOf('Returns') < home.text.indexOf('More articles'));
  t.notMatch(home.text, /secret/);
  t.equal((await centre.read('/a-secret-plan')).status, 404);

  const article = await centre.read('/how-do-i-return-a-tent');
  t.match(article.text, /<h1>How do I return a tent\?<\/h1>\n<h2 id="within-30-days">Within 30 days<\/h2>/);
  t.match(article.text, /<strong>30 days<\/strong>/);
  t.match(article.text, new RegExp(`<link rel="canonical" href="[^"]+${centre.path}/how-do-i-return-a-tent">`));
  t.match(article.text, /<meta property="og:title" content="How do I return a tent\?">/);
  const data = JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/.exec(article.text)?.[1] ?? '{}');
  t.match(data, { '@type': 'FAQPage', mainEntity: [{ name: returns.title, acceptedAnswer: { text: /30 days/ } }] });

  const { slug: japanese } = await centre.write({
    title: '返品',
    body: '商品到着後三十日以内に返品できます。'.repeat(30),
  });
  const { text: described } = await centre.read(`/${encodeURIComponent(japanese)}`);
  t.match(described, /<meta name="description" content="商品到着後[^" ]{150,160}…">/, 'without spaces, too');

  const map = await centre.read('/sitemap.xml');
  t.match(map.headers.get('content-type'), /xml/);
  t.equal(map.text.match(/<loc>/g)?.length, 3);
  await service.patch(`/kb/articles/${id}`, { expectedVersion: 1, status: 'draft' }, owner.token);
  t.equal((await centre.read('/how-do-i-return-a-tent')).status, 404);
});

t.test('[help] a search finds by title and by meaning, and only articles', async (t) => {
  const centre = await open(t);
  const { service, owner, path } = centre;
  await centre.write(returns);
  await centre.write({ title: 'Opening hours', body: 'The shop is open from 9 to 5, on Saturdays until 1.' });
  await centre.write({ title: 'Margins', body: 'Our margin on tents is 40 percent.', status: 'draft' });
  const titles = async (words: string): Promise<string[]> => {
    const answer = await fetch(`${service.url}${path}/suggestions?q=${encodeURIComponent(words)}`);
    const { articles } = (await answer.json()) as { articles: { title: string }[] };
    return articles.map(({ title }) => title);
  };
  t.same(await titles('open'), ['Opening hours'], 'by the beginning of a word');
  t.same((await titles('send the tent back with the label')).slice(0, 1), [returns.title]);
  t.same(await titles('margin on tents 40 percent').then((all) => all.filter((title) => title === 'Margins')), []);
  t.same(await titles(''), []);
  t.match((await centre.read('/search?q=send+the+tent+back')).text, /<p class="soft">[^<]*Send the tent back/);
  t.match((await centre.read('/search?q=')).text, /noindex/);

  t.equal(
    (await service.get('/kb/fruitless-searches', owner.token)).body.searches.length,
    0,
    'suggestions do not count',
  );
  for (const words of ['Bicycle pümp', 'bicycle  PUMP', 'kayak'])
    t.match((await centre.read(`/search?q=${encodeURIComponent(words)}`)).text, /No article was found/);
  const { searches } = (await service.get('/kb/fruitless-searches', owner.token)).body;
  t.match(searches, [
    { words: 'bicycle pump', count: 2 },
    { words: 'kayak', count: 1 },
  ]);
  t.equal((await service.delete('/kb/fruitless-searches', owner.token)).status, 204);
  t.same((await service.get('/kb/fruitless-searches', owner.token)).body, { searches: [] });

  const { chunks } = (await service.post('/kb/search', { query: 'return a tent' }, owner.token)).body;
  t.match(chunks[0].url, new RegExp(`${path}/how-do-i-return-a-tent#within-30-days$`), 'agents can link to it');
});

t.test('[help] a link to a section finds its heading, however it is written', async (t) => {
  const centre = await open(t);
  const { service, owner } = centre;
  const headings = ['Größe & Gewicht?', '**Prices** (€)', 'Delivery', 'Delivery', 'ﬁne ½', '価格', '!!!'];
  await centre.write({
    title: 'Tents',
    body: headings
      .map((heading, at) => `## ${heading}\n\n${`Paragraph ${at} says what you should know of it. `.repeat(30)}`)
      .join('\n\n'),
  });
  const { text } = await centre.read('/tents');
  const hashes = new Set<string>();
  for (const [at, heading] of headings.entries()) {
    const query = `${heading} paragraph ${at}`;
    const { chunks } = (await service.post('/kb/search', { query, topK: 20 }, owner.token)).body;
    for (const { url } of chunks) hashes.add(decodeURIComponent(new URL(url).hash.slice(1)));
  }
  t.same([...hashes].sort(), ['delivery', 'delivery-1', 'fine-1-2', 'größe-gewicht', 'prices', 'section', '価格']);
  for (const hash of hashes) t.ok(text.includes(`id="${hash}"`), hash);
});

t.test('[help] an article of nothing but headings costs no one else a search', async (t) => {
  const centre = await open(t);
  await centre.write({ title: 'Headings', body: '# a\n'.repeat(15_000) });
  const { status, text } = await centre.read('/headings');
  t.equal(status, 200);
  t.match(text.slice(-20_000), /id="a-14999"/);
  await centre.write({ title: 'Too many', body: '# a\n'.repeat(49_000) });
  t.equal((await centre.read('/too-many')).status, 503, 'no page has a megabyte of markup');
  t.match((await centre.read('/search?q=headings')).text, /Headings/);
});

t.test('[help] without a model, titles are searched', async (t) => {
  const centre = await open(t, { EMBEDDING_MODEL: 'none' });
  await centre.write(returns);
  t.match((await centre.read('/search?q=tent')).text, />How do I return a tent\?<\/a>/);
});

t.test('[help] readers say whether an article helped', async (t) => {
  const centre = await open(t);
  const { service, owner, path } = centre;
  const { id } = await centre.write(returns);
  const vote = (body: string, slug = 'how-do-i-return-a-tent') =>
    fetch(`${service.url}${path}/${slug}/feedback`, {
      method: 'POST',
      body: new URLSearchParams(body),
      redirect: 'manual',
    });
  const voted = await vote('helpful=yes');
  t.equal(voted.status, 303);
  t.match(
    (await centre.read(voted.headers.get('location')?.slice(path.length).replace(/#.*/, ''))).text,
    /Thank you\./,
  );
  await vote('helpful=yes');
  await vote('helpful=no');
  const refused = await vote('helpful=perhaps');
  t.equal(refused.status, 400);
  t.match(await refused.text(), /<h1>This page cannot be shown now<\/h1>/);
  t.equal((await vote('helpful=yes', 'nothing')).status, 404);
  t.match((await service.get(`/kb/articles/${id}`, owner.token)).body, {
    helpfulCount: 2,
    unhelpfulCount: 1,
    version: 1,
  });
});

t.test('[help] a preview shows an article by its link, published or not, for seven days', async (t) => {
  const centre = await open(t);
  const { service, owner } = centre;
  const agent = await service.agent(owner, { role: 'agent' });
  const { id } = await centre.write({ ...returns, status: 'draft' });
  t.equal((await service.post(`/kb/articles/${id}/preview`, {}, agent.token)).body.error, 'admin_required');
  await service.patch('/kb/settings', { helpCentre: false }, owner.token);
  const { url } = (await service.post(`/kb/articles/${id}/preview`, {}, owner.token)).body;
  const { pathname } = new URL(url);
  const read = (path: string) => fetch(service.url + path);
  const page = await read(pathname);
  const text = await page.text();
  t.match(text, /<h1>How do I return a tent\?<\/h1>/);
  t.match(text, /<meta name="robots" content="noindex">/);
  t.notMatch(text, /ld\+json|Did this help|canonical/);
  t.equal(page.headers.get('cache-control'), 'no-store');
  t.equal((await read(`${pathname.slice(0, -1)}${pathname.endsWith('A') ? 'E' : 'A'}`)).status, 404);
  t.equal((await read(`${centre.path}/previews/x`)).status, 404);
  await service.pass(7 * 24 * 60 * 60_000 + 1000);
  t.equal((await read(pathname)).status, 404);
});

t.test('[help] languages: articles of one, by the address, the browser or the workspace', async (t) => {
  const centre = await open(t);
  await centre.write(returns);
  await centre.write({
    title: 'Zelt zurückgeben',
    body: 'In 30 Tagen.',
    language: 'de',
    slug: 'how-do-i-return-a-tent',
  });
  const arabic = await centre.write({ title: 'مواعيد العمل', body: 'من التاسعة.', language: 'ar' });
  const home = await centre.read('', { 'accept-language': 'de-AT, en;q=0.5' });
  t.match(home.text, /<html lang="de" dir="ltr">/);
  t.match(home.text, /Zelt zurückgeben/);
  t.notMatch(home.text, /How do I return/);
  t.match(home.headers.get('vary'), /Accept-Language/);
  t.match((await centre.read('?lang=ar')).text, /<html lang="ar" dir="rtl">/);
  t.match((await centre.read('', { 'accept-language': 'fi' })).text, /<html lang="en"/);
  const german = (await centre.read('/how-do-i-return-a-tent?lang=de')).text;
  t.match(german, /<link rel="alternate" hreflang="en" href="[^"?]+">/);
  t.match(german, /War das hilfreich\?/);
  t.match((await centre.read(`/${encodeURIComponent(arabic.slug)}?lang=ar`)).text, /dir="rtl"/);
  t.match((await centre.read('/nothing?lang=de')).text, /Hier gibt es keinen Artikel/);
});

t.test('[help] addresses of articles', async (t) => {
  const { service, owner, write } = await open(t);
  const first = await write({ title: 'Éclair & Co.: 100 %', body: 'x' });
  t.equal(first.slug, 'eclair-co-100');
  t.equal((await write({ title: 'Eclair, Co 100', body: 'x' })).slug, 'eclair-co-100-2');
  t.equal((await write({ title: '???', body: 'x' })).slug, 'article');
  t.equal((await write({ title: 'Search', body: 'x' })).slug, 'search-2', 'not an address of the help centre');
  const post = (slug: string) => service.post('/kb/articles', { title: 'x', body: 'x', slug }, owner.token);
  for (const slug of ['eclair-co-100', 'search', 'a b', 'a/b', '-a', 'a--b', '', '../x'])
    t.match(
      await post(slug).then(({ body }) => body),
      { error: 'validation_error', detail: { fieldErrors: { slug: [String] } } },
      slug,
    );
  const documents = async () =>
    (await service.get('/kb/documents', owner.token)).body.documents.map(({ id }: { id: string }) => id);
  const embedded = await documents();
  const changed = await service.patch(
    `/kb/articles/${first.id}`,
    { expectedVersion: 1, slug: 'eclair', language: 'fr', collection: 'Pâtisserie' },
    owner.token,
  );
  t.match(changed.body, {
    version: 2,
    slug: 'eclair',
    language: 'fr',
    collection: 'Pâtisserie',
    title: 'Éclair & Co.: 100 %',
  });
  await service.settled();
  t.same(await documents(), embedded, 'nothing is embedded again');
  const cleared = { expectedVersion: 2, language: null, collection: null };
  t.match((await service.patch(`/kb/articles/${first.id}`, cleared, owner.token)).body, {
    language: null,
    collection: null,
  });
});

t.test('the help centre in a browser', { skip: noBrowser }, async (t) => {
  const centre = await open(t);
  await centre.write(returns);
  await centre.write({ title: 'Opening hours', body: 'From 9 to 5.' });
  await centre.write({
    title: 'Zelt zurückgeben',
    body: 'In 30 Tagen.',
    language: 'de',
    slug: 'how-do-i-return-a-tent',
  });
  const pages = await startPages(t, centre.service);

  t.test('a customer finds an article while typing, and says that it helped', async (t) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await pages.open(centre.path, {
        colorScheme,
        locale: 'en-US',
        viewport: { width: 360, height: 740 },
      });
      t.strictSame(await barriersOf(page), []);
      await page.getByRole('searchbox').fill('retu');
      const suggestion = page.locator('#suggestions').getByRole('link', { name: returns.title });
      await suggestion.waitFor();
      t.strictSame(await barriersOf(page), []);
      await page.keyboard.press('Escape');
      await suggestion.waitFor({ state: 'hidden' });
      await page.getByRole('searchbox').fill('return');
      await suggestion.click();
      await page.getByRole('heading', { name: returns.title }).waitFor();
      t.strictSame(await barriersOf(page), []);
      t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'));
      await page.getByRole('button', { name: 'Yes' }).click();
      await page.getByText('Thank you.').waitFor();
      await page.getByRole('link', { name: 'Deutsch' }).click();
      await page.getByRole('heading', { name: 'Zelt zurückgeben' }).waitFor();
      await page.context().close();
    }
  });

  t.test('it needs no script', async () => {
    const page = await pages.open(centre.path, { javaScriptEnabled: false, locale: 'en-US' });
    await page.getByRole('searchbox').fill('return a tent');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: returns.title }).click();
    await page.getByRole('heading', { name: returns.title }).waitFor();
  });

  t.test('an admin turns it off and on, and sees what was searched in vain', async () => {
    await centre.read('/search?q=kayak');
    const page = await pages.open('/settings/knowledge?tab=help', { token: centre.owner.token });
    await page.getByRole('cell', { name: 'kayak' }).waitFor();
    await page.getByRole('checkbox', { name: 'Show published articles to everyone' }).click();
    await page.getByRole('link', { name: 'Open the help centre' }).waitFor({ state: 'detached' });
    t.equal((await centre.read()).status, 404);
    await page.getByRole('checkbox', { name: 'Show published articles to everyone' }).click();
    await page.getByRole('link', { name: 'Open the help centre' }).waitFor();
    t.strictSame(await barriersOf(page), []);
    await page.getByRole('button', { name: 'Clear the list' }).click();
    await page.getByText('Every search found something').waitFor();
  });

  t.test('an article gets its place in the editor', async (t) => {
    const page = await pages.open('/settings/knowledge/new', { token: centre.owner.token });
    await page.getByLabel('Title').fill('Repairs');
    await page.getByLabel('Text, in Markdown').fill('We repair zips.');
    await page.getByLabel('Collection').fill('Service');
    await page.getByLabel('Address').fill('how do');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText(/joined by hyphens/).waitFor();
    await page.getByLabel('Address').fill('repairs');
    t.strictSame(await barriersOf(page), []);
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Published. Answers can use it.').waitFor();
    t.match((await centre.read('', { 'accept-language': 'en' })).text, /<h2>Service<\/h2>.*Repairs/);
    await page.getByRole('button', { name: 'Preview link' }).click();
    const link = await page.getByRole('link', { name: 'Open it' }).getAttribute('href');
    t.match(new URL(link ?? '').pathname, new RegExp(`^${centre.path}/previews/`));
    t.strictSame(await barriersOf(page), []);
  });

  t.test('no text of an article is code', async (t) => {
    const attacks = [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e](&#106;avascript:x)',
      '![x](javascript:alert(1)) ![" onerror="alert(1)](https://a.example/x.png)',
      '[f](https://a.example/"onclick="alert(1)) [g](https://a.example "x\\" onclick=\\"alert(1)")',
      '```"><script>\nx\n```',
      '# </h1><script>alert(1)</script>',
      '<iframe src="//evil.example"></iframe><svg onload=alert(1)>',
      '| <b onclick=alert(1)>x | y |\n|---|---|\n| </td><script>alert(1)</script> | z |',
    ];
    const { slug } = await centre.write({
      title: '</title><script>alert(1)</script>',
      collection: '"><script>alert(1)</script>',
      body: attacks.join('\n\n'),
    });
    for (const path of ['', `/${slug}`, '/search?q=%3Cscript%3Ealert(1)%3C/script%3E%22%3E']) {
      const page = await pages.open(centre.path + path, { locale: 'en-US' });
      page.on('dialog', () => pages.problems.push(`a dialog on ${path}`));
      t.same(await page.evaluate(foreignCode), [], path);
      t.equal(await page.locator('script').count(), path === `/${slug}` ? 2 : 1, path);
      const policy = (await centre.read(path)).headers.get('content-security-policy') ?? '';
      t.match(policy, /default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'/);
      t.notMatch(policy, /unsafe/);
      await page.context().close();
    }
  });

  t.strictSame(pages.problems, []);
});

/** Elements and attributes of a page that could run code, or lead to it. */
const foreignCode = `[...document.querySelectorAll('main *')].flatMap((one) => [
  ...(one.matches('iframe, object, embed, svg, style, link, base, b') ? [one.outerHTML] : []),
  ...[...one.attributes]
    .filter(({ name, value }) => name.startsWith('on') || (['href', 'src', 'action'].includes(name) && !/^(?:https?:|mailto:|tel:|[/#])/.test(value)))
    .map(({ name, value }) => name + '=' + value),
])`;
