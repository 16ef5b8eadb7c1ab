// Settings, Move in, in a real browser: an mbox file is sent in parts, looked at first, and moved in; a service that refuses
// its token says so.

import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

const mail = (id: string, more: readonly string[] = []): string =>
  [
    'From ixa@customer.example Mon Mar  1 10:00:00 2021',
    'From: Ixa <ixa@customer.example>',
    'To: support@shop.example',
    `Subject: About ${id} <img src=x onerror=alert(1)>`,
    `Message-ID: <${id}@customer.example>`,
    'Date: Mon, 1 Mar 2021 10:00:00 +0000',
    ...more,
    '',
    'Hello.',
    '',
    '',
  ].join('\n');

t.test('moving in', { skip: noBrowser }, async (t) => {
  const port = await freePort();
  const service = await startService(t, {
    env: {
      RATE_LIMITS: 'off',
      ALLOW_PRIVATE_WEBHOOKS: 'true',
      PORT: String(port),
      BASE_URL: `http://localhost:${port}`,
    },
  });
  const owner = await service.workspace();
  const pages = await startPages(t, service);
  const desk = await pages.open('/settings/move-in', { token: owner.token });
  await desk.getByRole('heading', { name: 'Move in', level: 1 }).waitFor();
  const row = (name: string) => desk.getByRole('listitem').filter({ hasText: name });

  t.test('a file is looked at first, then moved in', async (t) => {
    t.same(await barriersOf(desk), []);
    const file = mail('1') + mail('2') + mail('3', ['List-Id: <news.example>']);
    await desk
      .getByLabel('The mbox file')
      .setInputFiles({ name: 'old.mbox', mimeType: 'application/mbox', buffer: Buffer.from(file) });
    await desk.getByRole('button', { name: 'Look what would happen' }).click();
    await row('old.mbox').getByText('Ready to move in').waitFor();
    await row('old.mbox')
      .getByText('Of the first 3: 2 new conversations with 2 messages, 1 new customer, 1 left out')
      .waitFor();
    await row('old.mbox').getByText('Left out or shortened').click();
    await row('old.mbox').getByText('About 3 <img').waitFor();
    t.same(await barriersOf(desk), []);
    t.equal((await service.get('/conversations/recently-closed', owner.token)).body.conversations.length, 0);
    await desk.getByRole('button', { name: 'Move in: old.mbox' }).click();
    await row('old.mbox').getByText('Done').waitFor();
    await row('old.mbox').getByText('3 read: 2 new conversations with 2 messages').waitFor();
    await desk.getByRole('button', { name: 'Delete: old.mbox' }).click();
    await desk.getByText('Nothing has been moved in yet').waitFor();
    const found = await service.get('/conversations/search?q=Hello', owner.token);
    t.match(JSON.stringify(found.body), /About 1/);
  });

  t.test('a service that cannot be read says why', async () => {
    await desk.getByLabel('From', { exact: true }).selectOption({ label: 'Zendesk' });
    await desk.getByLabel('Address', { exact: true }).fill(`http://localhost:${port}/nowhere`);
    await desk.getByLabel(/token.s user/).fill('me@shop.example');
    await desk.getByLabel('API token').fill('secret');
    await desk.getByRole('button', { name: 'Look what would happen' }).click();
    await row(`localhost:${port}`).getByText('Failed').waitFor();
    await row(`localhost:${port}`)
      .getByText(/Zendesk has nothing at/)
      .waitFor();
  });

  t.test('an agent has no such section', async (t) => {
    const agent = await service.agent(owner);
    const theirs = await pages.open('/settings/move-in', { token: agent.token });
    await theirs.getByRole('navigation', { name: 'Settings' }).waitFor();
    t.equal(await theirs.getByRole('heading', { name: 'Move in', level: 1 }).count(), 0);
  });
});
