// Campaigns and goals in a real browser, from the install snippet to the reports.

import type { Page } from 'playwright-core';
import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { startService } from '../support/service.ts';

t.test('campaigns and goals on a page', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const browsing = await startBrowsing(t, service, owner.embedId);
  const { origin } = browsing;
  const [site] = (await service.get('/sites', owner.token)).body.sites;
  await service.patch(
    `/sites/${owner.siteId}`,
    { expectedVersion: site.version, allowedOrigins: [origin] },
    owner.token,
  );
  const live = async (triggerRules: object, content: object): Promise<string> => {
    const { body } = await service.post(
      '/campaigns',
      { name: 'Help', status: 'draft', triggerRules, content },
      owner.token,
    );
    await service.patch(`/campaigns/${body.id}`, { status: 'live' }, owner.token);
    return body.id;
  };
  const stats = async (id: string) => (await service.get(`/campaigns/${id}`, owner.token)).body.stats;
  /** The widget reports after it is shown. */
  const statsAfter = async (page: Page, id: string, act: () => Promise<unknown>) => {
    const told = page.waitForResponse(
      (response) => response.url().endsWith('/campaign-events') && response.request().method() === 'POST',
    );
    await act();
    await told;
    return stats(id);
  };
  t.afterEach(async () => {
    await browsing.closeAll();
    for (const { id } of (await service.get('/campaigns?status=live', owner.token)).body.campaigns)
      await service.delete(`/campaigns/${id}`, owner.token);
  });

  t.test(
    '[4.4 4.13 4.15] a campaign shows, starts a chat, and a goal is completed; the reports show all three',
    async (t) => {
      const goal = (
        await service.post(
          '/goals',
          { name: 'Order', condition: { operator: 'ends-with', value: '/thanks' }, valueCents: 4200 },
          owner.token,
        )
      ).body;
      const id = await live(
        { urlMatch: { operator: 'contains', value: '/shop' }, showAfterMs: 50 },
        {
          body: 'Need a hand?',
          agentName: 'Petra',
          quickReplies: [
            { label: 'Yes, please', action: 'start-chat' },
            { label: 'No', action: 'dismiss' },
          ],
        },
      );
      const agent = await service.agentSocket(owner.token);
      const page = await browsing.open({ path: '/elsewhere' });
      const { launcher, campaign, panel, lines } = widgetOf(page);
      await launcher.waitFor();
      t.equal(await campaign.count(), 0, 'it is for another page');
      t.strictSame(await statsAfter(page, id, () => page.evaluate('history.pushState({}, "", "/shop")')), {
        impressions: 1,
        clicks: 0,
        startedChats: 0,
      });
      await campaign.getByText('Need a hand?').waitFor();
      t.equal(await campaign.getAttribute('aria-label'), 'Message from Petra');
      t.equal(await page.evaluate('document.activeElement === document.body'), true, 'it takes no focus');

      await campaign.getByRole('button', { name: 'Yes, please' }).click();
      const { data } = await agent.until(
        (frame) => frame.type === 'message.created' && frame.data.message.senderType === 'visitor',
      );
      t.equal(data.message.body, 'Yes, please');
      await panel.waitFor();
      t.match(await lines.allTextContents(), [/Hello! How can we help\?/, /Petra: Need a hand\?/, /You: Yes, please/]);
      t.equal(await campaign.count(), 0);
      t.strictSame(await stats(id), { impressions: 1, clicks: 1, startedChats: 1 });

      await page.goto(`${origin}/thanks`);
      t.match(await agent.until((frame) => frame.type === 'goal.completed'), {
        data: {
          completion: { url: `${origin}/thanks`, valueCents: 4200, conversationId: data.message.conversationId },
        },
      });
      t.match((await service.get(`/goals/${goal.id}/completions`, owner.token)).body, {
        total: 1,
        totalValueCents: 4200,
      });
      t.equal((await service.get('/reports/conversions/goals', owner.token)).body.total, 1);
      t.equal((await service.get('/reports/chats/total', owner.token)).body.total, 1);
    },
  );

  t.test('[4.4] shown once in a visit, and never in the middle of a conversation', async (t) => {
    const id = await live({}, { body: 'Once' });
    const page = await browsing.open();
    const { campaign, launcher, text, lines } = widgetOf(page);
    await campaign.waitFor();
    await page.goto(`${origin}/next`);
    await launcher.waitFor();
    await page.waitForLoadState('networkidle');
    t.equal(await campaign.count(), 0);
    t.equal((await stats(id)).impressions, 1);

    const always = await live({ frequency: 'always' }, { body: 'Always' });
    await page.goto(`${origin}/third`);
    await campaign.getByText('Always').waitFor();
    await campaign.getByRole('button').first().focus();
    await page.keyboard.press('Escape');
    await campaign.waitFor({ state: 'detached' });
    await page.reload();
    await campaign.getByText('Always').waitFor();
    await launcher.click();
    t.equal(await campaign.count(), 0, 'the panel takes its place');
    await text.fill('Hello');
    await text.press('Enter');
    await lines.filter({ hasText: 'Sent' }).waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${origin}/fourth`);
    await launcher.waitFor();
    await page.waitForLoadState('networkidle');
    t.equal(await campaign.count(), 0);
    t.equal((await stats(always)).impressions, 2);
  });

  t.test('[4.4] it waits for the depth and for the way out, for all of them', async (t) => {
    browsing.host('/long', { body: '<div style="height: 4000px">Long</div>' });
    const id = await live({ showAfterMs: 20, scrollDepthPct: 50, exitIntent: true }, { body: 'Leaving?' });
    const page = await browsing.open({ path: '/long', viewport: { width: 1000, height: 700 } });
    const { campaign, launcher } = widgetOf(page);
    await launcher.waitFor();
    const leave = () =>
      page.evaluate('document.dispatchEvent(new MouseEvent("mouseout", { clientY: -1, relatedTarget: null }))');
    const frames = () =>
      page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    await leave();
    await page.evaluate('scrollTo(0, 1000)');
    await frames();
    await leave();
    t.equal(await campaign.count(), 0, '42 percent is not 50');
    await page.evaluate('scrollTo(0, 1400)');
    await frames();
    t.equal(await campaign.count(), 0, 'no one leaves yet');
    await page.evaluate('document.dispatchEvent(new MouseEvent("mouseout", { clientY: 300, relatedTarget: null }))');
    t.equal(await campaign.count(), 0, 'to the side is not out');
    t.equal((await statsAfter(page, id, leave)).impressions, 1);
    await campaign.getByText('Leaving?').waitFor();
  });

  t.test('[4.4] quick replies that go elsewhere, and that dismiss', async (t) => {
    const id = await live(
      { frequency: 'always' },
      {
        body: 'Look',
        quickReplies: [
          { label: 'See the sale', action: 'navigate', value: '/sale?from=chat' },
          { label: 'No, thanks', action: 'dismiss' },
        ],
      },
    );
    const page = await browsing.open();
    const { campaign, launcher } = widgetOf(page);
    t.equal((await statsAfter(page, id, () => campaign.getByRole('button', { name: 'No, thanks' }).click())).clicks, 0);
    await campaign.waitFor({ state: 'detached' });
    await page.reload();
    await campaign.getByRole('button', { name: 'Dismiss' }).click();
    await campaign.waitFor({ state: 'detached' });
    await page.reload();
    await campaign.getByRole('button', { name: 'See the sale' }).click();
    await page.waitForURL(`${origin}/sale?from=chat`);
    await launcher.waitFor();
    t.equal((await stats(id)).clicks, 1, 'reported although the page was left');
  });

  t.strictSame(browsing.problems, [], 'no page saw an error or a violation of its policy');
});
