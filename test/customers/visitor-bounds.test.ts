// The limits on anonymous browsers: new visitors and chats of a network, open chats of a visitor; and who is blocked
// together with a visitor.

import t from 'tap';
import { countChat, countTicket, countVisitor } from '../../engine/customers/visitor-bounds.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { networkOf, publicNetworkOf } from '../../http/limits/network-address.ts';
import { type Answer, type Service, startService, type Teardown } from '../support/service.ts';

const hourMs = 3600_000;
const dayMs = 24 * hourMs;
const home = '203.0.113.7';
const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

interface Browser {
  readonly token: string;
  readonly visitorId: string;
}

interface Shop {
  readonly service: Service;
  readonly owner: Awaited<ReturnType<Service['workspace']>>;
  /** A browser's call from an address. */
  at(
    ip: string,
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    call: { body?: object; token?: string; userAgent?: string },
  ): Promise<Answer>;
  session(ip: string, said?: object, userAgent?: string): Promise<Browser>;
  start(customer: Browser, ip?: string): Promise<Answer>;
}

async function shop(t: Teardown, env: Record<string, string> = {}): Promise<Shop> {
  const service = await startService(t, { env: { TRUST_PROXY: '1', ...env } });
  const owner = await service.workspace();
  const at: Shop['at'] = (ip, method, path, { userAgent = browser, ...call }) =>
    service.call(method, path, { ...call, headers: { 'X-Forwarded-For': ip, 'User-Agent': userAgent } });
  return {
    service,
    owner,
    at,
    async session(ip, said = {}, userAgent) {
      const { body } = await at(ip, 'POST', '/widget/sessions', {
        body: { siteId: owner.embedId, url: 'https://shop.example/', ...said },
        ...(userAgent === undefined ? {} : { userAgent }),
      });
      return { token: body.visitorToken, visitorId: body.visitor.id };
    },
    start: ({ token }, ip = home) => at(ip, 'POST', '/widget/conversations', { body: { body: 'Hello?' }, token }),
  };
}

async function statuses(count: number, call: (index: number) => Promise<Answer>): Promise<number[]> {
  const all = [];
  for (let index = 0; index < count; index += 1) all.push((await call(index)).status);
  return all;
}
const times = (count: number, status: number): number[] => Array.from({ length: count }, () => status);

t.test('[4.12] a visitor has ten open chats, and writes on in them', async (t) => {
  const { service, owner, session, start, at } = await shop(t);
  const customer = await session(home);
  t.same(await statuses(10, () => start(customer)), times(10, 201));
  const refused = await start(customer);
  t.match(refused, {
    status: 429,
    body: {
      error: 'rate_limited',
      message: 'You have 10 open chats. Continue in one of them.',
      detail: { ceiling: 'open_chats_of_visitor', limit: 10 },
      retryAfter: 60,
    },
  });
  const { conversations } = (await at(home, 'GET', '/widget/conversations', { token: customer.token })).body;
  t.equal(conversations.length, 10);
  t.equal(
    (
      await at(home, 'POST', `/widget/conversations/${conversations[0].id}/messages`, {
        body: { body: 'Still there?' },
        token: customer.token,
      })
    ).status,
    201,
  );
  t.equal((await start(await session(home))).status, 201, 'another person starts a separate one');
  t.equal(
    (await service.post(`/conversations/${conversations[0].id}/status`, { status: 'solved' }, owner.token)).status,
    200,
  );
  t.equal((await start(customer)).status, 201, 'one that is solved makes room');
});

t.test(
  "[4.12] a network's new visitors, chats and questions per hour are limited; another network has its own limits",
  async (t) => {
    const { service, owner, session, start, at } = await shop(t);
    const network = networkOf(home);
    const { visitorId } = await session(home);
    /** Counts as many as this number of browsers of the network would. */
    const take = command('test.take', (ctx, counts: { visitors: number; chats: number; tickets: number }): void => {
      for (let count = 0; count < counts.visitors; count += 1) countVisitor(ctx, network);
      for (let count = 0; count < counts.chats; count += 1) countChat(ctx, { visitorId, network });
      for (let count = 0; count < counts.tickets; count += 1) countTicket(ctx, network);
    });
    const customer = await session(home);
    await service.running.services.engine.execute(take, {
      workspaceId: owner.workspaceId,
      caller: systemCaller,
      params: { visitors: 1998, chats: 299, tickets: 119 },
    });
    const open = (ip = home): Promise<Answer> =>
      at(ip, 'POST', '/widget/sessions', { body: { siteId: owner.embedId, url: 'https://shop.example/' } });
    const leave = (ip = home): Promise<Answer> =>
      at(ip, 'POST', '/widget/tickets', {
        body: { body: 'Hello?', email: 'kim@customer.example' },
        token: customer.token,
      });
    for (const [call, ceiling, limit] of [
      [open, 'visitors_of_network', 2000],
      [() => start(customer), 'chats_of_network', 300],
      [leave, 'tickets_of_network', 120],
    ] as const) {
      if (call !== open) t.equal((await call()).status, 201, `the last of ${ceiling}`);
      t.match(await call(), { status: 429, body: { error: 'rate_limited', detail: { ceiling, limit } } });
    }
    t.equal(
      (
        await at(home, 'POST', '/widget/sessions', {
          body: { siteId: owner.embedId, url: 'https://shop.example/', visitorToken: customer.token },
        })
      ).status,
      200,
      'the earlier visitor is resumed',
    );
    const elsewhere = '203.0.113.8';
    for (const [answer, status] of [
      [await open(elsewhere), 200],
      [await start(customer, elsewhere), 201],
      [await leave(elsewhere), 201],
    ] as const)
      t.equal(answer.status, status);
    service.clock.advance(hourMs);
    for (const [answer, status] of [
      [await open(), 200],
      [await start(customer), 201],
      [await leave(), 201],
    ] as const)
      t.equal(answer.status, status);
  },
);

t.test(
  '[4.12] a blocked visitor stays blocked: as a new visitor of its network and browser, and by its email',
  async (t) => {
    const { service, owner, session, start, at } = await shop(t);
    const block = (visitorId: string) => service.post(`/visitors/${visitorId}/block`, undefined, owner.token);
    const troll = await session(home, { email: 'troll@customer.example' });
    t.equal((await start(troll)).status, 201);
    await block(troll.visitorId);

    const again = await session(home);
    t.not(again.visitorId, troll.visitorId);
    t.match(await start(again), { status: 403, body: { error: 'forbidden' } });
    t.match((await service.get('/workspace/audit-log?limit=1', owner.token)).body.entries, [
      {
        action: 'visitor.blocked',
        actorAgentId: null,
        targetId: again.visitorId,
        context: { blockedWith: troll.visitorId },
      },
    ]);
    for (const [why, ip, userAgent] of [
      ['another network', '203.0.113.8', browser],
      ['another browser', home, 'Mozilla/5.0 Safari/605'],
      ["a proxy's address", '10.0.0.1', browser],
    ] as const) {
      t.equal((await start(await session(ip, {}, userAgent), ip)).status, 201, why);
    }

    const named = await session('203.0.113.9', { email: 'TROLL@customer.example' });
    t.equal((await start(named)).status, 403, 'its email, given with the session');
    const later = await session('203.0.113.9', {}, 'Another/1.0');
    const socket = await service.visitorSocket(later.token);
    t.equal(
      (await at(home, 'PATCH', '/widget/visitor', { body: { email: 'troll@customer.example' }, token: later.token }))
        .status,
      200,
    );
    t.match(await socket.closed, { code: 4403 }, 'or later');
    t.equal((await start(later)).status, 403);
    const asking = await session('203.0.113.9', {}, 'Another/2.0');
    t.equal(
      (
        await at(home, 'POST', '/widget/tickets', {
          body: { body: 'Hello?', email: 'troll@customer.example' },
          token: asking.token,
        })
      ).status,
      403,
      'or for an answer',
    );

    await service.post(`/visitors/${troll.visitorId}/unblock`, undefined, owner.token);
    for (const one of [troll, again, named, later]) t.equal((await start(one)).status, 201, 'unblocked with it');
    t.equal((await start(await session(home))).status, 201);
  },
);

t.test('[4.12] a day later its network is free again; its own browser and email stay blocked', async (t) => {
  const { service, owner, session, start } = await shop(t);
  const troll = await session('2001:db8:1:1::7', { email: 'troll@customer.example' });
  await service.post(`/visitors/${troll.visitorId}/block`, undefined, owner.token);
  const again = await session('2001:db8:1:1:ffff::1');
  t.equal((await start(again)).status, 403, 'an IPv6 line is one network');
  service.clock.advance(dayMs);
  t.equal((await start(await session('2001:db8:1:1::7'))).status, 201);
  t.equal((await start(again)).status, 403);
  t.equal((await start(await session(home, { visitorToken: troll.token }))).status, 403);
  t.equal((await start(await session(home, { email: 'troll@customer.example' }))).status, 403);
});

t.test('RATE_LIMITS=off lifts the bounds, and no block', async (t) => {
  const { service, owner, session, start } = await shop(t, { RATE_LIMITS: 'off' });
  const customer = await session(home);
  t.same(await statuses(12, () => start(customer)), times(12, 201));
  await service.post(`/visitors/${customer.visitorId}/block`, undefined, owner.token);
  t.equal((await start(await session(home))).status, 403);
});

t.test("a network of one's own", async (t) => {
  for (const address of [
    '203.0.113.7',
    '::ffff:203.0.113.7',
    '2001:db8:1:1::7',
    '[2001:db8:1:1::7]:443',
    '172.32.0.1',
    '9.255.255.255',
  ])
    t.equal(publicNetworkOf(address), networkOf(address), address);
  for (const address of [
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.1.1',
    '100.64.0.1',
    'fd00::1',
    'fe80::1%eth0',
    '10.0.0.1:5000',
    'unknown',
    '',
  ])
    t.equal(publicNetworkOf(address), undefined, address);
});
