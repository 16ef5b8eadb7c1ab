// An owner's settings in a real browser with the real service: knowledge, phone numbers, email. With a site to crawl, a
// name server and a mail server.

import type { Page } from 'playwright-core';
import t from 'tap';
import { smtpSender } from '../../workers/providers/mail.ts';
import { noBrowser } from '../support/chromium.ts';
import { DnsZone, SmtpSink } from '../support/mail-servers.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';
import { button, heading, hostile, notice, part, usable } from '../support/settings.ts';
import { only127001, Site } from '../support/site.ts';

/** The pages use the browser's time; so does the service, from its start. */
const clock = new ManualClock(new Date().toISOString());

t.test('knowledge, phone numbers, email', { skip: noBrowser }, async (t) => {
  const [dns, site, mailServer] = [await DnsZone.start(t), await Site.start(t), await SmtpSink.start(t)];
  dns.add({ type: 'A', name: 'shop.test', value: '127.0.0.1' }, { type: 'A', name: 'inside.test', value: '10.0.0.1' });
  const env = {
    RATE_LIMITS: 'off',
    MAIL_HOST: 'mail.switchboard.test',
    DNS_SERVERS: dns.address,
    DOMAIN_POLL_SECONDS: '60',
  };
  const service = await startService(t, {
    env,
    clock,
    mail: smtpSender(mailServer.url),
    isPublic: only127001,
    crawlPauseMs: 0,
  });
  const owner = await service.workspace();
  const department = (await service.post('/departments', { name: hostile }, owner.token)).body;
  const pages = await startPages(t, service);
  const context = await pages.context({ permissions: ['clipboard-read', 'clipboard-write'] });
  const open = (path: string): Promise<Page> => pages.open(`/settings/${path}`, { token: owner.token, in: context });
  const copied = (page: Page): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');

  t.test('knowledge: a site is read in sight, adopted, written on, published and found', async (t) => {
    const held = Promise.withResolvers<void>();
    site.page(
      '/',
      `<title>${hostile.replaceAll('<', '&lt;')}</title><main><p>A ticket costs ten crowns for everybody who comes.</p><a href="/dogs">dogs</a></main>`,
    );
    site.on(
      '/dogs',
      (_, response) =>
        void held.promise.then(() =>
          response
            .writeHead(200, { 'Content-Type': 'text/html' })
            .end('<title>Dogs</title><main><p>Dogs are welcome everywhere in the park.</p></main>'),
        ),
    );
    const page = await open('knowledge');
    await page.getByText('No sites have been read yet').waitFor();
    await page.getByLabel('Address').fill('http://inside.test/');
    await button(page, 'Read').click();
    await page.locator('.field', { hasText: 'Address' }).locator('.error').waitFor();
    t.equal(await page.getByLabel('Address').inputValue(), 'http://inside.test/', 'the typed text is kept');

    await page.getByLabel('Address').fill(`http://shop.test:${site.port}/`);
    await page.getByLabel('Maximum pages').fill('5');
    await button(page, 'Read').click();
    const job = part(page, 'Last crawls').locator('.kb-job');
    await job.getByText('Reading').waitFor();
    await job.locator('progress').waitFor();
    t.equal(await job.locator('progress').getAttribute('max'), '5');
    await job.getByText('1 page read').waitFor();
    held.resolve();
    await job.getByText('Done').waitFor();
    await job.getByText('2 documents').waitFor();
    const documents = part(page, /^Documents/);
    await documents.getByText(hostile).waitFor();
    await usable(t, page);

    site.on('/', (_, response) => response.writeHead(500).end());
    await button(job, /^Read again/).click();
    await job.first().getByText('Failed').waitFor();
    await job
      .first()
      .getByText(/answered 500/)
      .waitFor();

    site
      .page('/', '<main><p>A ticket costs ten crowns.</p><a href="/nowhere">nowhere</a><a href="/slow">slow</a></main>')
      .on('/slow', () => undefined);
    await button(job.first(), /^Read again/).click();
    await job.first().getByText('1 skipped').waitFor();
    await job.first().getByText('Skipped pages').click();
    await job.first().getByText('answered 404').waitFor();
    await button(job.first(), /^Cancel/).click();
    await job
      .first()
      .getByText(/ cancelled it\.$/)
      .waitFor();
    await job.first().getByText('more found but not read').waitFor();

    await button(documents, 'Delete Dogs').click();
    await button(page.getByRole('dialog'), 'Delete').click();
    await button(documents, 'Delete Dogs').waitFor({ state: 'detached' });
    t.equal((await service.get('/kb/documents', owner.token)).body.documents.length, 1);

    await button(documents, `Create an article from ${hostile}`).click();
    await heading(page, hostile).waitFor();
    await page
      .getByLabel('Text, in Markdown')
      .fill(
        '# Prices\n\nTen **crowns**, see [there](https://shop.example/) or [here](javascript:alert(1)).\n\n<script>alert(1)</script>\n\n- [x] one',
      );
    const preview = part(page, 'Preview');
    await preview.getByRole('heading', { name: 'Prices' }).waitFor();
    t.strictSame(await preview.getByRole('link').allTextContents(), ['there'], 'a script is no link');
    t.equal(await preview.getByRole('link').getAttribute('rel'), 'noopener noreferrer nofollow');
    t.match(await preview.textContent(), /<script>alert\(1\)<\/script>/, 'shown as the text that it is');
    t.equal(await preview.locator('script').count(), 0);
    await usable(t, page);
    await button(page, 'Publish').click();
    await notice(page, 'Published. Answers can use it.');
    await service.settled();
    const [article] = (await service.get('/kb/articles', owner.token)).body.articles;
    t.match(article, { status: 'published', body: /^# Prices/ });

    await page.goto(`${service.url}/settings/knowledge?tab=try`);
    await page.getByRole('searchbox', { name: 'Question' }).fill('what does a ticket cost');
    await button(page, 'Find').click();
    await page.locator('.kb-chunks li').first().getByText('Your article').waitFor();
    t.match(await page.locator('.kb-chunks .badge').first().textContent(), /^\d{1,3} %$/);
    await usable(t, page);
    await page.close();
  });

  t.test('an article that another person saved meanwhile: both are shown, and the writer decides', async (t) => {
    const { body: article } = await service.post(
      '/kb/articles',
      { title: 'Hours', body: 'Open all day.\nClosed at night.\n' },
      owner.token,
    );
    const page = await open(`knowledge/${article.id}`);
    await page.getByLabel('Text, in Markdown').fill('Open all day.\nClosed on Sundays.\n');
    await service.patch(
      `/kb/articles/${article.id}`,
      { expectedVersion: article.version, body: 'Open from nine.\nClosed at night.\n' },
      owner.token,
    );
    await button(page, 'Save as draft').click();
    const conflict = part(page, /^Someone else has saved/);
    await conflict.waitFor();
    t.match(await conflict.locator('.removed').allTextContents(), [/Open from nine/]);
    t.match((await conflict.locator('.added').allTextContents()).join(), /Closed on Sundays/);
    t.equal(
      await page.getByLabel('Text, in Markdown').inputValue(),
      'Open all day.\nClosed on Sundays.\n',
      "nothing of the writer's is lost",
    );
    await usable(t, page);
    await button(conflict, 'Save mine over it').click();
    await conflict.waitFor({ state: 'detached' });
    t.match((await service.get(`/kb/articles/${article.id}`, owner.token)).body, {
      body: 'Open all day.\nClosed on Sundays.\n',
      status: 'draft',
      version: article.version + 2,
    });

    await page.getByLabel('Title').fill('Hours of ours');
    await page.getByRole('link', { name: 'All articles' }).click();
    await page.getByText('Not saved').waitFor();
    await page.getByRole('link', { name: 'Hours', exact: true }).click();
    await page.getByText('You have unsaved changes from before').waitFor();
    t.equal(await page.getByLabel('Title').inputValue(), 'Hours of ours');
    await button(page, 'Restore them').click();
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
    await button(page, /^Claim \+1415/)
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await button(dialog, 'Claim').click();
    await dialog.locator('.error').waitFor();
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByLabel('Rings').selectOption('department');
    await dialog.getByLabel('Which department').selectOption({ label: hostile });
    await usable(t, page);
    await button(dialog, 'Claim').click();
    const row = part(page, 'Your numbers').getByRole('row').nth(1);
    await row.getByText(hostile).first().waitFor();
    const [number] = (await service.get('/phone-numbers', owner.token)).body.numbers;
    t.match(number, {
      displayName: hostile,
      routingStrategy: 'department',
      routingTargetId: department.id,
      recordingEnabled: false,
    });

    await page.getByLabel('Greeting name').fill('Welcome');
    await page.getByLabel('Text').fill('Welcome to the shop.');
    await button(page, 'Add a greeting').click();
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
    await dialog.getByLabel('Separate hours for this number').check();
    await dialog.getByLabel('Friday: closes').fill('09:00');
    await button(dialog, 'Save').click();
    await dialog.locator('.week-span .error').waitFor();
    await dialog.getByLabel('Friday: closes').fill('12:00');
    await button(dialog, 'Save').click();
    await row.getByText('Recorded').waitFor();
    await row.getByText('Own hours').waitFor();
    t.match((await service.get('/phone-numbers', owner.token)).body.numbers[0], {
      displayName: 'Main line',
      routingStrategy: 'all_agents',
      routingTargetId: null,
      recordingEnabled: true,
      voicemailEnabled: false,
      voiceProfileId: String,
      welcomeAudioUrl: null,
      businessHours: { days: { length: 5, 4: { weekday: 5, opens: '09:00', closes: '12:00' } }, holidays: [] },
    });

    await button(row, `Change ${number.e164}`).click();
    await service.patch(`/phone-numbers/${number.id}`, { recordingEnabled: false }, owner.token);
    await dialog.getByLabel('Name').fill('Front desk');
    await button(dialog, 'Save').click();
    await row.getByText('Front desk').waitFor();
    t.match(
      (await service.get('/phone-numbers', owner.token)).body.numbers[0],
      { displayName: 'Front desk', recordingEnabled: false },
      "another person's change stays",
    );

    await button(row, `Release ${number.e164}`).click();
    const release = button(dialog, 'Release');
    t.ok(await release.isDisabled(), 'not by a single click');
    await dialog.getByLabel(/^Type/).fill(number.e164);
    await release.click();
    await page.getByText('No numbers yet').waitFor();
    t.same((await service.get('/phone-numbers', owner.token)).body.numbers, []);
    await page.close();
  });

  t.test(
    'email: addresses for departments, a domain whose records are found, the secret, bounced addresses',
    async (t) => {
      const page = await open('email');
      await button(page, 'Add an address').click();
      await page.getByLabel('Before the @').fill('not an address');
      await page.getByLabel('Goes to').selectOption({ label: hostile });
      await button(part(page, 'Inbound addresses'), 'Save').click();
      await page.locator('.address .error').waitFor();
      await page.getByLabel('Before the @').fill('billing');
      await button(part(page, 'Inbound addresses'), 'Save').click();
      await page.getByText(/^billing@.*\.mail\.switchboard\.test$/).waitFor();
      t.match(
        (await service.get('/email/inbound-addresses', owner.token)).body.addresses.filter(
          ({ kind }: { kind: string }) => kind === 'subdomain',
        ),
        [{ localPart: 'billing', departmentId: department.id }],
      );

      await page.getByLabel('Domain', { exact: true }).fill('www.shop.example');
      await button(page, 'Show DNS records').click();
      await page.locator('.error', { hasText: 'apex domain' }).waitFor();
      await page.getByLabel('Domain', { exact: true }).fill('fine-shop.com');
      await button(page, 'Show DNS records').click();
      const records = page.getByRole('list', { name: 'DNS records' });
      await records.waitFor();
      const { domain } = (await service.get('/email/domain', owner.token)).body;
      for (const { type, name, value } of domain.records) {
        await button(records, `Copy the value of the ${type} record for ${name}`).click();
        t.equal(await copied(page), value, `${type} ${name}`);
      }
      await button(records, 'Copy the priority of the MX record for fine-shop.com').click();
      t.equal(await copied(page), '10');
      t.equal(await records.getByText('Not found yet').count(), domain.records.length - 1);
      await records
        .locator('li', { hasText: 'delivers email here' })
        .getByText('Not needed if you forward email here')
        .waitFor();
      await usable(t, page);
      const [mx] = domain.records;
      dns.add(mx);
      await service.pass(60_000);
      await button(page, 'Check again').click();
      await records.locator('li', { hasText: 'delivers email here' }).getByText('Found', { exact: true }).waitFor();
      dns.add(...domain.records.slice(1));
      await service.pass(120_000);
      await button(page, 'Check again').click();
      await page.getByText('All records are in place. Email is sent from fine-shop.com.').waitFor();
      await button(page, 'Change domain').click();
      const another = page.getByRole('dialog');
      await another.getByLabel('New domain').fill('www.other.example');
      await button(another, 'Use this domain').click();
      await another.locator('.error', { hasText: 'apex domain' }).waitFor();
      await page.keyboard.press('Escape');

      const webhook = part(page, 'Delivery by webhook');
      const before = await service.mailbox(owner);
      t.notMatch(await webhook.textContent(), before.secret);
      await button(webhook, 'Show the secret').click();
      await webhook.getByText(before.secret).waitFor();
      await button(webhook, 'Replace secret').click();
      await button(page.getByRole('dialog'), 'Replace').click();
      await webhook.getByText(before.secret).waitFor({ state: 'detached' });
      await webhook.getByText((await service.mailbox(owner)).secret).waitFor();

      t.ok(await page.getByText('None. Email goes to every address.').isVisible());
      mailServer.refuse('gone@customer.example', 550, '5.1.1 no such user here');
      await service.post(
        '/tickets',
        { customerEmail: 'gone@customer.example', subject: 'Your cup', body: 'It is here.' },
        owner.token,
      );
      await service.settled();
      await page.reload();
      await button(page, 'Send again to gone@customer.example').click();
      await button(page.getByRole('dialog'), 'Send again').click();
      await page.getByText('None. Email goes to every address.').waitFor();
      t.same((await service.get('/email/suppressions', owner.token)).body.suppressions, []);
      await page.close();
    },
  );

  t.test('non-admins are not offered what only admins may do', async (t) => {
    const agent = await service.agent(owner, { role: 'supervisor' });
    const page = await pages.open('/settings/knowledge', { token: agent.token });
    await part(page, /^Documents/)
      .getByText(hostile)
      .first()
      .waitFor();
    const nav = page.getByRole('navigation', { name: 'Settings' });
    for (const name of [
      'Email',
      'Phone numbers',
      'Billing',
      'Audit log',
      'Data and privacy',
      'API keys',
      'Apps',
      'Webhooks',
      'Verification',
    ])
      t.equal(await nav.getByRole('link', { name, exact: true }).count(), 0, name);
    t.equal(
      (await button(page, 'Read').count()) + (await button(page, /^Delete|^Create an article|^Read again/).count()),
      0,
    );
    await page.getByRole('link', { name: 'Articles' }).click();
    await page.getByRole('link', { name: 'Hours' }).click();
    await page.getByText('Closed on Sundays.').waitFor();
    t.equal(await page.getByRole('textbox').count(), 0, 'read, not written');
    await page.goto(`${service.url}/settings/billing`);
    await page.getByText('Not available for your role').waitFor();
    await page.context().close();
  });

  t.test('nothing went wrong in the browser, and no policy was broken', async (t) => {
    t.strictSame(pages.problems, []);
  });
});
