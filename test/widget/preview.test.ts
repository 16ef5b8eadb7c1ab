// An answer while the visitor looks elsewhere: its beginning beside the closed button, and the count in the page's title.

import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { barriersOf, holds } from '../support/pages.ts';
import { startService } from '../support/service.ts';

t.test('the preview of an answer', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace({ available: true });
  const browsing = await startBrowsing(t, service, owner.embedId);
  const [site] = (await service.get('/sites', owner.token)).body.sites;
  await service.patch(
    `/sites/${owner.siteId}`,
    { expectedVersion: site.version, allowedOrigins: [browsing.origin] },
    owner.token,
  );
  const page = await browsing.open({ reducedMotion: 'reduce' });
  const { launcher, panel, text, lines } = widgetOf(page);
  const title: string = await page.title();
  await launcher.click();
  await text.fill('Who is there?');
  await text.press('Enter');
  await lines.filter({ hasText: 'Who is there?' }).and(page.locator('[data-state=sent]')).waitFor();
  const [{ id }] = (await service.get('/conversations/queue', owner.token)).body.conversations;
  const answer = (body: string) => service.post(`/conversations/${id}/messages`, { body }, owner.token);
  const preview = page.getByRole('region', { name: /^Message from / });

  t.test('an open panel shows the answer itself', async (t) => {
    await answer('Seen at once');
    await lines.filter({ hasText: 'Seen at once' }).waitFor();
    t.equal(await preview.count(), 0);
    t.equal(await page.title(), title);
  });

  t.test('a closed one shows the newest, and the title counts', async (t) => {
    await panel.getByRole('button', { name: 'Close' }).click();
    await answer('I am <b>here</b>');
    await preview.filter({ hasText: 'I am <b>here</b>' }).waitFor();
    await holds(page, `document.title === ${JSON.stringify(`(1) ${title}`)}`);
    await answer('And here');
    await preview.filter({ hasText: 'And here' }).waitFor();
    t.equal(await page.title(), `(2) ${title}`);
    for (const rule of ['color-contrast', 'button-name', 'target-size'])
      t.strictSame(await barriersOf(page, rule), [], rule);
  });

  t.test('a title that the page changes keeps the count', async (t) => {
    await page.evaluate(`document.title = 'Basket'`);
    await answer('Still here');
    await holds(page, `document.title === '(3) Basket'`);
    t.equal(await preview.count(), 1);
  });

  t.test('dismissed, it stays away until the next answer; the count stays', async (t) => {
    await preview.getByRole('button', { name: 'Dismiss' }).click();
    t.equal(await preview.count(), 0);
    t.equal(await page.title(), '(3) Basket');
    await answer('Once more');
    await preview.filter({ hasText: 'Once more' }).waitFor();
  });

  t.test('a click opens the chat, which is read then', async (t) => {
    await preview.getByRole('button', { name: 'Once more' }).click();
    await lines.filter({ hasText: 'Once more' }).waitFor();
    await holds(page, `document.title === 'Basket'`);
    t.equal(await preview.count(), 0);
  });

  t.strictSame(browsing.problems, []);
});
