// The owner's settings in a real browser: people, departments, sites, saved replies, campaigns, goals, hours, the
// workspace.

import type { Locator, Page } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { holds, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';
import { usable } from '../support/settings.ts';

const hostile = '<img src=x onerror=alert(1)>';

const picture = {
  name: 'picture.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
};

t.test('the settings of the business', { skip: noBrowser }, async (t) => {
  // It must know its own address before it starts: the widget on its own pages is allowed by that origin.
  const port = await freePort();
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', PORT: String(port), BASE_URL: `http://localhost:${port}` },
  });
  const owner = await service.workspace();
  const pages = await startPages(t, service);
  const desk = await pages.open('/settings', { token: owner.token });
  const at = async (path: string, heading: string): Promise<Page> => {
    await desk.goto(service.url + path);
    await desk.getByRole('heading', { name: heading, level: 1 }).waitFor();
    return desk;
  };
  const said = (page: Page, text: string | RegExp): Promise<void> =>
    page.getByRole('log', { name: 'Notices' }).getByText(text).first().waitFor();
  const dialogOf = (page: Page): Locator => page.getByRole('dialog');
  const get = async (path: string) => (await service.get(path, owner.token)).body;

  t.test('the settings begin with the first section, and each has its address', async (t) => {
    await desk.waitForURL(`${service.url}/settings/workspace`);
    const links = desk.getByRole('navigation', { name: 'Settings' }).getByRole('link');
    await links.filter({ hasText: 'Sites' }).waitFor();
    const titles = await links.allTextContents();
    for (const title of [
      'Workspace',
      'Business hours',
      'Agents',
      'Departments',
      'Sites',
      'Email',
      'Phone numbers',
      'Saved replies',
      'Knowledge',
      'Campaigns',
      'Goals',
      'Billing',
      'Audit log',
      'API keys',
      'Apps',
      'Webhooks',
      'Verification',
    ]) {
      t.equal(titles.filter((one) => one === title).length, 1, title);
    }
    await links.filter({ hasText: 'Sites' }).click();
    await desk.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
    t.equal(await links.filter({ hasText: 'Sites' }).getAttribute('aria-current'), 'page');
    await desk.goto(`${service.url}/settings/nothing`);
    await desk.getByText('This section does not exist').waitFor();
  });

  t.test('an agent is invited, changed, deactivated', async (t) => {
    const page = await at('/settings/agents', 'Agents');
    await page.getByText('1 seat of 50 in use, 49 left.').waitFor();
    await page.getByRole('button', { name: 'Invite an agent' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByLabel('Email').fill(owner.email);
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await dialog
      .locator('.field', { hasText: 'Email' })
      .locator('.error')
      .getByText('An agent with this email already exists.')
      .waitFor();
    await dialog.getByLabel('Email').fill('not an address');
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await dialog.locator('[aria-invalid=true][type=email]').waitFor();
    t.equal(await dialog.getByLabel('Name').inputValue(), hostile, 'the typed text is kept');
    await dialog.getByLabel('Email').fill('eva@example.com');
    await dialog.getByLabel('Calls').check();
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await dialog.getByText('give eva@example.com this link yourself').waitFor();
    const link = (await dialog.locator('.copyable code').textContent()) ?? '';
    const first = await service.mail('eva@example.com');
    t.ok(first.text.includes(link), 'the same link as in the mail');
    await usable(t, page);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('2 seats of 50 in use').waitFor();
    const row = page.getByRole('row').filter({ hasText: 'eva@example.com' });
    await row.getByText('Invited, not joined yet').waitFor();
    t.equal(await row.locator('strong').textContent(), hostile, 'as text');
    t.match(await row.textContent(), /Chats, Tickets, Calls/);

    await row.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Send the invitation again' }).click();
    const second = (await dialog.locator('.copyable code').textContent()) ?? '';
    t.not(second, link, 'the earlier link no longer works');
    await dialog.getByRole('button', { name: 'Done' }).click();
    t.not((await service.mail('eva@example.com')).text, first.text);

    await row.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await dialog.getByLabel('Role').selectOption('supervisor');
    await dialog.getByLabel('Tickets').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const eva = (await get('/agents')).agents.find(({ email }: { email: string }) => email === 'eva@example.com');
    t.match(eva, { role: 'supervisor', channels: ['chats', 'calls'], name: hostile });
    // The focus returns to where it was.
    await page
      .locator(':focus')
      .and(page.getByLabel(`Actions for ${hostile}`, { exact: true }))
      .waitFor();

    await row.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Withdraw invitation' }).click();
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByText('1 seat of 50 in use').waitFor();
    await page.getByLabel('Show 1 deactivated agent').check();
    await row.getByText('Deactivated').waitFor();
  });

  t.test('refusals about people are shown, and nothing is lost', async (t) => {
    const colleague = await service.agent(owner, { role: 'admin', name: 'Second Admin' });
    const page = await at('/settings/agents', 'Agents');
    const own = page.getByRole('row').filter({ hasText: owner.email });
    const dialog = dialogOf(page);
    await own.getByRole('button', { name: /^Actions for/ }).click();
    t.equal(await page.getByRole('menuitem', { name: 'Deactivate' }).count(), 0, 'no one can deactivate itself');
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await dialog.getByLabel('Role').selectOption('agent');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog
      .locator('.field', { hasText: 'Role' })
      .locator('.error')
      .getByText('The owner must stay an admin.')
      .waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    const other = await pages.open('/settings/agents', { token: colleague.token });
    await other
      .getByRole('row')
      .filter({ hasText: owner.email })
      .getByRole('button', { name: /^Actions for/ })
      .click();
    await other.getByRole('menuitem', { name: 'Deactivate' }).click();
    await dialogOf(other).getByText('return to the queue').waitFor();
    await dialogOf(other).getByRole('button', { name: 'Deactivate' }).click();
    await dialogOf(other).getByText('The owner cannot be deactivated.').waitFor();
    await other.context().close();
    await service.delete(`/agents/${colleague.agentId}`, owner.token);
  });

  t.test('[4.14] without a free seat the way to the plans is shown', async () => {
    await service.plan(owner.workspaceId, 'chat');
    const crew = await Promise.all(
      [1, 2, 3, 4].map((number) =>
        service.post(
          '/agents/invite',
          { email: `crew${number}@example.com`, name: `Crew ${number}`, role: 'agent' },
          owner.token,
        ),
      ),
    );
    const page = await at('/settings/agents', 'Agents');
    await page.getByText('5 seats of 5 in use, none left.').waitFor();
    await page.getByRole('button', { name: 'Invite an agent' }).click();
    const dialog = dialogOf(page);
    await dialog.getByText('Your plan has no seats left').waitFor();
    await dialog.getByLabel('Name').fill('One too many');
    await dialog.getByLabel('Email').fill('many@example.com');
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await dialog.getByRole('alert').getByText('All seats of your plan are taken.').waitFor();
    await dialog.getByRole('alert').getByRole('link', { name: 'See your plan' }).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    for (const { body } of crew) await service.delete(`/agents/${body.id}`, owner.token);
    await service.plan(owner.workspaceId, 'business');
  });

  t.test('a department is made, given members, deleted', async (t) => {
    const colleague = await service.agent(owner, { name: 'Jonas' });
    const page = await at('/settings/departments', 'Departments');
    const dialog = dialogOf(page);
    await page.getByRole('button', { name: 'Add a department' }).click();
    await dialog.getByLabel('Name').fill(`Sales ${hostile}`);
    await dialog.getByRole('group', { name: 'Members' }).getByLabel('Jonas').check();
    await dialog.getByLabel('New chats and tickets start here').check();
    await dialog.getByRole('button', { name: 'Add' }).click();
    const card = page.getByRole('listitem').filter({ hasText: 'Sales' }).first();
    await card.getByText('New conversations start here').waitFor();
    t.match(await get('/departments'), {
      departments: [{ name: `Sales ${hostile}`, memberIds: [colleague.agentId], isDefault: true }],
    });
    await page.getByRole('button', { name: 'Add a department' }).click();
    await dialog.getByLabel('Name').fill(`Sales ${hostile}`);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog
      .locator('.error')
      .getByText(/already/)
      .waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await card.getByRole('button', { name: /^Edit/ }).click();
    await dialog.getByLabel('Name').fill('Returns');
    await dialog.getByRole('group', { name: 'Members' }).getByLabel('Jonas').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Returns' }).waitFor();
    await page.getByText('It has no members').waitFor();
    await page.getByRole('button', { name: 'Delete Returns' }).click();
    await dialog.getByText('belong to no department').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No departments yet').waitFor();
    t.same((await get('/departments')).departments, []);
  });

  t.test('[4.16] a site: the preview follows the typing, and the widget has what was saved', async (t) => {
    const page = await at('/settings/sites', 'Sites');
    await page.getByRole('button', { name: 'Add a site' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Website').fill('not a host!');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog
      .locator('.error')
      .getByText(/must be a host name/i)
      .waitFor();
    await dialog.getByLabel('Website').fill('https://boots.example/shop?a=b');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('heading', { name: 'boots.example', level: 1 }).waitFor();
    const siteId = page.url().split('/').at(-1) ?? '';
    const { embedId } = await get(`/sites/${siteId}`);
    t.equal(
      await page.locator('.copyable code').textContent(),
      `<script src="${service.url}/widget.js" data-site-id="${embedId}" async></script>`,
    );

    const preview = page.getByRole('img', { name: /as customers will see it/ });
    await page.getByLabel('Colour', { exact: true }).fill('#ffee88');
    await page.getByText(/The button is hard to see on a white page/).waitFor();
    t.equal(
      await preview.evaluate((element) =>
        (element as unknown as { style: { getPropertyValue(name: string): string } }).style.getPropertyValue(
          '--on-primary',
        ),
      ),
      '#111111',
    );
    await page.getByLabel('Colour', { exact: true }).fill('b4530');
    t.equal(await page.getByText(/hard to see/).count(), 0, 'the service warns about an invalid colour');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('[aria-invalid=true]').waitFor();
    await page.getByLabel('Colour', { exact: true }).fill('#b45309');
    await page.getByLabel('Welcome message', { exact: true }).fill(hostile);
    await page.getByLabel('Name', { exact: true }).fill('Boots');
    await page.getByLabel('Button position').selectOption('left');
    await page.getByLabel('The logo').setInputFiles(picture);
    await preview.locator('img').waitFor();
    await page.getByLabel('Pixels from the bottom').fill('301');
    await page.getByLabel('No button on phones').check();
    await preview.locator('.preview-theirs', { hasText: hostile }).waitFor();
    await page.getByText('Not saved yet.').waitFor();
    t.match(await get(`/sites/${siteId}`), { version: 1, name: 'boots.example' }, 'shown before it is saved');
    await page.getByRole('button', { name: 'Add an address' }).click();
    await page.getByLabel('Address 3', { exact: true }).fill('not a host!');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('[aria-invalid=true]').first().waitFor();
    await page.getByLabel('Pixels from the bottom').fill('96');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/must be a host or an origin/i).waitFor();
    await page.locator('[aria-label="Address 3"]:focus').waitFor();
    await page.getByLabel('Address 3', { exact: true }).fill('*.boots.example');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await said(page, 'Saved. Visitors see it');
    t.match(await get(`/sites/${siteId}`), {
      version: 2,
      name: 'Boots',
      primaryColor: '#b45309',
      launcherPosition: 'left',
      launcherSidePx: 20,
      launcherBottomPx: 96,
      hiddenOnPhones: true,
      logoUrl: /\/logo\//,
      welcomeMessage: hostile,
      allowedOrigins: ['boots.example', 'www.boots.example', '*.boots.example'],
    });

    await page.getByRole('button', { name: 'Remove it' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await preview.locator('img').waitFor({ state: 'detached' });
    await holds(page, `!document.body.textContent.includes('Not saved yet')`);
    t.equal((await get(`/sites/${siteId}`)).logoUrl, null);
    await page.getByRole('button', { name: 'Show the widget' }).click();
    await page.locator('.preview-frame').scrollIntoViewIfNeeded();
    const widget = page.frameLocator('.preview-frame').locator('[data-switchboard]');
    await widget.locator('.launcher').click();
    await widget.getByText(hostile).waitFor();
  });

  t.test("[4.16] another person's changes are shown in place", async (t) => {
    const { version, name } = await get(`/sites/${owner.siteId}`);
    const page = await at(`/settings/sites/${owner.siteId}`, name);
    await page.getByLabel('Name', { exact: true }).fill('Mine');
    await service.patch(
      `/sites/${owner.siteId}`,
      { expectedVersion: version, name: 'Theirs', primaryColor: '#123456' },
      owner.token,
    );
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Someone else changed this while you were editing.').waitFor();
    await page.getByText('The name is now “Theirs”.').waitFor();
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Mine', 'the typed text stays');
    t.equal(await page.getByLabel('Colour', { exact: true }).inputValue(), '#123456', 'untouched fields are theirs');
    await page.getByRole('button', { name: 'Use theirs' }).click();
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Theirs');
    await page.getByLabel('Welcome message', { exact: true }).fill('Both');
    await page.getByLabel('Separate hours for this site').check();
    await page.getByRole('button', { name: 'Add hours on Saturday' }).click();
    await page.getByLabel('Saturday: closes').fill('09:00');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('.week-span .error').waitFor();
    await page.getByLabel('Saturday: closes').fill('00:00');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await said(page, 'Saved. Visitors see it');
    const site = await get(`/sites/${owner.siteId}`);
    t.match(site, { name: 'Theirs', primaryColor: '#123456', welcomeMessage: 'Both' });
    t.same(site.businessHoursOverride.days.at(-1), { weekday: 6, opens: '09:00', closes: '24:00' });
  });

  t.test('[4.17] saved replies: written with placeholders, found, kept apart by role', async (t) => {
    const page = await at('/settings/saved-replies', 'Saved replies');
    const dialog = dialogOf(page);
    await page.getByRole('button', { name: 'Add a saved reply' }).click();
    await dialog.getByLabel('Title').fill(hostile);
    await dialog.getByLabel('Shortcut').fill('two words');
    await dialog.getByLabel('Text', { exact: true }).fill('Hello , welcome.');
    await dialog
      .getByLabel('Text', { exact: true })
      .evaluate((area) =>
        (area as unknown as { setSelectionRange(start: number, end: number): void }).setSelectionRange(6, 6),
      );
    await dialog.getByRole('button', { name: "Customer's first name" }).click();
    t.equal(await dialog.getByLabel('Text', { exact: true }).inputValue(), 'Hello {{visitor.firstName}}, welcome.');
    await dialog.getByText('Hello Carla, welcome.').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('.error').waitFor();
    // The focus follows once the text is drawn.
    await page.locator('[placeholder="/hello"]:focus').waitFor();
    await dialog.getByLabel('Shortcut').fill('hello');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await said(page, 'Type /hello in a conversation');
    const card = page.getByRole('listitem').filter({ hasText: '/hello' });
    await card.getByText(hostile).waitFor();

    const [reply] = (await get('/saved-replies')).savedReplies;
    await card.getByRole('button', { name: /^Edit/ }).click();
    await dialog.getByLabel('Title').fill('Mine');
    await service.patch(`/saved-replies/${reply.id}`, { expectedVersion: reply.version, title: 'Theirs' }, owner.token);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('The title is now “Theirs”.').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Mine').waitFor();
    t.match((await get('/saved-replies')).savedReplies, [{ title: 'Mine', version: 3 }]);

    await page.getByLabel('Find').fill('nothing like it');
    await page.getByText('No matching saved replies').waitFor();

    const agent = await service.agent(owner, { name: 'Only Agent' });
    const own = await pages.open('/settings/saved-replies', { token: agent.token });
    await own.getByText('Mine').waitFor();
    t.equal(
      await own.getByRole('button', { name: /^Edit/ }).count(),
      0,
      "the workspace's are not an agent's to change",
    );
    await own.getByRole('button', { name: 'Add a saved reply' }).click();
    t.equal(
      await dialogOf(own)
        .getByLabel('Who may use it')
        .locator('option')
        .allTextContents()
        .then((texts) => texts.join()),
      'Only me',
    );
    await own.context().close();

    await page.getByLabel('Find').fill('');
    await page.getByRole('button', { name: 'Delete Mine' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No saved replies yet').waitFor();
  });

  t.test('[4.4] a campaign: written, tried on an address, live, paused, copied, archived', async (t) => {
    const page = await at('/settings/campaigns', 'Campaigns');
    await page.getByRole('link', { name: 'Add a campaign' }).click();
    await page.getByRole('heading', { name: 'New campaign' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill(`Sizes ${hostile}`);
    await page.getByLabel('Text', { exact: true }).fill('Not sure about your size?');
    const sender = page.getByLabel('Sender', { exact: true });
    t.equal(await sender.inputValue(), 'site');
    await sender.selectOption('Another name');
    await page.getByLabel('Name of the sender').fill('The boot maker');
    await page.getByLabel('Picture of the sender').setInputFiles(picture);
    await page.getByRole('button', { name: 'Change the picture' }).waitFor();
    await page.locator('.preview-campaign img').waitFor();
    await page.getByRole('button', { name: 'Add a quick reply' }).click();
    await page.getByLabel('Button text', { exact: true }).fill('Size chart');
    await page.getByLabel('and', { exact: true }).selectOption('navigate');
    await page.getByLabel('Page', { exact: true }).fill('javascript:alert(1)');
    await page.locator('.preview-campaign').getByText('Size chart').waitFor();
    await page.getByLabel('On every page').uncheck();
    await page.getByLabel('The address', { exact: true }).selectOption('regex');
    await page.getByLabel('Expression').fill('(');
    await page.getByLabel('Try an address').fill('https://shop.example/boots/7');
    await page
      .getByRole('status')
      .getByText(/must be a regular expression/)
      .waitFor();
    await page.getByLabel('Expression').fill('/boots/\\d+$');
    await page.getByText('This page matches', { exact: true }).waitFor();
    await page.getByLabel('Try an address').fill('https://shop.example/hats');
    await page.getByText('This page does not match').waitFor();
    await page.getByLabel('After seconds on the page').fill('601');
    await page.getByRole('button', { name: 'Save as draft' }).click();
    await page.getByText('Enter 0 to 600 seconds.').waitFor();
    await page.getByLabel('After seconds on the page').fill('2.5');
    await page.getByRole('button', { name: 'Save as draft' }).click();
    await page.getByText(/must be a web address or a path/i).waitFor();
    await page.getByLabel('Page', { exact: true }).fill('/sizes');
    await page.getByRole('button', { name: 'Save as draft' }).click();
    await page.getByRole('heading', { name: `Sizes ${hostile}`, level: 1 }).waitFor();
    const [campaign] = (await get('/campaigns')).campaigns;
    t.match(campaign, {
      status: 'draft',
      triggerRules: { urlMatch: { operator: 'regex', value: '/boots/\\d+$' }, showAfterMs: 2500 },
      content: {
        agentName: 'The boot maker',
        agentAvatarUrl: /\/picture\//,
        quickReplies: [{ label: 'Size chart', action: 'navigate', value: '/sizes' }],
      },
    });
    const { agent } = await get('/me');
    const [first] = agent.name.split(' ');
    await sender.selectOption(first);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await said(page, 'Saved.');
    t.same((await get(`/campaigns/${campaign.id}`)).content.agentName, first, 'as customers know the agent');
    t.equal((await get(`/campaigns/${campaign.id}`)).content.agentAvatarUrl, undefined, 'the agent has no picture');

    const act = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'More actions', exact: true }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await page.getByRole('button', { name: 'Go live' }).click();
    await page.locator('.badge', { hasText: 'Live' }).waitFor();
    const visitor = await service.post('/widget/sessions', {
      siteId: owner.embedId,
      url: 'https://shop.example/boots/7',
    });
    t.equal(visitor.body.campaigns.length, 1, 'a visitor is offered it');
    await service.post(
      '/widget/campaign-events',
      { campaignId: campaign.id, type: 'impression' },
      visitor.body.visitorToken,
    );
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('.badge', { hasText: 'Paused' }).waitFor();
    await act('Duplicate');
    await page.getByRole('heading', { name: /\(copy\)$/, level: 1 }).waitFor();
    await act('Archive');
    await dialogOf(page).getByRole('button', { name: 'Archive' }).click();
    await page.getByText('This campaign is archived.').waitFor();
    t.equal(await page.getByRole('button', { name: 'Save', exact: true }).count(), 0);
    t.equal(await page.getByLabel('Text', { exact: true }).isDisabled(), true);

    await page.getByRole('link', { name: 'All campaigns' }).click();
    const card = page.getByRole('listitem').filter({ hasText: 'Sizes' });
    await card.first().waitFor();
    t.equal(await card.count(), 1, 'archived ones are out of sight');
    t.match(await card.textContent(), /after 2\.5 seconds.*Shown1/);
    await page.getByLabel('Show').selectOption('archived');
    await card.filter({ hasText: '(copy)' }).waitFor();

    const supervisor = await service.agent(owner, { role: 'supervisor' });
    const reader = await pages.open(`/settings/campaigns/${campaign.id}`, { token: supervisor.token });
    await reader.getByText('Only an admin can change this campaign').waitFor();
    t.equal(await reader.getByRole('button', { name: 'Save', exact: true }).count(), 0);
    await reader.context().close();
  });

  t.test('[4.15] a goal: set, counted, paused, deleted', async (t) => {
    const page = await at('/settings/goals', 'Goals');
    const dialog = dialogOf(page);
    await page.getByRole('button', { name: 'Add a goal' }).click();
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByLabel('This text').fill('/thanks');
    await dialog.getByLabel('Try an address').fill('https://shop.example/thanks?order=7');
    await dialog.getByText('This page matches', { exact: true }).waitFor();
    await dialog.getByLabel(/Value/).fill('a lot');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('Enter an amount, such as 49 or 49.90.').waitFor();
    t.same((await get('/goals')).goals, [], 'nothing was set without its amount');
    await dialog.getByLabel(/Value/).fill('49.90');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: hostile, level: 1 }).waitFor();
    await page.getByText('No one in this period.').waitFor();
    const chat = await service.chat(owner, 'Do you ship abroad?');
    t.equal(
      (
        await service.post(
          '/widget/page-views',
          { url: 'https://shop.example/thanks?q=%3Cimg%20src=x%3E' },
          chat.customer.token,
        )
      ).status,
      200,
    );
    const goal = (await get('/goals')).goals[0];
    t.match(goal, {
      name: hostile,
      valueCents: 4990,
      status: 'active',
      condition: { operator: 'contains', value: '/thanks' },
    });

    await page.getByRole('button', { name: 'Actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Pause' }).click();
    await page.locator('.badge', { hasText: 'Paused' }).waitFor();
    await page.getByRole('button', { name: 'Actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Count again' }).click();
    await page.locator('.badge', { hasText: 'Active' }).waitFor();
    await page.getByLabel('In', { exact: true }).selectOption('365');
    const row = page.getByRole('row').filter({ hasText: '/thanks' });
    await row.waitFor();
    t.match(await row.textContent(), /\$49\.90/);
    t.match(await row.textContent(), /%3Cimg%20src=x%3E/, 'an address is text');
    t.equal(await row.getByRole('link', { name: 'Open' }).getAttribute('href'), `/inbox/all/${chat.id}`);
    await page.getByRole('link', { name: 'All goals' }).click();
    await page.getByLabel('Figures of').selectOption('365');
    await page.locator('.figures', { hasText: '$49.90' }).waitFor();
    await page.getByRole('link', { name: hostile }).click();
    await page.getByRole('button', { name: 'Actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No goals yet').waitFor();
  });

  t.test('[4.10] business hours: a night shift, a holiday, what is open now', async (t) => {
    const page = await at('/settings/hours', 'Business hours');
    await page.getByText('Always open').waitFor();
    const dialog = dialogOf(page);
    await page.getByRole('button', { name: 'Add hours' }).click();
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByRole('button', { name: 'Add hours on Friday' }).click();
    await dialog.getByLabel('Friday, 2: opens').fill('22:00');
    await dialog.getByLabel('Friday, 2: closes').fill('22:00');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('.week-span .error').waitFor();
    await dialog.getByLabel('Friday, 2: closes').fill('02:00');
    await dialog.getByText('until the next day').waitFor();
    await dialog.getByRole('button', { name: 'Copy Monday to other days' }).click();
    await page.getByRole('menuitem', { name: 'To Monday to Friday' }).click();
    t.equal(await dialog.getByText('until the next day').count(), 0, 'the hours of Monday are those of Friday');
    await dialog.getByLabel('Closed on').fill('2026-12-25');
    await dialog.getByLabel('Closed on').press('Enter');
    await dialog.getByRole('button', { name: /Remove .*25/ }).waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    t.match(await get('/business-hours'), {
      businessHours: [{ name: hostile, holidays: ['2026-12-25'], siteId: null, departmentId: null }],
    });
    t.equal((await get('/business-hours')).businessHours[0].days.length, 5);
    const now = await get('/business-hours/now');
    await page
      .locator('.open-row', { hasText: 'The workspace' })
      .getByText(now.workspace.officeHoursOpen ? 'Open' : 'Closed', { exact: true })
      .waitFor();
    await page.locator('.open-row', { hasText: 'Theirs' }).waitFor();
    // Another person changes the same rule while it is open here.
    await page.getByRole('button', { name: `Edit ${hostile}` }).click();
    await dialog.getByLabel('Closed on').fill('2026-12-26');
    await dialog.getByLabel('Closed on').press('Enter');
    const [rule] = (await get('/business-hours')).businessHours;
    await service.patch(`/business-hours/${rule.id}`, { days: rule.days.slice(1) }, owner.token);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    t.match(
      (await get('/business-hours')).businessHours,
      [{ days: rule.days.slice(1), holidays: ['2026-12-25', '2026-12-26'] }],
      'neither undoes the other',
    );
    await page.getByRole('button', { name: `Delete ${hostile}` }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Always open').waitFor();
  });

  t.test('[4.10] the workspace: its place, its ways, its shop', async (t) => {
    const page = await at('/settings/workspace', 'Workspace');
    await page.getByLabel('Name', { exact: true }).fill(hostile);
    await page.getByLabel('Time zone').fill('Europe/Nowhere');
    await page.getByRole('region', { name: 'Name and place' }).getByRole('button', { name: 'Save' }).click();
    await page
      .locator('.error')
      .getByText(/must be an IANA time zone/i)
      .waitFor();
    await page.getByLabel('Time zone').fill('Asia/Tokyo');
    await page.getByText(/It is .* there now/).waitFor();
    await page.getByRole('region', { name: 'Name and place' }).getByRole('button', { name: 'Save' }).click();
    await said(page, 'Saved.');
    t.match((await get('/me')).workspace, { name: hostile, timezone: 'Asia/Tokyo' });

    const work = page.getByRole('region', { name: 'Conversations' });
    await work.getByLabel('Maximum open chats per agent').fill('0');
    await work.getByRole('button', { name: 'Save' }).click();
    await work.locator('.error').waitFor();
    await work.getByLabel('Maximum open chats per agent').fill('7');
    await work.getByLabel('Days until solved conversations close').fill('2.5');
    await work.getByLabel('New chats go').selectOption('manual');
    await work.getByLabel('Ask customers for a rating').uncheck();
    await work.getByRole('button', { name: 'Save' }).click();
    await work.getByText('Not saved yet.').waitFor({ state: 'detached' });
    t.same(await get('/workspace/settings'), {
      routing: { mode: 'manual', maxOpenChatsPerAgent: 7 },
      autoCloseDays: 2.5,
      csatEnabled: false,
      defaultDepartmentId: null,
    });

    const place = page.getByRole('region', { name: 'Name and place' });
    await place.getByLabel('Name', { exact: true }).fill('Mine');
    await work.getByLabel('Maximum open chats per agent').fill('8');
    await service.patch(`/workspaces/${owner.workspaceId}`, { name: 'Theirs', timezone: 'Europe/Berlin' }, owner.token);
    await service.put('/workspace/settings', { csatEnabled: true, routing: { mode: 'auto' } }, owner.token);
    await holds(page, `document.querySelector('input[list=time-zones]').value === 'Europe/Berlin'`);
    t.equal(await place.getByLabel('Name', { exact: true }).inputValue(), 'Mine', 'the typed text stays');
    await holds(
      page,
      `[...document.querySelectorAll('#workspace-work ~ form input[type=checkbox]')].every((box) => box.checked)`,
    );
    t.equal(await work.getByLabel('New chats go').inputValue(), 'auto');
    await work.getByRole('button', { name: 'Save' }).click();
    await work.getByText('Not saved yet.').waitFor({ state: 'detached' });
    t.match(
      await get('/workspace/settings'),
      { routing: { mode: 'auto', maxOpenChatsPerAgent: 8 }, csatEnabled: true },
      'neither undoes the other',
    );
    await service.patch(`/workspaces/${owner.workspaceId}`, { locale: 'pt-BR' }, owner.token);
    await place.getByRole('button', { name: 'Save' }).click();
    await place.getByText('Not saved yet.').waitFor({ state: 'detached' });
    t.match((await get('/me')).workspace, { name: 'Mine', timezone: 'Europe/Berlin', locale: 'pt-BR' });

    const shop = page.getByRole('region', { name: 'Your shop' });
    await shop.getByLabel('Address').fill('http://127.0.0.1:9/');
    await shop.getByLabel('Shop software').fill('Shop');
    await shop.getByRole('button', { name: 'Generate' }).click();
    t.equal((await shop.getByLabel('Secret').inputValue()).length, 48);
    await shop.getByRole('button', { name: 'Connect the shop' }).click();
    await shop.getByText('This address is not public').waitFor();
    await shop.getByLabel('Address').fill('https://shop.example/customers');
    await shop.getByRole('button', { name: 'Connect the shop' }).click();
    await shop.getByRole('button', { name: 'Disconnect' }).click();
    t.match(await get('/workspace/commerce'), { url: 'https://shop.example/customers', source: 'Shop' });
    await dialogOf(page).getByRole('button', { name: 'Disconnect' }).click();
    await shop.getByRole('button', { name: 'Connect the shop' }).waitFor();
  });

  t.test('each role is offered what it may do', async (t) => {
    const department = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
    const member = await service.agent(owner, { name: 'A Member', groupIds: [department.id] });
    const supervisor = await service.agent(owner, {
      role: 'supervisor',
      name: 'A Supervisor',
      groupIds: [department.id],
    });
    const sections = async (page: Page): Promise<string> =>
      (await page.getByRole('navigation', { name: 'Settings' }).getByRole('link').allTextContents()).join();
    const own = await pages.open('/settings', { token: member.token });
    await own.waitForURL(`${service.url}/settings/saved-replies`);
    t.equal(await sections(own), 'Saved replies,Knowledge,Allowed apps');
    await own.goto(`${service.url}/settings/sites`);
    await own.getByText('Not available for your role').waitFor();
    await own.context().close();

    const page = await pages.open('/settings', { token: supervisor.token });
    await page.waitForURL(`${service.url}/settings/agents`);
    t.equal(await sections(page), 'Agents,Saved replies,Knowledge,Campaigns,Goals,Allowed apps');
    await page.getByRole('row').filter({ hasText: owner.email }).waitFor();
    t.equal(await page.getByRole('button', { name: 'Invite an agent' }).count(), 0);
    t.equal(await page.getByRole('row').filter({ hasText: owner.email }).getByRole('button').count(), 0);
    await page.getByRole('button', { name: 'Actions for A Member' }).click();
    t.equal((await page.getByRole('menuitem').allTextContents()).join(), 'Edit');
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    t.equal((await dialogOf(page).getByLabel('Role').count()) + (await dialogOf(page).getByLabel('Email').count()), 0);
    await dialogOf(page).getByLabel('Calls').uncheck();
    await dialogOf(page).getByRole('button', { name: 'Save' }).click();
    await dialogOf(page).waitFor({ state: 'detached' });
    t.same((await get(`/agents/${member.agentId}`)).channels, ['chats', 'tickets']);
    await page.context().close();
  });

  t.test('nothing went wrong on any page', async (t) => t.same(pages.problems, []));
});
