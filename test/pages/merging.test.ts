// Two tickets and two contacts become one in a real browser, and are two again; a message becomes a ticket; followers.

import type { Page } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

t.test('who is who', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const pages = await startPages(t, service);
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  await service.patch(`/agents/${ann.agentId}`, { canTransfer: true }, owner.token);
  const mailbox = await service.mailbox(owner);
  let mails = 0;
  const mailed = async (name: string, subject: string, text: string) => {
    mails += 1;
    const address = `${name.toLowerCase()}@customer.example`;
    const messageId = `<page${mails}@customer.example>`;
    await service.deliver(mailbox, { from: `${name} <${address}>`, messageId, subject, text });
    service.clock.advance(1000);
    const ticket = (await service.tickets(owner.token)).at(-1);
    return { ...ticket, address, messageId };
  };
  const looking = { viewport: { width: 1440, height: 900 } };
  const page = await pages.open('/healthz', { token: ann.token, ...looking });
  const dialog = page.getByRole('dialog');
  const choose = async (on: Page, item: string) => {
    await on.getByRole('button', { name: 'More actions', exact: true }).click();
    await on.getByRole('menuitem', { name: item, exact: true }).click();
  };
  const told = (text: string) => page.locator('.notice').filter({ hasText: text }).first();
  const said = (text: string) => page.locator('.inbox-said', { hasText: text });

  t.test('a ticket is merged into another one, and the merge undone', async (t) => {
    const first = await mailed('Kim', 'Broken cup', 'It arrived broken.');
    const second = await mailed('Lou', 'Cups again', 'About the broken cup of Kim.');
    await page.goto(`${service.url}/inbox/all/${first.id}`);
    await said('It arrived broken.').waitFor();
    await choose(page, 'Merge into another ticket…');
    await dialog.getByLabel('Find the other ticket').fill(String(second.ticketNumber));
    // Until the other ticket is read, it may be another customer's.
    const merge = dialog.getByRole('button', { name: `Merge into #${second.ticketNumber}` });
    let isDown = true;
    await page.route(`**/api/v1/conversations/${second.id}`, (route) => (isDown ? route.abort() : route.continue()));
    await dialog.getByRole('radio', { name: /Cups again/ }).check();
    await dialog.getByRole('button', { name: 'Try again' }).waitFor();
    t.ok(await merge.isDisabled());
    isDown = false;
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByText('The other ticket has another customer, Lou.').waitFor();
    t.ok(await merge.isEnabled());
    await page.unroute(`**/api/v1/conversations/${second.id}`);
    t.strictSame(await barriersOf(page), []);
    await merge.click();
    await page.waitForURL(`**/inbox/all/${second.id}`);
    await said('It arrived broken.').waitFor();
    await said('About the broken cup of Kim.').waitFor();
    await page.getByText(`merged ticket #${first.ticketNumber} into this.`).waitFor();
    await told('was merged into this one').getByRole('button', { name: 'Undo' }).click();
    await page.waitForURL(`**/inbox/all/${first.id}`);
    await said('It arrived broken.').waitFor();
    await page.goto(`${service.url}/inbox/all/${second.id}`);
    await said('About the broken cup of Kim.').waitFor();
    t.equal(await said('It arrived broken.').count(), 0);
  });

  t.test('a merged ticket says where its messages are, to whoever looks at it, too', async (t) => {
    const [first, second] = [await mailed('Max', 'One', 'First text'), await mailed('Max', 'Two', 'Second text')];
    await page.goto(`${service.url}/inbox/all/${first.id}`);
    await said('First text').waitFor();
    await service.post(`/conversations/${first.id}/merge`, { into: second.id }, owner.token);
    await page.getByText('This ticket was merged into another one, which has its messages. Write there.').waitFor();
    await said('First text').waitFor({ state: 'detached' });
    t.strictSame(await barriersOf(page), []);
    await page.getByRole('link', { name: 'another ticket' }).click();
    await said('Second text').waitFor();
    await said('First text').waitFor();
    await page.goto(`${service.url}/inbox/all/${first.id}`);
    await choose(page, 'Undo the merge');
    await dialog.getByRole('button', { name: 'Undo the merge' }).click();
    await told('The merge was undone.').waitFor();
    await said('First text').waitFor();
  });

  t.test('a message is made a ticket, and put back', async (t) => {
    const first = await mailed('Nia', 'Plates', 'Where are my plates?');
    await service.deliver(mailbox, {
      from: `Nia <${first.address}>`,
      messageId: '<nia2@customer.example>',
      headers: { 'In-Reply-To': first.messageId },
      text: 'And please send an invoice.',
    });
    await page.goto(`${service.url}/inbox/all/${first.id}`);
    const message = said('And please send an invoice.');
    await message.hover();
    await message.getByRole('button', { name: 'Make this message a ticket' }).click();
    await dialog.getByLabel('Subject').fill('Invoice');
    t.strictSame(await barriersOf(page), []);
    await dialog.getByRole('button', { name: 'Make a ticket' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(first.id));
    await page.locator('.inbox-subject', { hasText: 'Invoice' }).waitFor();
    await message.waitFor();
    t.equal(await said('Where are my plates?').count(), 0);
    await told('The message is ticket').getByRole('button', { name: 'Undo' }).click();
    await page.waitForURL(`**/inbox/all/${first.id}`);
    await message.waitFor();
    await said('Where are my plates?').waitFor();
  });

  t.test('an agent follows, adds a colleague and sees who follows', async (t) => {
    const ticket = await mailed('Ola', 'Follow me', 'Hello');
    await page.goto(`${service.url}/inbox/all/${ticket.id}`);
    await said('Hello').waitFor();
    await choose(page, 'Follow');
    await told('You follow this conversation.').waitFor();
    await page.getByText('Followed by Ann').waitFor();
    await choose(page, 'Followers…');
    await dialog.getByLabel('Add a colleague').selectOption({ index: 1 });
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByRole('listitem').nth(1).waitFor();
    t.strictSame(await barriersOf(page), []);
    await dialog.getByRole('button', { name: 'Remove Ann' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Followed by Ann').waitFor({ state: 'detached' });
    const { conversation } = (await service.get(`/conversations/${ticket.id}`, owner.token)).body;
    t.same(conversation.followerIds, [owner.agentId]);
  });

  t.test('a contact is merged into another one, and the merge undone; it has several addresses', async (t) => {
    const [one, other] = [await mailed('Pia', 'Tea', 'Green?'), await mailed('Pietra', 'Coffee', 'Black?')];
    await page.goto(`${service.url}/contacts/${one.contactId}`);
    await page.getByLabel('Other email addresses').fill('pia@work.example');
    await page.getByRole('button', { name: 'Save' }).click();
    await told('Saved.').waitFor();
    await page.getByRole('button', { name: 'Merge with another contact…' }).click();
    await dialog.getByLabel('Find the other contact').fill('pietra');
    await dialog.getByRole('radio', { name: /Pietra/ }).check();
    t.strictSame(await barriersOf(page), []);
    await dialog.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.waitForURL(`**/contacts/${other.contactId}`);
    await page.getByText('pia@work.example').first().waitFor();
    await page.getByText('Green?').waitFor();
    t.strictSame(await barriersOf(page), []);
    await page.goto(`${service.url}/contacts/${one.contactId}`);
    await page.getByText('This contact was merged into').waitFor();
    t.strictSame(await barriersOf(page), []);
    await page.getByRole('button', { name: 'Undo the merge' }).click();
    await told('The merge was undone.').waitFor();
    await page.getByText('Green?').waitFor();
    t.match((await service.get(`/contacts/${other.contactId}`, owner.token)).body, { stats: { total: 1 } });
    await page.getByLabel('Other email addresses').fill(other.address);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('merge the two contacts').waitFor();
  });
});
