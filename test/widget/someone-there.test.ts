// What the widget says about who is there: each state, live, in the site's own words, and the address it asks for.

import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { startService } from '../support/service.ts';

t.test('the widget says who is there', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const browsing = await startBrowsing(t, service, owner.embedId);
  t.afterEach(() => browsing.closeAll());
  const change = async (changes: object) => {
    const { body } = await service.get(`/sites/${owner.siteId}`, owner.token);
    await service.patch(`/sites/${owner.siteId}`, { expectedVersion: body.version, ...changes }, owner.token);
  };
  const choose = (status: string) => service.post('/me/status', { status }, owner.token);
  await change({ allowedOrigins: [browsing.origin] });

  t.test(
    '[decisions, availability] with no one there it asks for an address first, for an answer by mail',
    async (t) => {
      const page = await browsing.open();
      const { launcher, panel, text, lines } = widgetOf(page);
      await launcher.click();
      await panel.getByText('We are away right now.').waitFor();
      await panel.getByText('Where may we mail our answer?').waitFor();
      await panel.getByLabel('Email address').fill('kim@example.org');
      await panel.getByRole('button', { name: 'Save' }).click();
      await panel.getByText('We will write to you there.').waitFor();
      await text.fill('Do you ship to Malta?');
      await text.press('Enter');
      await lines.filter({ hasText: 'Sent' }).waitFor();
      const [{ visitorId }] = (await service.get('/conversations/queue', owner.token)).body.conversations;
      t.match((await service.get(`/visitors/${visitorId}`, owner.token)).body.visitor, {
        email: 'kim@example.org',
        isOnline: true,
      });
    },
  );

  t.test('[decisions, availability] it follows changes without a new page', async (t) => {
    const page = await browsing.open();
    const { launcher, panel } = widgetOf(page);
    await launcher.click();
    await panel.getByText('We are away right now.').waitFor();
    await choose('available');
    await panel.getByText('We are here to help.').waitFor();
    t.equal(await panel.getByLabel('Email address').isVisible(), false, 'no address is needed now');
    await choose('away');
    await panel.getByText('We are away right now.').waitFor();
    t.ok(await panel.getByLabel('Email address').isVisible());
  });

  t.test('[decisions, availability] in the words of the site', async (t) => {
    await change({ onlineMessage: 'Ask us about tents.', awayMessage: 'We are up the mountain.' });
    const page = await browsing.open();
    const { launcher, panel } = widgetOf(page);
    await launcher.click();
    await panel.getByText('We are up the mountain.').waitFor();
    await choose('available');
    await panel.getByText('Ask us about tents.').waitFor();
    await choose('away');
    await change({ onlineMessage: '', awayMessage: '' });
    t.same(browsing.problems, []);
  });

  t.test('an address that the page gives is not asked for', async () => {
    const page = await browsing.open();
    const { launcher, panel } = widgetOf(page);
    await launcher.click();
    const address = panel.getByLabel('Email address');
    await address.waitFor();
    await page.evaluate('Switchboard.identify({ email: "kim@example.org" })');
    await address.waitFor({ state: 'hidden' });
  });

  t.test('light and dark are as the site chose', async (t) => {
    const paperOf = async (theme: string) => {
      await change({ theme });
      const page = await browsing.open();
      await page.emulateMedia({ colorScheme: 'dark' });
      const { launcher } = widgetOf(page);
      await launcher.click();
      return page.evaluate(
        'getComputedStyle(document.querySelector("[data-switchboard]").shadowRoot.querySelector(".panel")).backgroundColor',
      );
    };
    t.equal(await paperOf('light'), 'rgb(255, 255, 255)');
    t.equal(await paperOf('dark'), 'rgb(22, 25, 29)');
    t.equal(await paperOf('auto'), 'rgb(22, 25, 29)');
  });
});
