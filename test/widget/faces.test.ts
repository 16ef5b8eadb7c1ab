// Who answers a customer: names and pictures, over the API and in the widget.

import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { startService } from '../support/service.ts';

const avatarUrl = 'https://img.example/ann.png';

t.test('[faces] customers see who wrote and who has their chat, by the names those chose', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann Marie Smith' });
  const { id, customer } = await service.chat(owner);
  const faces = async () => (await service.get(`/widget/conversations/${id}/agents`, customer.token)).body;
  t.strictSame(await faces(), { assignedAgentId: null, agents: [] });
  await service.post(`/conversations/${id}/messages`, { body: 'Hello' }, ann.token);
  t.strictSame(await faces(), {
    assignedAgentId: null,
    agents: [{ id: ann.agentId, name: 'Ann', avatarUrl: null }],
  });
  t.match(await service.patch(`/agents/${ann.agentId}`, { publicName: 'Annie', avatarUrl }, ann.token), {
    status: 200,
    body: { publicName: 'Annie', avatarUrl },
  });
  await service.post(`/conversations/${id}/take`, undefined, owner.token);
  t.match(await faces(), {
    assignedAgentId: owner.agentId,
    agents: [{ id: owner.agentId }, { id: ann.agentId, name: 'Annie', avatarUrl }],
  });
  t.match(await service.patch(`/agents/${ann.agentId}`, { publicName: null }, ann.token), {
    body: { publicName: null },
  });
  t.match((await faces()).agents[1], { name: 'Ann' }, 'the first name again');
  t.match(await service.patch(`/agents/${ann.agentId}`, { publicName: ' ' }, ann.token), {
    status: 400,
    body: { detail: { fieldErrors: { publicName: [String] } } },
  });
  t.equal((await service.patch(`/agents/${owner.agentId}`, { publicName: 'Boss' }, ann.token)).status, 403);
  const stranger = await service.customer(owner.embedId);
  t.equal((await service.get(`/widget/conversations/${id}/agents`, stranger.token)).status, 404);
});

t.test('the widget shows faces', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann Smith', available: true });
  const browsing = await startBrowsing(t, service, owner.embedId);
  t.teardown(() => browsing.closeAll());
  const { body: site } = await service.get(`/sites/${owner.siteId}`, owner.token);
  await service.patch(
    `/sites/${owner.siteId}`,
    { expectedVersion: site.version, allowedOrigins: [browsing.origin] },
    owner.token,
  );
  const picture = `${browsing.origin}/ann.png`;
  await service.patch(`/agents/${ann.agentId}`, { avatarUrl: picture }, ann.token);
  const page = await browsing.open();
  await page.route(picture, (route) =>
    route.fulfill({
      contentType: 'image/png',
      body: Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
    }),
  );
  const { launcher, panel, text, lines } = widgetOf(page);
  await launcher.click();
  await text.fill('Who is there?');
  await text.press('Enter');
  await lines.filter({ hasText: 'Sent' }).waitFor();
  const [{ id }] = (await service.get('/conversations/queue', owner.token)).body.conversations;
  const socket = await service.agentSocket(ann.token);
  socket.send({ type: 'typing', conversationId: id });
  await panel.locator('.typing').filter({ hasText: 'Ann' }).waitFor();
  await service.post(`/conversations/${id}/messages`, { body: 'It is me.' }, ann.token);
  await service.post(`/conversations/${id}/messages`, { body: 'What can I do?' }, ann.token);
  const first = lines.filter({ hasText: 'It is me.' });
  await first.locator('.who').filter({ hasText: 'Ann' }).waitFor();
  t.equal(await first.locator('img.face').getAttribute('src'), picture);
  t.equal(
    await lines.filter({ hasText: 'What can I do?' }).locator('.who').count(),
    0,
    'once above messages of the same agent',
  );
  await panel.locator('.head').getByText('Ann').waitFor();
  await panel.locator('.head img.face').waitFor();

  await page.reload();
  await panel.getByRole('button', { name: 'Close chat' }).click();
  await service.post(`/conversations/${id}/messages`, { body: 'Still there?' }, ann.token);
  const preview = page.getByRole('region', { name: 'Message from Ann' });
  await preview.getByText('Still there?').waitFor();
  t.equal(await preview.locator('img.face').getAttribute('src'), picture, 'beside the closed chat, too');
  await preview.getByRole('button', { name: 'Dismiss' }).click();
  await preview.waitFor({ state: 'detached' });
  t.same(browsing.problems, []);
  await socket.close();
  if (process.env['SHOTS'] !== undefined) await page.screenshot({ path: `${process.env['SHOTS']}/faces.png` });
});
