// Mail in the inbox, in a real browser: its recipients, who gets the answer, and whether the sender is authentic.

import type { Response } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { DnsZone, sendRaw } from '../support/mail-servers.ts';
import { barriersOf, holds, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

/** The request after which a mail leaves at its time. */
const isSending = (response: Response): boolean => response.url().endsWith('/send');

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
    const editor = page.locator('.mail-editor');
    const composer = page.locator('.mail-composer');
    const write = async (text: string): Promise<void> => {
      await editor.click();
      await page.keyboard.insertText(text);
    };
    /** By the key, and then the seconds in which it can be taken back. */
    const send = async (text: string): Promise<void> => {
      const scheduled = page.waitForResponse(isSending);
      await page.keyboard.press('Control+Enter');
      t.equal((await scheduled).status(), 200);
      await page.getByText('Email sent.').last().waitFor();
      await service.pass(10_000);
      await page.locator('.inbox-said', { hasText: text }).getByText('Kept in the outbox, not sent').waitFor();
    };
    await composer.getByText('To ann@customer.example, copy to ben@customer.example').waitFor();
    await page.getByRole('button', { name: 'Other ways to answer' }).click();
    await page.getByRole('menuitem', { name: 'Answer only the customer' }).click();
    await composer.getByText('To ann@customer.example', { exact: true }).waitFor();
    await write('For you alone');
    await holds(page, `JSON.stringify(localStorage).includes('For you alone')`);
    await page.reload();
    await composer.getByText('To ann@customer.example', { exact: true }).waitFor();
    t.equal(await editor.textContent(), 'For you alone', 'a draft knows its text and whom it is for');
    await editor.click();
    await send('For you alone');
    t.equal(service.mailCount('ben@customer.example'), 0);
    await composer.getByText('copy to ben@customer.example').waitFor();
    await write('For both');
    await send('For both');
    await page
      .locator('.inbox-said', { hasText: 'For both' })
      .getByText('Kept in the outbox, not sent, also to ben@customer.example')
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

  t.test('a mail is written with formatting, taken back, and continued on a phone', async (t) => {
    const ticket = await receive(
      'Dora <dora@customer.example>\r\nMessage-ID: <1@dora.example>\r\nSubject: Blue cups',
      'Do you have any?',
    );
    await page.goto(`${service.url}/inbox/all/${ticket.id}`);
    const editor = page.locator('.mail-editor');
    await editor.click();
    await page.keyboard.type('We have **two** kinds:\n- large\nsmall');
    await page.locator('.mail-editor li').nth(1).waitFor();
    t.equal(await editor.locator('strong').textContent(), 'two', 'Markdown becomes formatting as it is typed');
    await page.keyboard.press('Enter');
    t.equal(service.mailCount('dora@customer.example'), 0, 'Enter begins a line');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Leaves').waitFor({ state: 'detached' });
    await service.pass(60_000);
    t.equal(service.mailCount('dora@customer.example'), 0, 'what was taken back does not leave');
    const phone = await pages.open(`/inbox/all/${ticket.id}`, {
      token: owner.token,
      viewport: { width: 390, height: 780 },
    });
    await phone.locator('.mail-editor strong', { hasText: 'two' }).waitFor();
    t.strictSame(await barriersOf(phone), []);
    await phone.locator('.mail-editor li').last().click();
    await phone.keyboard.press('End');
    await phone.keyboard.type(' ones');
    const scheduled = phone.waitForResponse(isSending);
    await phone.getByRole('button', { name: 'Send', exact: true }).click();
    t.equal((await scheduled).status(), 200);
    await phone.getByText('Leaves').waitFor();
    await service.pass(10_000);
    t.match(await service.mail('dora@customer.example'), {
      html: /^<p>We have <strong>two<\/strong> kinds:<\/p>\s*<ul>/,
      text: /ones\n\nOn .+ wrote:\n> Do you have any\?$/,
    });
    await phone.close();
  });

  t.test('on a phone, by touch: sent and undone, then put off, and sent at its time', async (t) => {
    const ticket = await receive(
      'Ella <ella@customer.example>\r\nMessage-ID: <1@ella.example>\r\nSubject: Green cups',
      'And green ones?',
    );
    const phone = await pages.open(`/inbox/all/${ticket.id}`, {
      token: owner.token,
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    });
    const editor = phone.locator('.mail-editor');
    await editor.tap();
    await phone.keyboard.type('In spring.');
    await phone.getByRole('button', { name: 'Send', exact: true }).tap();
    await phone.getByRole('button', { name: 'Undo' }).tap();
    await phone.getByText('Leaves').waitFor({ state: 'detached' });
    await editor.filter({ hasText: 'In spring.' }).waitFor();
    await service.pass(60_000);
    t.equal(service.mailCount('ella@customer.example'), 0, 'what was undone is a draft again');

    await phone.getByRole('button', { name: 'Other ways to send' }).tap();
    await phone.getByRole('menuitem', { name: 'Send later…' }).tap();
    const dialog = phone.getByRole('dialog', { name: 'Send later' });
    t.strictSame(await barriersOf(phone), []);
    const scheduled = phone.waitForResponse(isSending);
    await dialog.locator('.row button').first().tap();
    const { sendAt } = await (await scheduled).json();
    await phone.getByText('Leaves').waitFor();
    const waitMs = Date.parse(sendAt) - service.clock.now();
    t.ok(waitMs > 60_000, 'later than an undo would allow');
    await service.pass(waitMs - 1000);
    t.equal(service.mailCount('ella@customer.example'), 0);
    await service.pass(1000);
    t.match(await service.mail('ella@customer.example'), { text: /^In spring\./ });
    await phone.close();
  });

  t.test('a new mail begins anywhere, by a key', async (t) => {
    await page.goto(`${service.url}/contacts`);
    await page.getByRole('heading', { name: 'Contacts' }).waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'New email' });
    await holds(page, `document.activeElement?.matches('dialog input') === true`);
    await page.keyboard.type('new@customer.example,');
    await dialog.getByText('new@customer.example').waitFor();
    await dialog.getByRole('button', { name: 'Cc, Bcc' }).click();
    await dialog.getByLabel('Bcc').fill('boss@shop.example');
    await dialog.getByLabel('Subject').fill('Your order');
    await dialog.locator('.mail-editor').click();
    await page.keyboard.type('It is ready.');
    t.strictSame(await barriersOf(page), []);
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await service.pass(10_000);
    t.match(await service.mail('new@customer.example'), { subject: 'Your order', text: 'It is ready.' });
    t.equal(service.mailCount('boss@shop.example'), 1);
    t.match((await service.tickets(owner.token)).at(-1), { subject: 'Your order', copiedTo: [] });
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
