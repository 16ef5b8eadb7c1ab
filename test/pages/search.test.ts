// Search, palette, shortcuts and contacts, in real browsers.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { barriersOf, holds, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

const hostile = '<img src=x onerror="document.title=\'owned\'">';

t.test('finding things', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const pages = await startPages(t, service);
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  const looking = { viewport: { width: 1440, height: 900 } };
  const open = (path: string) => pages.open(path, { token: ann.token, ...looking });
  const dialog = (page: Page) => page.getByRole('dialog');
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const chatOf = async (name: string, text: string) => {
    const customer = await service.customer(owner.embedId, { name, email: `${name.toLowerCase()}@example.org` });
    await service.post('/widget/conversations', { body: text }, customer.token);
  };
  await chatOf('Quin', `The zeppelin is late ${hostile}`);
  await chatOf('Ron', 'Two zeppelins, please');

  t.test('[8] the search: while typing, with matches marked, in the address', async (t) => {
    const page = await open('/search');
    await page.getByLabel('Search conversations').fill('zepelin');
    const rows = page.getByRole('list', { name: 'Conversations found' }).getByRole('listitem');
    await page.getByText('1 conversation', { exact: true }).waitFor();
    t.equal(await rows.filter({ hasText: 'Quin' }).locator('mark').textContent(), 'zeppelin');
    t.ok((await rows.filter({ hasText: 'Quin' }).textContent())?.includes(hostile), 'as it was written');
    await page.getByLabel('Search conversations').fill('zeppelin');
    await page.getByText('2 conversations').waitFor();
    t.equal(await rows.count(), 2);
    t.ok(page.url().endsWith('/search?q=zeppelin'));
    await page.getByLabel('Channel').selectOption('ticket');
    await page.getByText('No results').waitFor();
    t.match(page.url(), /channel=ticket/);
    await button(page, 'Clear filters').click();
    await page.getByText('2 conversations').waitFor();
    await page.getByLabel('Search conversations').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('j');
    t.equal(
      await page.evaluate(`document.activeElement.closest('li') === document.querySelectorAll('.search-rows li')[1]`),
      true,
    );
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/inbox\/all\/[0-9a-f-]{36}$/);
    await page.goBack();
    await page.getByText('2 conversations').waitFor();
    t.equal(await page.getByLabel('Search conversations').inputValue(), 'zeppelin', 'going back finds it');
    await page.getByLabel('Search conversations').fill('');
    await page.getByText('Search your messages').waitFor();
  });

  t.test('the palette: commands, people and conversations by text; every shortcut in one list', async (t) => {
    const page = await open('/contacts');
    await page.getByRole('heading', { name: 'Contacts' }).waitFor();
    await page.keyboard.press('Control+k');
    const field = dialog(page).getByRole('combobox');
    await field.fill('dark col');
    t.equal(await page.locator('[aria-selected=true]').textContent(), 'Dark colours');
    t.equal(
      await field.getAttribute('aria-activedescendant'),
      await page.locator('[aria-selected=true]').getAttribute('id'),
    );
    await page.keyboard.press('Enter');
    await holds(page, `document.documentElement.dataset.theme === 'dark'`);
    t.equal(await dialog(page).count(), 0);

    await page.keyboard.press('Control+k');
    await field.fill('zeppelin');
    await page.getByRole('option', { name: /Two zeppelins/ }).waitFor();
    await page.keyboard.press('ArrowUp');
    t.match(
      await page.locator('[aria-selected=true]').textContent(),
      /Search everything for “zeppelin” 2 conversations/,
    );
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=zeppelin');

    await page.keyboard.press('Control+k');
    await field.fill('quin');
    await page.getByRole('group', { name: 'Contacts' }).getByRole('option', { name: /Quin/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Quin' }).waitFor();

    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await field.fill('ann');
    await page.getByText('Search everything for “ann”').waitFor();
    t.equal(await page.getByRole('group', { name: 'Agents' }).count(), 0, "their page is not an agent's to open");
    await field.fill('qu');
    await page.getByRole('group', { name: 'Contacts' }).getByRole('option', { name: /Quin/ }).waitFor();
    t.match(await page.locator('[aria-selected=true]').textContent(), /Quin/, 'before commands that have the letters');
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await dialog(page).getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    for (const text of ['All contacts', 'Go to inbox', 'Search conversations', 'Find a command'])
      t.ok(await dialog(page).getByText(text, { exact: true }).isVisible(), text);
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByRole('heading', { name: 'Contacts' }).waitFor();
  });

  t.test('contacts move in from a table, and out into one', async (t) => {
    const page = await pages.open('/contacts', { token: owner.token, ...looking });
    const more = page.getByRole('button', { name: 'More' });
    await more.click();
    await page.getByRole('menuitem', { name: 'Import contacts…' }).click();
    await dialog(page)
      .getByLabel('File')
      .setInputFiles({
        name: 'people.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('Name;E-Mail;Plan\nUma Table;uma@table.example;gold\nQuin Q;quin@example.org;\nNobody;;'),
      });
    await dialog(page).getByLabel('Plan becomes').selectOption('field');
    t.strictSame(await barriersOf(page), []);
    await button(page, 'See what will happen').click();
    await dialog(page).getByText('New: 1. Filled in: 0. Known already: 1. Left out: 1.').waitFor();
    await dialog(page).getByText('Row 4: It has neither an email address nor a phone number').waitFor();
    t.same((await service.get('/contacts?search=uma', owner.token)).body.contacts, [], 'a preview writes nothing');
    await dialog(page).getByRole('button', { name: 'Import', exact: true }).click();
    await dialog(page).waitFor({ state: 'detached' });
    t.match((await service.get('/contacts?search=uma', owner.token)).body.contacts, [
      { name: 'Uma Table', email: 'uma@table.example', customFields: { Plan: 'gold' } },
    ]);
    await more.click();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export as CSV' }).click(),
    ]);
    const text = await readFile(await saved.path(), 'utf8');
    t.match(text, /^\ufeffName,Email,Phone,Company,Tags,Note,First seen,Last seen,Plan\r\n/);
    t.match(text, 'Uma Table,uma@table.example,');
    await page.close();
  });

  t.test('[4.12] contacts: found, added, changed, with errors at their fields', async (t) => {
    const page = await open('/contacts');
    await page.keyboard.press('n');
    await button(page, 'New contact').waitFor();
    if ((await dialog(page).count()) === 0) await button(page, 'New contact').click();
    await button(page, 'Add').click();
    await dialog(page)
      .getByRole('alert')
      .getByText(/name, an email or a phone/i)
      .waitFor();
    await dialog(page).getByLabel('Name').fill(hostile);
    await dialog(page).getByLabel('Phone').fill('0170 12');
    await button(page, 'Add').click();
    await dialog(page).locator('.error').waitFor();
    await dialog(page).getByLabel('Phone').fill('+49 (170) 123-4567');
    await button(page, 'Add').click();
    await page.getByRole('heading', { level: 1, name: hostile }).waitFor();
    const contactId = page.url().split('/').at(-1) ?? '';

    await page.getByLabel('Company').fill('Acme');
    await page.getByLabel('Tags').fill('vip');
    await page.keyboard.press('Enter');
    await button(page, 'Add a field').click();
    await page.getByLabel('Field name').fill('Seats');
    await page.getByLabel('Type of Seats').selectOption('number');
    await page.getByLabel('Value of Seats').fill('many');
    await button(page, 'Save').click();
    await page.getByText('Enter a number.').waitFor();
    await page.getByRole('link', { name: 'All contacts' }).click();
    await page.getByLabel('Find contacts').fill('170123');
    await page.getByRole('row').filter({ hasText: '+491701234567' }).getByRole('link').click();
    t.equal(await page.getByLabel('Company').inputValue(), 'Acme', 'the unsaved text is still there');
    await page.getByLabel('Value of Seats').fill('7');
    await button(page, 'Save').click();
    await page.locator('.notice').filter({ hasText: 'Saved.' }).waitFor();
    t.match((await service.get(`/contacts/${contactId}`, ann.token)).body.contact, {
      name: hostile,
      phone: '+491701234567',
      company: 'Acme',
      tags: ['vip'],
      customFields: { Seats: 7 },
    });
    t.ok(await button(page, 'Save').isDisabled(), 'nothing is left to save');

    const [quin] = (await service.get('/contacts?search=quin', ann.token)).body.contacts;
    await page.goto(`${service.url}/contacts/${quin.id}`);
    await page.getByLabel('Note').fill('Mine');
    await service.patch(`/contacts/${quin.id}`, { company: 'Theirs' }, owner.token);
    await chatOf('Quin', 'Once more');
    await holds(page, `[...document.querySelectorAll('input')].some(({ value }) => value === 'Theirs')`);
    t.equal(
      await page.getByLabel('Note').inputValue(),
      'Mine',
      "the typed text stays, the other person's change is there",
    );
    await button(page, 'Save').click();
    await button(page, 'Undo').waitFor({ state: 'detached' });
    t.match((await service.get(`/contacts/${quin.id}`, ann.token)).body.contact, { company: 'Theirs', note: 'Mine' });
    await page.goto(`${service.url}/contacts/00000000-0000-4000-8000-000000000000`);
    await page.getByRole('heading', { name: 'This contact does not exist' }).waitFor();
    t.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, 'asking again would not help');
    t.notMatch(await page.title(), /owned/);
  });

  t.test('everyone can use it, in both themes', async (t) => {
    const { contacts } = (await service.get('/contacts?search=quin', ann.token)).body;
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await pages.open('/search?q=zeppelin', { token: ann.token, colorScheme, ...looking });
      const check = async (what: string) => t.same(await barriersOf(page), [], `${what}, ${colorScheme}`);
      await page.getByText('2 conversations').waitFor();
      await check('the search');
      await page.goto(`${service.url}/contacts`);
      await page.getByRole('row').nth(1).waitFor();
      await check('contacts');
      await page.goto(`${service.url}/contacts/${contacts[0].id}`);
      await page.getByRole('heading', { level: 1, name: 'Quin' }).waitFor();
      await button(page, 'Add a field').click();
      await check('a contact');
      await page.getByRole('heading', { level: 1 }).click();
      for (const [keys, what] of [
        ['Control+k', 'the palette'],
        ['?', 'the keys'],
      ] as const) {
        await page.keyboard.press(keys);
        await dialog(page).waitFor();
        await check(what);
        await page.keyboard.press('Escape');
        await dialog(page).waitFor({ state: 'detached' });
      }
      await page.context().close();
    }
  });

  t.strictSame(pages.problems, [], 'no page saw an error or a violation of its policy');
});
