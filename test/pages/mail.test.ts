// Mail in the inbox, in a real browser: its recipients, who gets the answer, and whether the sender is authentic.

import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { DnsZone, sendRaw } from '../support/mail-servers.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

t.test('mail in the inbox', { skip: noBrowser }, async (t) => {
  const dns = await DnsZone.start(t);
  for (const [domain, network] of [
    ['bank.example', '192.0.2.1'],
    ['good.example', '127.0.0.1'],
  ] as const) {
    dns.add(
      { type: 'TXT', name: domain, value: `v=spf1 ip4:${network} -all` },
      { type: 'TXT', name: `_dmarc.${domain}`, value: 'v=DMARC1; p=reject' },
    );
  }
  const service = await startService(t, {
    env: {
      RATE_LIMITS: 'off',
      MAIL_HOST: 'mail.switchboard.test',
      SMTP_LISTEN: '127.0.0.1:0',
      DNS_SERVERS: dns.address,
    },
  });
  const pages = await startPages(t, service);
  const owner = await service.workspace();
  const { address } = await service.mailbox(owner);
  const receive = async (head: string, body: string) => {
    await sendRaw(service.running.smtpPort ?? 0, {
      from: /<(.+?)>/.exec(head)?.[1] ?? '',
      to: address,
      raw: `From: ${head}\r\n\r\n${body}\r\n`,
    });
    return (await service.tickets(owner.token)).at(-1);
  };
  const page = await pages.open('/healthz', { token: owner.token, viewport: { width: 1440, height: 860 } });

  t.test('a forged one is marked before its text; one confirmed by its domain discreetly', async (t) => {
    const forged = await receive(
      'The CFO <cfo@bank.example>\r\nMessage-ID: <1@bank.example>\r\nSubject: Invoice 7',
      'Pay to another account.',
    );
    await page.goto(`${service.url}/inbox/all/${forged.id}`);
    await page
      .locator('.inbox-said', { hasText: 'Pay to another account.' })
      .getByText(
        'This email may be forged. It claims to be from cfo@bank.example, and bank.example does not confirm it.',
      )
      .waitFor();
    t.equal(await page.getByText('Confirmed sender').count(), 0);
    t.strictSame(await barriersOf(page), []);
    const good = await receive(
      'Kim <kim@good.example>\r\nMessage-ID: <1@good.example>\r\nSubject: Cups',
      'Do you have blue ones?',
    );
    await page.goto(`${service.url}/inbox/all/${good.id}`);
    await page.locator('.inbox-said', { hasText: 'Do you have blue ones?' }).getByText('Confirmed sender').waitFor();
    t.equal(await page.locator('.inbox-forged').count(), 0);
  });

  t.test('other recipients are shown, get the answer, and can be left out of one', async (t) => {
    const ticket = await receive(
      'Ann <ann@customer.example>\r\nCc: ben@customer.example\r\nMessage-ID: <1@customer.example>\r\nSubject: Broken cup',
      'It arrived broken.',
    );
    await page.goto(`${service.url}/inbox/all/${ticket.id}`);
    await page
      .locator('.inbox-said', { hasText: 'It arrived broken.' })
      .getByText('Also to ben@customer.example')
      .waitFor();
    const copies = page.getByRole('checkbox', { name: 'Also to ben@customer.example' });
    const write = async (text: string): Promise<void> => {
      await page.locator('.inbox-composer textarea').fill(text);
      await page.locator('.inbox-composer textarea').press('Enter');
      await page.locator('.inbox-said', { hasText: text }).getByText('Emailed').waitFor();
    };
    t.ok(await copies.isChecked());
    await copies.uncheck();
    await page.locator('.inbox-composer textarea').fill('For you alone');
    await page.reload();
    t.notOk(await copies.isChecked(), 'a draft knows whom it is for');
    await write('For you alone');
    t.ok(await copies.isChecked(), 'the next one is for all again');
    t.equal(service.mailCount('ben@customer.example'), 0);
    await write('For both');
    await page
      .locator('.inbox-said', { hasText: 'For both' })
      .getByText('Mailed, also to ben@customer.example')
      .waitFor();
    t.equal(service.mailCount('ben@customer.example'), 1);
    await receive(
      'Ben <ben@customer.example>\r\nCc: ann@customer.example\r\nMessage-ID: <2@customer.example>\r\nIn-Reply-To: <1@customer.example>',
      'Mine is, too.',
    );
    await page
      .locator('.inbox-said', { hasText: 'Mine is, too.' })
      .locator('.inbox-sender', { hasText: 'Ben' })
      .waitFor();
    t.strictSame(await barriersOf(page), []);
  });

  t.test('a form is not the author', async () => {
    const ticket = await receive(
      'Contact form <noreply@forms.example>\r\nReply-To: Cleo <cleo@customer.example>\r\nMessage-ID: <1@forms.example>\r\nSubject: Contact form',
      'Hello there.',
    );
    await page.goto(`${service.url}/inbox/all/${ticket.id}`);
    const said = page.locator('.inbox-said', { hasText: 'Hello there.' });
    await said.locator('.inbox-sender', { hasText: 'Cleo' }).waitFor();
    await said.getByText('From noreply@forms.example').waitFor();
  });

  t.same(pages.problems, []);
});
