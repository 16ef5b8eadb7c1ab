// The fixed words of mails to customers, in the language of each.

import t from 'tap';
import { localeIn } from '../../engine/locales.ts';
import { mailWordsFor } from '../../engine/mail/mail-words.ts';
import { clockFor } from '../../engine/workspace/time-zones.ts';
import { stripHistory } from '../../workers/mail/quoted-history.ts';
import { startService } from '../support/service.ts';

const minuteMs = 60_000;
const locales = ['en', 'de', 'fr', 'es', 'ar', 'de-AT', 'ar-EG', 'fi'];

t.test('[languages] the best of a header that is one of the five, with its region', async (t) => {
  for (const [header, locale] of [
    ['de', 'de'],
    ['de-at,de;q=0.9,en;q=0.8', 'de-AT'],
    ['fi, nl;q=0.9, fr-CH;q=0.8, en;q=0.7', 'fr-CH'],
    ['en;q=0.4, es;q=0.9', 'es'],
    ['ar-Arab-EG-u-nu-latn', 'ar-EG'],
    ['es-419', 'es-419'],
    ['DE;Q=1.0', 'de'],
    ['de;q=0, en;q=0.1', 'en'],
    ['de;q=none', null],
    ['*', null],
    ['fi', null],
    ['deu, english', null],
    ['', null],
    [undefined, null],
    [`${'fi,'.repeat(30)}de`, null],
  ] as const)
    t.equal(localeIn(header), locale, header ?? 'none');
});

t.test('[languages] an answer that quotes our words is read without them, above and below', async (t) => {
  const author = 'Ann <ann@shop.example>';
  for (const locale of locales) {
    const words = mailWordsFor(locale);
    const at = clockFor({ timezone: 'Europe/Berlin', locale })('2026-11-23T04:48:00.000Z');
    for (const by of [author, 'Ann']) {
      const line = words.wrote({ at, author: by });
      for (const quoted of [`${line}\n> It left.\n> Today.`, `> ${line}\n> > It left.`, `${line}\n\n> It left.`]) {
        t.same(stripHistory(`Thanks!\n\n${quoted}`), { text: 'Thanks!', isShorter: true }, `${locale}, above`);
        t.same(stripHistory(`${quoted}\n\nThanks!`), { text: 'Thanks!', isShorter: true }, `${locale}, below`);
      }
    }
    const line = words.wrote({ at, author });
    const middle = line.indexOf(' ', line.length / 2);
    t.same(
      stripHistory(`Thanks!\n${line.slice(0, middle)}\n${line.slice(middle + 1)}\n> It left.`).text,
      'Thanks!',
      `${locale}, wrapped below a text`,
    );
    // Neither who nor when: someone's own sentence.
    const own = `Look:\n\n${words.wrote({ at: '-', author: '-' })}\n> It left.`;
    t.same(stripHistory(own), { text: own, isShorter: false }, `${locale}, a sentence`);
  }
});

t.test('[languages] French has a no-break space before each colon', (t) => {
  const words = mailWordsFor('fr');
  const said = [
    words.colon,
    words.questionSubject({ name: 'Shop', number: 7 }),
    words.wrote({ at: 'demain', author: 'Ann' }),
  ];
  for (const line of said) t.match(line, /^[^:]*\u00a0:[^:]*$/);
  t.end();
});

t.test('[languages] mails to customers', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', MAIL_HOST: 'mail.switchboard.test' } });
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  const session = async (language: string | undefined, more: object = {}) => {
    const { body } = await service.call('POST', '/widget/sessions', {
      body: { siteId: owner.embedId, url: 'https://shop.example/', ...more },
      headers: language === undefined ? {} : { 'Accept-Language': language },
    });
    return { token: body.visitorToken as string, visitorId: body.visitor.id as string };
  };
  const localeOf = async (visitorId: string) =>
    (await service.get(`/visitors/${visitorId}`, owner.token)).body.visitor.locale;
  const setLocale = (locale: string) => service.patch(`/workspaces/${owner.workspaceId}`, { locale }, owner.token);

  t.test('[languages] a visitor has the language that its browser asks for, until it asks for another', async (t) => {
    const none = await session('fi');
    t.equal(await localeOf(none.visitorId), null);
    const { token, visitorId } = await session('de-AT,de;q=0.9,en;q=0.8');
    t.equal(await localeOf(visitorId), 'de-AT');
    await session('fi', { visitorToken: token });
    t.equal(await localeOf(visitorId), 'de-AT', 'one that is none of the five says nothing');
    await session('es', { visitorToken: token });
    t.equal(await localeOf(visitorId), 'es');
    t.notOk('locale' in (await service.get('/widget/visitor', token)).body, 'its own record is without it');
  });

  t.test('[languages] a receipt: in the language of who asked, or else of the workspace', async (t) => {
    const receiptFor = async (language: string | undefined, email: string) => {
      const { token } = await session(language);
      await service.post('/widget/tickets', { email, body: 'Do you repair kettles?' }, token);
      return service.mail(email);
    };
    const german = await receiptFor('de', 'lea@customer.example');
    t.match(german.subject, /^Shop 1: Frage \d+$/);
    t.match(german.text, /^Vielen Dank für Ihre Frage\. Sie hat die Nummer \d+\.\n\nWir antworten an diese Adresse\./);
    t.match(german, { language: 'de' });
    t.match((await receiptFor('fr', 'luc@customer.example')).text, /^Merci pour votre question\./);
    t.match((await receiptFor('es', 'ana@customer.example')).text, /^Gracias por su pregunta\./);
    const arabic = await receiptFor('ar', 'nur@customer.example');
    t.match(arabic.text, /^شكرًا على سؤالك\. رقمه \d+\./);
    t.match(arabic, { language: 'ar', html: /^<div lang="ar" dir="rtl"><p>شكرًا/ });
    t.match((await receiptFor('fi', 'aino@customer.example')).text, /^Thank you for your question\./);
    await setLocale('fr');
    t.match((await receiptFor('fi', 'olli@customer.example')).text, /^Merci pour votre question\./);
    t.match((await receiptFor('en', 'joe@customer.example')).text, /^Thank you for your question\./);
    await setLocale('nl');
    t.match(await receiptFor(undefined, 'jan@customer.example'), {
      text: /^Thank you for your question\./,
      language: 'en',
      html: /^<div lang="en" dir="ltr">/,
    });
    await setLocale('en');
  });

  t.test("[languages] a chat's answers end with the way back", async (t) => {
    for (const [language, words, link] of [
      [
        'fr',
        /\n\nRépondez à cet e-mail, ou continuez sur notre site\u00a0:\nhttp:/,
        '>continuez sur notre site</a>.</p>',
      ],
      ['de', /\n\nAntworten Sie auf diese E-Mail, oder schreiben Sie [^\n]+:\nhttp:/, ' weiter</a>.</p>'],
      [
        'ar',
        /\n\nيمكنك الرد على هذه الرسالة، أو متابعة المحادثة على موقعنا:\nhttp:/,
        '<div lang="ar" dir="rtl"><p>يمكنك',
      ],
      ['fi', /\n\nAnswer this mail, or continue on our website:\nhttp:/, '>continue on our website</a>.</p>'],
    ] as const) {
      const email = `${language}@chat.example`;
      const { token } = await session(language, { email });
      const { body } = await service.post('/widget/conversations', { body: 'Hello?' }, token);
      await service.post(`/conversations/${body.conversation.id}/messages`, { body: 'Hello.' }, owner.token);
      await service.pass(4 * minuteMs);
      const mail = await service.mail(email);
      t.match(mail.text, words, language);
      t.match(mail.html, link, language);
      t.match(mail, { language: 'en' }, 'the answers are in the language of the workspace');
    }
  });

  t.test('[languages] a transcript: to the customer in its language, to others in that of the workspace', async (t) => {
    const email = 'inga@customer.example';
    const { token } = await session('de', { email });
    const { body } = await service.post('/widget/conversations', { body: 'Wo ist es?' }, token);
    const transcriptTo = async (to: string) => {
      const path = `/conversations/${body.conversation.id}/email-transcript`;
      await service.post(path, { to, subject: 'What we said' }, owner.token);
      return service.mail(to);
    };
    t.match(await transcriptTo(email), {
      text: /^\[\d{1,2}\. \S+ \d{4}, \d{2}:\d{2} UTC\] Kunde\nWo ist es\?\n$/,
      language: 'de',
    });
    t.match(await transcriptTo('boss@elsewhere.example'), {
      text: /^\[[A-Z][a-z]{2} \d{1,2}, [^\]]+\] Customer\n/,
      language: 'en',
    });
  });

  t.test('[languages] a quote, in the language of the mail, or else of its visitor', async (t) => {
    let mails = 0;
    const answerTo = async (from: string, headers: Record<string, string>, fields: object = {}) => {
      mails += 1;
      const messageId = `<mail${mails}@customer.example>`;
      await service.deliver(mailbox, { from, subject: 'Order 7', text: 'Where is it?', messageId, headers });
      const ticket = (await service.tickets(owner.token)).at(-1);
      const sent = await service.post(
        `/conversations/${ticket.id}/messages`,
        { body: 'On its way.', withQuote: true, ...fields },
        owner.token,
      );
      t.equal(sent.status, 201);
      return { ticket, mail: await service.mail(from) };
    };
    const { ticket, mail } = await answerTo('omar@customer.example', { 'Content-Language': 'ar-EG' });
    t.match(mail.text, /^On its way\.\n\nفي [^\n]+، كتب omar@customer\.example:\n> Where is it\?$/);
    t.match(mail.html, /<div lang="ar" dir="rtl"><p>في [^<]+:<\/p><\/div><blockquote type="cite">/);
    t.match(mail, { language: 'en' }, 'the answer itself is in the language of the workspace');
    t.equal(await localeOf(ticket.visitorId), 'ar-EG');
    t.equal(stripHistory(`شكرا\n\n${mail.text.split('\n\n')[1]}`).text, 'شكرا');
    const again = await answerTo('omar@customer.example', { 'Content-Language': 'fi' });
    t.match(again.mail.text, 'كتب', 'one that is none of the five says nothing');
    const french = await answerTo('omar@customer.example', { 'Content-Language': 'fr' });
    t.match(french.mail.text, /\n\nLe [^\n]+ a écrit\u00a0:\n> Where/, 'without a browser the last mail counts');
    const email = 'eva@customer.example';
    await session('es', { email });
    t.match((await answerTo(email, {})).mail.text, /\n\nEl [^\n]+, eva@customer\.example escribió:\n> Where/);
    t.match((await answerTo(email, { 'Content-Language': 'en-US' })).mail.text, 'escribió', 'its browser knows better');
    const unknown = 'eino@customer.example';
    await session('fi', { email: unknown });
    t.match((await answerTo(unknown, { 'Content-Language': 'de' })).mail.text, 'schrieb', 'its browser said nothing');

    // Who is asked about it is no customer.
    const [message] = await service.messages(ticket.id, owner.token);
    await service.post(
      `/conversations/${ticket.id}/messages`,
      { body: 'Do you know?', forwardOf: message.id, to: ['maker@elsewhere.example'] },
      owner.token,
    );
    t.match(
      (await service.mail('maker@elsewhere.example')).text,
      /-- Forwarded message --[^]+\nDate: [A-Z][a-z]{2} \d/,
    );
  });
});
