// Sign-ins of agents: listed, extended, ended one by one; and a change of password, which ends them all.

import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { type Person, password, type Service, startService } from '../support/service.ts';

const minuteMs = 60_000;
const dayMs = 24 * 3600_000;
const other = 'another long and quiet sentence';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const revoked = { status: 401, body: { error: 'token_revoked' } };

interface Session {
  readonly token: string;
  readonly expiresAt: string;
}

async function login(
  service: Service,
  person: Person,
  options: { ip?: string; browser?: string; userAgent?: string; password?: string } = {},
): Promise<Session> {
  service.clock.advance(minuteMs);
  const { ip = '127.0.0.1', browser, userAgent = firefox } = options;
  const { body } = await service.call('POST', '/auth/login', {
    body: {
      email: person.email,
      password: options.password ?? password,
      ...(browser === undefined ? {} : { browser }),
    },
    headers: { 'X-Forwarded-For': ip, 'User-Agent': userAgent },
  });
  return body;
}

const listed = async (service: Service, token: string): Promise<any[]> =>
  (await service.get('/me/sessions', token)).body.sessions;
const works = async (service: Service, token: string): Promise<boolean> =>
  (await service.get('/me', token)).status === 200;

t.test('[decisions 4.1] sign-ins are listed', async (t) => {
  const service = await startService(t, { env: { TRUST_PROXY: '1' } });
  const owner = await service.workspace();

  t.test("with device, address, times, and which one is the caller's; only one's own", async (t) => {
    const agent = await service.agent(owner);
    const laptop = await login(service, agent, { ip: '192.0.2.7' });
    const script = await login(service, agent, { ip: '2001:db8::7', userAgent: 'curl/8.5.0' });
    const sessions = await listed(service, laptop.token);
    t.match(sessions, [
      { device: 'curl', address: '2001:db8::7', isCurrent: false },
      { device: 'Firefox on Linux', address: '192.0.2.7', isCurrent: true, expiresAt: laptop.expiresAt },
      { device: 'node', isCurrent: false },
    ]);
    t.same(
      (await listed(service, script.token)).map(({ isCurrent }) => isCurrent),
      [true, false, false],
    );
    t.same(Object.keys(sessions[0]).sort(), [
      'address',
      'createdAt',
      'device',
      'expiresAt',
      'id',
      'isCurrent',
      'lastUsedAt',
    ]);
  });

  t.test("a use is recorded to five minutes, with its address; a socket's call is a use", async (t) => {
    const agent = await service.agent(owner);
    const { token } = await login(service, agent, { ip: '192.0.2.7' });
    const ask = (ip: string) =>
      service.call('GET', '/me', { token, headers: { 'X-Forwarded-For': ip, 'User-Agent': 'curl/8.5.0' } });
    service.clock.advance(5 * minuteMs - 1);
    await ask('192.0.2.8');
    await service.settled();
    t.match((await listed(service, token))[0], { address: '192.0.2.7', device: 'Firefox on Linux' });
    service.clock.advance(1);
    await ask('192.0.2.9');
    await service.settled();
    const now = new Date(service.clock.now()).toISOString();
    t.match((await listed(service, token))[0], {
      address: '192.0.2.9',
      device: 'curl',
      lastUsedAt: now,
      isCurrent: true,
    });
    const socket = await service.agentSocket(token);
    service.clock.advance(5 * minuteMs);
    await socket.call('agent.list', {});
    await service.settled();
    t.not((await listed(service, token))[0].lastUsedAt, now);
    await socket.close();
  });

  t.test('no key and no app sees or ends them', async (t) => {
    const { body: key } = await service.post('/api-keys', { name: 'x', scopes: ['*'] }, owner.token);
    const [session] = await listed(service, owner.token);
    for (const [method, path] of [
      ['GET', '/me/sessions'],
      ['DELETE', '/me/sessions'],
      ['DELETE', `/me/sessions/${session.id}`],
      ['POST', '/auth/refresh'],
    ] as const) {
      t.match(
        await service.call(method, path, { token: key.key }),
        { status: 403, body: { error: 'insufficient_scope' } },
        path,
      );
    }
    t.equal(await works(service, owner.token), true);
  });

  t.test('one may have two hundred; then the one that was not used for longest ends', async (t) => {
    const agent = await service.agent(owner);
    const { engine } = service.running.services;
    const { openSession } = await import('../../engine/team/agent-sessions.ts');
    const { requireAgent } = await import('../../engine/workspace/roster.ts');
    const many = command('test.sessions', (ctx, count: number): void => {
      for (let index = 0; index < count; index += 1) openSession(ctx, requireAgent(ctx, agent.agentId));
    });
    const first = await login(service, agent);
    service.clock.advance(minuteMs);
    await engine.execute(many, { workspaceId: owner.workspaceId, caller: systemCaller, params: 199 });
    t.match(await service.get('/me', agent.token), revoked, 'the one that it joined with');
    t.equal(await works(service, first.token), true);
    t.equal((await listed(service, first.token)).length, 200);
    await engine.execute(many, { workspaceId: owner.workspaceId, caller: systemCaller, params: 1 });
    t.match(await service.get('/me', first.token), revoked);
  });
});

t.test('[decisions 4.1] a sign-in lasts while it is made longer', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const refresh = (token: string) => service.post('/auth/refresh', undefined, token);

  t.test('the answer is that of a login, with the same token and seven days from then', async (t) => {
    const { token } = await login(service, owner);
    service.clock.advance(6 * dayMs);
    const { status, body } = await refresh(token);
    t.equal(status, 200);
    t.same(Object.keys(body).sort(), ['agent', 'expiresAt', 'token', 'workspace']);
    t.equal(body.token, token);
    t.equal(Date.parse(body.expiresAt) - service.clock.now(), 7 * dayMs);
    service.clock.advance(7 * dayMs - 1);
    t.equal(await works(service, token), true);
    service.clock.advance(1);
    t.match(await service.get('/me', token), { status: 401, body: { error: 'unauthorized' } });
    t.match(await refresh(token), { status: 401 }, 'finished conversations stay so');
  });

  t.test('use alone does not extend it', async (t) => {
    const { token } = await login(service, owner);
    for (let day = 0; day < 6; day += 1) {
      service.clock.advance(dayMs);
      t.equal(await works(service, token), true);
    }
    service.clock.advance(dayMs);
    t.equal(await works(service, token), false);
  });

  t.test('no longer than ninety days in all', async (t) => {
    const { token, expiresAt } = await login(service, owner);
    const beganMs = Date.parse(expiresAt) - 7 * dayMs;
    for (let days = 0; days < 84; days += 6) {
      service.clock.advance(6 * dayMs);
      t.equal((await refresh(token)).status, 200);
    }
    service.clock.advance(3 * dayMs);
    t.equal(Date.parse((await refresh(token)).body.expiresAt), beganMs + 90 * dayMs);
    service.clock.advance(3 * dayMs);
    t.equal(await works(service, token), false);
  });

  t.test('its socket lives as long as it does', async (t) => {
    const { token } = await login(service, owner);
    const socket = await service.agentSocket(token);
    service.clock.advance(6 * dayMs);
    await refresh(token);
    service.clock.advance(6 * dayMs);
    t.match(await socket.call('agent.list', {}), { status: 200 });
    service.clock.advance(dayMs + 15_000);
    t.match(await socket.closed, { code: 4401 });
  });

  t.test('a token of before there were sign-ins is given one', async (t) => {
    const { accessTokens, clock } = service.running.services;
    const token = await accessTokens.issue({
      agentId: owner.agentId,
      workspaceId: owner.workspaceId,
      tokenVersion: 0,
      expiresMs: clock.now() + dayMs,
    });
    const { body } = await refresh(token);
    t.not(body.token, token);
    t.match((await listed(service, body.token))[0], { isCurrent: true });
    t.match(
      await service.post('/me/totp', undefined, body.token),
      { status: 403, body: { error: 'confirmation_required' } },
      'neither showed more than a token',
    );
    t.equal(await works(service, token), true, 'and ends when it would have');
  });
});

t.test('[5.3] a sign-in can be ended separately', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();

  t.test("its token and its sockets end, no other's", async (t) => {
    const agent = await service.agent(owner);
    const [lost, kept] = [await login(service, agent), await login(service, agent)];
    const [lostSocket, keptSocket] = [await service.agentSocket(lost.token), await service.agentSocket(kept.token)];
    const { id } = (await listed(service, lost.token)).find(({ isCurrent }) => isCurrent);
    t.equal((await service.delete(`/me/sessions/${id}`, kept.token)).status, 204);
    t.match(await lostSocket.closed, { code: 4401 });
    t.match(await service.get('/me', lost.token), revoked);
    t.match(await service.post('/auth/refresh', undefined, lost.token), revoked);
    t.equal(await works(service, kept.token), true);
    t.match(await keptSocket.call('agent.list', {}), { status: 200 });
    t.match(await service.delete(`/me/sessions/${id}`, kept.token), { status: 404 });
    t.match((await service.audited('agent.session_ended', owner.token))[0], {
      actorAgentId: agent.agentId,
      targetId: agent.agentId,
      context: { device: 'Firefox on Linux' },
    });
  });

  t.test("not another agent's, though it were an admin", async (t) => {
    const agent = await service.agent(owner);
    const [session] = await listed(service, agent.token);
    t.match(await service.delete(`/me/sessions/${session.id}`, owner.token), { status: 404 });
    t.equal(await works(service, agent.token), true);
  });

  t.test("ending one's last sign-in signs out; the next one makes the agent available again", async (t) => {
    const agent = await service.agent(owner, { available: true });
    const { token } = await login(service, agent);
    const statusOf = async (): Promise<string> =>
      (await service.get(`/agents/${agent.agentId}`, owner.token)).body.status;
    await service.delete('/me/sessions/current', token);
    t.equal(await statusOf(), 'available', 'it is signed in elsewhere');
    await service.delete('/me/sessions/current', agent.token);
    t.equal(await statusOf(), 'offline');
    await login(service, agent);
    t.equal(await statusOf(), 'available');
  });

  t.test('the one that asks, by that name', async (t) => {
    const { token } = await login(service, owner);
    t.equal((await service.delete('/me/sessions/current', token)).status, 204);
    t.match(await service.get('/me', token), revoked);
    t.equal(await works(service, owner.token), true);
    t.match(await service.delete('/me/sessions/x', owner.token), { status: 404 });
  });

  t.test("all except one's own", async (t) => {
    const agent = await service.agent(owner);
    const [first, second] = [await login(service, agent), await login(service, agent)];
    t.equal((await service.delete('/me/sessions', second.token)).status, 204);
    for (const token of [agent.token, first.token]) t.match(await service.get('/me', token), revoked);
    t.equal((await listed(service, second.token)).length, 1);
    t.equal((await service.audited('agent.session_ended', owner.token))[0].context.sessions, 2);
  });

  t.test('with them tokens from before sign-ins were recorded, and the reports they requested', async (t) => {
    const agent = await service.agent(owner);
    const { accessTokens, clock } = service.running.services;
    const former = () =>
      accessTokens.issue({
        agentId: agent.agentId,
        workspaceId: owner.workspaceId,
        tokenVersion: 0,
        expiresMs: clock.now() + dayMs,
      });
    const token = await former();
    const [lostSocket, keptSocket] = [await service.agentSocket(token), await service.agentSocket(agent.token)];
    t.equal(await works(service, token), true);
    t.equal((await service.delete('/me/sessions', agent.token)).status, 204);
    t.match(await service.get('/me', token), revoked);
    t.match(await lostSocket.closed, { code: 4401 });
    t.equal(await works(service, agent.token), true);
    t.match(await keptSocket.call('agent.list', {}), { status: 200 });
    await keptSocket.close();
    const again = await login(service, agent);
    t.equal(await works(service, again.token), true);
    t.match(await service.get('/me', await former()), revoked, 'nor does one that was kept');
  });

  t.test('ending all of them by a token from before signs out', async (t) => {
    const agent = await service.agent(owner);
    const { accessTokens, clock } = service.running.services;
    const token = await accessTokens.issue({
      agentId: agent.agentId,
      workspaceId: owner.workspaceId,
      tokenVersion: 0,
      expiresMs: clock.now() + dayMs,
    });
    t.equal((await service.delete('/me/sessions', token)).status, 204);
    t.match(await service.get('/me', token), revoked);
    t.match(await service.get(`/agents/${agent.agentId}`, owner.token), { body: { status: 'offline' } });
  });

  t.test('a restart keeps them', async (t) => {
    const { token } = await login(service, owner);
    const [{ id }] = await listed(service, token);
    const { registry } = service.running.services.engine.workspace(owner.workspaceId)!;
    registry.clear();
    t.equal((await listed(service, token))[0].id, id);
  });
});

t.test('[5.8] a signed-in agent who knows the password can change it', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const change = (token: string, currentPassword: string, newPassword: string) =>
    service.post('/me/password', { currentPassword, newPassword }, token);

  t.test('every other sign-in ends, the answer is that of a login', async (t) => {
    const agent = await service.agent(owner);
    const { token } = await login(service, agent);
    const socket = await service.agentSocket(agent.token);
    const { status, body } = await change(token, password, other);
    t.equal(status, 200);
    t.same(Object.keys(body).sort(), ['agent', 'expiresAt', 'token', 'workspace']);
    for (const ended of [token, agent.token]) t.match(await service.get('/me', ended), revoked);
    t.match(await socket.closed, { code: 4401 });
    t.equal(await works(service, body.token), true);
    t.equal((await service.post('/auth/login', { email: agent.email, password: other })).status, 200);
    await service.settled();
    t.match(service.newestMail(agent.email), {
      subject: 'Your password was changed',
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    t.match(await service.audited('agent.password_changed', owner.token), [
      { actorAgentId: agent.agentId, targetId: agent.agentId, before: null, after: null },
    ]);
  });

  t.test('a reset link of before is worth nothing then', async (t) => {
    const agent = await service.agent(owner);
    await service.post('/auth/forgot-password', { email: agent.email });
    await service.settled();
    const token = /token=(\S+)/.exec(service.newestMail(agent.email)?.text ?? '')?.[1];
    await change(agent.token, password, other);
    t.match(await service.post('/auth/reset-password', { token, newPassword: 'yet another quiet sentence' }), {
      status: 410,
    });
  });

  t.test('not with a wrong one, and not more often than a login', async (t) => {
    const agent = await service.agent(owner);
    for (let count = 0; count < 5; count += 1)
      t.match(await change(agent.token, 'wrong', other), { status: 401, body: { error: 'invalid_credentials' } });
    t.match(await change(agent.token, password, other), { status: 429, body: { error: 'rate_limited' } });
    t.equal(await works(service, agent.token), true, 'it is signed in all the same');
    t.equal(
      (await service.post('/auth/login', { email: agent.email, password })).status,
      200,
      'and signs in elsewhere',
    );
    service.clock.advance(minuteMs);
    t.match(await change(agent.token, password, 'password12'), {
      status: 400,
      body: { detail: { fieldErrors: { newPassword: [String] } } },
    });
    t.equal(service.mailCount(agent.email), 1, 'the invitation');
  });

  t.test('two concurrent changes: one succeeds', async (t) => {
    const agent = await service.agent(owner);
    const both = await Promise.all([
      change(agent.token, password, other),
      change(agent.token, password, 'yet another quiet sentence'),
    ]);
    t.same(both.map(({ status }) => status).sort(), [200, 401]);
  });
});

t.test('[3 lifecycle] a deactivated agent has no sign-in left when it returns', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  await service.delete(`/agents/${agent.agentId}`, owner.token);
  const db = service.running.services.engine.workspace(owner.workspaceId)!.db;
  t.same(db.all('SELECT * FROM agentSession WHERE agentId = ?', [agent.agentId]), []);
  t.same(db.all('SELECT * FROM knownOrigin WHERE agentId = ?', [agent.agentId]), []);
});
