// Every kind of mail that the service sends, taken from the outbox and shown as mail programs show it: at the width of a
// phone, a tablet and a desk, light and dark, by Gmail, which may drop the head, and by Outlook, which ignores much of
// CSS. What they support is from caniemail.com (its data: github.com/hteumeuleu/caniemail, _features/*.md).

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { readParts } from '../../workers/mail/parts.ts';
import { mailPageOf } from '../../workers/providers/mail-page.ts';
import { noBrowser } from '../support/chromium.ts';
import { makeKey } from '../support/keys.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { password, type Service, startService } from '../support/service.ts';

const widths = [320, 600, 1024];
const minuteMs = 60_000;
/** A folder for pictures of what the test sees. */
const pictures = process.env['SCREENSHOTS'];
/** Gmail shows only the beginning of longer ones. */
const maxHtmlBytes = 102 * 1024;

/** Elements that every program shows. */
const elements = new Set(
  'html head meta title style body table tbody tr td th div span p br a b i strong em del code pre blockquote ul ol li hr img h1 h2 h3 h4 h5 h6'.split(
    ' ',
  ),
);
/** Supported by Gmail, Apple Mail and Outlook with its Word engine, with what that does not support of them. */
const supported: Readonly<Record<string, RegExp>> = {
  'font-family': /./,
  'font-size': /^\d+px$/,
  'line-height': /^\d+px$/,
  'text-align': /^left$/,
  'vertical-align': /^top$/,
  // Neither negative nor auto.
  margin: /^(?:\d+(?:px)? ?)+$/,
  border: /./,
  'border-left': /./,
  'border-top': /./,
};
/** Ignored by Outlook without harm: it keeps the text within its table, knows pre, and breaks words by itself. */
const ignored = new Set([
  'max-width',
  'height',
  'padding',
  'padding-left',
  'white-space',
  'word-break',
  'word-wrap',
  'table-layout',
]);

interface Sent {
  readonly kind: string;
  /** Its header. */
  readonly head: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

async function sentBy(service: Service, kinds: Readonly<Record<string, RegExp>>): Promise<Sent[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mails-'));
  const sent: Sent[] = [];
  for (const [index, raw] of (await service.outbox()).entries()) {
    const path = join(folder, `${index}.eml`);
    writeFileSync(path, raw);
    const { subject, text, html } = await readParts(path);
    const kind = Object.entries(kinds).find(([, words]) => words.test(`${subject}\n${text}`))?.[0] ?? subject;
    if (!sent.some((other) => other.kind === kind))
      sent.push({ kind, head: raw.split('\r\n\r\n')[0] ?? '', subject, text: text ?? '', html: html ?? '' });
  }
  rmSync(folder, { recursive: true });
  return sent;
}

/** One of each kind. */
async function sendAll(service: Service): Promise<void> {
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  await service.patch('/me/mail', { signature: '**Olga** from the *shop*' }, owner.token);
  const picture = await service.upload(owner, { filename: 'cup.png', contentType: 'image/png' });
  await service.deliver(mailbox, {
    from: 'kim@customer.example',
    subject: 'Broken cup',
    text: undefined,
    html: `<p>It <b>broke</b>:</p><table><tr><td>Order</td><td>${'1234567890'.repeat(12)}</td></tr></table>`,
  });
  const [ticket] = await service.tickets(owner.token);
  const on = `/conversations/${ticket.id}`;
  const body = [
    'Dear Kim,',
    '',
    '**Sorry** for the *broken* cup. See [our page](https://shop.example/returns) or https://shop.example/a/very/long/address/without/any/place/to/break/it/at/all/for/a/phone?id=1234567890123456789012345678901234567890',
    '',
    '- pack it',
    '- send it',
    '',
    '1. first',
    '2. second',
    '',
    '> as you wrote',
    '',
    '```',
    'tracking --number 00000000000000000000000000000000000000000000000000000000000000000000',
    '```',
    '',
    `Use \`code\` ${'x'.repeat(90)}`,
    '',
    `![The cup](${picture.url})`,
  ].join('\n');
  await service.post(
    `${on}/messages`,
    { body, format: 'markdown', withQuote: true, attachments: [{ url: picture.url }] },
    owner.token,
  );
  const [asked] = await service.messages(ticket.id, owner.token);
  await service.post(
    `${on}/messages`,
    { body: 'Can you repair it?', forwardOf: asked.id, to: ['smith@repair.example'] },
    owner.token,
  );
  await service.post(`${on}/email-transcript`, { to: 'boss@shop.example', subject: 'The transcript' }, owner.token);

  const customer = await service.customer(owner.embedId, { name: 'Lea', email: 'lea@customer.example' });
  const chat = await service.post('/widget/conversations', { body: 'Is anybody there?' }, customer.token);
  await service.post(
    `/conversations/${chat.body.conversation.id}/messages`,
    { body: 'Yes, we are.\nHow can we help?' },
    owner.token,
  );
  await service.pass(4 * minuteMs);
  const asker = await service.customer(owner.embedId);
  await service.post('/widget/tickets', { email: 'ann@customer.example', body: 'Do you repair kettles?' }, asker.token);

  await service.post('/agents/invite', { email: 'new@shop.example', name: 'New', role: 'agent' }, owner.token);
  await service.post('/auth/forgot-password', { email: owner.email });
  await service.patch('/me/notifications', { mail: ['queue'] }, owner.token);
  const { token } = await service.customer(owner.embedId, { name: 'Dana' });
  await service.post('/widget/conversations', { body: 'Is it blue?' }, token);
  await service.pass(6 * minuteMs);
  const key = await makeKey(service, owner);
  await service.post('/verify/services', { name: 'Sign-in' }, owner.token);
  await service.post('/verify', { to: 'code@customer.example', channel: 'email', locale: 'de' }, key);
  await service.post(
    '/me/password',
    { currentPassword: password, newPassword: 'another long and rare pass phrase' },
    owner.token,
  );
  await service.settled();
}

const kinds: Readonly<Record<string, RegExp>> = {
  transcript: /^The transcript/,
  forwarded: /Forwarded message/,
  answer: /Dear Kim/,
  chat: /Yes, we are/,
  receipt: /Its number is/,
  invitation: /^Join /,
  reset: /^Choose a new password/,
  waiting: /is waiting for an answer/,
  code: /Ihr Code/,
  notice: /password was changed/,
};

t.test('[sending] mails as programs show them', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  await sendAll(service);
  const mails = await sentBy(service, kinds);
  const pages = await startPages(t, service);
  const page = await pages.open('/healthz');
  const shown = async (html: string, width: number, colorScheme: 'light' | 'dark' = 'light'): Promise<void> => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await page.setContent(html);
    // As a program's own ground, which the accessibility checks would take for white.
    await page.addStyleTag({ content: 'html{background:Canvas;color:CanvasText}' });
  };
  const isTooWide = (): Promise<boolean> =>
    page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
  const shownWords = async (): Promise<string[]> => wordsOf(await page.evaluate('document.body.innerText'));

  t.test('each kind was sent', async (t) => {
    t.same(
      Object.keys(kinds).filter((kind) => !mails.some((mail) => mail.kind === kind)),
      [],
    );
  });

  t.test(
    'machines must not answer what no person wrote, and only mails that are not answers can be ended',
    async (t) => {
      for (const { kind, head } of mails) {
        const isWritten = ['answer', 'forwarded', 'chat'].includes(kind);
        t.equal(/^Auto-Submitted: auto-/m.test(head), !isWritten, kind);
        t.equal(/^List-Unsubscribe: <http/m.test(head), kind === 'waiting', kind);
      }
    },
  );

  for (const { kind, subject, text, html } of mails) {
    t.test(`${kind}: fits, can be read in light and dark, and says what its plain text says`, async (t) => {
      for (const scheme of ['light', 'dark'] as const)
        for (const width of widths) {
          await shown(html, width, scheme);
          t.notOk(await isTooWide(), `${scheme}, ${width} wide`);
          if (width !== 600) t.strictSame(await barriersOf(page, 'color-contrast'), [], `${scheme}, ${width} wide`);
          if (pictures !== undefined)
            await page.screenshot({ path: join(pictures, `mail-${kind}-${scheme}-${width}.png`), fullPage: true });
        }
      t.same(await shownWords(), wordsOf(text));
      t.equal(await page.title(), subject);
      t.match(html, /<html lang="[a-z]{2}/);
      t.match(html, '<meta name="color-scheme" content="light dark">');
      t.ok(Buffer.byteLength(html) < maxHtmlBytes);
    });

    t.test(`${kind}: is of elements and styles that Gmail and Outlook know`, async (t) => {
      await page.setContent(html);
      const found = await page.evaluate<{ name: string; style: string | null; attributes: string[] }[]>(
        `[...document.querySelectorAll('*')].map((one) => ({ name: one.localName, style: one.getAttribute('style'), attributes: one.getAttributeNames() }))`,
      );
      for (const { name, style, attributes } of found) {
        t.ok(elements.has(name), `<${name}>`);
        t.notOk(
          attributes.some((one) => /^on|^(?:class|id|background)$/.test(one)),
          `<${name} ${attributes.join(' ')}>`,
        );
        if (name === 'table' && attributes.includes('width')) t.ok(attributes.includes('role'), 'a table for layout');
        for (const rule of (style ?? '').split(';').filter((one) => one !== '')) {
          const [property = '', value = ''] = rule.split(/:(.*)/s);
          if (!ignored.has(property)) t.match(value, supported[property] ?? /^not supported$/, `${name} { ${rule} }`);
        }
      }
      t.notMatch(html, /url\(|@import|@media|javascript:/);
    });

    t.test(`${kind}: is the same without its head, and in Outlook's table`, async (t) => {
      for (const width of widths) {
        await shown(asGmail(html), width);
        t.notOk(await isTooWide(), `Gmail, ${width} wide`);
        t.same(await shownWords(), wordsOf(text));
      }
      await shown(asOutlook(html), 1024);
      t.notOk(await isTooWide(), 'Outlook');
      t.same(await shownWords(), wordsOf(text));
      const right = await page.evaluate<number>(
        `Math.max(...[...document.querySelectorAll('p')].map((one) => one.getBoundingClientRect().right))`,
      );
      t.ok(right <= 660, 'lines are no longer than they should be');
    });
  }
});

t.test('[sending] the page of a mail: its title and language are text, and each element has its style', async (t) => {
  const page = mailPageOf({
    title: 'a <b> & "c"',
    html: '<p>x</p><pre>y</pre><br /><strong>z</strong>',
    language: 'de"',
  });
  t.match(page, '<title>a &lt;b&gt; &amp; &quot;c&quot;</title>');
  t.match(page, '<html lang="de&quot;">');
  t.match(page, '<p style="margin:0 0 12px">x</p><pre style="margin:0 0 12px;');
  t.match(page, '<br /><strong>z</strong>');
  t.match(mailPageOf({ title: '', html: '', language: undefined }), '<html><head>');
  t.match(mailPageOf({ title: '', html: '', language: 'ar-EG' }), '<html lang="ar-EG" dir="rtl"><head>');
});

/** It keeps the content of the body, and no comments. */
function asGmail(html: string): string {
  return html
    .replace(/<head>[\s\S]*<\/head>/, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<!DOCTYPE html>/, '');
}

/** It reads what stands in its own conditions, and drops what Word does not know. */
function asOutlook(html: string): string {
  return html
    .replace(/<!--\[if mso\]>([\s\S]*?)<!\[endif\]-->/g, '$1')
    .replace(/<(\w+)([^<>]*) style="([^"]*)"/g, (_, name: string, others: string, style: string) => {
      const kept = style.split(';').filter((rule) => {
        const property = rule.split(':')[0] ?? '';
        return !ignored.has(property) || (property === 'padding' && name === 'td') || property === 'word-break';
      });
      return `<${name}${others} style="${kept.join(';')}"`;
    })
    .replaceAll('<pre ', '<pre data-word ')
    .replace('</head>', '<style>[data-word]{white-space:pre-wrap}</style></head>');
}

/** Without what only one form can have: signs of quotes and lists, addresses, and the words for a picture. */
function wordsOf(text: string): string[] {
  return text
    .replace(/<?https?:\/\/[^\s>]+>?/g, ' ')
    .replace(/^[>\s]*(?:[*-]|\d+\.)\s/gm, ' ')
    .replace(/\[[^\][]*\]/g, ' ')
    .replace(/[>:,.-]+(?=\s|$)|^>+/gm, ' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
}
