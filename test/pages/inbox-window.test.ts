// The inbox with 20,000 open conversations in a real browser: it reads what is on the screen, stays in order while
// messages arrive, and its numbers are right though it knows few of them.

import type { Page } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { insertOpenConversations } from '../support/open-conversations.ts';
import { holds, startPages } from '../support/pages.ts';
import { type Service, startService } from '../support/service.ts';

const count = 20_000;
const stepMs = 1000;
const maxRequests = 8;
const readBeforeSocket = ['/agents', '/departments', '/views'];
const maxBytes = 150_000;
const viewport = { width: 1440, height: 860 };

const rows = `[...document.querySelectorAll('[data-row]')].filter((row) => row.querySelector('.inbox-row') && row.offsetParent)
  .sort((a, b) => a.dataset.row - b.dataset.row)`;
/** The conversations of the rows that are drawn, from the first one in the list. */
const drawn = (page: Page) =>
  page.evaluate<{ row: number; id: string }[]>(
    `${rows}.map((row) => ({ row: Number(row.dataset.row), id: new URL(row.querySelector('a').href).pathname.split('/').at(-1) }))`,
  );
const firstIs = (page: Page, id: string) =>
  holds(page, `${rows}[0]?.dataset.row === '0' && ${rows}[0].querySelector('a').href.includes('${id}')`);
const list = (page: Page, name: string | RegExp) =>
  page.getByRole('navigation', { name: 'Lists' }).getByRole('link', { name });
const scroll = (page: Page, top: string) =>
  page.evaluate(`(() => { const box = document.querySelector('.virtual'); box.scrollTop = ${top}; })()`);

/** The ids of the whole list, as the service has it. */
async function listed(service: Service, token: string, query: string, most: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  while (ids.length < most) {
    const { body } = await service.get(`/conversations/queue?${query}&limit=200${cursor}`, token);
    ids.push(...body.conversations.map(({ id }: { id: string }) => id));
    if (body.nextCursor === null) break;
    cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
  }
  return ids;
}

t.test('the inbox with 20,000 open conversations', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const pages = await startPages(t, service);
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  const department = (await service.post('/departments', { name: 'Billing', memberIds: [ann.agentId] }, owner.token))
    .body;
  const other = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
  // The oldest one, whose customer will write.
  const kim = await service.customer(owner.embedId, { name: 'Kim' });
  const { conversation: deep } = (await service.post('/widget/conversations', { body: 'Long ago' }, kim.token)).body;
  const startMs = service.clock.now() + stepMs;
  const db = service.running.services.engine.workspace(owner.workspaceId)?.db;
  if (db === undefined) throw new Error('the workspace is not open');
  const ids = insertOpenConversations(db, {
    count,
    startMs,
    stepMs,
    siteId: owner.siteId,
    clock: service.clock,
    fields: (index) => ({
      assignedAgentId: index < 120 ? owner.agentId : null,
      departmentId: index % 10 === 0 ? department.id : index % 2 === 0 ? other.id : null,
      ...(index % 100 === 7 ? { waitingSince: null } : {}),
    }),
  });
  service.clock.advance((count + 60) * stepMs);
  const newest = ids.at(-1) ?? '';

  t.test('it opens with fewer than eight requests and below 150 kB, and knows how many there are', async (t) => {
    const page = await pages.open('/healthz', { token: owner.token, viewport });
    const loaded: Promise<{ path: string; size: number }>[] = [];
    page.on('requestfinished', (request) => {
      const path = new URL(request.url()).pathname;
      loaded.push(request.sizes().then(({ responseBodySize: size }) => ({ path, size })));
    });
    await page.goto(`${service.url}/inbox/all`);
    await firstIs(page, newest);
    await list(page, 'All open 999+').waitFor();
    await list(page, 'Yours 120').waitFor();
    await list(page, 'Billing 999+').waitFor();
    await page.waitForLoadState('networkidle');
    const all = await Promise.all(loaded);
    const asked = all.filter(({ path }) => path.startsWith('/api/')).map(({ path }) => path.replace('/api/v1', ''));
    const bytes = all.reduce((sum, { size }) => sum + size, 0);
    t.comment(`${(bytes / 1024).toFixed(1)} KB, ${asked.length} requests: ${asked.join(' ')}`);
    const again = asked.filter((path, index) => asked.indexOf(path) !== index);
    t.ok(asked.length - again.length < maxRequests, asked.join(' '));
    // Where the socket takes longer than a page waits for it, what was read before it is read again, once.
    t.ok(
      new Set(again).size === again.length && again.every((path) => readBeforeSocket.includes(path)),
      again.join(' '),
    );
    t.ok(bytes < maxBytes, String(bytes));
    t.equal(asked.filter((path) => path === '/conversations/queue').length, 1, 'one page');
    await page.context().close();
  });

  const page = await pages.open('/inbox/all', { token: owner.token, viewport });
  await firstIs(page, newest);

  t.test('a message far below what was read moves its conversation to the top, in every tab', async () => {
    const tab = await pages.open('/inbox/all', { in: page.context(), token: owner.token });
    await firstIs(tab, newest);
    await service.post(`/widget/conversations/${deep.id}/messages`, { body: 'Still there?' }, kim.token);
    for (const one of [page, tab]) {
      await firstIs(one, deep.id);
      await one.locator('[data-row="0"]').getByText('Kim', { exact: true }).waitFor();
      await one.locator('[data-row="0"]').getByText('Still there?').waitFor();
    }
    await tab.close();
  });

  t.test('an own conversation below what was read changes the numbers when it is solved elsewhere', async () => {
    await list(page, 'Yours 120').click();
    await firstIs(page, ids[119] ?? '');
    await service.post(`/conversations/${ids[0]}/status`, { status: 'solved' }, owner.token);
    await list(page, 'Yours 119').waitFor();
    await service.post(`/conversations/${ids[119]}/status`, { status: 'solved' }, owner.token);
    await firstIs(page, ids[118] ?? '');
    await list(page, 'Yours 118').waitFor();
    await list(page, /^All open/).click();
  });

  t.test('scrolling reads on, in order and without gaps, while messages arrive', async (t) => {
    await firstIs(page, deep.id);
    for (let part = 0; part < 8; part += 1) {
      service.clock.advance(1000);
      const id = ids[500 + part * 700] ?? '';
      await Promise.all([
        scroll(page, 'box.scrollHeight'),
        service.post(`/conversations/${id}/messages`, { body: `Answer ${part}` }, owner.token),
      ]);
      await holds(page, `document.querySelector('.virtual').scrollHeight > ${(part + 1) * 60 * 84}`);
    }
    await scroll(page, 'box.scrollHeight - box.clientHeight - 400');
    const whole = await listed(service, owner.token, 'sort=activity', 1200);
    for (const top of ['box.scrollTop', 'box.scrollHeight / 2', '100 * 84', '0']) {
      await scroll(page, top);
      const isRight = async (): Promise<boolean> => {
        const seen = await drawn(page);
        return seen.length > 9 && seen.every(({ row, id }) => whole[row] === id);
      };
      while (!(await isRight())) await page.evaluate('new Promise(requestAnimationFrame)');
    }
    await firstIs(page, whole[0] ?? '');
    t.strictSame(
      (await drawn(page)).slice(0, 9).map(({ id }) => id),
      whole.slice(0, 9),
    );
  });

  t.test('in the other orders, too, and narrowed', async (t) => {
    for (const [address, query] of [
      ['all?sort=oldest', 'sort=oldest_activity'],
      ['all?sort=longest_waiting', 'sort=waiting'],
      ['unassigned?tag=order', 'sort=activity&assigneeId=none&tag=order'],
      ['mine?sort=oldest', `sort=oldest_activity&assigneeId=${owner.agentId}`],
    ] as const) {
      await page.goto(`${service.url}/inbox/${address}`);
      const whole = await listed(service, owner.token, query, 200);
      await firstIs(page, whole[0] ?? '');
      const rows = (await drawn(page)).map(({ id }) => id);
      t.strictSame(rows, whole.slice(0, rows.length), address);
    }
    // The longest waiting one is answered: the next one moves up, and it is not looked for below.
    await page.goto(`${service.url}/inbox/unassigned?sort=longest_waiting`);
    const [first = '', second = ''] = await listed(service, owner.token, 'sort=waiting&assigneeId=none', 200);
    await firstIs(page, first);
    await service.post(`/conversations/${first}/messages`, { body: 'Sorry for the wait.' }, owner.token);
    await firstIs(page, second);
  });

  t.test('an agent of a department reads and counts what it may see', async (t) => {
    const anns = await pages.open('/inbox/all', { token: ann.token, viewport });
    const whole = await listed(service, ann.token, 'sort=activity', 200);
    await firstIs(anns, whole[0] ?? '');
    await list(anns, 'Yours').waitFor();
    await list(anns, 'Billing 999+').click();
    const own = await listed(service, ann.token, `sort=activity&departmentId=${department.id}`, 200);
    await firstIs(anns, own[0] ?? '');
    t.equal(await list(anns, /Sales/).count(), 0);
    // It comes into the department, from below everything that was read.
    const sold = ids[42] ?? '';
    await service.post(`/conversations/${sold}/assign-to-department`, { departmentId: department.id }, owner.token);
    await service.post(`/conversations/${sold}/messages`, { body: 'Billing takes over.' }, owner.token);
    await firstIs(anns, sold);
    await service.post(`/conversations/${sold}/assign-to-department`, { departmentId: other.id }, owner.token);
    await firstIs(anns, own[0] ?? '');
    await anns.context().close();
  });

  t.strictSame(pages.problems, []);
});
