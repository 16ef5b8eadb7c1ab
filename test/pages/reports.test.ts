// Reports in a browser: every figure is the API's, readers see what they may, and what is shown can be exported.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { startPages } from '../support/pages.ts';
import { type Person, startService } from '../support/service.ts';

const dayMs = 24 * 3600_000;
const hostile = '<img src=x onerror=alert(1)> & Söhne';

t.test('reports in the pages', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '365' } });
  const browsing = await startPages(t, service);
  const owner = await service.workspace();
  await service.patch(`/workspaces/${owner.workspaceId}`, { timezone: 'Asia/Kolkata' }, owner.token);
  const department = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
  const ann = await service.agent(owner, { name: hostile });
  const sue = await service.agent(owner, { name: 'Sue', role: 'supervisor', groupIds: [department.id] });
  const give = async (id: string, to: Person) => {
    const { version } = (await service.conversation(id, owner.token)) as { version: number };
    await service.post(
      `/conversations/${id}/assign-to-agent`,
      { agentId: to.agentId, expectedVersion: version, force: true },
      owner.token,
    );
  };

  // Two chats nine days ago, five in this week: two answered after 30 and 90 seconds, solved and rated; one ticket.
  for (let count = 0; count < 2; count += 1) await service.chat(owner);
  await service.pass(7 * dayMs);
  for (const [seconds, rating] of [
    [30, 4],
    [90, 5],
  ] as const) {
    const chat = await service.chat(owner);
    await give(chat.id, ann);
    await service.pass(seconds * 1000);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'Hello' }, ann.token);
    await service.pass(60_000);
    await service.post(`/conversations/${chat.id}/status`, { status: 'solved' }, ann.token);
    t.equal(
      (await service.post(`/widget/conversations/${chat.id}/rating`, { rating }, chat.customer.token)).status,
      200,
    );
  }
  await service.pass(2 * dayMs);
  const waiting = [await service.chat(owner), await service.chat(owner), await service.chat(owner)];
  await service.post(
    '/tickets',
    { customerEmail: 'carla@customer.example', subject: hostile, body: 'Where is it?' },
    owner.token,
  );
  await service.pass(60_000);

  const api = async (path: string, token = owner.token): Promise<any> =>
    (await service.get(`/reports/${path}`, token)).body;
  const figure = async (page: Page, label: string): Promise<string> => {
    const all = page
      .locator('.reports-figure')
      .filter({ has: page.locator('dt', { hasText: new RegExp(`^${label}$`) }) });
    await all.first().waitFor();
    return (await all.first().locator('dd').innerText()).replaceAll(/\s+/g, ' ');
  };
  const open = async (path: string, token = owner.token, options: object = {}): Promise<Page> => {
    const page = await browsing.open(path, { token, ...options });
    page.setDefaultTimeout(15_000);
    return page;
  };
  const page = await open('/reports');

  t.test("[4.13] the overview has the API's figures, and the previous period's", async (t) => {
    const chats = await api('chats/total');
    t.equal(chats.total, 5);
    await page.locator('.change', { hasText: '150% more than in the previous period' }).waitFor();
    t.equal(await figure(page, 'Started'), '5 150% more than in the previous period');
    t.match(await figure(page, 'First response, median'), /^1 min\b/);
    t.match(await figure(page, 'Mean rating'), /^4\.5 of 5\b/);
    const { queued } = await api('customers');
    t.strictSame(
      [await figure(page, 'Chats'), await figure(page, 'Tickets')],
      [String(queued.chat), String(queued.ticket)],
    );
    await page.locator('.reports-plot canvas').first().waitFor();
    t.match(await page.getByRole('figure').first().innerText(), /5 chats, 0\.7 per day on average\./);
  });

  t.test('[4.13] waiting customers are updated live', async (t) => {
    const more = await service.chat(owner);
    await page.locator('.reports-figure', { hasText: 'Chats' }).locator('dd', { hasText: '6' }).waitFor();
    t.equal((await api('customers')).queued.chat, 6);
    await give(more.id, ann);
    await page.locator('.reports-figure', { hasText: 'Chats' }).locator('dd', { hasText: '5' }).waitFor();
    await service.post(`/conversations/${more.id}/spam`, undefined, owner.token);
  });

  t.test(
    "[4.13] a report is a chart, a sentence and a table, whose figures are the API's for every range",
    async (t) => {
      await page.getByRole('link', { name: 'Chats', exact: true }).first().click();
      await page.getByRole('heading', { name: 'Chats', level: 1 }).waitFor();
      const table = page.getByRole('region', { name: /^Chats, / });
      const cells = async () =>
        await table
          .locator('tbody tr')
          .evaluateAll((rows) => rows.map((row) => row.querySelector('td')?.textContent ?? ''));
      const settled = (count: number) =>
        table.locator(`tbody:not(:has(tr:nth-child(${count + 1}))) tr:nth-child(${count})`).waitFor();
      for (const [label, query] of [
        ['Last 30 days', 'range=30d'],
        ['Last 90 days', 'range=90d'],
        ['Last 24 hours', 'range=1d'],
        ['Last 7 days', 'range=7d'],
      ] as const) {
        await page.getByLabel('Period').selectOption(label);
        await page.waitForURL(`**/reports/chats?${query}`);
        const { series, total } = await api(`chats/total?${query}`);
        await settled(series.length);
        t.strictSame(
          await cells(),
          series.map(({ value }: { value: number }) => String(value)),
          label,
        );
        t.match(await figure(page, 'Chats'), new RegExp(`^${total}\\b`), label);
      }
      await page.getByLabel('By', { exact: true }).selectOption('Week');
      const weeks = (await api('chats/total?granularity=week')).series;
      await settled(weeks.length);
      t.strictSame(
        await cells(),
        weeks.map(({ value }: { value: number }) => String(value)),
      );
      t.match(
        await table.locator('tbody th').first().innerText(),
        /^Week of Mon/,
        "weeks begin on Monday in the workspace's zone, wherever the reader is",
      );
      // It is as wide as its place once that was measured.
      await page.waitForFunction(() => (document.querySelector('.reports-plot canvas')?.clientWidth ?? 0) > 0);
    },
  );

  t.test('[4.13] from and to are days of the workspace; errors in them are shown, and the 365 days', async (t) => {
    const dateOf = (ms: number): string => new Date(ms + 5.5 * 3600_000).toISOString().slice(0, 10);
    const now = service.clock.now();
    const [from, to] = [dateOf(now - 10 * dayMs), dateOf(now)];
    const chosen = await open(`/reports/chats?range=custom&from=${from}&to=${to}`);
    t.match(await figure(chosen, 'Chats'), /^7\b/, 'the last day is in it');
    t.equal(
      (
        await api(
          `chats/total?range=custom&from=${new Date(`${from}T00:00:00+05:30`).toISOString()}&to=${new Date(Date.parse(`${to}T00:00:00+05:30`) + dayMs).toISOString()}`,
        )
      ).total,
      7,
    );
    await chosen.getByLabel('First day').fill(dateOf(now + dayMs));
    await chosen.getByText('Choose a day after the first day.').waitFor();
    await chosen.getByLabel('First day').fill(dateOf(now - 400 * dayMs));
    await chosen.getByText('Choose at most 365 days.').waitFor();
    await chosen.getByText('Choose the days to see the figures.').waitFor();
    await chosen.getByLabel('First day').fill(dateOf(now - dayMs));
    t.match(await figure(chosen, 'Chats'), /^3\b/);
    await chosen.context().close();
  });

  t.test('[4.13] a figure leads to the conversations that it is made of', async (t) => {
    await page.goto(`${service.url}/reports/chats`);
    const links = page.getByRole('region', { name: /^Chats, / }).getByRole('link');
    await links.first().waitFor();
    for (let index = 0; index < (await links.count()); index += 1) {
      const count = Number(await links.nth(index).innerText());
      await links.nth(index).click();
      await page
        .getByRole('status')
        .filter({ hasText: `1 to ${count} of ${count}` })
        .waitFor();
      t.equal(await page.getByRole('region', { name: 'Conversations' }).locator('tbody tr').count(), count);
      await page.goBack();
      await links.first().waitFor();
    }
    await page.goto(`${service.url}/reports/conversations`);
    await page.getByRole('region', { name: 'Conversations' }).waitFor();
    await page.getByLabel('Rated').check();
    await page.getByRole('status').filter({ hasText: '1 to 2 of 2' }).waitFor();
    await page.getByLabel('Rated').uncheck();
    await page.getByLabel('Channel').selectOption('Tickets');
    const ticket = page.getByRole('region', { name: 'Conversations' }).getByRole('link');
    await page.getByRole('status').filter({ hasText: '1 to 1 of 1' }).waitFor();
    t.match(await ticket.innerText(), hostile, 'a subject is text');
    await page.getByLabel('Channel').selectOption('Any');
    await page.getByLabel('Left before an answer').check();
    const missed = (await api('conversations?missed=1')).total;
    await (missed === 0
      ? page.getByText('No matching conversations in this period')
      : page.getByRole('status').filter({ hasText: ` of ${missed}` })
    ).waitFor();
  });

  t.test('[4.13] status, response times, satisfaction, agents, waiting, goals: each as the API has it', async (t) => {
    const words = (seconds: number): string =>
      seconds < 60 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
    await page.goto(`${service.url}/reports/response-times?channel=chat`);
    const times = await api('tickets/response-times?channel=chat');
    t.strictSame(
      [times.firstResponse.medianSeconds, times.firstResponse.p90Seconds].every((one) => one > 0),
      true,
    );
    t.equal(await figure(page, 'First response, median'), words(times.firstResponse.medianSeconds));
    t.equal(await figure(page, 'First response, 9 in 10'), words(times.firstResponse.p90Seconds));

    await page.goto(`${service.url}/reports/satisfaction?channel=chat`);
    t.equal((await api('tickets/satisfaction?channel=chat')).average, 4.5);
    t.match([await figure(page, 'Mean rating'), await figure(page, 'Ratings')], [/^4\.5 of 5/, /^2\b/]);
    await page.goto(`${service.url}/reports/status?channel=chat`);
    const { counts } = await api('tickets/by-status?channel=chat');
    for (const [label, status] of [
      ['Open', 'open'],
      ['Pending', 'pending'],
      ['Solved', 'solved'],
      ['Closed', 'closed'],
    ] as const)
      t.equal(await figure(page, label), String(counts[status]), status);

    await page.goto(`${service.url}/reports/agents`);
    const row = page.getByRole('row').filter({ hasText: hostile });
    const { agents } = await api('agents/performance');
    await row.waitFor();
    const own = agents.find((one: { agent: { id: string } }) => one.agent.id === ann.agentId);
    t.strictSame(await row.getByRole('cell').allInnerTexts(), [
      String(own.conversations),
      words(own.firstResponseMedianSeconds),
      words(own.fullResolutionMedianSeconds),
      '4.5 of 5',
      '2',
    ]);
    t.equal(await page.locator('img[src="x"]').count(), 0, 'a name is no markup');

    await page.goto(`${service.url}/reports/customers`);
    const { abandonment } = await api('customers');
    await page.getByRole('region', { name: 'Customers who left, by channel' }).waitFor();
    const shown = await page
      .getByRole('region', { name: 'Customers who left, by channel' })
      .getByRole('row')
      .filter({ hasText: 'Chats' })
      .getByRole('cell')
      .allInnerTexts();
    t.strictSame(shown.slice(0, 2), [String(abandonment.chat.abandoned), String(abandonment.chat.total)]);

    const goal = (
      await service.post(
        '/goals',
        { name: hostile, condition: { operator: 'contains', value: '/thanks' }, valueCents: 1250 },
        owner.token,
      )
    ).body;
    t.equal(
      (await service.post('/widget/page-views', { url: `https://shop.example/thanks` }, waiting[0]?.customer.token))
        .status,
      200,
    );
    await page.goto(`${service.url}/reports/conversions`);
    const { totalValueCents, total } = await api('conversions/goals');
    t.strictSame([total, totalValueCents], [1, 1250], goal.id);
    t.match([await figure(page, 'Completions'), await figure(page, 'Value')], [/^1\b/, /^\$12\.50/]);
    t.strictSame(
      await page
        .getByRole('region', { name: 'Completions by goal' })
        .getByRole('row')
        .filter({ hasText: hostile })
        .getByRole('cell')
        .allInnerTexts(),
      ['1', '$12.50'],
    );
    await page.goto(`${service.url}/reports/no-such`);
    await page.getByText('This report does not exist').waitFor();
  });

  t.test('[4.13] an export gives the file that the API gives', async (t) => {
    for (const [report, type] of [
      ['chats', 'chats/total'],
      ['agents', 'agents/performance'],
      ['conversations', 'conversations'],
    ] as const) {
      await page.goto(`${service.url}/reports/${report}?range=30d`);
      for (const [item, format] of [
        ['Table', 'csv'],
        ['Data', 'json'],
      ] as const) {
        await page.getByRole('button', { name: 'Export' }).click();
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('menuitem', { name: item }).click(),
        ]);
        t.equal(download.suggestedFilename(), `${type.replaceAll('/', '-')}.${format}`);
        const text = await readFile(await download.path(), 'utf8');
        const { url } = await api(`export?type=${type}&format=${format}&range=30d`);
        const expected = await service.call('GET', `/${new URL(url).pathname}`);
        if (format === 'csv') t.equal(text, expected.body, report);
        else t.strictSame(JSON.parse(text), expected.body, report);
      }
    }
  });

  t.test("[5] an agent sees its own figures, a supervisor its departments', and what each can choose", async (t) => {
    const annPage = await open('/reports/chats', ann.token);
    t.match(await figure(annPage, 'Chats'), /^2\b/);
    t.equal((await api('chats/total', ann.token)).total, 2);
    t.strictSame([await annPage.getByLabel('Agent').count(), await annPage.getByLabel('Department').count()], [0, 0]);
    await annPage.goto(`${service.url}/reports/chats?agent=${owner.agentId}`);
    await annPage.getByText("You are not allowed to see this agent's figures.").waitFor();
    await annPage.context().close();

    const suePage = await open('/reports/agents', sue.token);
    await suePage.getByLabel('Department').waitFor();
    t.strictSame(await suePage.getByLabel('Department').locator('option').allInnerTexts(), ['All', 'Sales']);
    await suePage.getByRole('region', { name: 'Figures by agent' }).waitFor();
    t.strictSame(
      await suePage.getByRole('region', { name: 'Figures by agent' }).locator('tbody tr').count(),
      (await api('agents/performance', sue.token)).agents.length,
    );
    await suePage.context().close();

    const dan = await service.agent(owner, { name: 'Dan', channels: ['chats'] });
    const danPage = await open('/reports/tickets', dan.token);
    await danPage.getByText('This report is for a channel you do not work in').waitFor();
    t.equal(
      await danPage.getByRole('navigation', { name: 'Reports' }).getByRole('link', { name: 'Tickets' }).count(),
      0,
    );
    await danPage.context().close();
  });

  t.test('a report that fails to load says so, and is loaded again', async (t) => {
    await page.route('**/api/v1/reports/tickets/total*', (route) => route.abort(), { times: 1 });
    await page.goto(`${service.url}/reports/tickets`);
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
    t.match(await figure(page, 'Tickets'), /^1\b/);
  });

  t.strictSame(browsing.problems, [], 'nothing broke, and no policy was in the way');
});
