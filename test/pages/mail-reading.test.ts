// Reading mail in the inbox, in a real browser: calendar invitations in the reader's time, pictures elsewhere only on
// request and never from their server, and the mail as it was received.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { kindOf, repeatsOf, whenOf } from '../../http/pages/inbox/mail/event-words.ts';
import type { Invitation } from '../../http/pages/records.ts';
import { noBrowser } from '../support/chromium.ts';
import { sendRaw } from '../support/mail-servers.ts';
import { barriersOf, holds, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';
import { Names, only127001, Site } from '../support/site.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** A folder for pictures of what the tests see. */
const pictures = process.env['SCREENSHOTS'];

const event: Invitation = {
  uid: '1',
  method: 'request',
  isCancelled: false,
  isOneOfSeries: false,
  summary: 'Fitting',
  location: null,
  organiser: null,
  isAllDay: false,
  start: { at: '2026-07-13T22:00:00.000Z', local: '2026-07-14T00:00', zone: 'Europe/Berlin' },
  end: { at: '2026-07-13T23:30:00.000Z', local: '2026-07-14T01:30', zone: 'Europe/Berlin' },
  recurrence: null,
  url: 'https://shop.test/storage/x.ics',
};
const day = (local: string) => ({ at: null, local, zone: null });

t.test('[reading] an event in words: when, for its reader, and how it repeats', async (t) => {
  const plain = (text: string): string => text.replace(/\s/g, ' ');
  t.equal(plain(whenOf(event, 'America/New_York')), 'Mon, Jul 13, 2026, 6:00 – 7:30 PM EDT');
  t.equal(plain(whenOf(event, 'Asia/Tokyo')), 'Tue, Jul 14, 2026, 7:00 – 8:30 AM GMT+9');
  t.equal(plain(whenOf({ ...event, end: null }, 'UTC')), 'Mon, Jul 13, 2026, 10:00 PM UTC');
  const days = { isAllDay: true, start: day('2026-05-04'), end: day('2026-05-05') };
  t.equal(plain(whenOf(days, 'Pacific/Auckland')), 'Mon, May 4 – Tue, May 5, 2026', 'a day is the same everywhere');
  t.equal(whenOf({ ...days, end: day('2026-05-04') }), 'Mon, May 4, 2026');
  const floating = { ...event, start: day('2026-07-13T10:00'), end: null };
  t.equal(plain(whenOf(floating, 'Asia/Tokyo')), 'Mon, Jul 13, 2026, 10:00 AM, in a time zone that is not named');
  const elsewhere = { ...event, start: { at: null, local: '2026-07-13T10:00', zone: 'Middle Earth' }, end: null };
  t.equal(plain(whenOf(elsewhere)), 'Mon, Jul 13, 2026, 10:00 AM, time zone Middle Earth');

  const rule = { frequency: 'weekly', interval: 1, days: [], count: null, until: null } as const;
  t.equal(repeatsOf({ recurrence: null }), undefined);
  t.equal(repeatsOf({ recurrence: { ...rule, days: [] } }), 'Every week');
  t.equal(
    repeatsOf({ recurrence: { ...rule, interval: 2, days: ['monday', 'friday'], until: '2026-12-31' } }),
    'Every 2 weeks on Monday and Friday, until Dec 31, 2026',
  );
  t.equal(repeatsOf({ recurrence: { ...rule, days: [], frequency: 'daily', count: 5 } }), 'Every day, 5 times');
  t.equal(kindOf(event), 'Invitation');
  t.equal(kindOf({ ...event, method: null }), 'Event');
  t.equal(kindOf({ ...event, isCancelled: true, isOneOfSeries: true }), 'Cancelled, one of a series');
});

t.test('[reading] mails in the inbox', { skip: noBrowser }, async (t) => {
  const [site, names] = [await Site.start(t), await Names.start(t)];
  names.set('shop.test', '127.0.0.1');
  const service = await startService(t, {
    env: {
      RATE_LIMITS: 'off',
      MAIL_HOST: 'mail.switchboard.test',
      SMTP_LISTEN: '127.0.0.1:0',
      DNS_SERVERS: names.address,
    },
    isPublic: only127001,
  });
  const pages = await startPages(t, service);
  const owner = await service.workspace();
  const { address } = await service.mailbox(owner);
  let count = 0;
  const receive = async (parts: readonly string[]) => {
    count += 1;
    const head = [
      'From: Kim <kim@example.org>',
      `Subject: Mail ${count}`,
      `Message-ID: <${count}@example.org>`,
      'Content-Type: multipart/mixed; boundary=b',
    ];
    const raw = [...head, '', ...parts.flatMap((part) => ['--b', part]), '--b--', ''].join('\r\n');
    await sendRaw(service.running.smtpPort ?? 0, { from: 'kim@example.org', to: address, raw });
    return `/inbox/all/${(await service.tickets(owner.token)).at(-1).id}`;
  };
  const text = (words: string): string => `Content-Type: text/plain\r\n\r\n${words}`;
  const html = (words: string): string => `Content-Type: text/html\r\n\r\n${words}`;
  const calendar = (lines: readonly string[], method = 'REQUEST'): string =>
    [
      'Content-Type: text/calendar\r\n',
      'BEGIN:VCALENDAR',
      `METHOD:${method}`,
      'BEGIN:VEVENT',
      ...lines,
      'END:VEVENT',
      'END:VCALENDAR',
    ].join('\r\n');
  const open = (path: string, scheme: 'light' | 'dark', width: number): Promise<Page> =>
    pages.open(path, {
      token: owner.token,
      viewport: { width, height: 860 },
      colorScheme: scheme,
      timezoneId: 'America/New_York',
    });
  const picture = async (page: Page, name: string): Promise<void> => {
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`) });
  };
  const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

  t.test('an invitation says when, in the zone of its reader, and gives its file', async (t) => {
    const path = await receive([
      text('Shall we meet?'),
      calendar([
        'UID:1@example.org',
        'SUMMARY:Fitting of the new kitchen',
        'DTSTART:20260713T140000Z',
        'DTEND:20260713T153000Z',
        'LOCATION:Main Street 1',
        'ORGANIZER;CN=Kim Example:mailto:kim@example.org',
        'RRULE:FREQ=WEEKLY;COUNT=3',
      ]),
    ]);
    for (const scheme of ['light', 'dark'] as const)
      for (const width of [1280, 360]) {
        const page = await open(path, scheme, width);
        const card = page.getByRole('region', { name: 'Fitting of the new kitchen' });
        await card.getByText(/^Mon, Jul 13, 2026, 10:00.–.11:30.AM.EDT/).waitFor();
        for (const words of ['Invitation', 'Every week, 3 times', 'Main Street 1', 'Kim Example'])
          await card.getByText(words).waitFor();
        t.notOk(await page.evaluate(isWide), `${width} wide`);
        t.strictSame(await barriersOf(page), []);
        await picture(page, `invitation-${scheme}-${width}`);
        if (width === 1280 && scheme === 'light') {
          const downloading = page.waitForEvent('download');
          await card.getByRole('link', { name: 'Calendar file' }).click();
          t.match((await downloading).suggestedFilename(), /\.ics$/);
        }
        await page.close();
      }
  });

  t.test('a cancelled one says so; a file that is none is only a file', async (t) => {
    const cancelled = await receive([
      text('Sorry'),
      calendar(['UID:2', 'SUMMARY:Fitting', 'DTSTART;VALUE=DATE:20260713'], 'CANCEL'),
    ]);
    const page = await open(cancelled, 'light', 1280);
    const card = page.getByRole('region', { name: 'Fitting' });
    await card.getByText('Cancelled').waitFor();
    await card.getByText('Mon, Jul 13, 2026').waitFor();
    const reply = page.waitForResponse((one) => one.url().endsWith('/invitations'));
    await page.goto(service.url + (await receive([text('Here'), 'Content-Type: text/calendar\r\n\r\nnothing'])));
    t.match(await (await reply).json(), { invitations: [] });
    await page.getByRole('list', { name: 'Attachments' }).getByText('.ics').waitFor();
    t.equal(await page.locator('.mail-event').count(), 0);
    await page.close();
  });

  t.test('pictures elsewhere are shown on request, and their server meets only the service', async (t) => {
    site.page('/cup.png', png, { 'Content-Type': 'image/png' });
    const base = `http://shop.test:${site.port}`;
    const path = await receive([
      html(
        `<h2>New cups</h2><p><img src="${base}/cup.png" width="40" height="40" alt="A cup"> <img src="${base}/gone.png"></p><p>${'A long text about cups. '.repeat(40)}</p>`,
      ),
    ]);
    for (const scheme of ['light', 'dark'] as const) {
      site.asked.length = 0;
      const page = await open(path, scheme, scheme === 'light' ? 1280 : 360);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).host));
      await page.getByText('2 pictures are not shown.').waitFor();

      const frame = page.frameLocator('.inbox-mail');
      await frame.getByRole('heading', { name: 'New cups' }).waitFor();
      t.equal(await frame.locator('img').count(), 0);
      t.same(site.asked, []);
      t.strictSame(await barriersOf(page), []);
      await picture(page, `pictures-${scheme}-before`);
      await page.getByRole('button', { name: 'Show them' }).click();
      await frame.getByRole('img', { name: 'A cup' }).waitFor();
      await frame.getByText('(picture not available)').waitFor();
      await holds(
        page,
        `document.querySelector('.inbox-mail').contentDocument.querySelector('img[alt="A cup"]').naturalWidth === 1`,
      );
      t.same(site.asked.toSorted(), ['/cup.png', '/gone.png']);
      t.same(
        [...new Set(asked)].filter((host) => host !== '' && !service.url.includes(host)),
        [],
      );
      await holds(
        page,
        `(({ contentDocument, clientHeight }) => contentDocument.body.scrollHeight === clientHeight)(document.querySelector('.inbox-mail'))`,
      );
      t.strictSame(await barriersOf(page), []);
      await picture(page, `pictures-${scheme}-after`);
      await page.close();
    }
  });

  t.test('a picture that the service has no place for is asked for again', async (t) => {
    site.page('/late.png', png, { 'Content-Type': 'image/png' });
    const path = await receive([html(`<p>Hello <img src="http://shop.test:${site.port}/late.png" alt="Late"></p>`)]);
    const page = await open(path, 'light', 1280);
    let refused = 0;
    await page.route('**/pictures/1', (route) => {
      // More often than any call is repeated.
      if (refused === 4) return route.continue();
      refused += 1;
      return route.fulfill({ status: 429, json: { error: 'rate_limited', message: 'Too many.', retryAfter: 0 } });
    });
    await page.getByRole('button', { name: 'Show it' }).click();
    const image = page.frameLocator('.inbox-mail').getByRole('img', { name: 'Late' });
    await image.and(page.frameLocator('.inbox-mail').locator('[src]')).waitFor();
    t.equal(refused, 4);
    await page.close();
  });

  t.test('the mail as it was received, with its history and what its domain says', async (t) => {
    const path = await receive([text('Thanks!\r\n\r\nOn Monday the shop wrote:\r\n> It left.')]);
    const page = await open(path, 'light', 1280);
    await page.getByRole('button', { name: 'Original email' }).click();
    const dialog = page.getByRole('dialog', { name: 'The email as it was received' });
    for (const words of ['Kim <kim@example.org>', `Mail ${count}`, `${count}@example.org`, 'SPF none, DKIM none'])
      await dialog.getByText(words).first().waitFor();
    t.match(await dialog.getByLabel('Text', { exact: true }).textContent(), '> It left.');
    t.strictSame(await barriersOf(page), []);
    await picture(page, 'original');
    await page.close();
  });

  t.test('an admin downloads the source; for other roles there is none', async (t) => {
    const path = await receive([html('<p>Hello</p>')]);
    const { id } = (await service.tickets(owner.token)).at(-1);
    const [message] = await service.messages(id, owner.token);
    const { size } = (await service.get(`/conversations/${id}/messages/${message.id}/original`, owner.token)).body
      .source;
    for (const scheme of ['light', 'dark'] as const)
      for (const width of [1440, 360]) {
        const page = await open(path, scheme, width);
        await page.getByRole('button', { name: 'Original email' }).click();
        const button = page.getByRole('button', { name: 'Download source' });
        await button.waitFor();
        await page.getByText(`${size} B`).waitFor();
        t.notOk(await page.evaluate(isWide), `${width} wide`);
        t.strictSame(await barriersOf(page), []);
        await picture(page, `source-${scheme}-${width}`);
        if (width === 1440 && scheme === 'light') {
          const downloading = page.waitForEvent('download');
          await button.click();
          const file = await downloading;
          t.equal(file.suggestedFilename(), `Mail ${count}.eml`);
          const saved = readFileSync(await file.path(), 'utf8');
          t.match(saved, new RegExp(`^From: Kim [\\s\\S]*<${count}@example.org>[\\s\\S]*<p>Hello</p>`));
          t.equal(saved.length, size);
          await page.route('**/source', (route) =>
            route.fulfill({ status: 503, json: { error: 'service_unavailable', message: 'The service is busy.' } }),
          );
          await button.click();
          await page.getByRole('alert').getByText('The service is busy.').waitFor();
          t.strictSame(await barriersOf(page), []);
        }
        await page.close();
      }

    const agent = await service.agent(owner);
    const page = await pages.open(path, { token: agent.token });
    await page.getByRole('button', { name: 'Original email' }).click();
    const dialog = page.getByRole('dialog', { name: 'The email as it was received' });
    await dialog.getByLabel('HTML source').waitFor();
    t.equal(await dialog.getByRole('button', { name: /source/ }).count(), 0);
    t.notMatch(await dialog.textContent(), /no source/);
    await page.close();
  });

  t.test('a cut source says so, and a mail of the webhook that it has none', async (t) => {
    const long = await receive([text(`${'A long line of a long mail. '.repeat(2)}\r\n`.repeat(6000))]);
    await service.deliver(await service.mailbox(owner), { messageId: '<hooked@example.org>', subject: 'Hooked' });
    const hooked = `/inbox/all/${(await service.tickets(owner.token)).at(-1).id}`;
    for (const [name, path, words] of [
      ['cut', long, /^The first 256 KB of 3\d\d KB$/],
      ['hooked', hooked, /^There is no source to download: this email came through a mail provider/],
    ] as const)
      for (const width of [1440, 360]) {
        const page = await open(path, width === 360 ? 'dark' : 'light', width);
        await page.getByRole('button', { name: 'Original email' }).click();
        const dialog = page.getByRole('dialog', { name: 'The email as it was received' });
        await dialog.getByText(words).waitFor();
        t.equal(await dialog.getByRole('button', { name: 'Download' }).count(), name === 'cut' ? 1 : 0);
        t.notOk(await page.evaluate(isWide), `${width} wide`);
        t.notOk(
          await dialog.evaluate((element) =>
            [...element.querySelectorAll('.content, .row')].some((one) => one.scrollWidth > one.clientWidth),
          ),
          'nothing sticks out',
        );
        t.strictSame(await barriersOf(page), []);
        await picture(page, `source-${name}-${width}`);
        await page.close();
      }
  });

  t.same(pages.problems, []);
});
