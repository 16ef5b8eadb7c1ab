import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ManualClock } from '../support/manual-clock.ts';
import { type Service, startService } from '../support/service.ts';

const dayMs = 24 * 3600_000;

async function solved(
  service: Service,
  owner: { token: string; embedId: string },
): Promise<{ id: string; token: string }> {
  const { id, customer } = await service.chat(owner);
  await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
  return { id, token: customer.token };
}

/** As the customer sees it, whose token does not expire. */
async function statusOf(service: Service, owner: { embedId: string }, token: string): Promise<string> {
  return (
    await service.post('/widget/sessions', { siteId: owner.embedId, visitorToken: token, url: 'https://shop.example/' })
  ).body.conversation.status;
}

t.test('[4.5] solved conversations close after 7 days, to the millisecond', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const { token } = await solved(service, owner);
  await service.pass(7 * dayMs - 1);
  t.equal(await statusOf(service, owner, token), 'solved');
  await service.pass(1);
  t.equal(await statusOf(service, owner, token), 'closed');
});

t.test('[decisions] AUTO_CLOSE_DAYS takes fractions', async (t) => {
  const service = await startService(t, { env: { AUTO_CLOSE_DAYS: '0.25' } });
  const owner = await service.workspace();
  const { id } = await solved(service, owner);
  const { solvedAt } = await service.conversation(id, owner.token);
  await service.pass(dayMs / 4 - 1);
  t.match(await service.conversation(id, owner.token), { status: 'solved', closedAt: null });
  await service.pass(1);
  t.match(await service.conversation(id, owner.token), {
    status: 'closed',
    solvedAt,
    closedAt: new Date(Date.parse(solvedAt) + dayMs / 4).toISOString(),
  });
});

t.test("[4.10] autoCloseDays is the workspace's own; 0 closes immediately", async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const settings = (autoCloseDays: number) => service.put('/workspace/settings', { autoCloseDays }, owner.token);
  await settings(1.5);
  const first = await solved(service, owner);
  await service.pass(1.5 * dayMs - 1);
  t.equal((await service.conversation(first.id, owner.token)).status, 'solved');
  await service.pass(1);
  t.equal((await service.conversation(first.id, owner.token)).status, 'closed');
  await settings(0);
  const second = await solved(service, owner);
  await service.pass(0);
  t.equal((await service.conversation(second.id, owner.token)).status, 'closed');
  for (const [days, status] of [
    [-1, 400],
    [3650, 200],
    [3651, 400],
  ] as const)
    t.equal((await settings(days)).status, status, String(days));
});

t.test('[4.10] a change also applies to solved conversations, from when they were solved', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const settings = (autoCloseDays: number) => service.put('/workspace/settings', { autoCloseDays }, owner.token);
  const statuses = (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await service.conversation(id, owner.token)).status));
  const early = await solved(service, owner);
  await service.pass(2 * dayMs);
  const late = await solved(service, owner);
  await settings(1);
  await service.settled();
  t.same(await statuses([early.id, late.id]), ['closed', 'solved']);
  await settings(3);
  await service.pass(dayMs);
  t.same(await statuses([late.id]), ['solved'], 'more days, too');
  await service.pass(2 * dayMs);
  t.same(await statuses([late.id]), ['closed']);
});

t.test('[4.10] of many that are solved it holds page by page', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const customer = await service.customer(owner.embedId);
  for (let count = 0; count < 201; count += 1) {
    const { body } = await service.post('/widget/conversations', { body: `Chat ${count}` }, customer.token);
    await service.post(`/conversations/${body.conversation.id}/status`, { status: 'solved' }, owner.token);
  }
  const solvedOnes = () =>
    service.running.services.engine
      .workspace(owner.workspaceId)
      ?.db.get<{ count: number }>(`SELECT count(*) AS count FROM conversation WHERE status = 'solved'`)?.count;
  t.equal(solvedOnes(), 201);
  await service.put('/workspace/settings', { autoCloseDays: 0 }, owner.token);
  await service.settled();
  t.equal(solvedOnes(), 0);
});

t.test('[4.5] reopening clears it, and solving starts it again', async (t) => {
  const service = await startService(t, { env: { AUTO_CLOSE_DAYS: '1' } });
  const owner = await service.workspace();
  const { id } = await solved(service, owner);
  await service.pass(dayMs / 2);
  await service.post(`/conversations/${id}/status`, { status: 'open' }, owner.token);
  await service.pass(dayMs);
  t.match(await service.conversation(id, owner.token), { status: 'open', solvedAt: null });
  await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
  await service.pass(dayMs - 1);
  t.equal((await service.conversation(id, owner.token)).status, 'solved');
  await service.pass(1);
  t.equal((await service.conversation(id, owner.token)).status, 'closed');
});

t.test('[4.5] a conversation marked as spam meanwhile does not close', async (t) => {
  const service = await startService(t, { env: { AUTO_CLOSE_DAYS: '1' } });
  const owner = await service.workspace();
  const { id } = await solved(service, owner);
  await service.post(`/conversations/${id}/spam`, undefined, owner.token);
  await service.pass(2 * dayMs);
  t.equal((await service.post(`/conversations/${id}/spam`, undefined, owner.token)).body.conversation.status, 'spam');
});

t.test('[decisions] closed to solved starts the days again', async (t) => {
  const service = await startService(t, { env: { AUTO_CLOSE_DAYS: '1' } });
  const owner = await service.workspace();
  const { id } = await solved(service, owner);
  await service.pass(dayMs);
  t.match((await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token)).body.conversation, {
    status: 'solved',
    closedAt: null,
    solvedAt: new Date(service.clock.now()).toISOString(),
  });
  await service.pass(dayMs);
  t.equal((await service.conversation(id, owner.token)).status, 'closed');
});

t.test('[architecture] over a restart: overdue ones close at start, the rest on time', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const clock = new ManualClock();
  const first = await startService(t, { dataDir, clock, env: { AUTO_CLOSE_DAYS: '1' } });
  const owner = await first.workspace();
  const early = await solved(first, owner);
  await first.pass(dayMs / 2);
  const late = await solved(first, owner);
  await first.stop();

  clock.jump(dayMs / 2);
  const second = await startService(t, { dataDir, clock, env: { AUTO_CLOSE_DAYS: '1' } });
  await second.settled();
  t.equal((await second.conversation(early.id, owner.token)).status, 'closed');
  t.equal((await second.conversation(late.id, owner.token)).status, 'solved');
  await second.pass(dayMs / 2 - 1);
  t.equal((await second.conversation(late.id, owner.token)).status, 'solved');
  await second.pass(1);
  t.equal((await second.conversation(late.id, owner.token)).status, 'closed');
});
