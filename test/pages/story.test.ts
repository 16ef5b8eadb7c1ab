// Whole stories in real browsers, from an empty data folder. In the first, against the service as an operator starts it,
// an owner registers on the pages and invites a colleague; two customers write from a page with the widget; a chat is
// answered, handed over, and survives a lost network and a killed server; a ticket arrives by mail and is answered; a call
// rings and is answered. Whatever happened, every screen ends with the same messages, none missing and none twice. In the
// second, nobody looks at the same time as another, and nobody is lost.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { signatureOf } from '../../http/signed/signatures.ts';
import { callApi, password } from '../support/api.ts';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { holds, startPages } from '../support/pages.ts';
import { ServiceProcess } from '../support/process.ts';
import { type PushBrowser, PushService } from '../support/push-browsers.ts';
import { startService } from '../support/service.ts';

const said = (page: Page) => page.locator('.inbox-said .inbox-text');
const bubble = (page: Page, text: string) => page.locator('.inbox-said').filter({ hasText: text });
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const answer = async (page: Page, text: string): Promise<void> => {
  await page.locator('.inbox-composer textarea').fill(text);
  await page.locator('.inbox-composer textarea').press('Enter');
};
const write = async (page: Page, text: string): Promise<void> => {
  await widgetOf(page).text.fill(text);
  await widgetOf(page).text.press('Enter');
};
const heard = (page: Page, text: string) => widgetOf(page).lines.filter({ hasText: text }).waitFor();

t.test('from an empty folder to a chat, a handshake, a ticket and a call', { skip: noBrowser }, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const port = await freePort();
  const env = {
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    PORT: String(port),
    BASE_URL: `http://localhost:${port}`,
    RATE_LIMITS: 'off',
  };
  let server = await ServiceProcess.serving(t, env);
  const pages = await startPages(t, { url: `http://localhost:${port}` });
  const wide = { viewport: { width: 1440, height: 900 } };
  const api = async (
    method: string,
    path: string,
    token: string | undefined,
    sent?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const { status, body } = await callApi(server.url, method, path, { token, body: sent, headers });
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  /** The mails that a new installation keeps. */
  const outbox = join(dataDir, 'outbox');
  const mails = (): string[] =>
    (existsSync(outbox) ? readdirSync(outbox) : [])
      // One that is being written has another ending.
      .filter((name) => name.endsWith('.eml'))
      .map((name) => readFileSync(join(outbox, name), 'utf8'));
  const tokenOf = (page: Page) => page.evaluate<string>(`localStorage.getItem('switchboard.token')`);

  const owner = await pages.open('/', wide);
  await owner.getByLabel('What is your business called?').fill('Nordlicht');
  await owner.getByLabel('Its website').fill('nordlicht.example');
  await owner.getByLabel('Your email').fill('mara@nordlicht.example');
  await owner.getByLabel('Password', { exact: true }).fill(password);
  await button(owner, 'Create workspace').click();
  await owner.getByRole('heading', { name: 'Welcome to Switchboard' }).waitFor();
  await owner.getByLabel('Your name').fill('Mara');
  await button(owner, 'Save').click();
  await owner.getByLabel('Name', { exact: true }).fill('Ann');
  await owner.getByLabel('Email', { exact: true }).fill('ann@nordlicht.example');
  await button(owner, 'Send invitation').click();
  const preview = (await owner.locator('.preview-frame').getAttribute('src')) ?? '';
  await owner.locator('.step.done').filter({ hasText: 'Invite colleagues' }).waitFor();
  const invitationIn = (): string | undefined =>
    mails()
      .map((mail) => /\/join\/[\w-]+/.exec(mail)?.[0])
      .find((link) => link !== undefined);
  // The mail is written a moment after the page announces it.
  while (invitationIn() === undefined) await owner.evaluate('new Promise((next) => requestAnimationFrame(next))');
  const invitation = invitationIn() ?? '';

  const ann = await pages.open(invitation, wide);
  await ann.getByLabel('Password', { exact: true }).fill(password);
  await button(ann, 'Join').click();
  await ann.waitForURL(/\/inbox/);

  // Only the owner gets chats automatically, so that Ann must be offered hers.
  await api('POST', '/me/status', await tokenOf(ann), { status: 'away' });
  const [kim, lee] = [await pages.open(preview), await pages.open(preview)];
  for (const [page, text] of [
    [kim, 'Where is my order?'],
    [lee, 'Do you ship to Norway?'],
  ] as const) {
    await widgetOf(page).launcher.click();
    await write(page, text);
    await heard(page, text);
  }
  await owner.goto(`http://localhost:${port}/inbox/all`);
  await owner.locator('.inbox-row').filter({ hasText: 'Do you ship to Norway?' }).waitFor();
  await owner.locator('.inbox-row').filter({ hasText: 'Where is my order?' }).click();
  await bubble(owner, 'Where is my order?').waitFor();
  await answer(owner, 'Let me look that up.');
  await heard(kim, 'Let me look that up.');

  t.comment('a handshake');
  await button(owner, 'Assign').click();
  await owner.getByRole('dialog').getByRole('combobox').fill('ann');
  await button(owner, 'Offer to Ann').click();
  await ann.locator('.offers .offer').getByRole('button', { name: 'Accept' }).click();
  await bubble(ann, 'Where is my order?').waitFor();
  const id = /([0-9a-f-]{36})$/.exec(new URL(ann.url()).pathname)?.[1] ?? '';
  await answer(ann, 'It left on Monday.');
  await bubble(owner, 'It left on Monday.').waitFor();
  await heard(kim, 'It left on Monday.');

  t.comment('the network goes, the server is killed, both come back');
  await ann.context().setOffline(true);
  await write(kim, 'And when is it here?');
  await heard(kim, 'And when is it here?');
  await answer(ann, 'On Thursday, I think.');
  await bubble(ann, 'On Thursday, I think.').waitFor();
  await ann.context().setOffline(false);
  await heard(kim, 'On Thursday, I think.');
  await server.kill('SIGKILL');
  await write(kim, 'Thank you');
  await answer(ann, 'With pleasure');
  await owner.getByText('No connection.').waitFor();
  server = await ServiceProcess.serving(t, env);
  for (const text of ['Thank you', 'With pleasure']) {
    await heard(kim, text);
    for (const page of [owner, ann]) await bubble(page, text).waitFor();
  }
  const { messages } = await api('GET', `/conversations/${id}/messages?limit=200`, await tokenOf(owner));
  const there = messages
    .filter(({ senderType }: { senderType: string }) => senderType !== 'system')
    .map(({ body }: { body: string }) => body);
  t.same([...there].sort(), [
    'And when is it here?',
    'It left on Monday.',
    'Let me look that up.',
    'On Thursday, I think.',
    'Thank you',
    'Where is my order?',
    'With pleasure',
  ]);
  for (const page of [owner, ann])
    t.same(await said(page).allTextContents(), there, 'the same on the screens of both agents');
  const shown = (await widgetOf(kim).lines.locator('.bubble').allTextContents()).filter((text) => there.includes(text));
  t.same(shown, there, 'and of the customer');
  t.equal(await widgetOf(lee).lines.filter({ hasText: 'It left on Monday.' }).count(), 0, "and on no one else's");

  t.comment('a ticket by mail');
  const { inboundEmail, carrier } = await api('GET', '/workspace/integrations', await tokenOf(owner));
  const mail = JSON.stringify({
    from: 'Carla <carla@customer.example>',
    to: [inboundEmail.address],
    subject: 'A tent with a hole',
    text: 'What can be done?',
  });
  await api('POST', '/email/inbound', undefined, mail, { 'X-Signature': signatureOf(mail, inboundEmail.secret) });
  await ann
    .getByRole('navigation', { name: 'Lists' })
    .getByRole('link', { name: /^Tickets/ })
    .click();
  await ann.locator('.inbox-row').filter({ hasText: 'A tent with a hole' }).click();
  await bubble(ann, 'What can be done?').waitFor();
  await api('PATCH', '/me/mail', await tokenOf(ann), { undoSeconds: 0 });
  await ann.locator('.mail-editor').click();
  await ann.keyboard.insertText('We will send you a patch.');
  await ann.keyboard.press('Control+Enter');
  await bubble(ann, 'We will send you a patch.').getByText('Kept in the outbox, not sent', { exact: true }).waitFor();
  t.equal(mails().filter((one) => /^To: .*carla@customer\.example/m.test(one)).length, 1, 'mailed once');

  t.comment('a call');
  await api('POST', '/me/status', await tokenOf(ann), { status: 'available' });
  const ownerToken = await tokenOf(owner);
  const line = await api('POST', '/phone-numbers', ownerToken, {
    e164: '+12125550001',
    displayName: 'Support',
    routingStrategy: 'all_agents',
  });
  const ring = JSON.stringify({ type: 'ringing', callId: 'story-1', from: '+14155550123', to: line.e164 });
  await api('POST', '/carrier/events', undefined, ring, { 'X-Signature': signatureOf(ring, carrier.secret) });
  const calling = owner.getByRole('region', { name: 'Calls waiting for you' }).getByRole('listitem');
  await calling.getByText('is calling Support').first().waitFor();
  await calling.getByRole('button', { name: /^Answer/ }).click();
  const bar = owner.getByRole('region', { name: /^In a call with/ });
  await bar.waitFor();
  await calling.waitFor({ state: 'detached' });
  await bar.getByRole('button', { name: /Hang up/ }).click();
  await bar.waitFor({ state: 'detached' });

  t.same(pages.problems, []);
});

t.test('no one is lost when no one is looking', { skip: noBrowser }, async (t) => {
  const port = await freePort();
  const service = await startService(t, {
    env: {
      RATE_LIMITS: 'off',
      ALLOW_PRIVATE_WEBHOOKS: '1',
      PORT: String(port),
      BASE_URL: `http://localhost:${port}`,
    },
  });
  const pages = await startPages(t, { url: `http://localhost:${port}` });
  const pushes = await PushService.start(t);
  const minuteMs = 60_000;
  const mailedAfterMs = 3 * minuteMs + 1000;
  /** Until the service knows that the last of them has left. */
  const gone = async (who: 'agent' | 'visitor'): Promise<void> => {
    const said = `switchboard_${who}_sockets 0\n`;
    while (!(await (await fetch(new URL('/metrics', service.url))).text()).includes(said));
    await service.settled();
  };
  const read = async (path: string, token: string) => (await service.get(path, token)).body;

  t.comment('a shop signs up, and its site may show the widget');
  const desk = await pages.open('/', { viewport: { width: 1440, height: 900 } });
  await desk.getByLabel('What is your business called?').fill('Nordlicht');
  await desk.getByLabel('Its website').fill('nordlicht.example');
  await desk.getByLabel('Your email').fill('mara@nordlicht.example');
  await desk.getByLabel('Password', { exact: true }).fill(password);
  await button(desk, 'Create workspace').click();
  await desk.getByRole('heading', { name: 'Welcome to Switchboard' }).waitFor();
  await desk.getByLabel('Your name').fill('Mara');
  await button(desk, 'Save').click();
  await desk.locator('.rail .own[aria-label^="Mara"]').waitFor();
  const embedId = /data-site-id="([\w-]+)"/.exec(
    (await desk.locator('.copyable code').first().textContent()) ?? '',
  )?.[1];
  const shop = await startBrowsing(t, { url: `http://localhost:${port}` }, embedId ?? '');
  const { host } = new URL(shop.origin);
  await shop.open();
  while (!shop.said.some((line) => line.includes('forbidden'))) await holds(desk, 'true');
  await button(desk, 'Look again').click();
  await button(desk, `Allow ${host}`).click();
  await desk.getByText(`The chat is allowed on ${host}`).waitFor();
  await desk.context().close();
  await shop.closeAll();

  t.comment('the owner turns push on, on a phone, and puts it away');
  const phoneContext = await pages.context({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
  });
  // A headless browser has no notifications and no push service: these are replaced, and nothing of ours.
  let pushed: PushBrowser | undefined;
  await phoneContext.exposeFunction('subscribeToPush', async (key: string) => {
    pushed ??= await pushes.browser(key);
    return pushed.subscription;
  });
  await phoneContext.addInitScript(`
    Object.defineProperty(Notification, 'permission', { get: () => 'granted' });
    Notification.requestPermission = async () => 'granted';
    PushManager.prototype.getSubscription = async () => null;
    PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
      const subscription = await window.subscribeToPush(applicationServerKey);
      return { ...subscription, toJSON: () => subscription };
    };
  `);
  const phone = await pages.open('/sign-in', { in: phoneContext });
  await phone.getByLabel('Email').fill('mara@nordlicht.example');
  await phone.getByLabel('Password').fill(password);
  await phone.getByRole('button', { name: 'Sign in', exact: true }).click();
  await phone.waitForURL(/\/inbox/);
  await button(phone, 'Notifications').click();
  await phone.getByRole('menuitemcheckbox', { name: 'Push while no page is open' }).click();
  const token = await phone.evaluate<string>(`localStorage.getItem('switchboard.token')`);
  while ((await read('/me/push', token)).subscriptions.length === 0) await holds(phone, 'true');
  await phone.close();
  await gone('agent');
  const notices = (): { title: string; body: string; url: string }[] => pushed?.notices ?? [];
  const pushedTo = async (count: number): Promise<void> => {
    while (notices().length < count) await service.settled();
  };
  /** As its service worker does on a tap on the newest notification. */
  const tap = () => pages.open(notices().at(-1)?.url ?? '', { in: phoneContext });

  t.comment('a customer asks, leaves an address, and closes the page');
  const asking = await shop.open({ path: '/tents' });
  await widgetOf(asking).launcher.click();
  await write(asking, 'Do you ship to Malta?');
  await widgetOf(asking).lines.filter({ hasText: 'Sent' }).waitFor();
  await widgetOf(asking).panel.getByLabel('Email address').fill('dana@customer.example');
  await widgetOf(asking).panel.getByRole('button', { name: 'Save' }).click();
  await widgetOf(asking).panel.getByText('We will write to you there.').waitFor();
  await shop.closeAll();
  await gone('visitor');
  await service.pass(minuteMs);

  t.comment("the owner answers from the phone's push");
  await pushedTo(1);
  t.match(notices(), [{ body: 'Do you ship to Malta?' }]);
  const answering = await tap();
  await bubble(answering, 'Do you ship to Malta?').waitFor();
  await answer(answering, 'We do. Which tent would you like?');
  await bubble(answering, 'We do. Which tent would you like?').getByText('Sent').waitFor();
  await answering.close();
  await gone('agent');
  t.equal(service.mailCount('dana@customer.example'), 0, 'the customer may still return');
  await service.pass(mailedAfterMs);

  t.comment('the customer gets it by mail, and answers by mail');
  const mail = await service.mail('dana@customer.example');
  const mailbox = await service.mailbox({ token });
  t.match(mail, { from: { name: 'Mara (Nordlicht)', address: mailbox.address }, text: /Which tent would you like\?/ });
  await service.deliver(mailbox, {
    from: 'Dana <dana@customer.example>',
    subject: `Re: ${mail.subject}`,
    text: `The green one.\n\nOn Friday Mara wrote:\n> We do. Which tent would you like?`,
    headers: { 'in-reply-to': `<${mail.id}@${mailbox.address.split('@')[1]}>` },
  });
  await pushedTo(2);
  t.match(notices().slice(1), [{ title: 'dana@customer.example', body: 'The green one.', url: /^\/inbox\/mine\// }]);
  const again = await tap();
  const texts = ['Do you ship to Malta?', 'We do. Which tent would you like?', 'The green one.', 'It is on its way.'];
  await bubble(again, 'The green one.').waitFor();
  await answer(again, 'It is on its way.');
  await bubble(again, 'It is on its way.').getByText('Sent').waitFor();
  await service.pass(mailedAfterMs);
  const second = await service.mail('dana@customer.example');
  t.notMatch(second.text, /Which tent/, 'nothing twice');
  await bubble(again, 'It is on its way.').getByText('not sent to dana@customer.example').waitFor();

  t.comment('it is all one chat, on the phone and where the link in the mail leads');
  const elsewhere = await shop.context();
  const back = await elsewhere.newPage();
  await back.goto(/http:\/\/localhost:\d+\/c\/\S+/.exec(second.text)?.[0] ?? '');
  for (const text of texts) await heard(back, text);
  t.equal(back.url(), `${shop.origin}/tents`);
  t.same(await widgetOf(back).lines.locator('.bubble').allTextContents(), ['Hello! How can we help?', ...texts]);
  t.same(await said(again).allTextContents(), texts);
  const { conversations } = await read('/conversations/queue', token);
  t.match(conversations, [{ channel: 'chat', preview: 'It is on its way.' }]);
  t.equal(conversations.length, 1);
  await bubble(again, 'It is on its way.').getByText('Seen').waitFor();

  t.comment('the owner goes home; the next customer is told so, and leaves an address');
  await again.close();
  await shop.closeAll();
  await gone('agent');
  await service.pass(5 * minuteMs);
  t.match((await read('/me', token)).agent, { status: 'away', statusSource: 'automatic', isOnline: false });
  const next = await shop.open();
  const { launcher, panel, lines } = widgetOf(next);
  await launcher.click();
  await panel.getByText('We are away right now.').waitFor();
  await panel.getByText('Where may we mail our answer?').waitFor();
  await panel.getByLabel('Email address').fill('kim@customer.example');
  await panel.getByRole('button', { name: 'Save' }).click();
  await write(next, 'Do you repair zips?');
  await lines.filter({ hasText: 'Sent' }).waitFor();
  await shop.closeAll();
  await gone('visitor');
  await pushedTo(3);
  t.match(notices().at(-1), {
    title: 'kim@customer.example',
    body: 'Do you repair zips?',
    url: /^\/inbox\/unassigned\//,
  });

  t.comment('in the morning the owner is back, and so is the question');
  await service.pass(12 * 60 * minuteMs);
  const morning = await pages.open('/inbox/mine', { in: phoneContext });
  await morning.locator('.inbox-row').filter({ hasText: 'Do you repair zips?' }).click();
  await answer(morning, 'We do, all of them.');
  await bubble(morning, 'We do, all of them.').getByText('Sent').waitFor();
  await service.pass(mailedAfterMs);
  t.match((await service.mail('kim@customer.example')).text, /We do, all of them\./);

  t.same(pages.problems, []);
  t.same(shop.problems, []);
});
