// An inbox with as many departments as a workspace may have, and with many offers at once: opening it costs as few
// requests as any other, and everything can be reached.

import type { Page, Request } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { insertOpenConversations } from '../support/open-conversations.ts';
import { barriersOf, holds, startPages } from '../support/pages.ts';
import { type Person, type Service, startService } from '../support/service.ts';

/** At opening. */
const maxRequests = 8;
const maxBytes = 150_000;
/** More than an offer lasts, since nothing ends these. */
const hourMs = 3_600_000;
const viewport = { width: 1440, height: 900 };

const nav = (page: Page) => page.getByRole('navigation', { name: 'Lists' });
/** The links below the heading "Departments". */
const links = `[...document.querySelectorAll('.inbox-lists > div')].find((group) => group.querySelector('h2').textContent === 'Departments')?.querySelectorAll('a') ?? []`;
const names = (page: Page) =>
  page.evaluate<string[]>(`[...${links}].map((link) => link.querySelector('.truncate').textContent)`);
const focused = (page: Page) => page.evaluate<string>("document.activeElement.querySelector('.truncate')?.textContent");

interface Loaded {
  readonly asked: readonly string[];
  readonly bytes: number;
}

/** Opens the inbox in a new context until nothing is loaded any more. */
async function load(page: Page, address: string): Promise<Loaded> {
  const loaded: Promise<{ path: string; size: number }>[] = [];
  const note = (request: Request): void => {
    const path = new URL(request.url()).pathname;
    loaded.push(request.sizes().then(({ responseBodySize: size }) => ({ path, size })));
  };
  page.on('requestfinished', note);
  await page.goto(address);
  await page.locator('.inbox-row').first().waitFor();
  await page.waitForLoadState('networkidle');
  page.off('requestfinished', note);
  const all = await Promise.all(loaded);
  return {
    asked: all.filter(({ path }) => path.startsWith('/api/')).map(({ path }) => path.replace('/api/v1', '')),
    bytes: all.reduce((sum, { size }) => sum + size, 0),
  };
}

/** Open conversations, of which the oldest are offered to the owner. */
async function fill(
  service: Service,
  owner: Person & { siteId: string },
  { count, offers }: { count: number; offers: number },
) {
  const ann = await service.agent(owner, { name: 'Ann' });
  const startMs = service.clock.now();
  const db = service.running.services.engine.workspace(owner.workspaceId)?.db;
  if (db === undefined) throw new Error('the workspace is not open');
  const offer = (index: number) => ({
    toAgentId: owner.agentId,
    initiatedByAgentId: ann.agentId,
    previousAgentId: ann.agentId,
    note: null,
    expiresAt: new Date(startMs + hourMs + index * 1000).toISOString(),
  });
  insertOpenConversations(db, {
    count,
    startMs,
    stepMs: 1000,
    siteId: owner.siteId,
    clock: service.clock,
    fields: (index) => (index < offers ? { assignedAgentId: ann.agentId, handshake: offer(index) } : {}),
  });
  service.clock.advance(count * 1000);
}

t.test('a crowded inbox', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const pages = await startPages(t, service);

  t.test('200 departments: each is found by scrolling, by keyboard and in the page', async (t) => {
    const owner = await service.workspace();
    await fill(service, owner, { count: 60, offers: 0 });
    const expected = Array.from({ length: 200 }, (_, index) => `Team ${String(index).padStart(3, '0')}`);
    for (const name of expected) await service.post('/departments', { name }, owner.token);
    const page = await pages.open('/healthz', { token: owner.token, viewport });
    const { asked, bytes } = await load(page, `${service.url}/inbox/all`);
    t.comment(`${(bytes / 1024).toFixed(1)} KB, ${asked.length} requests: ${asked.join(' ')}`);
    t.ok(asked.length < maxRequests, asked.join(' '));
    t.ok(bytes < maxBytes, String(bytes));
    await holds(page, `${links}.length === 200`);
    t.strictSame(await names(page), expected);

    await nav(page).getByRole('link', { name: 'Calls' }).focus();
    await page.keyboard.press('Tab');
    t.equal(await focused(page), 'Team 000');
    await page.keyboard.press('ArrowDown');
    t.equal(await focused(page), 'Team 001');
    await page.keyboard.press('End');
    t.equal(await focused(page), 'Team 199');
    await nav(page).getByRole('link', { name: 'Team 199' }).and(page.locator(':focus')).waitFor();
    t.ok(await isInSight(page), 'it is scrolled to');
    await page.keyboard.press('Tab');
    t.equal(await focused(page), 'Solved', 'one stop for all departments');
    await page.keyboard.press('Shift+Tab');
    t.equal(await focused(page), 'Team 199');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/inbox\/department-/);
    await nav(page).locator('[aria-current="page"]').filter({ hasText: 'Team 199' }).waitFor();

    t.ok(await page.evaluate(`getSelection().removeAllRanges(), window.find('Team 123')`), "the browser's own search");
    await nav(page).getByRole('link', { name: 'Team 150' }).click();
    await page.getByRole('region', { name: 'Team 150' }).waitFor();
    await page.reload();
    await nav(page).locator('[aria-current="page"]').filter({ hasText: 'Team 150' }).waitFor();
    await nav(page).getByRole('link', { name: 'Calls' }).focus();
    await page.keyboard.press('Tab');
    t.equal(await focused(page), 'Team 150', 'the current one first');
    t.strictSame(await barriersOf(page), []);
    await page.context().close();
  });

  t.test('many departments are drawn after the list', async (t) => {
    const owner = await service.workspace();
    await fill(service, owner, { count: 2, offers: 0 });
    for (let index = 0; index < 31; index += 1)
      await service.post('/departments', { name: `Team ${index}` }, owner.token);
    const page = await pages.open('/healthz', { token: owner.token, viewport });
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/conversations/queue?*', async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(`${service.url}/inbox/all`);
    await nav(page).getByRole('link', { name: 'All open 2' }).waitFor();
    // The menu above the list has them meanwhile.
    await page.getByRole('button', { name: 'List: All open' }).click();
    await page.getByRole('menuitem', { name: 'Team 30' }).waitFor();
    t.strictSame(await names(page), []);
    await page.keyboard.press('Escape');
    release();
    await page.locator('.inbox-row').first().waitFor();
    await holds(page, `${links}.length === 31`);
    await page.context().close();
  });

  t.test('few departments are drawn at once, and each is a stop of the Tab key', async (t) => {
    const owner = await service.workspace();
    await fill(service, owner, { count: 2, offers: 0 });
    for (const name of ['Billing', 'Sales']) await service.post('/departments', { name }, owner.token);
    const page = await pages.open('/inbox/all', { token: owner.token, viewport });
    await holds(page, `${links}.length === 2`);
    await nav(page).getByRole('link', { name: 'Calls' }).focus();
    for (const name of ['Billing', 'Sales', 'Solved']) {
      await page.keyboard.press('Tab');
      t.equal(await focused(page), name);
    }
    await page.context().close();
  });

  for (const offers of [50, 200])
    t.test(`${offers} offers cost no request of their own`, async (t) => {
      const owner = await service.workspace();
      await fill(service, owner, { count: offers + 60, offers });
      for (const list of ['all', 'mine']) {
        const page = await pages.open('/healthz', { token: owner.token, viewport });
        const { asked, bytes } = await load(page, `${service.url}/inbox/${list}`);
        t.comment(`${(bytes / 1024).toFixed(1)} KB, ${asked.length} requests: ${asked.join(' ')}`);
        t.ok(asked.length < maxRequests, asked.join(' '));
        t.ok(bytes < maxBytes, String(bytes));
        await nav(page)
          .getByRole('link', { name: `Yours ${offers}` })
          .waitFor();
        await page.getByText('Ann offers you a chat with Customer 0').waitFor();
        await page.getByRole('link', { name: `${offers - 3} more offers` }).waitFor();
        t.equal(await page.locator('.offers button').count(), 6, 'three can be answered at once');
        t.strictSame(await barriersOf(page), []);
        await page.context().close();
      }
    });

  t.test('the next offer moves up when one is answered, and the rest is in the own list', async (t) => {
    const owner = await service.workspace();
    await fill(service, owner, { count: 8, offers: 5 });
    const page = await pages.open('/inbox/all', { token: owner.token, viewport });
    const line = page.locator('.offers .offer');
    await page.getByRole('link', { name: '2 more offers' }).waitFor();
    for (const left of ['1 more offer', undefined]) {
      await line.first().getByRole('button', { name: 'Decline' }).click();
      if (left === undefined) await holds(page, "document.querySelectorAll('.offers .offer').length === 3");
      else await page.getByRole('link', { name: left, exact: true }).waitFor();
      t.equal(await page.getByRole('button', { name: 'Accept' }).count(), 3);
    }
    await nav(page).getByRole('link', { name: 'Yours 3' }).click();
    await holds(page, "document.querySelectorAll('.inbox-row').length === 3");
    t.equal(await page.locator('.inbox-row').filter({ hasText: 'Offered' }).count(), 3);
    await page.context().close();
  });

  t.strictSame(pages.problems, []);
});

/** Whether the focused element is where a person sees it. */
const isInSight = (page: Page) =>
  page.evaluate<boolean>(`(() => {
    const at = document.activeElement.getBoundingClientRect();
    const seen = document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2);
    return document.activeElement.contains(seen);
  })()`);
