// Suggested answers beside the composer, and an article from an answer, in a real browser.

import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

t.test('answers that suggest themselves', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const pages = await startPages(t, service);
  const owner = await service.workspace({ available: true });
  await service.post(
    '/kb/articles',
    {
      title: 'Returns',
      body: '## Sending it back\n\nSend the tent back with the **return label**.',
      status: 'published',
    },
    owner.token,
  );
  await service.post(
    '/saved-replies',
    { shortcut: '/refund', title: 'Refund', body: 'Hello {{visitor.name}}, the refund is on its way.' },
    owner.token,
  );
  await service.settled();
  const chat = await service.chat(owner, 'How can I send the tent back and get a refund?');
  const page = await pages.open(`/inbox/all/${chat.id}`, {
    token: owner.token,
    viewport: { width: 1440, height: 860 },
  });
  const suggestions = page.getByRole('region', { name: 'Suggested answers' });
  const field = page.getByRole('textbox', { name: 'Message' });

  t.test('the best for the last question, unasked; a click inserts one', async (t) => {
    await suggestions.getByRole('button', { name: /^Sending it back/ }).waitFor();
    t.equal(await suggestions.getByRole('listitem').count(), 2);
    t.strictSame(await barriersOf(page), []);
    await suggestions.getByRole('button', { name: /^Refund/ }).click();
    t.match(await field.inputValue(), /, the refund is on its way\.$/);
    t.equal(await suggestions.count(), 0, 'gone while the agent writes');
    await field.fill('');
    await suggestions.getByRole('button', { name: /^Sending it back/ }).click();
    t.equal(await field.inputValue(), 'Send the tent back with the return label.');
  });

  t.test('an answer becomes an article in two clicks', async (t) => {
    await field.press('Enter');
    await page.locator('.inbox-said.ours', { hasText: 'Send the tent back' }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Make an article of it' }).click();
    await page.waitForURL(/\/settings\/knowledge\/new$/);
    t.equal(await page.getByLabel('Title').inputValue(), 'How can I send the tent back and get a refund?');
    t.match(await page.getByLabel('Text').inputValue(), /^Send the tent back with the return label\.$/);
  });

  t.test('hidden, they stay hidden until the next question', async (t) => {
    const other = await service.chat(owner, 'Where is my refund?');
    const phone = await pages.open(`/inbox/all/${other.id}`, {
      token: owner.token,
      viewport: { width: 360, height: 780 },
    });
    const shown = phone.getByRole('region', { name: 'Suggested answers' });
    await shown.waitFor();
    t.strictSame(await barriersOf(phone), []);
    await phone.getByRole('button', { name: 'Send' }).hover();
    t.equal(await phone.evaluate(`document.querySelector('.inbox-composer').scrollWidth <= innerWidth`), true);
    await shown.getByRole('button', { name: 'Hide the suggestions' }).click();
    t.equal(await shown.count(), 0);
    await service.post(
      `/widget/conversations/${other.id}/messages`,
      { body: 'A refund, please.' },
      other.customer.token,
    );
    await shown.waitFor();
  });

  t.strictSame(pages.problems, []);
});
