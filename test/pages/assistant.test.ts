// The assistant in a real browser: its settings, and a draft, a summary and other words beside the composer.

import t from 'tap';
import { ChatServer, chunkOf, lastChunk } from '../support/chat-server.ts';
import { noBrowser } from '../support/chromium.ts';
import { holds, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';
import { button, notice, usable } from '../support/settings.ts';

t.test('the assistant', { skip: noBrowser }, async (t) => {
  const chat = await ChatServer.start(t);
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const pages = await startPages(t, service);
  const owner = await service.workspace({ available: true });
  await service.patch('/kb/settings', { helpCentre: true }, owner.token);
  await service.post(
    '/kb/articles',
    { title: 'Returns', body: '## Sending it back\n\nSend a tent back within 30 days.\n', status: 'published' },
    owner.token,
  );
  await service.settled();
  const { id } = await service.chat(owner, 'Until when can I send the tent back?');

  await t.test('an admin names a model and tries it', async (t) => {
    const page = await pages.open('/settings/knowledge?tab=assistant', { token: owner.token });
    await page.getByRole('textbox', { name: 'Address' }).fill(chat.url);
    await page.getByRole('textbox', { name: 'Model' }).fill('tiny-1');
    await button(page, 'Save').click();
    await notice(page, 'Saved');
    await button(page, 'Try it').click();
    await page.getByText('It answers: Hello!').waitFor();
    await usable(t, page);
    chat.answer = () => ({ status: 401 });
    await button(page, 'Try it').click();
    await page.getByText("The model's server does not accept the key.").waitFor();
    await page.reload();
    await page.getByRole('cell', { name: '2', exact: true }).waitFor();
    await page.setViewportSize({ width: 360, height: 780 });
    t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  });

  const page = await pages.open(`/inbox/all/${id}`, { token: owner.token, viewport: { width: 1440, height: 860 } });
  const field = page.getByRole('textbox', { name: 'Message' });
  const assistant = page.getByRole('region', { name: 'Assistant' });

  await t.test('a draft is written into the field, with its source, and not sent', async (t) => {
    chat.answer = () => 'You have 30 days [1].';
    await button(assistant, 'Draft an answer').click();
    await assistant.getByRole('link', { name: 'Sending it back' }).waitFor();
    t.equal(await field.inputValue(), 'You have 30 days.');
    await usable(t, page);
    await button(assistant, 'Insert the link to Sending it back').click();
    t.match(await field.inputValue(), /\/help\/[\w-]+\/returns/);
    t.equal(await page.locator('.inbox-said.ours').count(), 0);
  });

  await t.test('other words for what is written', async (t) => {
    await field.fill('You have got thirty days to send it back to us.');
    chat.answer = () => '30 days.';
    await button(assistant, 'Shorter').click();
    await holds(page, `document.querySelector('.inbox-composer textarea').value === '30 days.'`);
    chat.answer = () => '30 Tage.';
    await assistant.getByLabel('Translate into').selectOption('de');
    await holds(page, `document.querySelector('.inbox-composer textarea').value === '30 Tage.'`);
    t.match(chat.requests.at(-1)?.system, /into German/);
    await button(assistant, 'Undo').click();
    t.equal(await field.inputValue(), '30 days.');
    await field.fill('30 Tage.');
  });

  await t.test('a draft that fails, or is stopped, leaves what was written', async (t) => {
    chat.answer = () => ({ events: [chunkOf('You '), '{"error":{}}'] });
    await button(assistant, 'Draft an answer').click();
    await notice(page, 'The model broke off its answer.');
    t.equal(await field.inputValue(), '30 Tage.');
    chat.answer = () => ({ events: [chunkOf('You have')], ends: 'never' });
    await button(assistant, 'Draft an answer').click();
    await assistant.getByText('You have').waitFor();
    await button(assistant, 'Stop').click();
    await button(assistant, 'Draft an answer').waitFor();
    t.equal(await field.inputValue(), '30 Tage.');
    await chat.isAbandoned();
  });

  await t.test('a summary, for reading', async (t) => {
    chat.answer = () => ({ events: [chunkOf('The customer asks until when.'), lastChunk] });
    await button(assistant, 'Summarise').click();
    await assistant.getByText('The customer asks until when.').waitFor();
    await button(assistant, 'Hide the summary').click();
    const phone = await pages.open(`/inbox/all/${id}`, { token: owner.token, viewport: { width: 360, height: 780 } });
    await button(phone.getByRole('region', { name: 'Assistant' }), 'Draft an answer').waitFor();
    t.equal(await phone.evaluate(`document.querySelector('.inbox-composer').scrollWidth <= innerWidth`), true);
    await usable(t, phone);
  });

  await t.test('without a model there is none', async (t) => {
    await service.put('/workspace/ai', { url: null }, owner.token);
    await page.reload();
    await field.waitFor();
    await button(page, 'Send').waitFor();
    t.equal(await assistant.count(), 0);
  });
});
