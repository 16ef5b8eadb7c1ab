// Whether everyone can use the reports, in both themes and on narrow screens.

import type { Page } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

t.test('reports are accessible', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const browsing = await startPages(t, service);
  const owner = await service.workspace();
  for (let count = 0; count < 3; count += 1) await service.chat(owner);
  await service.pass(60_000);

  t.test('[WCAG 2.2 AA] every report, light and dark, wide and narrow', async (t) => {
    const seen = await browsing.open('/reports', { token: owner.token, colorScheme: 'light' });
    for (const report of [
      '',
      '/chats',
      '/response-times',
      '/satisfaction',
      '/agents',
      '/customers',
      '/conversions',
      '/conversations',
    ]) {
      await seen.setViewportSize({ width: 1280, height: 800 });
      await seen.goto(`${service.url}/reports${report}`);
      await seen
        .locator(report === '' || report === '/chats' ? '.reports-plot canvas' : '.reports-figure, .table, .empty')
        .first()
        .waitFor();
      t.strictSame(await barriersOf(seen), [], `light ${report}`);
      await seen.emulateMedia({ colorScheme: 'dark' });
      await seen.setViewportSize({ width: 360, height: 800 });
      t.strictSame(await barriersOf(seen), [], `dark ${report}`);
      t.equal(
        await seen.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        true,
        `${report} is not wider than the page`,
      );
      await seen.emulateMedia({ colorScheme: 'light' });
    }
    await seen.context().close();
  });

  t.test("a chart has the theme's colours, and is redrawn when it changes", async (t) => {
    const seen = await browsing.open('/reports/chats', { token: owner.token, colorScheme: 'light' });
    await seen.locator('.reports-plot canvas').waitFor();
    t.equal(await inkOf(seen, '15,107,92'), '15,107,92');
    await seen.emulateMedia({ colorScheme: 'dark' });
    t.equal(await inkOf(seen, '79,195,172'), '79,195,172');
    await seen.emulateMedia({ colorScheme: 'light' });
    await seen.context().close();
  });

  t.strictSame(browsing.problems, [], 'nothing broke, and no policy was in the way');
});

/**
 * The colour of the bars: the expected one as soon as it is drawn, which takes some frames, otherwise the present one.
 */
async function inkOf(seen: Page, expected: string): Promise<string> {
  let found = '';
  for (let frames = 0; frames < 300 && found !== expected; frames += 1) {
    await seen.evaluate('new Promise(requestAnimationFrame)');
    found = await seen.evaluate<string>(boldestPixel);
  }
  return found;
}

/** The colour of most of a chart's bars: that of fully opaque pixels. */
const boldestPixel = `(() => {
  const canvas = document.querySelector('.reports-plot canvas');
  if (canvas === null || canvas.width === 0) return '';
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) { const name = [data[at], data[at + 1], data[at + 2]].join(); counts.set(name, (counts.get(name) ?? 0) + 1); }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
})()`;
