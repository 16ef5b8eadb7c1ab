// Presence of customers: who is there now, since when the others are gone, and what both are told by.

import t from 'tap';
import { isVisitorThere } from '../../engine/widget/presence.ts';
import { tempFolder } from '../support/folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type Service, startService } from '../support/service.ts';

const secondMs = 1000;

/** Until the service knows that its visitors have this many sockets. */
async function socketsAre(service: Service, count: number): Promise<void> {
  const said = `switchboard_visitor_sockets ${count}\n`;
  while (!(await (await fetch(new URL('/metrics', service.url))).text()).includes(said));
  await service.settled();
}

const visitorOf = async (service: Service, owner: { token: string }, visitorId: string) =>
  (await service.get(`/visitors/${visitorId}`, owner.token)).body.visitor;

t.test('presence of customers', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();

  t.test(
    '[decisions, presence] a visitor is online from its first socket until ten seconds after its last',
    async (t) => {
      const { visitorId, token } = await service.customer(owner.embedId);
      t.equal((await visitorOf(service, owner, visitorId)).isOnline, false, 'a session alone is no presence');
      const agent = await service.agentSocket(owner.token);
      await service.pass(30 * secondMs);
      const first = await service.visitorSocket(token);
      t.match((await agent.next('visitor.online')).data.visitor, {
        id: visitorId,
        isOnline: true,
        lastSeenAt: new Date(service.clock.now()).toISOString(),
      });
      const second = await service.visitorSocket(token);
      await first.close();
      await socketsAre(service, 1);
      await service.pass(60 * secondMs);
      t.match(await visitorOf(service, owner, visitorId), { isOnline: true }, 'another tab keeps it there');
      const leftAt = new Date(service.clock.now()).toISOString();
      await second.close();
      await socketsAre(service, 0);
      await service.pass(10 * secondMs - 1);
      t.match(await visitorOf(service, owner, visitorId), { isOnline: true });
      await service.pass(1);
      t.match((await agent.next('visitor.offline')).data.visitor, {
        id: visitorId,
        isOnline: false,
        lastSeenAt: leftAt,
      });
      t.match(await visitorOf(service, owner, visitorId), { isOnline: false, lastSeenAt: leftAt });
      await agent.flushed();
      t.strictSame(
        agent.events.filter((type) => type.startsWith('visitor.')),
        ['visitor.online', 'visitor.offline'],
        'each once',
      );
      await agent.close();
    },
  );

  t.test('[decisions, presence] the next page of a visit is no leave', async (t) => {
    const { visitorId, token } = await service.customer(owner.embedId);
    await (await service.visitorSocket(token)).close();
    await socketsAre(service, 0);
    await service.pass(9 * secondMs);
    const agent = await service.agentSocket(owner.token);
    const next = await service.visitorSocket(token);
    await service.pass(60 * secondMs);
    t.match(await visitorOf(service, owner, visitorId), { isOnline: true });
    await agent.flushed();
    t.notOk(agent.events.some((type) => type.startsWith('visitor.')));
    await next.close();
    await socketsAre(service, 0);
    await agent.close();
  });

  t.test('[decisions, presence] agents without chats are not told', async (t) => {
    const caller = await service.agentSocket((await service.agent(owner, { channels: ['calls'] })).token);
    const { token } = await service.customer(owner.embedId);
    await (await service.visitorSocket(token)).close();
    await socketsAre(service, 0);
    await service.pass(10 * secondMs);
    await caller.flushed();
    t.notOk(caller.events.some((type) => type.startsWith('visitor.')));
    await caller.close();
  });

  t.test('[decisions, presence] lastSeenAt follows messages and page views, too', async (t) => {
    const { id, customer } = await service.chat(owner);
    const seen = async () => (await visitorOf(service, owner, customer.visitorId)).lastSeenAt;
    await service.pass(60 * secondMs);
    await service.post(`/widget/conversations/${id}/messages`, { body: 'Hello?' }, customer.token);
    t.equal(await seen(), new Date(service.clock.now()).toISOString());
    await service.pass(60 * secondMs);
    await service.post('/widget/page-views', { url: 'https://shop.example/2' }, customer.token);
    t.equal(await seen(), new Date(service.clock.now()).toISOString());
    const before = await seen();
    await service.pass(60 * secondMs);
    await service.get(`/widget/conversations/${id}/messages`, customer.token);
    t.equal(await seen(), before, 'a read is no sign of its own');
  });

  t.test(
    '[decisions, mail] who asks by HTTP counts as there for half a minute, without being shown online',
    async (t) => {
      const { id, customer } = await service.chat(owner);
      const isThere = () => {
        const view = service.running.services.engine.workspace(owner.workspaceId)?.view({ kind: 'system' });
        return view !== undefined && isVisitorThere(view, customer.visitorId);
      };
      t.notOk(isThere(), 'who only wrote may be gone');
      await service.get(`/widget/conversations/${id}/messages`, customer.token);
      await service.settled();
      t.ok(isThere());
      t.match(await visitorOf(service, owner, customer.visitorId), { isOnline: false });
      await service.pass(20 * secondMs);
      await service.get(`/widget/conversations/${id}/messages`, customer.token);
      await service.settled();
      await service.pass(30 * secondMs - 1);
      t.ok(isThere(), 'counted from the last time');
      await service.pass(1);
      t.notOk(isThere());
    },
  );

  t.test('[4.12] a socket that stays open does not hold a visit together: pages do', async (t) => {
    const { token } = await service.customer(owner.embedId);
    const campaign = (
      await service.post(
        '/campaigns',
        {
          name: 'Hello',
          triggerRules: { urlMatch: { operator: 'contains', value: 'shop' }, frequency: 'session' },
          content: { body: 'Hello' },
        },
        owner.token,
      )
    ).body;
    await service.patch(`/campaigns/${campaign.id}`, { status: 'live' }, owner.token);
    const offered = async () =>
      (await service.post('/widget/page-views', { url: 'https://shop.example/' }, token)).body.campaigns.length;
    t.equal(await offered(), 1);
    await service.post('/widget/campaign-events', { campaignId: campaign.id, type: 'impression' }, token);
    t.equal(await offered(), 0);
    await service.pass(29 * 60 * secondMs);
    const socket = await service.visitorSocket(token);
    await service.pass(60 * secondMs);
    t.equal(await offered(), 1, 'half an hour after the last page');
    await socket.close();
    await socketsAre(service, 0);
  });
});

t.test('[decisions, presence] a socket ends with the process: a visitor who does not return is offline', async (t) => {
  const dataDir = tempFolder(t);
  const first = await startService(t, { dataDir, clock: new ManualClock('2026-11-20T12:00:00.000Z') });
  const owner = await first.workspace();
  const [kim, lou] = [await first.customer(owner.embedId), await first.customer(owner.embedId)];
  for (const { token } of [kim, lou]) await first.visitorSocket(token);
  await first.settled();
  await first.stop();

  const second = await startService(t, { dataDir, clock: new ManualClock('2026-11-20T13:00:00.000Z') });
  await second.settled();
  const socket = await second.visitorSocket(lou.token);
  await second.pass(60 * secondMs);
  t.match(await visitorOf(second, owner, kim.visitorId), { isOnline: false });
  t.match(await visitorOf(second, owner, lou.visitorId), { isOnline: true });
  await socket.close();
  await socketsAre(second, 0);
});
