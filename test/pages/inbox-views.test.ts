// Orders, filters and views of the inbox in a real browser: in the address, live, by keyboard, on narrow screens.

import type { Page } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { barriersOf, holds, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

/** Resolves when the rows are of these customers, from the top. Rows keep their elements, so the page's order is another. */
const rowsAre = (page: Page, names: readonly string[]) =>
  holds(
    page,
    `[...document.querySelectorAll('[data-row]')].filter((row) => row.querySelector('.inbox-row') && row.offsetParent)
      .sort((a, b) => a.dataset.row - b.dataset.row).map((row) => row.querySelector('strong').textContent).join() === ${JSON.stringify(names.join())}`,
  );
const choose = async (page: Page, item: string): Promise<void> => {
  await page.getByRole('button', { name: 'Sort and filter' }).click();
  await page.getByRole('menu').getByText(item, { exact: true }).click();
};
const lists = (page: Page) => page.getByRole('navigation', { name: 'Lists' });
const chips = (page: Page) => page.getByRole('list', { name: 'Filters' }).getByRole('listitem');

t.test('orders, filters and views', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const pages = await startPages(t, service);
  const owner = await service.workspace({ assignOnReply: true });
  const ann = await service.agent(owner, { name: 'Ann' });
  const begin = async (name: string, tags: string[] = []) => {
    service.clock.advance(60_000);
    const customer = await service.customer(owner.embedId, { name });
    const { body } = await service.post('/widget/conversations', { body: `I am ${name}.` }, customer.token);
    const { id } = body.conversation as { id: string };
    await service.put(`/conversations/${id}/tags`, { tags }, owner.token);
    return id;
  };
  const tag = (id: string, tags: string[]) => service.put(`/conversations/${id}/tags`, { tags }, owner.token);
  const [kim, lee] = [await begin('Kim', ['vip']), await begin('Lee')];
  await begin('Noa', ['vip']);
  service.clock.advance(60_000);
  await service.post(`/conversations/${kim}/messages`, { body: 'An answer.' }, owner.token);

  const page = await pages.open('/inbox/all', { token: owner.token, viewport: { width: 1440, height: 860 } });
  await rowsAre(page, ['Kim', 'Noa', 'Lee']);

  t.test('the order is in the address; who waits longest comes first', async (t) => {
    await choose(page, 'Oldest first');
    await rowsAre(page, ['Lee', 'Noa', 'Kim']);
    await choose(page, 'Longest waiting first');
    await page.waitForURL(/sort=longest_waiting/);
    await page.getByRole('button', { name: 'Sort and filter' }).click();
    t.equal(await page.locator('.menu [aria-checked="true"] svg').count(), 1, 'what is chosen is seen, too');
    await page.keyboard.press('Escape');
    await rowsAre(page, ['Lee', 'Noa', 'Kim']);
    await service.post(`/conversations/${lee}/messages`, { body: 'Yes?' }, owner.token);
    await rowsAre(page, ['Noa', 'Kim', 'Lee']);
    await page.reload();
    await rowsAre(page, ['Noa', 'Kim', 'Lee']);
    await choose(page, 'Newest first');
    await page.waitForURL(/\/inbox\/all$/);
    await rowsAre(page, ['Lee', 'Kim', 'Noa']);
  });

  t.test('a filter holds live, in the links of its rows, and comes off by its chip', async (t) => {
    await choose(page, 'Filter…');
    const dialog = page.getByRole('dialog', { name: 'Filter' });
    await dialog.getByLabel('Tag').fill('VIP');
    t.strictSame(await barriersOf(page), []);
    await dialog.getByRole('button', { name: 'Show' }).click();
    await rowsAre(page, ['Kim', 'Noa']);
    t.strictSame(await chips(page).allTextContents(), ['Tag: VIP']);
    t.strictSame(await barriersOf(page), []);
    await tag(lee, ['vip']);
    await rowsAre(page, ['Lee', 'Kim', 'Noa']);
    await tag(lee, []);
    await rowsAre(page, ['Kim', 'Noa']);
    await page.locator('.inbox-row').filter({ hasText: 'Kim' }).click();
    await page.waitForURL(new RegExp(`/inbox/all/${kim}\\?tag=VIP$`));
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    await page.getByRole('heading', { name: /Noa/, level: 1 }).waitFor();
    t.match(page.url(), /\?tag=VIP$/, 'the next one of the narrowed list');
    await rowsAre(page, ['Noa']);
    await service.post(`/conversations/${kim}/status`, { status: 'open' }, owner.token);
    await rowsAre(page, ['Kim', 'Noa']);
    await page.getByRole('button', { name: 'Remove: Tag: VIP' }).click();
    await rowsAre(page, ['Lee', 'Kim', 'Noa']);
    t.equal(await chips(page).count(), 0);
    await holds(page, `document.activeElement?.getAttribute('aria-label') === 'Sort and filter'`);
    await page.goto(`${service.url}/inbox/all?tag=nothing`);
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('link', { name: 'Show the whole list' }).click();
    await rowsAre(page, ['Lee', 'Kim', 'Noa']);
  });

  t.test('a view of the team is in all lists at once, and is changed and deleted by its menu', async (t) => {
    const anns = await pages.open('/inbox/all', { token: ann.token, viewport: { width: 1440, height: 860 } });
    await lists(anns)
      .getByRole('link', { name: /All open/ })
      .waitFor();
    await page.goto(`${service.url}/inbox/all?tag=vip&sort=longest_waiting`);
    await rowsAre(page, ['Noa', 'Kim']);
    await choose(page, 'Save as view…');
    const dialog = page.getByRole('dialog', { name: 'Save as view' });
    await dialog.getByRole('button', { name: 'Save view' }).click();
    await dialog.getByText('Must not be empty.').waitFor();
    await dialog.getByLabel('Name').fill('VIPs');
    await dialog.getByLabel('Who sees it').selectOption('team');
    t.equal(await dialog.getByLabel('Order').inputValue(), 'longest_waiting');
    t.equal(await dialog.getByLabel('Tag').inputValue(), 'vip');
    t.strictSame(await barriersOf(page), []);
    await dialog.getByRole('button', { name: 'Save view' }).click();
    await page.waitForURL(/\/inbox\/view-[0-9a-f-]+$/);
    await rowsAre(page, ['Noa', 'Kim']);
    t.strictSame(await chips(page).allTextContents(), ['Tag: vip']);
    t.equal(
      await page.getByRole('button', { name: /^Remove: / }).count(),
      0,
      "a view's own filter is not taken off here",
    );
    await lists(page).getByRole('link', { name: 'VIPs 2' }).waitFor();

    await lists(anns).getByRole('link', { name: 'VIPs 2' }).click();
    await rowsAre(anns, ['Noa', 'Kim']);
    await tag(lee, ['vip']);
    await rowsAre(anns, ['Noa', 'Kim', 'Lee']);
    await anns.getByRole('button', { name: 'Sort and filter' }).click();
    t.equal(await anns.getByText('Change this view…').count(), 0, 'agents cannot');
    await anns.keyboard.press('Escape');

    await choose(page, 'Change this view…');
    const change = page.getByRole('dialog', { name: 'Change this view' });
    await change.getByLabel('Name').fill('Kims');
    await change.getByLabel('Assigned to').selectOption('me');
    await change.getByRole('button', { name: 'Save' }).click();
    await rowsAre(page, ['Kim', 'Lee']);
    t.strictSame(await chips(page).allTextContents(), ['Assigned to you', 'Tag: vip']);
    await anns.getByText('Nothing in Kims').waitFor();
    await choose(page, 'Delete this view…');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete view' }).click();
    await page.waitForURL(/\/inbox\/all$/);
    await anns.getByText('This view does not exist').waitFor();
    t.equal(await lists(anns).getByText('Kims').count(), 0);
    await anns.context().close();
  });

  t.test('a view whose agent left says so, and is empty', async () => {
    const gone = await service.agent(owner, { name: 'Gone' });
    const { body: view } = await service.post(
      '/views',
      { name: 'Theirs', filter: { assigneeId: gone.agentId, siteId: owner.workspaceId } },
      owner.token,
    );
    await service.delete(`/agents/${gone.agentId}`, owner.token);
    await page.goto(`${service.url}/inbox/view-${view.id}`);
    await page.getByText('Nothing in Theirs').waitFor();
    await chips(page).getByText('Gone, who left').waitFor();
    await chips(page).getByText('Site: A former site').waitFor();
    await service.delete(`/views/${view.id}`, owner.token);
    await page.getByText('This view does not exist').waitFor();
  });

  t.test('a view by tag narrowed to another tag is looked through on request', async (t) => {
    const { body: view } = await service.post('/views', { name: 'Rare', filter: { tag: 'vip' } }, owner.token);
    await tag(kim, ['vip', 'rare']);
    const large = await pages.open('/healthz', { token: owner.token, viewport: { width: 1440, height: 860 } });
    let asked = 0;
    await large.route(/\/conversations\/queue.*tag=vip/, async (route) => {
      asked += 1;
      if (asked > 7) await route.continue({ url: `${service.url}/api/v1/conversations/queue?tag=vip&limit=200` });
      else await route.fulfill({ json: { conversations: [], nextCursor: `page ${asked}` } });
    });
    await large.goto(`${service.url}/inbox/view-${view.id}?tag=rare`);
    await large.getByText('Nothing found so far').waitFor();
    t.strictSame(await barriersOf(large), []);
    t.equal(asked, 5);
    await large.getByRole('button', { name: 'Look further' }).click();
    await rowsAre(large, ['Kim']);
    t.equal(asked, 8);
    await large.context().close();
    await tag(kim, ['vip']);
    await service.delete(`/views/${view.id}`, owner.token);
  });

  t.test('several are selected and changed together; what fails stays selected', async (t) => {
    const names = ['Ada', 'Bo', 'Cy', 'Dee'];
    const ids: string[] = [];
    for (const name of names) ids.push(await begin(name, name === 'Ada' ? ['lot', 'first'] : ['lot']));
    const [, bo = '', cy = ''] = ids;
    const statuses = () =>
      Promise.all(
        ids.map(async (id) => (await service.get(`/conversations/${id}`, owner.token)).body.conversation.status),
      );
    const desk = await pages.open('/inbox/all?tag=lot&sort=oldest', {
      token: owner.token,
      viewport: { width: 1440, height: 860 },
    });
    const bar = desk.getByRole('toolbar', { name: 'Selected conversations' });
    const said = (text: string | RegExp) => desk.locator('.notice').filter({ hasText: text }).waitFor();
    await rowsAre(desk, names);

    // The list is one stop of the Tab key.
    t.equal(await desk.locator('.inbox-row[tabindex="0"]').count(), 1);
    await desk.locator('.inbox-row[tabindex="0"]').focus();
    await desk.keyboard.press('End');
    await holds(desk, `document.activeElement.textContent.includes('Dee')`);
    await desk.keyboard.press('Tab');
    t.notOk(await desk.evaluate(`document.activeElement.matches('.inbox-row')`));
    await desk.keyboard.press('Shift+Tab');
    t.ok(await desk.evaluate(`document.activeElement.textContent.includes('Dee')`), 'back where it was');

    await desk.keyboard.press('Home');
    await desk.keyboard.press('x');
    await desk.keyboard.press('Shift+ArrowDown');
    await bar.getByText('2 selected').waitFor();
    t.strictSame(await barriersOf(desk), []);
    await desk.keyboard.press('t');
    const dialog = desk.getByRole('dialog', { name: 'Tags of 2 conversations' });
    await dialog.getByRole('combobox', { name: 'Tags' }).fill('seen');
    await desk.keyboard.press('Enter');
    t.equal(await dialog.getByText('first', { exact: true }).count(), 1, 'offered, since not all of them have it');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await said('2 conversations tagged.');
    t.strictSame((await service.conversation(ids[0] ?? '', owner.token)).tags, ['lot', 'first', 'seen']);
    await bar.waitFor({ state: 'detached' });

    // With the pointer: the pictures, and a range.
    await desk.locator('.inbox-row').filter({ hasText: 'Bo' }).locator('.avatar').click();
    t.match(desk.url(), /\/inbox\/all\?/, 'selecting opens nothing');
    await desk
      .locator('.inbox-row')
      .filter({ hasText: 'Dee' })
      .click({ modifiers: ['Shift'] });
    await bar.getByText('3 selected').waitFor();
    await desk.getByRole('checkbox', { name: 'Select the conversation with Dee' }).uncheck();
    await bar.getByText('2 selected').waitFor();
    let isDown = true;
    await desk.route(`**/conversations/${cy}/status`, (route) => (isDown ? route.abort() : route.continue()));
    await desk.keyboard.press('e');
    await said('1 conversation solved.');
    await said(/1 conversation could not be changed/);
    t.strictSame(await statuses(), ['open', 'solved', 'open', 'open']);
    await bar.getByText('1 selected').waitFor();
    isDown = false;
    await desk.getByRole('button', { name: 'Try again' }).click();
    await bar.waitFor({ state: 'detached' });
    t.strictSame(await statuses(), ['open', 'solved', 'solved', 'open']);
    await desk.getByRole('button', { name: 'Undo' }).last().click();
    await rowsAre(desk, ['Ada', 'Cy', 'Dee']);

    await bar.waitFor({ state: 'detached' });
    await desk.getByRole('button', { name: 'Sort and filter' }).click();
    await desk.getByRole('menuitem', { name: 'Select conversations' }).click();
    await bar.getByRole('button', { name: 'Select all' }).click();
    await desk.keyboard.press('a');
    await desk.getByRole('combobox', { name: 'Find an agent or a department' }).fill('Ann');
    await desk.getByRole('button', { name: 'Assign to Ann' }).click();
    await said('3 conversations assigned to Ann.');
    t.equal((await service.conversation(cy, owner.token)).assignedAgentId, ann.agentId);
    t.not((await service.conversation(bo, owner.token)).assignedAgentId, ann.agentId);

    await desk.keyboard.press('x');
    await bar.getByRole('button', { name: 'Select all' }).click();
    await desk.keyboard.press('!');
    await said('3 conversations marked as spam.');
    t.strictSame(await statuses(), ['spam', 'solved', 'spam', 'spam']);
    await desk.keyboard.press('x');
    await bar.waitFor();
    await desk.keyboard.press('Escape');
    await bar.waitFor({ state: 'detached' });
    t.equal(await desk.evaluate(escapeAtOnce), true, 'its keys work from its first moment');
    await desk.context().close();
  });

  t.test('on a phone it fits, and works by keyboard', async (t) => {
    await page.setViewportSize({ width: 360, height: 720 });
    await page.goto(`${service.url}/inbox/all?tag=vip&sort=oldest`);
    await page.locator('.inbox-row').first().waitFor();
    t.strictSame(await barriersOf(page), []);
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'));
    t.strictSame(await page.evaluate(overlapping('.rail li span:not(.count), .rail-end button')), []);
    t.strictSame(await page.evaluate(overlapping('.inbox-row:first-of-type :is(.badge, .inbox-row-owner)')), []);
    await page.getByRole('button', { name: 'Sort and filter' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitemradio', { name: 'Oldest first', checked: true }).waitFor();
    await page.keyboard.press('f');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Filter' }).waitFor();
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'));
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('filter the l');
    await page.getByRole('option', { name: /Filter the list/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Filter' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Remove: Oldest first' }).click();
    await page.waitForURL(/\/inbox\/all\?tag=vip$/);
  });

  t.strictSame(pages.problems, []);
});

/** The texts of neighbours that cover each other. */
const overlapping = (selector: string): string => `(() => {
  const all = [...document.querySelectorAll(${JSON.stringify(selector)})];
  return all.slice(1).flatMap((one, before) => {
    const [left, right] = [all[before].getBoundingClientRect(), one.getBoundingClientRect()];
    return left.top < right.bottom && right.top < left.bottom && left.right > right.left ? [all[before].textContent + ' ' + one.textContent] : [];
  });
})()`;

/** Whether the selection ends if Escape comes in the moment in which its toolbar is there. */
const escapeAtOnce = `new Promise((resolve) => {
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  const isThere = () => document.querySelector('[role=toolbar][aria-label="Selected conversations"]') !== null;
  new MutationObserver((changes, observer) => {
    if (!isThere()) return;
    observer.disconnect();
    press('Escape');
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(!isThere())));
  }).observe(document.body, { subtree: true, childList: true });
  press('x');
})`;
