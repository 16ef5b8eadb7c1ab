// An owner's settings in a real browser with the real service, the sections for developers: keys, apps, webhooks,
// verification; the audit log, and data. With a receiver of webhooks.

import type { Page } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { makeKey } from '../support/keys.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { registerApp, tokensOf } from '../support/oauth.ts';
import { startPages } from '../support/pages.ts';
import { Receiver } from '../support/receiver.ts';
import { startService } from '../support/service.ts';
import { button, heading, hostile, notice, part, usable } from '../support/settings.ts';

t.test('keys, apps, webhooks, the audit log, verification, data', { skip: noBrowser }, async (t) => {
  const receiver = await Receiver.start(t);
  // The pages use the browser's time; so does the service, from its start.
  const clock = new ManualClock(new Date().toISOString());
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '365', ALLOW_PRIVATE_WEBHOOKS: '1' },
    clock,
  });
  const owner = await service.workspace();
  const department = (await service.post('/departments', { name: hostile }, owner.token)).body;
  const pages = await startPages(t, service);
  const context = await pages.context({ permissions: ['clipboard-read', 'clipboard-write'] });
  const open = (path: string): Promise<Page> => pages.open(`/settings/${path}`, { token: owner.token, in: context });
  const copied = (page: Page): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');

  t.test('API keys: made, shown once, used, revoked', async (t) => {
    const page = await open('api-keys');
    await button(page, 'Create a key').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(hostile);
    await button(dialog, 'Create key').click();
    await dialog.locator('.check-list .error').waitFor();
    await dialog.getByLabel('Read agents, departments, sites and the workspace').check();
    await usable(t, page);
    await button(dialog, 'Create key').click();
    const once = part(page, /^Copy the key of/);
    await once.waitFor();
    await button(once, 'Copy the key').click();
    const key = await copied(page);
    t.match(key, /^sk_live_/);
    t.equal((await service.get('/agents', key)).status, 200);
    await service.patch(`/agents/${owner.agentId}`, { name: 'The owner' }, owner.token);
    await page.locator('.rail .own[aria-label^="The owner"]').waitFor();
    t.equal(await once.locator('code').textContent(), key, 'still there after a redraw');
    await usable(t, page);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await heading(page, 'Webhooks').waitFor();
    await page.goBack();
    await heading(page, 'API keys').waitFor();
    await button(page, `Revoke ${hostile}`).waitFor();
    t.equal(await page.getByText(key).count(), 0, 'permanently gone');
    await button(page, `Revoke ${hostile}`).click();
    await button(dialog, 'Revoke').click();
    await page.getByText('No keys yet').waitFor();
    t.equal((await service.get('/agents', key)).status, 401);
    await page.close();
  });

  t.test('apps: registered, given another secret, changed, deleted', async (t) => {
    const page = await open('apps');
    await button(page, 'Register an app').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByLabel('Redirect addresses').fill('http://elsewhere.example/');
    await dialog.getByLabel('Read messages').check();
    await button(dialog, 'Register').click();
    await dialog.locator('.field', { hasText: 'Redirect addresses' }).locator('.error').waitFor();
    await usable(t, page);
    await dialog.getByLabel('Redirect addresses').fill('https://app.example/callback\n');
    await button(dialog, 'Register').click();
    const once = part(page, /^Copy the client secret/);
    const first = await once.locator('code').textContent();
    await button(page, `Replace secret of ${hostile}`).click();
    await button(dialog, 'Replace the secret').click();
    await dialog.waitFor({ state: 'detached' });
    t.not(await once.locator('code').textContent(), first);
    await button(page, `Change ${hostile}`).click();
    await dialog.getByLabel('Redirect addresses').fill('https://app.example/callback\nhttps://app.example/other');
    await dialog.getByLabel('Read reports and goals').check();
    const [app] = (await service.get('/oauth-apps', owner.token)).body.oauthApps;
    await service.patch(`/oauth-apps/${app.id}`, { name: `${hostile} 2` }, owner.token);
    await button(dialog, 'Save').click();
    await page.getByText('https://app.example/other').waitFor();
    await usable(t, page);
    t.match((await service.get('/oauth-apps', owner.token)).body.oauthApps, [
      {
        name: `${hostile} 2`,
        redirectUris: ['https://app.example/callback', 'https://app.example/other'],
        scopes: ['messages:read', 'reports:read'],
      },
    ]);
    await button(page, `Delete ${hostile} 2`).click();
    await button(dialog, 'Delete').click();
    await page.getByText('No apps yet').waitFor();
    await page.close();
  });

  t.test("allowed apps: everyone's for an admin, one's own for an agent, withdrawn", async (t) => {
    const app = await registerApp(service, owner, { name: hostile, scopes: ['agents:read'] });
    const colleague = await service.agent(owner, { name: 'Ann' });
    await tokensOf(service, app, owner, { scope: 'agents:read' });
    const { access_token: token } = await tokensOf(service, app, colleague, { scope: 'agents:read' });
    const page = await open('allowed-apps');
    await button(page, `Withdraw access for ${hostile}, allowed by you`).waitFor();
    await usable(t, page);
    await button(page, `Withdraw access for ${hostile}, allowed by Ann`).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Ann, who is notified by email').waitFor();
    await button(dialog, 'Withdraw access').click();
    await notice(page, 'Access is withdrawn.');
    t.equal(await button(page, `Withdraw access for ${hostile}, allowed by Ann`).count(), 0);
    t.equal((await service.get('/agents', token)).status, 401);
    await page.close();
    const own = await pages.open('/settings/allowed-apps', { token: colleague.token });
    await own.getByText('No apps are allowed').waitFor();
    await own.close();
  });

  t.test('webhooks: added, delivered, sent again, deleted', async (t) => {
    const page = await open('webhooks');
    await button(page, 'Add a webhook').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill('nowhere');
    await button(dialog, 'Add').click();
    await dialog.locator('.field', { hasText: 'Address' }).locator('.error').waitFor();
    await dialog.getByLabel('Address').fill(receiver.url);
    await dialog.getByLabel('Description').fill(hostile);
    await dialog.getByLabel('All events').uncheck();
    await button(dialog, 'Add').click();
    await dialog.getByText('Choose at least one event.').waitFor();
    await dialog.getByLabel('A message was sent').check();
    await usable(t, page);
    await button(dialog, 'Add').click();
    await part(page, /^Copy the signing secret/).waitFor();
    t.match(
      await part(page, /^Copy the signing secret/)
        .locator('code')
        .textContent(),
      /^whsec_/,
    );
    await page.getByText(hostile).waitFor();

    receiver.answer = () => 500;
    await service.chat(owner);
    await receiver.count(1);
    await service.settled();
    await page.getByRole('link', { name: receiver.url }).click();
    t.equal(await page.getByText('whsec_').count(), 0);
    const row = part(page, 'Deliveries').getByRole('row').nth(1);
    await row.getByText('Pending').waitFor();
    t.match(await row.textContent(), /500/, 'its answer');
    await usable(t, page);
    receiver.answer = () => 204;
    await button(row, /^Send again: message.created/).click();
    await receiver.count(2);
    await service.settled();
    await button(page, 'Refresh').click();
    await row.getByText('Delivered').waitFor();

    receiver.answer = () => 410;
    for (let day = 0; day <= 6; day += 1) {
      await service.chat(owner);
      await service.pass(24 * 3600_000);
    }
    await page.reload();
    await page.getByText(/^It is disabled, so nothing is sent to it/).waitFor();
    t.equal(await button(page, /^Send (again|a test)/).count(), 0);
    await usable(t, page);
    receiver.answer = () => 204;
    await button(page, 'Turn on again').click();
    await button(page, 'Send a test').click();
    await row.getByText('webhook.test').waitFor();
    await button(page, 'Turn off').click();
    await button(page, 'Turn on again').waitFor();

    const admin = await service.agent(owner, { role: 'admin', name: 'Ben' });
    await service.patch(`/webhooks/${page.url().split('/').at(-1) ?? ''}`, { status: 'active' }, admin.token);
    await service.patch(`/agents/${admin.agentId}`, { role: 'agent' }, owner.token);
    await page.reload();
    await page.getByText('Paused because the agent who created it is no longer an admin').waitFor();
    await usable(t, page);
    await button(page, 'Take it over').click();
    await button(page, 'Send a test').waitFor();
    await button(page, 'Delete').click();
    await button(page.getByRole('dialog'), 'Delete').click();
    await page.getByText('No webhooks yet').waitFor();
    await page.close();
  });

  t.test('the audit log: sentences with names, before and after, found by actor, area and words', async (t) => {
    await service.patch(`/departments/${department.id}`, { name: 'Repairs' }, owner.token);
    const page = await open('audit-log');
    const log = page.locator('.audit');
    const change = log.locator('.audit-entry', { hasText: 'The owner changed the department “Repairs”' });
    await change.locator('summary').click();
    t.match(await change.getByRole('row').nth(1).textContent(), `Name${hostile}Repairs`);
    t.ok(await change.locator('time').getAttribute('title'), 'the exact time');
    await usable(t, page);
    await page.getByLabel('About').selectOption('api_key');
    await log.getByText(`revoked the API key “${hostile}”`).waitFor();
    t.equal(await log.getByText('department').count(), 0);
    await page.getByLabel('Text').fill('revoked');
    await log.getByText('created the API key').waitFor({ state: 'detached' });
    await page.getByLabel('By').selectOption('service');
    await page.getByText('No matching entries').waitFor();
    await page.getByLabel('About').selectOption('webhook');
    await page.getByLabel('Text').fill('');
    await log.getByText('The service disabled the webhook to').waitFor();
    await page.reload();
    await log.getByText('The service disabled the webhook to').waitFor();
    await page.close();
  });

  t.test('the audit log of a year: a search continues page by page', async (t) => {
    const other = await service.workspace();
    await service.post('/departments', { name: 'The first' }, other.token);
    for (let index = 0; index < 120; index += 1)
      await service.put('/workspace/settings', { routing: { maxOpenChatsPerAgent: (index % 2) + 2 } }, other.token);
    const page = await pages.open('/settings/audit-log', { token: other.token });
    await page.locator('.audit-entry').first().waitFor();
    t.equal(await page.locator('.audit-entry').count(), 100);
    t.equal(await page.getByText('“The first”').count(), 0);
    await page.getByLabel('About').selectOption('department');
    await page.getByText('added the department “The first”').waitFor();
    await page.context().close();
  });

  t.test('verification: a service, credits, sent codes', async (t) => {
    const page = await open('verification');
    await page.getByText('No services yet').waitFor();
    await button(page, 'Add a service').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByLabel('Allowed countries').fill('Germany');
    await button(dialog, 'Add').click();
    await dialog.locator('.field', { hasText: 'Allowed countries' }).locator('.error').waitFor();
    await dialog.getByLabel('Allowed countries').fill('us, de');
    await usable(t, page);
    await button(dialog, 'Add').click();
    await part(page, 'Services').getByText('United States, Germany').waitFor();
    await button(page, 'Add a service').click();
    await dialog.getByLabel('Name').fill('Payments');
    await button(dialog, 'Add').click();
    await button(page, 'Make default: Payments').click();
    await button(page, `Make default: ${hostile}`).waitFor();
    await button(page, 'Delete Payments').click();
    await button(dialog, 'Delete').click();
    await dialog.locator('.banner').waitFor();
    await button(dialog, 'Cancel').click();

    await page.getByLabel('Balance in dollars').fill('much');
    await button(page, 'Save').click();
    await page.locator('.error', { hasText: 'amount' }).waitFor();
    await page.getByLabel('Balance in dollars').fill('12.50');
    await button(page, 'Save').click();
    await notice(page, 'Saved.');
    t.match((await service.get('/verify/credits', owner.token)).body, { balanceCents: 1250, spendCapCents: null });

    const webhooks = part(page, 'Webhooks');
    await webhooks.getByLabel('Address').fill(receiver.url);
    await button(webhooks, 'Add a webhook').click();
    await part(page, /^Copy the signing secret/).waitFor();
    await webhooks.getByText(receiver.url).waitFor();

    await service.post('/verify', { to: 'kim@example.org', channel: 'email' }, await makeKey(service, owner));
    await button(page, 'Refresh').click();
    await part(page, 'Latest codes').getByText('kim@example.org').waitFor();
    await usable(t, page);
    await page.close();
  });

  t.test('data and privacy: the commands, with the workspace in them', async (t) => {
    const page = await open('data');
    await button(page, 'Copy the command that exports the workspace').click();
    t.equal(await copied(page), `switchboard export ${owner.workspaceId} --to workspace.jsonl`);
    // As on a server without TLS, whose pages have no clipboard.
    await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true })');
    await button(page, 'Copy the command that erases the workspace').click();
    await button(page, 'Copied the command that erases the workspace').waitFor();
    await page.evaluate('delete navigator.clipboard');
    t.equal(await copied(page), `switchboard erase ${owner.workspaceId} --yes`);
    await usable(t, page);
    await page.close();
  });

  t.test('nothing went wrong in the browser, and no policy was broken', async (t) => {
    t.strictSame(pages.problems, []);
  });
});
