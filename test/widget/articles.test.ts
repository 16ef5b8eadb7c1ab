// The help centre's articles in the widget: found before and while a customer writes, and read inside of the panel.

import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { type Person, type Service, startService } from '../support/service.ts';

const env = { RATE_LIMITS: 'off' };
const returns = `You can send a tent back within **30 days**.

## What it costs

| Size | Price |
|---|---|
| Small | 4 € |

See [our shop](https://shop.example/returns), write to [us](mailto:help@shop.example) or read [on](#what-it-costs).
<script>alert(1)</script> [no](javascript:alert(1))
`;

async function helpCentre(service: Service, owner: Person): Promise<{ returnsId: string }> {
  await service.patch('/kb/settings', { helpCentre: true }, owner.token);
  const add = async (fields: object): Promise<string> =>
    (await service.post('/kb/articles', { status: 'published', ...fields }, owner.token)).body.id;
  const returnsId = await add({ title: 'Sending a tent back', body: returns });
  await add({ title: 'Ein Zelt zurücksenden', body: 'Innerhalb von 30 Tagen.', language: 'de', slug: 'zelt' });
  await add({ title: 'Washing a tent', body: 'Wash it by hand, in cold water.' });
  await add({ title: 'Secret plans', body: 'Not yet.', status: 'draft' });
  await service.settled();
  return { returnsId };
}

t.test('articles of the help centre for visitors', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const { returnsId } = await helpCentre(service, owner);
  const open = () => service.post('/widget/sessions', { siteId: owner.embedId, url: 'https://shop.example/' });
  const { body: session } = await open();
  const token = session.visitorToken;
  const titles = async (query: string): Promise<string[]> =>
    (await service.get(`/widget/articles${query}`, token)).body.articles.map(({ title }: { title: string }) => title);

  t.equal(session.hasArticles, true);
  t.same(await titles(''), ['Sending a tent back', 'Washing a tent'], "the published ones of the workspace's language");
  t.same(await titles('?lang=de-AT'), ['Ein Zelt zurücksenden']);
  t.same(await titles('?q=wash'), ['Washing a tent']);
  t.same(await titles('?q=how%20many%20days%20do%20i%20have%20to%20return%20it&lang=en'), ['Sending a tent back']);
  t.same(await titles('?q=secret'), []);

  const article = (await service.get(`/widget/articles/${returnsId}`, token)).body;
  t.match(article, {
    id: returnsId,
    title: 'Sending a tent back',
    language: 'en',
    html: /<strong>30 days<\/strong>/,
    url: /\/help\/[^/]+\/sending-a-tent-back$/,
  });
  t.notMatch(article.html, /<script|href="javascript/);

  t.same((await service.post(`/widget/articles/${returnsId}/feedback`, { helpful: true }, token)).body, { ok: true });
  const { articles } = (await service.get('/kb/articles', owner.token)).body;
  t.match(
    articles.find(({ id }: { id: string }) => id === returnsId),
    { helpfulCount: 1, unhelpfulCount: 0 },
  );
  const sought = async () => (await service.get('/kb/fruitless-searches', owner.token)).body.searches;
  await titles('?q=zzzzz&whileTyping=true');
  t.equal(
    (await sought()).some(({ words }: { words: string }) => words === 'zzzzz'),
    false,
    'half a word is no search',
  );
  await titles('?q=zzzzz');
  t.equal(
    (await sought()).some(({ words }: { words: string }) => words === 'zzzzz'),
    true,
  );

  const draft = articles.find(({ title }: { title: string }) => title === 'Secret plans');
  t.equal((await service.get(`/widget/articles/${draft.id}`, token)).status, 404, 'a draft');
  t.equal((await service.post(`/widget/articles/${draft.id}/feedback`, { helpful: true }, token)).status, 404);
  t.equal((await service.get('/widget/articles')).status, 401, 'without a token');
  await service.patch('/kb/settings', { helpCentre: false }, owner.token);
  t.same(await titles(''), [], 'off');
  t.equal((await service.get(`/widget/articles/${returnsId}`, token)).status, 404, 'off');
  t.equal((await open()).body.hasArticles, false);
});

t.test('articles in the panel', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  await helpCentre(service, owner);
  const browsing = await startBrowsing(t, service, owner.embedId);
  t.afterEach(() => browsing.closeAll());
  const [site] = (await service.get('/sites', owner.token)).body.sites;
  await service.patch(
    `/sites/${site.id}`,
    { expectedVersion: site.version, allowedOrigins: [browsing.origin] },
    owner.token,
  );
  const view = (page: Page) => page.getByRole('region', { name: 'Articles' }).first();
  const opened = async (options: Parameters<typeof browsing.open>[0] = {}): Promise<Page> => {
    const page = await browsing.open(options);
    await widgetOf(page).launcher.click();
    return page;
  };

  await t.test('what helped most is offered, and read without leaving the chat', async (t) => {
    const page = await opened();
    await page.getByRole('button', { name: 'Sending a tent back' }).click();
    const heading = page.getByRole('heading', { name: 'Sending a tent back' });
    await heading.waitFor();
    t.ok(await heading.evaluate((element) => element.getRootNode().activeElement === element), 'it has the focus');
    t.equal(await page.getByRole('cell', { name: '4 €' }).count(), 1);
    t.equal(await page.getByRole('link', { name: 'our shop' }).getAttribute('href'), 'https://shop.example/returns');
    t.equal(await page.getByRole('link', { name: 'us', exact: true }).getAttribute('href'), 'mailto:help@shop.example');
    t.match(await view(page).textContent(), /<script>alert\(1\)<\/script>/, "the writer's markup is text");
    t.equal(await page.getByRole('link', { name: 'no', exact: true }).count(), 0);
    const address = page.url();
    await page.getByRole('link', { name: 'on', exact: true }).click();
    t.equal(page.url(), address, 'a link to a heading stays in the panel');
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByText('Thank you!').waitFor();
    await page.keyboard.press('Escape');
    await widgetOf(page).text.waitFor();
    t.equal(await heading.isVisible(), false, 'Escape leads back to the chat, which stays open');
  });

  await t.test('a search, and back through it', async (t) => {
    const page = await opened();
    await page.getByRole('button', { name: 'Search for answers' }).click();
    await page.getByRole('searchbox', { name: 'Search for answers' }).fill('how do I clean it');
    await page
      .getByRole('button', { name: /^Washing a tent/ })
      .last()
      .click();
    await page.getByText('Wash it by hand, in cold water.').last().waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    const row = page.getByRole('button', { name: /^Washing a tent/ }).last();
    t.ok(await row.evaluate((element) => element.getRootNode().activeElement === element), 'to the same result');
    await page.getByRole('searchbox', { name: 'Search for answers' }).fill('zzzzz');
    await page.getByText('Nothing found.').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    await widgetOf(page).text.waitFor();
  });

  await t.test('articles are suggested while the customer writes, in its language', async (t) => {
    browsing.host('/de', { lang: 'de' });
    const page = await opened({ path: '/de' });
    await page.getByText('Oft gesucht').waitFor();
    await widgetOf(page).text.fill('Wie viele Tage habe ich, um das Zelt zurückzusenden?');
    await page.getByText('Vielleicht beantwortet das Ihre Frage').waitFor();
    t.equal(await page.getByRole('button', { name: 'Ein Zelt zurücksenden' }).count(), 1);
    await page.keyboard.press('Enter');
    await widgetOf(page).lines.filter({ hasText: 'Wie viele Tage' }).waitFor();
    t.equal(await page.getByRole('button', { name: 'Ein Zelt zurücksenden' }).count(), 0, 'gone once it is sent');
  });

  await t.test('no page saw an error or a violation of its policy', (t) => {
    t.same(browsing.problems, []);
    t.end();
  });
});

t.test('the file of articles is small, and loaded only where there are some', async (t) => {
  const service = await startService(t, { env });
  const app = /widget\/app-[\w-]+\.js/.exec(await (await fetch(`${service.url}/widget.js`)).text())?.[0];
  const path = /widget\/articles-[\w-]+\.js/.exec(await (await fetch(`${service.url}/${app}`)).text())?.[0];
  const reply = await fetch(`${service.url}/${path}`);
  t.equal(reply.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  const bytes = gzipSync(await reply.text()).length;
  t.ok(bytes < 6000, `${bytes} bytes`);
});
