import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { makeKey } from '../support/keys.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { password, startService } from '../support/service.ts';

const dayMs = 24 * 3600_000;

t.test('the identity behind a socket', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const customer = await service.customer(owner.embedId);
  const agentReady = {
    type: 'ready',
    at: new Date(service.clock.now()).toISOString(),
    agent: { id: owner.agentId },
    seq: Number,
  };
  const visitorReady = { type: 'ready', visitor: { id: customer.visitorId }, seq: Number };
  const sides = [
    ['agent', owner.token, agentReady],
    ['visitor', customer.token, visitorReady],
  ] as const;

  t.test('[6] three ways to authenticate, in both namespaces', async (t) => {
    for (const [namespace, token, ready] of sides) {
      const bySubprotocol = service.socket(namespace, { protocols: ['messaging.v1', `bearer.${token}`] });
      t.match(await bySubprotocol.next('ready'), ready, `${namespace}: subprotocol`);
      t.equal(bySubprotocol.protocol, 'messaging.v1', 'the answer names the protocol, never the token');
      const byHeader = service.socket(namespace, { protocols: [], headers: { Authorization: `Bearer ${token}` } });
      t.match(await byHeader.next('ready'), ready, `${namespace}: Authorization`);
      const byFrame = service.socket(namespace);
      await byFrame.opened();
      byFrame.send({ type: 'auth', token });
      t.match(await byFrame.next('ready'), ready, `${namespace}: first frame`);
      for (const socket of [bySubprotocol, byHeader, byFrame]) await socket.close();
    }
  });

  t.test('[6] no token within 5 seconds: 4401, not a millisecond earlier', async (t) => {
    for (const namespace of ['agent', 'visitor'] as const) {
      const socket = service.socket(namespace);
      await socket.opened();
      // An error frame in reply shows that the server knows the connection.
      socket.send('nonsense');
      await socket.next('error');
      await service.pass(4999);
      socket.send('nonsense');
      await socket.next('error');
      await service.pass(1);
      t.match(await socket.closed, { code: 4401 }, namespace);
    }
    const quick = service.socket('agent');
    await quick.opened();
    quick.send({ type: 'auth', token: owner.token });
    await quick.next('ready');
    await service.pass(60_000);
    await quick.flushed();
    await quick.close();
  });

  t.test('[6] a token that does not count: 4401', async (t) => {
    const revoked = await service.agent(owner);
    await service.post('/auth/logout', undefined, revoked.token);
    const gone = await service.agent(owner);
    await service.delete(`/agents/${gone.agentId}`, owner.token);
    const [header, payload, signature] = owner.token.split('.');
    const none = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${payload}.`;
    const claims = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(payload ?? '', 'base64url').toString()), ver: 99 }),
    ).toString('base64url');
    const wrong: [string, 'agent' | 'visitor', string][] = [
      ['nonsense', 'agent', 'nonsense'],
      ['nonsense', 'visitor', 'nonsense'],
      ['cut off', 'agent', owner.token.slice(0, -2)],
      ['cut off', 'visitor', customer.token.slice(0, -2)],
      ['unsigned', 'agent', none],
      ['other claims', 'agent', `${header}.${claims}.${signature}`],
      ["a visitor's", 'agent', customer.token],
      ["an agent's", 'visitor', owner.token],
      ['logged out', 'agent', revoked.token],
      ['deactivated', 'agent', gone.token],
      ["a key's", 'agent', await makeKey(service, owner, { scopes: ['*'] })],
    ];
    for (const [what, namespace, token] of wrong) {
      t.match(
        await service.socket(namespace, { protocols: ['messaging.v1', `bearer.${token}`] }).closed,
        { code: 4401 },
        `${namespace}: ${what}, as subprotocol`,
      );
      const byFrame = service.socket(namespace);
      await byFrame.opened();
      byFrame.send({ type: 'auth', token });
      t.match(await byFrame.closed, { code: 4401 }, `${namespace}: ${what}, as a frame`);
      t.strictSame(byFrame.frames, [], 'no event');
    }
    t.match(
      await service.socket('agent', { protocols: [], headers: { Authorization: 'Basic abc' } }).opened(),
      undefined,
      'another scheme is no token: the frame may still come',
    );
  });

  t.test('[6] the first frame is auth, or the socket closes with 4401; a malformed frame is reported', async (t) => {
    for (const frame of [
      { type: 'ping' },
      { type: 'call', id: 1, method: 'me.read' },
      { type: 'auth' },
      { type: 'auth', token: 7 },
      {},
    ]) {
      const socket = service.socket('agent');
      await socket.opened();
      socket.send(frame);
      t.match(await socket.closed, { code: 4401 }, JSON.stringify(frame));
    }
    const socket = service.socket('agent');
    await socket.opened();
    for (const text of ['', 'x', '[]', '7', 'null', '{"type"']) {
      socket.send(text);
      t.match(await socket.next('error'), { error: 'invalid_body', message: String }, text);
    }
    socket.send(Buffer.from('{"type":"auth"}'));
    t.match(await socket.next('error'), { error: 'invalid_body' }, 'a binary frame');
    socket.send({ type: 'auth', token: owner.token });
    await socket.next('ready');
    socket.send({ type: 'auth', token: owner.token });
    t.match(await socket.next('error'), { error: 'invalid_body' }, 'once is enough');
  });

  t.test('[6] a path that is no namespace is no socket', async (t) => {
    for (const path of ['/', '/agents', '/api/v1/agent', '/agent/x'])
      t.equal(
        (
          await service
            .call('GET', `/${path}`, { headers: { Connection: 'Upgrade', Upgrade: 'websocket' } })
            .catch(() => ({ status: 404 }))
        ).status,
        404,
        path,
      );
    t.equal((await service.call('GET', '//agent')).status, 404, 'a plain request');
  });

  t.test(
    '[8] a person may have 100 sockets; the next is closed with 4429, and another person is not concerned',
    async (t) => {
      const agent = await service.agent(owner);
      for (const [namespace, token] of [
        ['agent', agent.token],
        ['visitor', customer.token],
      ] as const) {
        const sockets = await Promise.all(
          Array.from({ length: 100 }, () =>
            namespace === 'agent' ? service.agentSocket(token) : service.visitorSocket(token),
          ),
        );
        t.match(
          await service.socket(namespace, { protocols: ['messaging.v1', `bearer.${token}`] }).closed,
          { code: 4429 },
          namespace,
        );
        const other =
          namespace === 'agent'
            ? await service.agentSocket((await service.agent(owner)).token)
            : await service.visitorSocket((await service.customer(owner.embedId)).token);
        await other.flushed();
        await sockets[0]?.close();
        await (namespace === 'agent' ? service.agentSocket(token) : service.visitorSocket(token));
        await service.post(`/widget/page-views`, { url: 'https://shop.example/' }, customer.token);
        if (namespace === 'agent')
          for (const socket of sockets.slice(1))
            t.equal((await socket.next('visitor.page_viewed')).data.visitor.id, customer.visitorId);
        await Promise.all([...sockets.slice(1), other].map((socket) => socket.close()));
      }
    },
  );
});

t.test('a session ends when its token does', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();

  t.test(
    '[6] logout, deactivation, a reset of the password: every socket of the agent closes with 4401, and no other',
    async (t) => {
      const endings: [string, (agent: { token: string; agentId: string; email: string }) => Promise<unknown>][] = [
        ['logout', ({ token }) => service.post('/auth/logout', undefined, token)],
        ['deactivation', ({ agentId }) => service.delete(`/agents/${agentId}`, owner.token)],
        [
          'reset',
          async ({ email }) => {
            await service.post('/auth/forgot-password', { email });
            const mail = await service.mail(email);
            const token = /token=(\S+)/.exec(mail.text)?.[1];
            t.equal(
              (await service.post('/auth/reset-password', { token, newPassword: 'another horse battery staple' }))
                .status,
              200,
            );
          },
        ],
      ];
      const bystander = await service.agentSocket(owner.token);
      for (const [what, end] of endings) {
        const agent = await service.agent(owner);
        const sockets = [await service.agentSocket(agent.token), await service.agentSocket(agent.token)];
        await end(agent);
        for (const socket of sockets) t.match(await socket.closed, { code: 4401, reason: 'token_revoked' }, what);
        await bystander.flushed();
      }
    },
  );

  t.test(
    "[6] a new sign-in is not touched by an older logout's end, and other changes of the agent end nothing",
    async (t) => {
      const agent = await service.agent(owner);
      const old = await service.agentSocket(agent.token);
      await service.patch(
        `/agents/${agent.agentId}`,
        { name: 'Renamed', channels: ['tickets'], role: 'supervisor' },
        owner.token,
      );
      await service.post('/me/status', { status: 'available' }, agent.token);
      await old.flushed();
      await service.post('/auth/logout', undefined, agent.token);
      t.match(await old.closed, { code: 4401 });
      const { token } = (await service.post('/auth/login', { email: agent.email, password })).body;
      const socket = await service.agentSocket(token);
      await service.patch(`/agents/${agent.agentId}`, { name: 'Again' }, owner.token);
      t.equal((await socket.next('agent.updated')).data.agent.name, 'Again');
    },
  );

  t.test('[6] when the token expires: 4401, idle or on the next call', async (t) => {
    const { token } = (await service.post('/auth/login', { email: owner.email, password })).body;
    const [idle, calling] = [await service.agentSocket(token), await service.agentSocket(token)];
    const visitor = await service.visitorSocket((await service.customer(owner.embedId)).token);
    await service.pass(7 * dayMs - 1000);
    await idle.flushed();
    await calling.flushed();
    await service.pass(1000);
    calling.send({ type: 'ping' });
    t.match(await calling.closed, { code: 4401, reason: 'token expired' });
    await service.pass(15_000);
    t.match(await idle.closed, { code: 4401, reason: 'token expired' });
    t.match(
      await service.socket('agent', { protocols: ['messaging.v1', `bearer.${token}`] }).closed,
      { code: 4401 },
      'nor does it open another',
    );
    await visitor.flushed();
    t.equal(visitor.frames.at(-1)?.type, 'pong', "a visitor's token has no end");
  });

  t.test('[6] once it has expired nothing more is sent or done, before the sweep as well', async (t) => {
    const { token } = (await service.post('/auth/login', { email: owner.email, password })).body;
    const [told, calling] = [await service.agentSocket(token), await service.agentSocket(token)];
    const customer = await service.customer(owner.embedId);
    service.clock.jump(7 * dayMs);
    calling.send({ id: 1, type: 'call', method: 'workspace.settings' });
    t.match(await calling.closed, { code: 4401 });
    t.notOk(calling.frames.some((frame) => frame.type === 'reply'));
    await service.post('/widget/page-views', { url: 'https://shop.example/' }, customer.token);
    t.match(await told.closed, { code: 4401 });
    t.notOk(told.events.includes('visitor.page_viewed'));
  });
});

t.test(
  '[documents and operations] a damaged workspace: its sockets are told to retry later (1013), the others continue',
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
    const clock = new ManualClock();
    const first = await startService(t, { dataDir, clock });
    const [broken, sound] = [await first.workspace(), await first.workspace()];
    const [brokenCustomer, soundCustomer] = [await first.customer(broken.embedId), await first.customer(sound.embedId)];
    await first.stop();
    writeFileSync(join(dataDir, 'workspaces', `${broken.workspaceId}.db`), 'This is no database any more.'.repeat(400));

    const second = await startService(t, { dataDir, clock });
    t.match(
      await second.socket('agent', { protocols: ['messaging.v1', `bearer.${broken.token}`] }).closed,
      { code: 1013 },
      'not 4401: the token is as good as ever',
    );
    t.match(await second.socket('visitor', { protocols: ['messaging.v1', `bearer.${brokenCustomer.token}`] }).closed, {
      code: 1013,
    });
    await (await second.agentSocket(sound.token)).flushed();
    await (await second.visitorSocket(soundCustomer.token)).flushed();
  },
);
