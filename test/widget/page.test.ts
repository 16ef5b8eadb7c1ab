// The widget in a real browser, on a page of a customer's own site.

import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { startService } from '../support/service.ts';

t.test('the widget on a page', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const browsing = await startBrowsing(t, service, owner.embedId);
  t.afterEach(() => browsing.closeAll());
  const { origin } = browsing;
  const site = (await service.get('/sites', owner.token)).body.sites[0];
  const changed = await service.patch(
    `/sites/${owner.siteId}`,
    { expectedVersion: site.version, allowedOrigins: [origin], welcomeMessage: 'Welcome! Ask us.' },
    owner.token,
  );
  t.equal(changed.status, 200);
  const queue = async () => (await service.get('/conversations/queue?limit=200', owner.token)).body.conversations;
  const bodies = async (id: string) =>
    (await service.get(`/conversations/${id}/messages?limit=200`, owner.token)).body.messages
      .filter((one: { senderType: string }) => one.senderType !== 'system')
      .map((one: { body: string }) => one.body);

  t.test('[4.12] the install script: a launcher, one global, nothing else of the page is touched', async (t) => {
    const page = await browsing.open({
      before:
        'addEventListener("DOMContentLoaded", () => { window.__before = Object.getOwnPropertyNames(window).join() })',
    });
    const { launcher } = widgetOf(page);
    await launcher.waitFor();
    t.equal(await launcher.getAttribute('aria-label'), 'Open chat');
    t.strictSame(
      await page.evaluate(
        'Object.getOwnPropertyNames(window).filter((name) => !window.__before.split(",").includes(name) && name !== "__before")',
      ),
      ['Switchboard'],
    );
    t.strictSame(await page.evaluate('Object.keys(window.Switchboard)'), ['start', 'open', 'close', 'identify']);
    t.equal(
      await page.evaluate('document.querySelectorAll("body > *:not(script)").length'),
      3,
      'two elements of the page, one of the widget',
    );
    t.equal(await page.evaluate('document.querySelector("h1").getAttribute("style")'), null);
  });

  t.test('[4.12] a customer writes and is answered, by keyboard only', async (t) => {
    const page = await browsing.open();
    const { launcher, panel, text, lines } = widgetOf(page);
    await launcher.waitFor();
    await launcher.focus();
    await page.keyboard.press('Enter');
    await panel.waitFor();
    t.equal(await launcher.getAttribute('aria-expanded'), 'true');
    t.equal(await panel.getAttribute('aria-label'), site.name);
    t.match(await lines.first().textContent(), /Support: Welcome! Ask us\./);
    const agent = await service.agentSocket(owner.token);
    await page.keyboard.type('Where is my order?');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('It is number 7.');
    await page.keyboard.press('Enter');
    const { data } = await agent.next('message.created');
    t.equal(data.message.body, 'Where is my order?\nIt is number 7.');
    const id = data.message.conversationId;
    await lines.nth(1).filter({ hasText: 'Sent' }).waitFor();
    t.equal(await text.inputValue(), '');

    agent.send({ type: 'typing', conversationId: id });
    await panel.getByText('Support is typing…').waitFor();
    await service.post(`/conversations/${id}/messages`, { body: 'See https://shop.example/orders/7.' }, owner.token);
    await lines.nth(2).filter({ hasText: 'Support: See' }).waitFor();
    t.equal(await panel.getByText('Support is typing…').count(), 0, 'an agent who has written is no longer typing');
    t.equal(await lines.nth(2).getByRole('link').getAttribute('href'), 'https://shop.example/orders/7');
    t.match(
      await agent.next('message.read'),
      { data: { read: { conversationId: id, senderType: 'agent', count: 1 } } },
      'it is on the screen, so it is read',
    );
    await service.post(`/conversations/${id}/read`, undefined, owner.token);
    await lines.nth(1).filter({ hasText: 'Seen' }).waitFor();

    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    t.equal(
      await page.evaluate('document.querySelector("[data-switchboard]").shadowRoot.activeElement.className'),
      'launcher',
      'the focus is where it came from',
    );
    await service.post(`/conversations/${id}/messages`, { body: 'Anything else?' }, owner.token);
    await page.locator('[aria-label="Open chat, unread: 1"]').waitFor();
    await page.reload();
    await page.locator('[aria-label="Open chat, unread: 1"]').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await lines.nth(3).filter({ hasText: 'Anything else?' }).waitFor();
    t.equal(await lines.count(), 4, 'each once');
  });

  t.test("[4.12] agents receive the visitor's typing", async (t) => {
    const page = await browsing.open();
    const { launcher, text, lines } = widgetOf(page);
    await launcher.click();
    await text.fill('Hello');
    await text.press('Enter');
    await lines.filter({ hasText: 'Sent' }).waitFor();
    const [{ id }] = await queue();
    const agent = await service.agentSocket(owner.token);
    await text.pressSequentially('I am');
    t.match(await agent.next('typing'), { conversationId: id, data: { senderType: 'visitor' } });
  });

  t.test('[4.12] a visit is counted once over pages; each page is reported', async (t) => {
    const agent = await service.agentSocket(owner.token);
    const page = await browsing.open({ path: '/first' });
    await widgetOf(page).launcher.waitFor();
    const online = await agent.next('visitor.online');
    t.equal(online.data.visitor.currentPageUrl, `${origin}/first`);
    await page.goto(`${origin}/second`);
    await widgetOf(page).launcher.waitFor();
    t.match(await agent.next('visitor.page_viewed'), {
      data: { visitor: { id: online.data.visitor.id, currentPageUrl: `${origin}/second`, visitCount: 1 } },
    });
    await page.evaluate('history.pushState({}, "", "/third?x=1")');
    t.match(
      await agent.next('visitor.page_viewed'),
      { data: { visitor: { currentPageUrl: `${origin}/third?x=1` } } },
      'without a new page, too',
    );
    await page.evaluate('history.back()');
    t.match(await agent.next('visitor.page_viewed'), { data: { visitor: { currentPageUrl: `${origin}/second` } } });
    const tab = await browsing.open({ in: page.context(), path: '/fourth' });
    await widgetOf(tab).launcher.waitFor();
    t.match(
      await agent.next('visitor.page_viewed'),
      { data: { visitor: { id: online.data.visitor.id, currentPageUrl: `${origin}/fourth`, visitCount: 1 } } },
      'in another tab, too',
    );
  });

  t.test('[4.12] it works on a page whose address is not a strict URI', async (t) => {
    const page = await browsing.open({ path: '/shoes?filter[colour]=red|blue&sale=50%#{all}' });
    await widgetOf(page).launcher.waitFor();
    t.match(page.url(), /filter\[colour\]=red\|blue/, 'browsers leave it as it is');
  });

  t.test('[4.12] nothing but the install script before consent', async (t) => {
    browsing.host('/consent', { script: 'data-consent="required"' });
    browsing.requests.length = 0;
    const page = await browsing.open({ path: '/consent' });
    await page.waitForFunction('"Switchboard" in window');
    await page.waitForLoadState('networkidle');
    t.strictSame(
      browsing.requests.filter((url) => url.startsWith(service.url)),
      [`${service.url}/widget.js`],
    );
    t.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0);
    await page.evaluate('Switchboard.start()');
    await widgetOf(page).launcher.waitFor();
  });

  t.test('[4.12] the page can open it, close it, and identify its customer', async (t) => {
    const page = await browsing.open();
    const { panel, launcher } = widgetOf(page);
    await launcher.waitFor();
    await page.evaluate('Switchboard.open()');
    await panel.waitFor();
    await page.evaluate('Switchboard.close()');
    await panel.waitFor({ state: 'hidden' });
    await page.evaluate('Switchboard.identify({ name: "Kim", email: "kim@example.org" })');
    await page.waitForFunction('Object.values(localStorage).some((text) => text.includes("kim@example.org"))');
    const { contacts } = (await service.get('/contacts?search=kim', owner.token)).body ?? {};
    if (contacts !== undefined) t.match(contacts[0], { email: 'kim@example.org' });
  });

  t.test('[4.12] an address is requested after the first message, and kept', async (t) => {
    // While no one is there, it is requested before.
    await service.post('/me/status', { status: 'available' }, owner.token);
    t.teardown(() => service.post('/me/status', { status: 'away' }, owner.token));
    const page = await browsing.open();
    const { launcher, text, panel } = widgetOf(page);
    await launcher.click();
    t.equal(await panel.getByLabel('Email address').count(), 0);
    await text.fill('Hello');
    await text.press('Enter');
    await panel.getByLabel('Email address').fill('lee@example.org');
    await panel.getByRole('button', { name: 'Save' }).click();
    await panel.getByText('We will write to you there.').waitFor();
    await page.reload();
    await panel.waitFor();
    await panel.getByText('Hello').waitFor();
    t.equal(await panel.getByLabel('Email address').count(), 0);
  });

  t.test('[4.12] when it is over: a rating, and another conversation', async (t) => {
    const page = await browsing.open();
    const { launcher, text, panel, lines } = widgetOf(page);
    await launcher.click();
    await text.fill('First matter');
    await text.press('Enter');
    await lines.filter({ hasText: 'Sent' }).waitFor();
    const { id } = (await queue()).find((one: { preview: string }) => one.preview === 'First matter');
    t.equal(await panel.getByText('How did we do?').count(), 0);
    await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
    await panel.getByText('How did we do?').waitFor();
    await panel.getByLabel('1 of 5').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await panel.getByLabel('Anything to add?').fill('Quick!');
    await panel.getByRole('button', { name: 'Submit' }).click();
    await panel.getByText('Thank you for your rating.').waitFor();
    t.equal((await service.conversation(id, owner.token)).rating, 4);
    t.equal(await panel.getByText('How did we do?').count(), 0, 'asked once');

    await panel.getByRole('button', { name: 'Start a new conversation' }).click();
    await text.fill('Second matter');
    await text.press('Enter');
    await lines.filter({ hasText: 'Second matter' }).filter({ hasText: 'Sent' }).waitFor();
    const second = (await queue()).find((one: { preview: string }) => one.preview === 'Second matter');
    t.not(second.id, id);
    t.strictSame(await bodies(id), ['First matter']);
    t.equal(await lines.filter({ hasText: 'First matter' }).count(), 0);
  });

  t.test('[4.12] a workspace that takes no ratings asks for none', async (t) => {
    await service.put('/workspace/settings', { csatEnabled: false }, owner.token);
    const page = await browsing.open();
    const { launcher, text, panel, lines } = widgetOf(page);
    await launcher.click();
    await text.fill('Unrated matter');
    await text.press('Enter');
    await lines.filter({ hasText: 'Sent' }).waitFor();
    const { id } = (await queue()).find((one: { preview: string }) => one.preview === 'Unrated matter');
    await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
    await panel.getByText('This conversation has ended.').waitFor();
    t.equal(await panel.getByText('How did we do?').count(), 0);
    await text.fill('One more thing');
    await text.press('Enter');
    await lines.filter({ hasText: 'One more thing' }).filter({ hasText: 'Sent' }).waitFor();
    t.equal((await service.conversation(id, owner.token)).status, 'open', 'writing on opens it again');
    await panel.getByText('This conversation has ended.').waitFor({ state: 'detached' });
    await service.put('/workspace/settings', { csatEnabled: true }, owner.token);
  });

  t.test('[4.12] a long conversation is read back page by page', async (t) => {
    const page = await browsing.open();
    const { launcher, text, panel, lines } = widgetOf(page);
    await launcher.click();
    await text.fill('Message 0');
    await text.press('Enter');
    await lines.filter({ hasText: 'Sent' }).waitFor();
    const { id } = (await queue()).find((one: { preview: string }) => one.preview === 'Message 0');
    for (let index = 1; index < 120; index += 1)
      await service.post(`/conversations/${id}/messages`, { body: `Message ${index}` }, owner.token);
    await page.reload();
    await lines
      .filter({ hasText: /Message 119$/ })
      .or(lines.filter({ hasText: 'Message 119' }))
      .waitFor();
    t.equal(await lines.count(), 50);
    const earlier = panel.getByRole('button', { name: 'Show earlier messages' });
    await earlier.click();
    await lines.filter({ hasText: 'Message 20' }).first().waitFor();
    await earlier.click();
    await lines.filter({ hasText: 'Welcome!' }).waitFor();
    const texts = (await lines.locator('.bubble').allTextContents()).filter((one) => one.startsWith('Message'));
    t.strictSame(
      texts,
      Array.from({ length: 120 }, (_, index) => `Message ${index}`),
    );
    t.equal(await earlier.count(), 0);
  });

  t.test(
    "[7] an origin that is not the site's, a site that is not there: no widget, and the page does not suffer",
    async (t) => {
      browsing.host('/unknown', { embedId: 'nonsense' });
      browsing.said.length = 0;
      const strange = await browsing.open({ path: '/unknown' });
      await strange.waitForEvent('console', { predicate: (message) => message.text().includes('not_found') });
      t.equal(await strange.locator('[data-switchboard]').count(), 0);
      const elsewhere = origin.replace('127.0.0.1', 'localhost');
      const page = await strange.context().newPage();
      const warned = page.waitForEvent('console', {
        predicate: (message) =>
          message.text().includes('[Switchboard] CallFailed: forbidden (403)') || message.text().includes('forbidden'),
      });
      await page.goto(elsewhere);
      await warned;
      t.equal(await page.locator('[data-switchboard]').count(), 0);
    },
  );

  t.test('[4.12] a blocked visitor can no longer write, immediately', async (t) => {
    const page = await browsing.open();
    const { launcher, text, panel, lines } = widgetOf(page);
    await launcher.click();
    await text.fill('Rude words');
    await text.press('Enter');
    await lines.filter({ hasText: 'Sent' }).waitFor();
    const { visitorId } = (await queue()).find((one: { preview: string }) => one.preview === 'Rude words');
    await service.post(`/visitors/${visitorId}/block`, undefined, owner.token);
    await panel.getByText('You can no longer write here.').waitFor();
    t.equal(await text.isVisible(), false);
  });

  t.strictSame(browsing.problems, [], 'no page saw an error or a violation of its policy');
});
