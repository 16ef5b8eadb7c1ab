// The settings of an owner, second half, in a real browser over the real service: knowledge, phone numbers, email, billing, keys, apps,
// webhooks, the audit log, verification, data. A site to read, a name server and a receiver of webhooks stand beside it.

import t from 'tap';
import type { Locator, Page } from 'playwright-core';
import { noBrowser } from './support/browser.ts';
import { makeKey } from './support/keys.ts';
import { DnsZone } from './support/mail-servers.ts';
import { ManualClock } from './support/manual-clock.ts';
import { barriersOf, startPages } from './support/pages.ts';
import { Receiver } from './support/receiver.ts';
import { type Service, startService } from './support/service.ts';
import { only127001, Site } from './support/site.ts';
import { FakeStripe } from './support/stripe.ts';

const hostile = '<img src=x onerror=alert(1)> & "Co"';
/** The pages go by the browser's own time; so does the service, from where it is started. */
const clock = new ManualClock(new Date().toISOString());

const button = (page: Page | Locator, name: string | RegExp): Locator => page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name });
const heading = (page: Page | Locator, name: string): Locator => page.getByRole('heading', { name });
const part = (page: Page, name: string | RegExp): Locator => page.getByRole('region', { name });
const notice = (page: Page, text: string | RegExp): Promise<void> => page.locator('.notice', { hasText: text }).first().waitFor();

/** Nobody is kept out, in either theme. */
async function usable(t: Pick<typeof import('tap').default, 'strictSame'>, page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    t.strictSame(await barriersOf(page), [], `${page.url()}, ${colorScheme}`);
  }
}

t.test('the settings, second half', { skip: noBrowser }, async (t) => {
  const [dns, site, receiver] = [await DnsZone.start(t), await Site.start(t), await Receiver.start(t)];
  dns.add({ type: 'A', name: 'shop.test', value: '127.0.0.1' }, { type: 'A', name: 'inside.test', value: '10.0.0.1' });
  const env = { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '365', ALLOW_PRIVATE_WEBHOOKS: '1', MAIL_HOST: 'mail.switchboard.test', DNS_SERVERS: dns.address, DOMAIN_POLL_SECONDS: '60' };
  const service = await startService(t, { env, clock, isPublic: only127001, crawlPauseMs: 0 });
  const owner = await service.workspace();
  const department = (await service.post('/departments', { name: hostile }, owner.token)).body;
  const pages = await startPages(t, service);
  const context = await pages.context({ permissions: ['clipboard-read', 'clipboard-write'] });
  const open = (path: string): Promise<Page> => pages.open(`/settings/${path}`, { token: owner.token, in: context });
  const copied = (page: Page): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');

  t.test('knowledge: a site is read in sight, adopted, written on, published and found', async (t) => {
    let letGo: () => void = () => undefined;
    site.page('/', `<title>${hostile.replaceAll('<', '&lt;')}</title><main><p>A ticket costs ten crowns for everybody who comes.</p><a href="/dogs">dogs</a></main>`);
    site.on('/dogs', (_, response) => {
      letGo = () => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>Dogs</title><main><p>Dogs are welcome everywhere in the park.</p></main>');
    });
    const page = await open('knowledge');
    await page.getByText('Nothing has been read yet').waitFor();
    await page.getByLabel('Address').fill('http://inside.test/');
    await button(page, 'Read it').click();
    await page.locator('.field', { hasText: 'Address' }).locator('.error').waitFor();
    t.equal(await page.getByLabel('Address').inputValue(), 'http://inside.test/', 'what was typed is kept');

    await page.getByLabel('Address').fill(`http://shop.test:${site.port}/`);
    await page.getByLabel('At most so many pages').fill('5');
    await button(page, 'Read it').click();
    const job = part(page, 'Last crawls').locator('.kb-job');
    await job.getByText('Reading').waitFor();
    await job.locator('progress').waitFor();
    t.equal(await job.locator('progress').getAttribute('max'), '5');
    await job.getByText('1 page read').waitFor();
    letGo();
    await job.getByText('Done').waitFor();
    await job.getByText('2 documents').waitFor();
    const documents = part(page, /^Documents/);
    await documents.getByText(hostile).waitFor();
    await usable(t, page);

    site.on('/', (_, response) => response.writeHead(500).end());
    await button(job, /^Read .* again$/).click();
    await job.first().getByText('Failed').waitFor();
    await job.first().getByText(/answered 500/).waitFor();

    await button(documents, 'Delete Dogs').click();
    await button(page.getByRole('dialog'), 'Delete it').click();
    await documents.getByText('Dogs').waitFor({ state: 'detached' });
    t.equal((await service.get('/kb/documents', owner.token)).body.documents.length, 1);

    await button(documents, `Make an article of ${hostile}`).click();
    await heading(page, hostile).waitFor();
    await page.getByLabel('Text, in Markdown').fill('# Prices\n\nTen **crowns**, see [there](https://shop.example/) or [here](javascript:alert(1)).\n\n<script>alert(1)</script>\n\n- [x] one');
    const preview = part(page, 'Preview');
    await preview.getByRole('heading', { name: 'Prices' }).waitFor();
    t.strictSame(await preview.getByRole('link').allTextContents(), ['there'], 'a script is no link');
    t.equal(await preview.getByRole('link').getAttribute('rel'), 'noopener noreferrer nofollow');
    t.match(await preview.textContent(), /<script>alert\(1\)<\/script>/, 'shown as the text that it is');
    t.equal(await preview.locator('script').count(), 0);
    await usable(t, page);
    await button(page, 'Publish').click();
    await notice(page, 'Saved. Answers are taken from it.');
    await service.settled();
    const [article] = (await service.get('/kb/articles', owner.token)).body.articles;
    t.match(article, { status: 'published', body: /^# Prices/ });

    await page.goto(`${service.url}/settings/knowledge?tab=try`);
    await page.getByLabel('Question').fill('what does a ticket cost');
    await button(page, 'Find').click();
    await page.locator('.kb-chunks li').first().getByText('An article of yours').waitFor();
    t.match(await page.locator('.kb-chunks .badge').first().textContent(), /^-?[01]\.\d\d$/);
    await usable(t, page);
    await page.close();
  });

  t.test('an article that somebody else has saved meanwhile: both are shown, and the writer decides', async (t) => {
    const { body: article } = await service.post('/kb/articles', { title: 'Hours', body: 'Open all day.\nClosed at night.\n' }, owner.token);
    const page = await open(`knowledge/${article.id}`);
    await page.getByLabel('Text, in Markdown').fill('Open all day.\nClosed on Sundays.\n');
    await service.patch(`/kb/articles/${article.id}`, { expectedVersion: article.version, body: 'Open from nine.\nClosed at night.\n' }, owner.token);
    await button(page, 'Save as a draft').click();
    const conflict = part(page, /^Somebody else has saved/);
    await conflict.waitFor();
    t.match(await conflict.locator('.removed').allTextContents(), [/Open from nine/]);
    t.match((await conflict.locator('.added').allTextContents()).join(), /Closed on Sundays/);
    t.equal(await page.getByLabel('Text, in Markdown').inputValue(), 'Open all day.\nClosed on Sundays.\n', 'nothing of the writer\'s is lost');
    await usable(t, page);
    await button(conflict, 'Save mine over it').click();
    await conflict.waitFor({ state: 'detached' });
    t.match((await service.get(`/kb/articles/${article.id}`, owner.token)).body, { body: 'Open all day.\nClosed on Sundays.\n', status: 'draft', version: article.version + 2 });

    await page.getByLabel('Title').fill('Hours of ours');
    await page.getByRole('link', { name: 'All articles' }).click();
    await page.getByText('Not saved').waitFor();
    await page.getByRole('link', { name: 'Hours', exact: true }).click();
    await page.getByText('Changes of yours from before are still here').waitFor();
    t.equal(await page.getByLabel('Title').inputValue(), 'Hours of ours');
    await button(page, 'Take them back').click();
    t.equal(await page.getByLabel('Title').inputValue(), 'Hours');
    await page.close();
  });

  t.test('phone numbers: found, claimed, changed, released', async (t) => {
    const page = await open('phone-numbers');
    await page.getByText('No numbers yet').waitFor();
    await page.getByLabel('Area code').fill('1');
    await button(page, 'Search').click();
    await page.locator('.error', { hasText: 'three digits' }).waitFor();
    await page.getByLabel('Area code').fill('415');
    await button(page, 'Search').click();
    await button(page, /^Claim \+1415/).first().click();
    const dialog = page.getByRole('dialog');
    await button(dialog, 'Claim it').click();
    await dialog.locator('.error').waitFor();
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByLabel('Rings').selectOption('department');
    await dialog.getByLabel('Which department').selectOption({ label: hostile });
    await usable(t, page);
    await button(dialog, 'Claim it').click();
    const row = part(page, 'Your numbers').getByRole('row').nth(1);
    await row.getByText(hostile).first().waitFor();
    const [number] = (await service.get('/phone-numbers', owner.token)).body.numbers;
    t.match(number, { displayName: hostile, routingStrategy: 'department', routingTargetId: department.id, recordingEnabled: false });

    await page.getByLabel('Name of the greeting').fill('Welcome');
    await page.getByLabel('What it says').fill('Welcome to the shop.');
    await button(page, 'Make a greeting').click();
    await part(page, 'Greetings').getByText('“Welcome to the shop.”').waitFor();
    await usable(t, page);

    await button(row, `Change ${number.e164}`).click();
    await dialog.getByLabel('Name').fill('Main line');
    await dialog.getByLabel('Rings').selectOption('all_agents');
    await dialog.getByLabel('Greeting', { exact: true }).selectOption({ label: 'Welcome' });
    await dialog.getByLabel('Record calls').check();
    await dialog.getByLabel('Voicemail').uncheck();
    await dialog.getByLabel('Recorded greeting').fill('no address');
    await button(dialog, 'Save').click();
    await dialog.locator('.error').waitFor();
    await dialog.getByLabel('Recorded greeting').fill('');
    await button(dialog, 'Save').click();
    await row.getByText('Recorded').waitFor();
    t.match((await service.get('/phone-numbers', owner.token)).body.numbers[0], { displayName: 'Main line', routingStrategy: 'all_agents', routingTargetId: null, recordingEnabled: true, voicemailEnabled: false, voiceProfileId: String, welcomeAudioUrl: null });

    await button(row, `Release ${number.e164}`).click();
    const release = button(dialog, 'Release it for good');
    t.ok(await release.isDisabled(), 'not by a click alone');
    await dialog.getByLabel(/^Type/).fill(number.e164);
    await release.click();
    await page.getByText('No numbers yet').waitFor();
    t.same((await service.get('/phone-numbers', owner.token)).body.numbers, []);
    await page.close();
  });

  t.test('email: addresses for departments, a domain whose records are found, the secret, addresses that came back', async (t) => {
    const page = await open('email');
    await button(page, 'Add an address').click();
    await page.getByLabel('Before the @').fill('not an address');
    await page.getByLabel('Goes to').selectOption({ label: hostile });
    await button(page, 'Save the addresses').click();
    await page.locator('.address .error').waitFor();
    await page.getByLabel('Before the @').fill('billing');
    await button(page, 'Save the addresses').click();
    await page.getByText(/^billing@.*\.mail\.switchboard\.test$/).waitFor();
    t.match((await service.get('/email/inbound-addresses', owner.token)).body.addresses.filter(({ kind }: { kind: string }) => kind === 'subdomain'), [{ localPart: 'billing', departmentId: department.id }]);

    await page.getByLabel('Domain', { exact: true }).fill('www.shop.example');
    await button(page, 'Show me its records').click();
    await page.locator('.error', { hasText: 'apex domain' }).waitFor();
    await page.getByLabel('Domain', { exact: true }).fill('fine-shop.com');
    await button(page, 'Show me its records').click();
    const records = page.getByRole('list', { name: 'DNS records' });
    await records.waitFor();
    const { domain } = (await service.get('/email/domain', owner.token)).body;
    for (const { type, name, value } of domain.records) {
      await button(records, `Copy the value of the ${type} record for ${name}`).click();
      t.equal(await copied(page), value, `${type} ${name}`);
    }
    await button(records, 'Copy the priority of the MX record for fine-shop.com').click();
    t.equal(await copied(page), '10');
    t.equal(await records.getByText('Not found yet').count(), domain.records.length);
    await usable(t, page);
    const [mx] = domain.records;
    dns.add(mx);
    await service.pass(60_000);
    await button(page, 'Look again').click();
    await records.locator('li', { hasText: 'brings mail here' }).getByText('Found', { exact: true }).waitFor();
    dns.add(...domain.records.slice(1));
    await service.pass(120_000);
    await button(page, 'Look again').click();
    await page.getByText('Everything stands. Mail is sent from fine-shop.com.').waitFor();

    const webhook = part(page, 'Delivery by webhook');
    const before = await service.mailbox(owner);
    t.notMatch(await webhook.textContent(), before.secret);
    await button(webhook, 'Show the secret').click();
    await webhook.getByText(before.secret).waitFor();
    await button(webhook, 'Change the secret').click();
    await button(page.getByRole('dialog'), 'Change it').click();
    await webhook.getByText(before.secret).waitFor({ state: 'detached' });
    await webhook.getByText((await service.mailbox(owner)).secret).waitFor();

    t.ok(await page.getByText('None. Every mail has been taken so far.').isVisible());
    await page.close();
  });

  t.test('billing with the local provider: nothing is charged, and a change counts at once', async (t) => {
    const { token } = await service.workspace();
    const page = await pages.open('/settings/billing', { token });
    await page.getByText('This server charges nobody').waitFor();
    await heading(page, 'Business plan').waitFor();
    t.match(await part(page, 'Business plan').textContent(), /1 of 50 in use/);
    await button(page, 'Choose Support').click();
    await button(page.getByRole('dialog'), 'Change to Support').click();
    await heading(page, 'Support plan').waitFor();
    await page.getByLabel('AI').check();
    await notice(page, 'The AI add-on is yours.');
    await button(page, 'Cancel the subscription').click();
    await button(page.getByRole('dialog'), 'Cancel the subscription').click();
    await page.getByText(/^Your subscription ends on/).waitFor();
    t.match((await service.get('/billing/subscription', token)).body, { planId: 'support', addons: ['ai'], subscription: { cancelAtPeriodEnd: true } });
    await usable(t, page);
    await page.goto(`${service.url}/settings/phone-numbers`);
    await page.getByText('Phone numbers are not in your plan').waitFor();
    await usable(t, page);
    await page.context().close();
  });

  t.test('API keys: made, shown once, used, revoked', async (t) => {
    const page = await open('api-keys');
    await button(page, 'Make a key').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(hostile);
    await button(dialog, 'Make it').click();
    await dialog.locator('.choices .error').waitFor();
    await dialog.getByLabel('Read agents, departments, sites and the workspace').check();
    await usable(t, page);
    await button(dialog, 'Make it').click();
    const once = part(page, /^Copy the key of/);
    await once.waitFor();
    await button(once, 'Copy the key').click();
    const key = await copied(page);
    t.match(key, /^sk_live_/);
    t.equal((await service.get('/agents', key)).status, 200);
    await service.patch(`/agents/${owner.agentId}`, { name: 'The owner' }, owner.token);
    await page.locator('.rail .own[aria-label^="The owner"]').waitFor();
    t.equal(await once.locator('code').textContent(), key, 'still there when the page is drawn anew');
    await usable(t, page);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await heading(page, 'Webhooks').waitFor();
    await page.goBack();
    await heading(page, 'API keys').waitFor();
    await button(page, `Revoke ${hostile}`).waitFor();
    t.equal(await page.getByText(key).count(), 0, 'gone for good');
    await button(page, `Revoke ${hostile}`).click();
    await button(dialog, 'Revoke it').click();
    await page.getByText('No keys yet').waitFor();
    t.equal((await service.get('/agents', key)).status, 401);
    await page.close();
  });

  t.test('apps: registered, given another secret, changed, deleted', async (t) => {
    const page = await open('apps');
    await button(page, 'Register an app').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByLabel('Where it leads back to').fill('http://elsewhere.example/');
    await dialog.getByLabel('Read messages').check();
    await button(dialog, 'Register it').click();
    await dialog.locator('.field', { hasText: 'Where it leads back to' }).locator('.error').waitFor();
    await usable(t, page);
    await dialog.getByLabel('Where it leads back to').fill('https://app.example/callback\n');
    await button(dialog, 'Register it').click();
    const once = part(page, /^Copy the client secret/);
    const first = await once.locator('code').textContent();
    await button(page, `Another secret for ${hostile}`).click();
    await button(dialog, 'Give it another').click();
    await dialog.waitFor({ state: 'detached' });
    t.not(await once.locator('code').textContent(), first);
    await button(page, `Change ${hostile}`).click();
    await dialog.getByLabel('Where it leads back to').fill('https://app.example/callback\nhttps://app.example/other');
    await dialog.getByLabel('Read reports and goals').check();
    await button(dialog, 'Save').click();
    await page.getByText('https://app.example/other').waitFor();
    await usable(t, page);
    t.match((await service.get('/oauth-apps', owner.token)).body.oauthApps, [{ redirectUris: ['https://app.example/callback', 'https://app.example/other'], scopes: ['messages:read', 'reports:read'] }]);
    await button(page, `Delete ${hostile}`).click();
    await button(dialog, 'Delete it').click();
    await page.getByText('No apps yet').waitFor();
    await page.close();
  });

  t.test('webhooks: added, delivered, sent again, deleted', async (t) => {
    const page = await open('webhooks');
    await button(page, 'Add a webhook').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill('nowhere');
    await button(dialog, 'Add it').click();
    await dialog.locator('.field', { hasText: 'Address' }).locator('.error').waitFor();
    await dialog.getByLabel('Address').fill(receiver.url);
    await dialog.getByLabel('What it is for').fill(hostile);
    await dialog.getByLabel('Everything that happens').uncheck();
    await button(dialog, 'Add it').click();
    await dialog.getByText('Choose at least one.').waitFor();
    await dialog.getByLabel('A message was written').check();
    await usable(t, page);
    await button(dialog, 'Add it').click();
    await part(page, /^Copy the signing secret/).waitFor();
    t.match(await part(page, /^Copy the signing secret/).locator('code').textContent(), /^whsec_/);
    await page.getByText(hostile).waitFor();

    receiver.answer = () => 500;
    await service.chat(owner);
    await receiver.count(1);
    await service.settled();
    await page.getByRole('link', { name: receiver.url }).click();
    t.equal(await page.getByText('whsec_').count(), 0);
    const row = part(page, 'Deliveries').getByRole('row').nth(1);
    await row.getByText('On its way').waitFor();
    t.match(await row.textContent(), /500/, 'what it answered');
    await usable(t, page);
    receiver.answer = () => 204;
    await button(row, /^Send message.created/).click();
    await receiver.count(2);
    await service.settled();
    await button(page, 'Look again').click();
    await row.getByText('Taken').waitFor();

    receiver.answer = () => 410;
    for (let day = 0; day <= 6; day += 1) {
      await service.chat(owner);
      await service.pass(24 * 3600_000);
    }
    await page.reload();
    await page.getByText(/^It is disabled: it took nothing for five days/).waitFor();
    t.equal(await button(page, /^Send /).count(), 0);
    await usable(t, page);
    await button(page, 'Delete').click();
    await button(page.getByRole('dialog'), 'Delete it').click();
    await page.getByText('No webhooks yet').waitFor();
    await page.close();
  });

  t.test('the audit log: sentences with names, before and after, found by whom, what and words', async (t) => {
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
    await page.getByLabel('With the words').fill('revoked');
    await log.getByText('made the API key').waitFor({ state: 'detached' });
    await page.getByLabel('By').selectOption('service');
    await page.getByText('Nothing of that kind').waitFor();
    await page.getByLabel('About').selectOption('webhook');
    await page.getByLabel('With the words').fill('');
    await log.getByText('The service disabled the webhook to').waitFor();
    await page.reload();
    await log.getByText('The service disabled the webhook to').waitFor();
    await page.close();
  });

  t.test('the audit log of a year: a search goes on page by page', async (t) => {
    const other = await service.workspace();
    await service.post('/departments', { name: 'The first' }, other.token);
    for (let index = 0; index < 120; index += 1) await service.put('/workspace/settings', { routing: { maxOpenChatsPerAgent: (index % 2) + 2 } }, other.token);
    const page = await pages.open('/settings/audit-log', { token: other.token });
    await page.locator('.audit-entry').first().waitFor();
    t.equal(await page.locator('.audit-entry').count(), 100);
    t.equal(await page.getByText('“The first”').count(), 0);
    await page.getByLabel('About').selectOption('department');
    await page.getByText('made the department “The first”').waitFor();
    await page.context().close();
  });

  t.test('verification: a service, credits, what was sent', async (t) => {
    const page = await open('verification');
    await page.getByText('No services yet').waitFor();
    await button(page, 'Make a service').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByLabel('To numbers of').fill('Germany');
    await button(dialog, 'Make it').click();
    await dialog.locator('.field', { hasText: 'To numbers of' }).locator('.error').waitFor();
    await dialog.getByLabel('To numbers of').fill('us, de');
    await usable(t, page);
    await button(dialog, 'Make it').click();
    await part(page, 'Services').getByText('United States, Germany').waitFor();
    await button(page, 'Make a service').click();
    await dialog.getByLabel('Name').fill('Payments');
    await button(dialog, 'Make it').click();
    await button(page, 'Make Payments the default').click();
    await button(page, `Make ${hostile} the default`).waitFor();
    await button(page, 'Delete Payments').click();
    await button(dialog, 'Delete it').click();
    await dialog.locator('.banner').waitFor();
    await button(dialog, 'Cancel').click();

    await page.getByLabel('Balance in dollars').fill('much');
    await button(page, 'Save the credits').click();
    await page.locator('.error', { hasText: 'amount' }).waitFor();
    await page.getByLabel('Balance in dollars').fill('12.50');
    await button(page, 'Save the credits').click();
    await notice(page, 'Saved.');
    t.match((await service.get('/verify/credits', owner.token)).body, { balanceCents: 1250, spendCapCents: null });

    const webhooks = part(page, 'Webhooks');
    await webhooks.getByLabel('Address').fill(receiver.url);
    await button(webhooks, 'Add a webhook').click();
    await part(page, /^Copy the signing secret/).waitFor();
    await webhooks.getByText(receiver.url).waitFor();

    await service.post('/verify', { to: 'kim@example.org', channel: 'email' }, await makeKey(service, owner));
    await button(page, 'Look again').click();
    await part(page, 'Last codes').getByText('kim@example.org').waitFor();
    await usable(t, page);
    await page.close();
  });

  t.test('data and privacy: the commands, with the workspace in them', async (t) => {
    const page = await open('data');
    await button(page, 'Copy the command that exports the workspace').click();
    t.equal(await copied(page), `switchboard export ${owner.workspaceId} --to workspace.jsonl`);
    await usable(t, page);
    await page.close();
  });

  t.test('who is no admin is not offered what only admins may', async (t) => {
    const agent = await service.agent(owner, { role: 'supervisor' });
    const page = await pages.open('/settings/knowledge', { token: agent.token });
    await part(page, /^Documents/).getByText(hostile).waitFor();
    const nav = page.getByRole('navigation', { name: 'Settings' });
    for (const name of ['Email', 'Phone numbers', 'Billing', 'Audit log', 'Data and privacy', 'API keys', 'Apps', 'Webhooks', 'Verification']) t.equal(await nav.getByRole('link', { name }).count(), 0, name);
    t.equal(await button(page, 'Read it').count() + (await button(page, /^Delete|^Make an article|again$/).count()), 0);
    await page.getByRole('link', { name: 'Articles' }).click();
    await page.getByRole('link', { name: 'Hours' }).click();
    await page.getByText('Closed on Sundays.').waitFor();
    t.equal(await page.getByRole('textbox').count(), 0, 'read, not written');
    await page.goto(`${service.url}/settings/billing`);
    await page.getByText('Not for your role').waitFor();
    await page.context().close();
  });

  t.test('nothing went wrong in the browser, and no policy was broken', async (t) => {
    t.strictSame(pages.problems, []);
  });
});

t.test('billing by Stripe', { skip: noBrowser }, async (t) => {
  const time = new ManualClock(new Date().toISOString());
  const stripe = await FakeStripe.start(t, time);
  const service: Service = await startService(t, { env: { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '365', TRIAL_DAYS: '3', ...stripe.env }, clock: time });
  const owner = await service.workspace();
  const pages = await startPages(t, service);
  const page = await pages.open('/settings/billing', { token: owner.token });

  await page.getByText('Your trial ends in 3 days.').waitFor();
  await button(page, 'End the trial').click();
  await button(page.getByRole('dialog'), 'End it').click();
  await page.getByText('Your workspace is locked').waitFor();
  await usable(t, page);

  // The page to pay on is the provider's; the browser is only led there, and comes back.
  const asked = page.waitForRequest((request) => request.isNavigationRequest() && !request.url().startsWith(service.url));
  await page.route((url) => !url.href.startsWith(service.url), (route) => route.fulfill({ status: 200, contentType: 'text/html', body: '<title>Pay</title>' }));
  await button(page, 'Choose Support').click();
  await button(page.getByRole('dialog'), 'Go on').click();
  const subscription = stripe.pay((await asked).url());
  await stripe.deliver(service, stripe.event('customer.subscription.created', subscription));
  await page.goto(`${service.url}/settings/billing?checkout=done`);
  await page.getByText(/^Thank you\./).waitFor();
  await heading(page, 'Support plan').waitFor();
  await part(page, 'Invoices').waitFor();
  await usable(t, page);
  t.strictSame(pages.problems, []);
});
