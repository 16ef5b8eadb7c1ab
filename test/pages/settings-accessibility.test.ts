// Accessibility of the owner's settings: each section and its dialog in both themes, wide and on a phone.

import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

t.test('no accessibility problems in the settings', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_CRAWL: '1' } });
  const owner = await service.workspace();
  const pages = await startPages(t, service);
  const make = async (path: string, body: object): Promise<string> =>
    (await service.post(path, body, owner.token)).body.id;
  await make('/departments', { name: 'Sales', memberIds: [owner.agentId], isDefault: true });
  await make('/agents/invite', {
    email: 'eva@example.com',
    name: 'Eva with a name so long that it has to be broken somewhere',
    role: 'agent',
  });
  await make('/saved-replies', { shortcut: '/hi', title: 'Hi', body: 'Hello {{visitor.name}}' });
  await make('/business-hours', {
    name: 'Week',
    days: [{ weekday: 1, opens: '09:00', closes: '17:00' }],
    holidays: ['2026-12-25'],
  });
  const campaignId = await make('/campaigns', {
    name: 'Sizes',
    triggerRules: { urlMatch: { operator: 'contains', value: '/boots' } },
    content: { body: 'May I help?', quickReplies: [{ label: 'Prices', action: 'navigate', value: '/prices' }] },
  });
  const goalId = await make('/goals', {
    name: 'Bought',
    condition: { operator: 'contains', value: '/thanks' },
    valueCents: 100,
  });
  const opened: readonly (readonly [path: string, button?: string])[] = [
    ['/settings/workspace'],
    ['/settings/agents', 'Invite an agent'],
    ['/settings/departments', 'Add a department'],
    ['/settings/sites', 'Add a site'],
    [`/settings/sites/${owner.siteId}`],
    ['/settings/saved-replies', 'Add a saved reply'],
    ['/settings/campaigns'],
    [`/settings/campaigns/${campaignId}`],
    ['/settings/goals', 'Add a goal'],
    [`/settings/goals/${goalId}`, 'Actions'],
    ['/settings/hours', 'Add hours'],
    ['/settings/move-in'],
  ];

  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const) {
    t.test(`${colorScheme}, ${width} pixels wide`, async (t) => {
      const page = await pages.open('/settings', { token: owner.token, colorScheme, viewport: { width, height: 900 } });
      for (const [path, button] of opened) {
        await page.goto(service.url + path);
        await page.locator('.page h1').waitFor();
        await page.locator('.loading').first().waitFor({ state: 'detached' });
        t.same(await barriersOf(page), [], path);
        t.ok(
          await page.evaluate(
            'document.querySelector("main").scrollWidth <= document.querySelector("main").clientWidth',
          ),
          `${path} fits`,
        );
        if (button === undefined) continue;
        await page.getByRole('button', { name: button, exact: true }).click();
        t.same(await barriersOf(page), [], `${path}, ${button}`);
      }
      await page.context().close();
    });
  }

  t.test('on a phone nothing of the other sections is out of sight, nor out of reach of the keyboard', async (t) => {
    const webhookId = await make('/webhooks', { url: `https://shop.example/${'hook'.repeat(40)}`, events: ['*'] });
    await make('/tickets', { customerEmail: 'kim@example.org', subject: 'A cup', body: 'It is on its way.' });
    const page = await pages.open('/settings', { token: owner.token, viewport: { width: 360, height: 800 } });
    for (const section of [
      'email',
      'phone-numbers',
      'knowledge',
      'billing',
      'audit-log',
      'api-keys',
      'apps',
      `webhooks/${webhookId}`,
      'verification',
    ]) {
      await page.goto(`${service.url}/settings/${section}`);
      await page.locator('.page h1').waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      for (const summary of await page.locator('.audit summary').all()) await summary.click();
      t.same(await barriersOf(page, 'scrollable-region-focusable'), [], section);
      t.same(
        await page.evaluate(
          '[...document.querySelectorAll("main, .table-frame")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className)',
        ),
        [],
        `${section} fits`,
      );
    }
    await page.context().close();
  });

  t.test('words, names and addresses that nothing breaks stay in their boxes', async (t) => {
    const word = 'x'.repeat(60);
    await make('/api-keys', { name: word, scopes: ['*'] });
    await make('/phone-numbers', { e164: '+12125550177', displayName: word, routingStrategy: 'all_agents' });
    await service.post('/kb/ingest/url', { url: `http://127.0.0.1:1/${'path/'.repeat(60)}` }, owner.token);
    for (const width of [360, 768, 1440]) {
      const page = await pages.open('/settings', { token: owner.token, viewport: { width, height: 800 } });
      for (const [section, seen] of [
        ['api-keys', word],
        ['phone-numbers', word],
        ['knowledge', '/path/path/'],
      ] as const) {
        await page.goto(`${service.url}/settings/${section}`);
        await page.getByText(seen).first().waitFor();
        t.same(
          await page.evaluate(
            '[document.documentElement, ...document.querySelectorAll("main, .table-frame")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className || one.tagName)',
          ),
          [],
          `${section} fits ${width} pixels`,
        );
      }
      await page.context().close();
    }
  });

  t.test('nothing went wrong on any page', async (t) => t.same(pages.problems, []));
});
