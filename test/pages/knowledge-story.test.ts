// One question through everything that knows an answer, in real browsers: a site with broken pages is read, a page
// becomes an article of the help centre, a customer finds it in the widget, the assistant answers with it as its source,
// hands over to an agent, and drafts the agent's answer.

import type { Page } from 'playwright-core';
import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { ChatServer } from '../support/chat-server.ts';
import { noBrowser } from '../support/chromium.ts';
import { startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';
import { button, notice, part, usable } from '../support/settings.ts';
import { Site } from '../support/site.ts';

const wide = { viewport: { width: 1440, height: 900 } };
const question = 'How many days do I have to send a tent back?';

t.test('from a page of the shop to an answer by a person', { skip: noBrowser }, async (t) => {
  const model = await ChatServer.start(t);
  model.answer = ({ system }) => {
    if (system.includes('summarise')) return 'The customer wants to send a tent back.';
    return system.includes('draft') ? 'You have 30 days, and I can mail you a label [1].' : 'You have 30 days [1].';
  };
  const service = await startService(t, {
    env: {
      RATE_LIMITS: 'off',
      ALLOW_PRIVATE_CRAWL: '1',
      AI_PROVIDER: 'openai',
      AI_URL: model.url,
      AI_MODEL: 'tiny-1',
    },
    crawlPauseMs: 0,
  });
  const shop = await Site.start(t);
  shop
    .page(
      '/',
      '<title>Shop</title><main><h1>Shop</h1><p>All about tents.</p><a href="/returns">Returns</a> <a href="/empty">Empty</a> <a href="/broken">Broken</a></main>',
    )
    .page(
      '/returns',
      '<title>Returns</title><main><h1>Returns</h1><h2>Sending a tent back</h2><p>You can send a tent back within 30 days. We pay for the label.</p></main>',
    )
    .page('/empty', '<title>Empty</title><main><h1>Nothing yet</h1><h2>Soon</h2></main>')
    .on('/broken', (_, response) => response.writeHead(500).end());
  const owner = await service.workspace({ available: true });
  const ann = await service.agent(owner, { available: true });
  await service.post('/me/status', { status: 'away' }, owner.token);
  const pages = await startPages(t, service);
  const browsing = await startBrowsing(t, service, owner.embedId);
  const open = (path: string): Promise<Page> => pages.open(path, { token: owner.token, ...wide });

  await t.test('a site is read, and its broken pages cost only themselves', async (t) => {
    const page = await open('/settings/knowledge');
    await page.getByLabel('Address').fill(`http://127.0.0.1:${shop.port}/`);
    await button(page, 'Read').click();
    const job = part(page, 'Last crawls').locator('.kb-job');
    await job.getByText('Done').waitFor();
    await job.getByText('Skipped pages').click();
    await job.getByText('answered 500').waitFor();
    await button(part(page, /^Documents/), 'Create an article from Returns').click();
    await page.getByLabel('Text, in Markdown').waitFor();
    t.match(await page.getByLabel('Text, in Markdown').inputValue(), /within 30 days/);
    await button(page, 'Publish').click();
    await notice(page, /.+/);
    await service.settled();
  });

  await t.test('the help centre is turned on, and has it', async (t) => {
    const page = await open('/settings/knowledge?tab=help');
    await page.getByLabel('Show published articles to everyone').click();
    const href = await page.getByRole('link', { name: 'Open the help centre' }).getAttribute('href');
    const centre = await pages.open(new URL(href ?? '').pathname);
    await centre.getByRole('link', { name: 'Returns' }).click();
    await centre.getByText('within 30 days').waitFor();
    await usable(t, centre);
  });

  await t.test('the assistant may answer on the site', async (t) => {
    const page = await open(`/settings/sites/${owner.siteId}`);
    await page.getByLabel('Answers before your team takes over').fill('3');
    await page.getByLabel('Address 1').fill(browsing.origin);
    await button(page, 'Save').click();
    await notice(page, 'Saved');
    await usable(t, page);
    await page.setViewportSize({ width: 360, height: 780 });
    t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  });

  const customer = await browsing.open();
  const { launcher, lines, text } = widgetOf(customer);
  const inbox = await pages.open('/inbox/all', { token: ann.token, ...wide });

  await t.test('a customer finds the article in the widget', async (t) => {
    await launcher.click();
    await button(customer, 'Search for answers').click();
    await customer.getByRole('searchbox').fill('send a tent back');
    await customer
      .getByRole('button', { name: /^Returns/ })
      .last()
      .click();
    await customer.getByText('We pay for the label.').last().waitFor();
    await button(customer, 'Back').click();
    await button(customer, 'Back').click();
    t.ok(await text.isVisible());
  });

  await t.test('the assistant answers with its source, and nobody is disturbed', async (t) => {
    await text.fill(question);
    await text.press('Enter');
    const answer = lines.filter({ hasText: 'You have 30 days.' });
    await answer.waitFor();
    t.match(await answer.textContent(), /Source: Sending a tent back: http:[^\s]+\/returns#sending-a-tent-back/);
    t.match(await answer.textContent(), /Write “person” to talk to someone/);
    const row = inbox.locator('.inbox-row').first();
    await row.getByText('Assistant', { exact: true }).waitFor();
    await row.click();
    await inbox.getByText('The assistant is answering here.').waitFor();
    await usable(t, inbox);
  });

  await t.test('it hands over when asked to, with a summary, and drafts for the agent', async (t) => {
    await text.fill('I want to talk to a person, please');
    await text.press('Enter');
    await lines.filter({ hasText: 'I am passing this on to our team.' }).waitFor();
    await inbox.locator('.inbox-line', { hasText: 'Assigned to' }).waitFor();
    await inbox.getByText('the customer asked for a person').waitFor();
    await inbox.getByText('Summary: The customer wants to send a tent back.').waitFor();
    await button(inbox, 'Draft an answer').click();
    const field = inbox.getByRole('textbox', { name: 'Message' });
    await inbox.getByRole('region', { name: 'Assistant' }).getByRole('link').first().waitFor();
    t.equal(await field.inputValue(), 'You have 30 days, and I can mail you a label.');
    await field.press('Enter');
    await lines.filter({ hasText: 'I can mail you a label.' }).waitFor();
    await text.fill('Yes please');
    await text.press('Enter');
    await inbox.locator('.inbox-said', { hasText: 'Yes please' }).waitFor();
    await service.settled();
    t.equal(await lines.count(), 7, 'the greeting, three of each side, and the assistant stays silent');
  });

  t.same([...pages.problems, ...browsing.problems], []);
});
