// The whole story in real browsers, from an empty data folder, against the service as an operator starts it: an owner
// registers on the pages and invites a colleague; two customers write from a page with the widget; a chat is answered,
// handed over, and survives a lost network and a killed server; a ticket arrives by mail and is answered; a call rings
// and is answered. Whatever happened, every screen ends with the same messages, none missing and none twice.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { signatureOf } from '../../http/signed/signatures.ts';
import { callApi, password } from '../support/api.ts';
import { widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { startPages } from '../support/pages.ts';
import { ServiceProcess } from '../support/process.ts';

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
  const mails = (): string[] =>
    readdirSync(join(dataDir, 'outbox')).map((name) => readFileSync(join(dataDir, 'outbox', name), 'utf8'));
  const tokenOf = (page: Page) => page.evaluate<string>(`localStorage.getItem('switchboard.token')`);

  const owner = await pages.open('/', wide);
  await owner.getByRole('link', { name: 'Create a workspace' }).click();
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
  await answer(ann, 'We will send you a patch.');
  await bubble(ann, 'We will send you a patch.').getByText('Emailed', { exact: true }).waitFor();
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
