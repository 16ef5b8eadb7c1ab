// An account that strangers try: what they are allowed, whom it locks out, who is notified. And where an account is
// known.

import t from 'tap';
import { Pauses } from '../../http/limits/pauses.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type Person, password, type Service, startService } from '../support/service.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const refused = { status: 429, body: { error: 'rate_limited' } };
const browser = 'b'.repeat(22);

interface From {
  readonly ip?: string;
  readonly browser?: string;
}

function login(service: Service, email: string, given: string, { ip = '192.0.2.1', browser: kept }: From = {}) {
  return service.call('POST', '/auth/login', {
    body: { email, password: given, ...(kept === undefined ? {} : { browser: kept }) },
    headers: { 'X-Forwarded-For': ip },
  });
}

/** A stranger's wrong passwords, as fast as allowed, each from its own network. */
async function attack(service: Service, email: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    let answer = await login(service, email, 'wrong', { ip: `198.51.100.${index % 250}` });
    while (answer.status === 429) {
      service.clock.advance(answer.body.retryAfter * 1000);
      answer = await login(service, email, 'wrong', { ip: `198.51.100.${index % 250}` });
    }
  }
}

const start = (t: Parameters<typeof startService>[0]) => startService(t, { env: { TRUST_PROXY: '1' } });

t.test('[8] five a minute of one email', async (t) => {
  const service = await start(t);
  const owner = await service.workspace();

  t.test('the sixth from one address is refused, were all of them right and the address new', async (t) => {
    for (const from of [{ ip: '192.0.2.50' }, { ip: '192.0.2.51', browser }]) {
      service.clock.advance(minuteMs);
      for (let count = 1; count <= 5; count += 1)
        t.equal((await login(service, owner.email, password, from)).status, 200);
      t.match(await login(service, owner.email, password, from), refused);
    }
  });

  t.test('failures from known networks count for strangers, too', async (t) => {
    service.clock.advance(minuteMs);
    for (let count = 0; count < 5; count += 1)
      t.equal((await login(service, owner.email, 'wrong', { ip: '127.0.0.1' })).status, 401);
    t.match(await login(service, owner.email, password, { ip: '203.0.113.1' }), refused);
  });
});

t.test('[8] strangers cannot lock out a known browser', async (t) => {
  const service = await start(t);
  const owner = await service.workspace();
  const known = async (from: From): Promise<Person> => {
    const agent = await service.agent(owner);
    t.equal((await login(service, agent.email, password, from)).status, 200);
    service.clock.advance(minuteMs);
    return agent;
  };

  t.test('by its network', async (t) => {
    const agent = await known({ ip: '2001:db8:1:1::1' });
    await attack(service, agent.email, 5);
    t.match(
      await login(service, agent.email, password, { ip: '203.0.113.1' }),
      refused,
      'from elsewhere it waits as they do',
    );
    t.equal((await login(service, agent.email, password, { ip: '2001:db8:1:1::2' })).status, 200);
    await attack(service, agent.email, 25);
    t.equal(
      (await login(service, agent.email, password, { ip: '2001:db8:1:1::3' })).status,
      200,
      'also in their pauses',
    );
    t.match(await login(service, agent.email, password, { ip: '203.0.113.1' }), refused);
  });

  t.test('by its browser, wherever that is', async (t) => {
    const agent = await known({ ip: '192.0.2.7', browser });
    await attack(service, agent.email, 25);
    t.equal((await login(service, agent.email, password, { ip: '203.0.113.2', browser })).status, 200);
    t.match(await login(service, agent.email, password, { ip: '203.0.113.3', browser: 'x'.repeat(22) }), refused);
  });

  t.test("an attacker in the agent's network is stopped, without affecting the agent's browser there", async (t) => {
    const agent = await known({ ip: '192.0.2.8', browser });
    for (let count = 0; count < 20; count += 1) {
      if (count % 5 === 0) service.clock.advance(minuteMs);
      t.equal((await login(service, agent.email, 'wrong', { ip: '192.0.2.8' })).status, 401);
    }
    service.clock.advance(minuteMs - 1);
    t.match(await login(service, agent.email, password, { ip: '192.0.2.8' }), refused);
    t.equal((await login(service, agent.email, password, { ip: '192.0.2.8', browser })).status, 200);
  });

  t.test("a reset forgets all known browsers and networks, which may have been the attacker's", async (t) => {
    const agent = await known({ ip: '192.0.2.11', browser });
    await service.post('/auth/forgot-password', { email: agent.email });
    await service.settled();
    const token = /token=(\S+)/.exec(service.newestMail(agent.email)?.text ?? '')?.[1];
    await service.post('/auth/reset-password', { token, newPassword: 'another long and quiet sentence' });
    service.clock.advance(minuteMs);
    await attack(service, agent.email, 5);
    t.match(
      await login(service, agent.email, 'another long and quiet sentence', { ip: '192.0.2.11', browser }),
      refused,
    );
    t.equal(
      (await login(service, agent.email, 'another long and quiet sentence', { ip: '127.0.0.1' })).status,
      200,
      'where it was reset is known',
    );
  });

  t.test('reset mails: a known browser has its own ten', async (t) => {
    const agent = await known({ ip: '192.0.2.12' });
    const forgot = (ip: string) =>
      service.call('POST', '/auth/forgot-password', {
        body: { email: agent.email },
        headers: { 'X-Forwarded-For': ip },
      });
    for (let index = 0; index < 10; index += 1) t.equal((await forgot(`198.51.100.${index}`)).status, 204);
    t.match(await forgot('198.51.100.99'), refused);
    t.equal((await forgot('192.0.2.12')).status, 204);
  });

  t.test('a network is known for thirty days, a browser for a hundred and eighty', async (t) => {
    const agent = await known({ ip: '192.0.2.9', browser });
    service.clock.advance(31 * 24 * hourMs);
    await attack(service, agent.email, 5);
    t.match(await login(service, agent.email, password, { ip: '192.0.2.9' }), refused);
    t.equal((await login(service, agent.email, password, { ip: '192.0.2.10', browser })).status, 200);
  });
});

t.test(
  '[8] pauses grow: from the twentieth wrong one in a row a minute, then twice as long, up to an hour',
  async (t) => {
    const service = await start(t);
    const owner = await service.workspace();
    const stranger = (index: number) => login(service, owner.email, 'wrong', { ip: `198.51.100.${index}` });

    t.test('at most a hundred an hour, whatever is tried (ASVS 2.2.1)', async (t) => {
      let tried = 0;
      for (let second = 0; second < 3600; second += 10) {
        if ((await stranger(second % 250)).status === 401) tried += 1;
        service.clock.advance(10_000);
      }
      t.ok(tried >= 20 && tried <= 30, `${tried} in the first hour`);
      service.clock.advance(24 * hourMs);
      t.equal((await stranger(1)).status, 401);
      service.clock.advance(10_000);
      t.equal((await stranger(1)).status, 401, 'after a quiet day it starts over');
    });

    t.test(
      'the agent is notified once a day, by mail and in the audit log; unknown accounts notify no one',
      async (t) => {
        const told = async () => [...Array(service.mailCount(owner.email)).keys()].length;
        await service.settled();
        t.equal(await told(), 1);
        const mail = service.newestMail(owner.email);
        t.match(mail, { subject: 'Someone is trying to sign in to your account' });
        t.match(mail?.text, /^20 sign-ins/m);
        t.match(await service.audited('agent.attacked', owner.token), [
          { targetId: owner.agentId, actorAgentId: null, context: { inRow: 20 } },
        ]);
        await attack(service, owner.email, 25);
        await service.settled();
        t.equal(await told(), 2, 'the next day');
        await attack(service, 'nobody@example.com', 21);
        await service.settled();
        t.equal(service.mailCount('nobody@example.com'), 0);
      },
    );

    t.test('a right one ends them', async (t) => {
      const agent = await service.agent(owner);
      await attack(service, agent.email, 19);
      service.clock.advance(minuteMs);
      t.equal((await login(service, agent.email, password, { ip: '203.0.113.9' })).status, 200);
      for (let count = 0; count < 4; count += 1)
        t.equal((await login(service, agent.email, 'wrong', { ip: '203.0.113.10' })).status, 401);
      service.clock.advance(minuteMs);
      t.equal((await login(service, agent.email, 'wrong', { ip: '203.0.113.10' })).status, 401);
    });
  },
);

t.test('[decisions 4.1] a sign-in from a new place is reported', async (t) => {
  const service = await start(t);
  const owner = await service.workspace();
  const news = async (agent: Person): Promise<number> => {
    await service.settled();
    return service.mailCount(agent.email);
  };

  t.test('from a browser or a network that was not there before, once', async (t) => {
    const agent = await service.agent(owner);
    let before = await news(agent);
    await login(service, agent.email, password, { ip: '127.0.0.1' });
    t.equal(await news(agent), before, 'where it joined');
    await login(service, agent.email, password, { ip: '192.0.2.20' });
    before += 1;
    t.equal(await news(agent), before);
    t.match(service.newestMail(agent.email), { subject: 'A new sign-in to your account' });
    t.match(service.newestMail(agent.email)?.text, /^From: node, 192\.0\.2\.20$/m);
    t.match((await service.audited('agent.signed_in', owner.token))[0], {
      actorAgentId: agent.agentId,
      context: { address: '192.0.2.20', isNew: true },
    });
    await login(service, agent.email, password, { ip: '192.0.2.20' });
    t.equal(await news(agent), before);
    await login(service, agent.email, password, { ip: '192.0.2.20', browser });
    before += 1;
    t.equal(await news(agent), before, 'a new browser in a known network');
    service.clock.advance(minuteMs);
    await login(service, agent.email, password, { ip: '192.0.2.21', browser });
    t.equal(await news(agent), before, 'a known browser in a new network');
    await login(service, agent.email, 'wrong', { ip: '192.0.2.22' });
    t.equal(await news(agent), before, 'no one got in');
  });

  t.test('five mails a day at the most', async (t) => {
    const agent = await service.agent(owner);
    const before = await news(agent);
    for (let index = 0; index < 12; index += 1) {
      service.clock.advance(minuteMs);
      t.equal((await login(service, agent.email, password, { ip: `203.0.113.${index + 30}` })).status, 200);
    }
    t.equal((await news(agent)) - before, 5);
    t.equal(
      (await service.audited('agent.signed_in', owner.token)).filter(({ targetId }) => targetId === agent.agentId)
        .length,
      12,
      'the audit log has all',
    );
  });

  t.test('not when nothing is known yet, as after an upgrade', async (t) => {
    const agent = await service.agent(owner);
    const before = await news(agent);
    const { db } = service.running.services.engine.workspace(owner.workspaceId)!;
    db.run('DELETE FROM knownOrigin WHERE agentId = ?', [agent.agentId]);
    await login(service, agent.email, password, { ip: '192.0.2.60', browser });
    t.equal(await news(agent), before);
  });
});

t.test('pauses are bounded, and a flood of made-up keys ends none', async (t) => {
  const clock = new ManualClock();
  const pauses = new Pauses(clock);
  for (let count = 0; count < 22; count += 1) pauses.fail('victim');
  const restMs = pauses.restMs('victim');
  t.equal(restMs, 4 * minuteMs);
  for (let key = 0; key < 120_000; key += 1) pauses.fail(`flood ${key}`);
  t.equal(pauses.restMs('victim'), restMs);
  t.equal(pauses.size, 50_000);
  t.equal(pauses.restMs('flood 119999'), 0);
  clock.advance(24 * hourMs);
  t.equal(pauses.fail('victim'), undefined);
  t.ok(pauses.size < 50_000);
  for (let count = 0; count < 60; count += 1) pauses.fail('long');
  t.equal(pauses.restMs('long'), hourMs);
});
