// How the widget presents itself: visually in every scheme and size, to a screen reader, to the keyboard.

import type { Page } from 'playwright-core';
import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { startService } from '../support/service.ts';

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

t.test('the looks of the widget', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const browsing = await startBrowsing(t, service, owner.embedId);
  t.afterEach(() => browsing.closeAll());
  const [site] = (await service.get('/sites', owner.token)).body.sites;
  let { version } = site;
  const change = async (changes: object): Promise<void> => {
    ({ version } = (
      await service.patch(`/sites/${owner.siteId}`, { expectedVersion: version, ...changes }, owner.token)
    ).body);
  };
  await change({ allowedOrigins: [browsing.origin] });
  const style = (page: Page, part: string, property: string) =>
    page.evaluate(
      `getComputedStyle(document.querySelector('[data-switchboard]').shadowRoot.querySelector('${part}')).${property}`,
    );
  const say = async (page: Page, text: string): Promise<void> => {
    await widgetOf(page).text.fill(text);
    await page.getByRole('button', { name: /^(Send|Senden|إرسال)$/ }).click();
    await widgetOf(page).lines.filter({ hasText: text }).waitFor();
  };

  t.test("[4.16] its colour, side and greeting are the site's; text on the colour is readable", async (t) => {
    const rows: [object, string, string, string][] = [
      [{ primaryColor: '#2563eb', launcherPosition: 'right' }, 'rgb(37, 99, 235)', 'rgb(255, 255, 255)', 'right'],
      [{ primaryColor: '#ffe066', launcherPosition: 'left' }, 'rgb(255, 224, 102)', 'rgb(17, 17, 17)', 'left'],
      [
        { primaryColor: '#000000', launcherPosition: 'right', welcomeMessage: 'Grüß Gott!' },
        'rgb(0, 0, 0)',
        'rgb(255, 255, 255)',
        'right',
      ],
    ];
    for (const [changes, colour, onColour, side] of rows) {
      await change(changes);
      const page = await browsing.open({ viewport: { width: 1000, height: 700 } });
      await widgetOf(page).launcher.click();
      t.equal(await style(page, '.launcher', 'backgroundColor'), colour);
      t.equal(await style(page, '.launcher', 'color'), onColour);
      const box = await widgetOf(page).launcher.boundingBox();
      t.equal(box !== null && box.x > 500 ? 'right' : 'left', side);
    }
    const page = await browsing.open();
    await widgetOf(page).launcher.click();
    t.match(await widgetOf(page).lines.first().textContent(), /Grüß Gott!/);
  });

  t.test('[4.16] its place and logo are the site’s; phones have no button if the site wants none', async (t) => {
    const logoUrl = `${browsing.origin}/logo.png`;
    await change({ launcherPosition: 'right', launcherSidePx: 4, launcherBottomPx: 90, hiddenOnPhones: true, logoUrl });
    const wide = await browsing.open({ viewport: { width: 1000, height: 700 } });
    const { launcher } = widgetOf(wide);
    await wide.route(logoUrl, (route) => route.fulfill({ contentType: 'image/png', body: pixel }));
    await launcher.waitFor();
    const box = await launcher.boundingBox();
    t.same(box && [1000 - box.x - box.width, 700 - box.y - box.height], [4, 90]);
    await launcher.click();
    t.equal(await widgetOf(wide).panel.locator('.logo img').getAttribute('src'), logoUrl);
    const panel = await widgetOf(wide).panel.boundingBox();
    t.ok(panel !== null && panel.y >= 0, 'the panel is on the page');
    const phone = await browsing.open({ viewport: { width: 390, height: 800 } });
    await widgetOf(phone).launcher.waitFor({ state: 'hidden' });
    await phone.evaluate('Switchboard.open()');
    await widgetOf(phone).panel.waitFor();
    await change({ launcherSidePx: 20, launcherBottomPx: 20, hiddenOnPhones: false, logoUrl: null });
  });

  t.test("[4.12] light and dark, as the visitor's system is", async (t) => {
    const seen: unknown[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browsing.open({ colorScheme });
      await widgetOf(page).launcher.click();
      seen.push(await style(page, '.panel', 'backgroundColor'), await style(page, '.theirs .bubble', 'color'));
    }
    t.strictSame(seen, ['rgb(255, 255, 255)', 'rgb(27, 31, 36)', 'rgb(22, 25, 29)', 'rgb(232, 234, 237)']);
  });

  t.test('[4.12] on a phone it is the whole screen, and the keyboard stays in it', async (t) => {
    // With someone there, no address is asked for.
    await service.post('/me/status', { status: 'available' }, owner.token);
    t.teardown(() => service.post('/me/status', { status: 'away' }, owner.token));
    const viewport = { width: 390, height: 780 };
    const page = await browsing.open({ viewport, hasTouch: true, isMobile: true, reducedMotion: 'reduce' });
    const { launcher, panel } = widgetOf(page);
    await launcher.tap();
    await panel.waitFor();
    t.match(await panel.boundingBox(), { x: 0, y: 0, ...viewport });
    t.equal(await panel.getAttribute('aria-modal'), 'true');
    t.equal(await launcher.isVisible(), false);
    const focused = () =>
      page.evaluate(
        `(() => { const { activeElement } = document.querySelector('[data-switchboard]')?.shadowRoot ?? {}; return activeElement === null ? null : (activeElement.getAttribute('aria-label') ?? activeElement.className) })()`,
      );
    t.equal(await focused(), site.name, 'the panel, not the text, which would bring up the keyboard');
    const order: unknown[] = [];
    for (let step = 0; step < 8; step += 1) {
      await page.keyboard.press('Tab');
      order.push(await focused());
    }
    t.strictSame(
      order,
      [
        'Earlier conversations',
        'Sound on',
        'Close chat',
        'Conversation',
        'Attach a file',
        'Your message',
        'Earlier conversations',
        'Sound on',
      ],
      'round and round; a disabled button is not a stop',
    );
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    t.equal(await focused(), 'Your message');
    await page.keyboard.type('two');
    await page.keyboard.press('Enter');
    await page.keyboard.type('lines');
    t.equal(
      await widgetOf(page).text.inputValue(),
      'two\nlines',
      'Enter is a new line where it is the only way to one',
    );
    await panel.getByRole('button', { name: 'Close chat' }).tap();
    await launcher.waitFor();
  });

  t.test('[4.12] with reduced motion nothing moves', async (t) => {
    for (const [reducedMotion, animation] of [
      ['reduce', 'none'],
      ['no-preference', 'rise'],
    ] as const) {
      const page = await browsing.open({ reducedMotion });
      await widgetOf(page).launcher.click();
      t.equal(await style(page, '.panel', 'animationName'), animation);
    }
  });

  t.test("[4.12] the language is the snippet's, else the page's, else the browser's, else English", async (t) => {
    browsing.host('/de', { lang: 'de-AT' });
    browsing.host('/fr', { lang: 'de', script: 'data-locale="fr"' });
    browsing.host('/xx', { lang: 'tlh' });
    const rows: [string, string, string][] = [
      ['/de', 'en-GB', 'Chat öffnen'],
      ['/fr', 'en-GB', 'Ouvrir le chat'],
      ['/xx', 'es-MX', 'Abrir el chat'],
      ['/xx', 'th-TH', 'Open chat'],
    ];
    for (const [path, locale, label] of rows) {
      const page = await browsing.open({ path, locale });
      await widgetOf(page).launcher.waitFor();
      t.equal(await widgetOf(page).launcher.getAttribute('aria-label'), label, path);
    }
  });

  t.test('[4.12] right to left in such languages', async (t) => {
    browsing.host('/ar', { lang: 'ar' });
    const page = await browsing.open({ path: '/ar', viewport: { width: 1000, height: 700 } });
    const { launcher, panel, lines } = widgetOf(page);
    await launcher.click();
    await say(page, 'مرحبًا');
    const mine = await lines.filter({ hasText: 'مرحبًا' }).locator('.bubble').boundingBox();
    const theirs = await lines.first().locator('.bubble').boundingBox();
    const box = await panel.boundingBox();
    t.ok(mine !== null && theirs !== null && box !== null && mine.x - box.x < 40, "one's own messages are at the left");
    t.ok(mine !== null && theirs !== null && theirs.x > mine.x, 'the answers are at the right');
    t.equal(await style(page, '.root', 'direction'), 'rtl');
  });

  t.test('[4.12] the announcements of a screen reader', async (t) => {
    await change({ primaryColor: '#2563eb', welcomeMessage: 'Hello! How can we help?', name: 'A shop' });
    const page = await browsing.open();
    const { launcher, panel, lines } = widgetOf(page);
    await launcher.waitFor();
    t.match(await page.locator('[data-switchboard]').ariaSnapshot(), /button "Open chat"/);
    await launcher.click();
    await say(page, 'Is it blue?');
    await lines.filter({ hasText: 'Sent' }).waitFor();
    await panel.getByLabel('Email address').waitFor();
    const tree = await panel.ariaSnapshot();
    for (const line of [
      'dialog "A shop"',
      'heading "A shop" [level=2]',
      'button "Close chat"',
      'log "Conversation"',
      /listitem: "?Support: Hello! How can we help\?/,
      /listitem: "?You: Is it blue\? .*Sent/,
      'textbox "Your message"',
      'button "Attach a file"',
      'button "Send" [disabled]',
      'textbox "Email address"',
    ])
      t.match(tree, line);
    const queue = (await service.get('/conversations/queue', owner.token)).body.conversations;
    await service.post(`/conversations/${queue[0].id}/status`, { status: 'solved' }, owner.token);
    await panel.getByText('How did we do?').waitFor();
    const rating = await panel.ariaSnapshot();
    for (const line of [
      'group "How did we do?"',
      'radio "1 of 5"',
      'radio "5 of 5"',
      'button "Start a new conversation"',
    ])
      t.match(rating, line);
    t.equal(await panel.locator('[role=log]').count(), 1, 'one live region for messages');
  });

  t.test('[4.12] out of hours it says so', async (t) => {
    const page = await browsing.open();
    await widgetOf(page).launcher.click();
    await widgetOf(page).panel.getByText('We are away right now.').waitFor();
    const rule = await service.post('/business-hours', { name: 'Never', days: [] }, owner.token);
    t.equal(rule.status, 201);
    const other = await browsing.open();
    await widgetOf(other).launcher.click();
    await widgetOf(other).panel.getByText('We are away right now.').waitFor();
  });

  t.strictSame(browsing.problems, [], 'no page saw an error or a violation of its policy');
});
