import { join as joinPath } from 'node:path';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { directoryPath, verifyAgreement } from '../../engine/operations/integrity.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { tempFolder } from '../support/folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { password, startService } from '../support/service.ts';

const dayMs = 24 * 3600_000;
const other = 'another long and quiet sentence';

t.test('joining', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  let count = 0;

  /** Invites, and returns the token in the mail's link. */
  const invite = async (fields: object = {}) => {
    count += 1;
    const email = `invited${count}@example.com`;
    const { body } = await service.post(
      '/agents/invite',
      { email, name: `Invited ${count}`, role: 'agent', ...fields },
      owner.token,
    );
    return { id: body.id, email, code: await codeTo(email) };
  };
  const codeTo = async (email: string): Promise<string> =>
    /\/join\/(\S+)/.exec((await service.mail(email)).text)?.[1] ?? '';
  const join = async (code: string, fields: object = {}) => {
    service.clock.advance(60_000);
    return service.post('/auth/join', { code, password, ...fields });
  };
  const gone = { status: 410, body: { statusCode: 410, error: 'gone' } };

  t.test('[3 agent] an invitation is mailed, redeemed once, and signs in', async (t) => {
    const { id, email, code } = await invite({ role: 'supervisor', channels: ['tickets'] });
    t.match(await service.get(`/agents/${id}`, owner.token), {
      body: { hasPassword: false, inviteStatus: 'pending', status: 'offline' },
    });
    t.match(await service.post('/auth/login', { email, password }), {
      status: 401,
      body: { error: 'invalid_credentials' },
    });
    const joined = await join(code);
    t.equal(joined.status, 200);
    t.match(joined.body, {
      token: String,
      expiresAt: String,
      agent: { id, email, role: 'supervisor', workspaceId: owner.workspaceId },
      workspace: { id: owner.workspaceId },
    });
    t.match(await service.get('/me', joined.body.token), {
      body: { agent: { hasPassword: true, inviteStatus: 'joined', status: 'available', channels: ['tickets'] } },
    });
    t.equal((await service.post('/auth/login', { email, password })).status, 200);
    t.match(await join(code, { password: other }), gone, 'used');
    t.equal((await service.post('/auth/login', { email, password: other })).status, 401, 'and has changed nothing');
  });

  t.test('[4.1] the mail names the workspace and links to the page', async (t) => {
    const email = 'reader@example.com';
    await service.post('/agents/invite', { email, name: 'Rita', role: 'agent' }, owner.token);
    const mail = await service.mail(email);
    t.match(mail, { to: email, subject: /^Join Shop \d+$/, text: /^Hello Rita,/ });
    const path = /http:\/\/switchboard\.test(\/join\/\S+)/.exec(mail.text)?.[1] ?? '';
    t.match(await service.get(`/${path}`), { status: 200, body: '<div id="app"></div>' });
    t.equal(
      (await service.outbox()).some((raw) => raw.includes('To: reader@example.com')),
      true,
      'it is in the outbox folder',
    );
  });

  t.test('[4.1] the joining agent can set its name', async (t) => {
    const first = await invite();
    t.match(await join(first.code, { name: 'Zoë' }), { status: 200 });
    t.equal((await service.get(`/agents/${first.id}`, owner.token)).body.name, 'Zoë');
    const second = await invite();
    for (const name of ['', '  ', 'x'.repeat(121), 7])
      t.match(await join(second.code, { name }), {
        status: 400,
        body: { error: 'invalid_body', detail: { fieldErrors: { name: [String] } } },
      });
    t.equal((await join(second.code)).status, 200);
  });

  t.test('[decisions] an unknown code: 404; a superseded one: 410', async (t) => {
    const { id, email, code } = await invite();
    for (const unknown of ['x', 'A'.repeat(44), `${code.slice(0, 22)}${'A'.repeat(22)}`, '/'.repeat(44)])
      t.match(await join(unknown), { status: 404, body: { error: 'not_found' } }, unknown);
    t.equal((await service.post(`/agents/${id}/resend-invite`, undefined, owner.token)).status, 200);
    const newer = await codeTo(email);
    t.match(await join(code), gone, 'superseded');
    t.equal((await join(newer)).status, 200);
  });

  t.test('[decisions] a code lives seven days: a moment before it works, at the end it does not', async (t) => {
    const early = await invite();
    service.clock.advance(7 * dayMs - 60_001);
    t.equal((await join(early.code)).status, 200);
    const fresh = (await service.post('/auth/login', { email: owner.email, password })).body.token;
    await service.post('/agents/invite', { email: 'late@example.com', name: 'Late', role: 'agent' }, fresh);
    const late = await codeTo('late@example.com');
    service.clock.advance(7 * dayMs - 60_000);
    t.match(await join(late), gone);
  });
});

t.test('the life of an agent', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const codeTo = async (email: string): Promise<string> =>
    /\/join\/(\S+)/.exec((await service.mail(email)).text)?.[1] ?? '';
  const join = async (code: string, fields: object = {}) => {
    service.clock.advance(60_000);
    return service.post('/auth/join', { code, password, ...fields });
  };

  t.test('[5] a weak password is refused, and the code still works', async (t) => {
    const { body } = await service.post(
      '/agents/invite',
      { email: 'weak@example.com', name: 'Wilhelmina Oakenshield', role: 'agent' },
      owner.token,
    );
    const code = await codeTo(body.email);
    for (const weak of ['kx7#qz!vm', 'password12', 'weak@example.com', 'Wilhelmina Oakenshield']) {
      t.match(
        await join(code, { password: weak }),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { password: [String] } } } },
        weak,
      );
    }
    t.equal((await join(code)).status, 200);
  });

  t.test(
    '[3 agent] deactivated, invited again, redeemed: the same account is back, its old tokens are not',
    async (t) => {
      const agent = await service.agent(owner, { role: 'supervisor' });
      t.equal((await service.delete(`/agents/${agent.agentId}`, owner.token)).status, 204);
      t.match(await service.get('/me', agent.token), { status: 401, body: { error: 'token_revoked' } });
      t.match(await service.get(`/agents/${agent.agentId}`, owner.token), {
        body: { hasPassword: false, inviteStatus: 'deactivated', status: 'offline', role: 'agent' },
      });

      const invited = await service.post(`/agents/${agent.agentId}/resend-invite`, undefined, owner.token);
      t.match(invited, { status: 200, body: { id: agent.agentId, inviteStatus: 'pending', hasPassword: false } });
      t.equal(
        (await service.post('/auth/login', { email: agent.email, password })).status,
        401,
        'not before it is redeemed',
      );
      const back = await join(await codeTo(agent.email), { password: other });
      t.match(back, { status: 200, body: { agent: { id: agent.agentId, role: 'agent' } } });
      t.match(await service.get('/me', agent.token), { status: 401, body: { error: 'token_revoked' } });
      t.match(await service.get('/me', back.body.token), {
        status: 200,
        body: { agent: { inviteStatus: 'joined', hasPassword: true } },
      });
    },
  );

  t.test('[decisions] a code ends with a deactivation', async (t) => {
    const { body } = await service.post(
      '/agents/invite',
      { email: 'never@example.com', name: 'N', role: 'agent' },
      owner.token,
    );
    const code = await codeTo('never@example.com');
    await service.delete(`/agents/${body.id}`, owner.token);
    t.match(await join(code), { status: 410, body: { error: 'gone' } });
    await service.post(`/agents/${body.id}/resend-invite`, undefined, owner.token);
    t.match(await join(code), { status: 410, body: { error: 'gone' } }, 'the old one stays ended');
    t.equal((await join(await codeTo('never@example.com'))).status, 200);
  });

  t.test('[7] already_joined: an agent who has joined is not invited again', async (t) => {
    const agent = await service.agent(owner);
    t.match(await service.post(`/agents/${agent.agentId}/resend-invite`, undefined, owner.token), {
      status: 409,
      body: { statusCode: 409, error: 'already_joined' },
    });
  });

  t.test(
    'an invitation follows its agent to another address; the link sent to the former one does not work',
    async (t) => {
      const { body } = await service.post(
        '/agents/invite',
        { email: 'former@example.com', name: 'M', role: 'agent' },
        owner.token,
      );
      const former = await codeTo('former@example.com');
      t.equal((await service.patch(`/agents/${body.id}`, { email: 'present@example.com' }, owner.token)).status, 200);
      t.match(await join(former), { status: 410, body: { error: 'gone' } });
      t.match(await join(await codeTo('present@example.com')), {
        status: 200,
        body: { agent: { id: body.id, email: 'present@example.com' } },
      });
    },
  );

  t.test('a reset link that went to a former address opens nothing', async (t) => {
    const agent = await service.agent(owner);
    service.clock.advance(60_000);
    await service.post('/auth/forgot-password', { email: agent.email });
    const token = /token=(\S+)/.exec((await service.mail(agent.email)).text)?.[1];
    await service.patch(`/agents/${agent.agentId}`, { email: 'moved@example.com' }, owner.token);
    t.match(await service.post('/auth/reset-password', { token, newPassword: other }), {
      status: 410,
      body: { error: 'reset_token_expired' },
    });
  });
});

t.test('an address belongs to the agent who joined with it, not to an invitation', async (t) => {
  const dataDir = joinPath(tempFolder(t), 'data');
  const service = await startService(t, { dataDir });
  const [one, other] = [await service.workspace(), await service.workspace()];
  const invite = (owner: { token: string }, email: string) =>
    service.post('/agents/invite', { email, name: 'Kim', role: 'agent' }, owner.token);
  const register = (email: string) => service.post('/auth/register', { email, password, workspaceName: 'Kim' });
  const codeTo = async (email: string): Promise<string> =>
    /\/join\/(\S+)/.exec((await service.mail(email)).text)?.[1] ?? '';
  const join = (code: string) => service.post('/auth/join', { code, password });
  const taken = { status: 409, body: { error: 'email_taken' } };
  const exists = { status: 409, body: { error: 'email_already_exists' } };

  t.test(
    'an invited person can register, or join another workspace; the first to do so gets the address',
    async (t) => {
      const email = 'kim@example.com';
      const first = await invite(one, email);
      const code = await codeTo(email);
      t.match(await invite(one, email), exists, "in one workspace an address is one agent's");
      t.equal((await invite(other, email)).status, 201);
      const otherCode = await codeTo(email);
      t.equal((await join(otherCode)).status, 200);
      t.match(await join(code), taken);
      t.match(await service.post(`/agents/${first.body.id}/resend-invite`, {}, one.token), exists);
      t.match(await register(email), taken);
      t.match(await service.post('/auth/login', { email, password }), {
        status: 200,
        body: { workspace: { id: other.workspaceId } },
      });
      const lee = 'lee@example.com';
      await invite(one, lee);
      t.equal((await register(lee)).status, 201);
      t.match(await join(await codeTo(lee)), taken);
      t.match(await invite(other, lee), exists);
      const [agent] = (await service.get('/agents', one.token)).body.agents.filter(
        ({ inviteStatus }: { inviteStatus: string }) => inviteStatus === 'pending',
      );
      t.match(
        await service.patch(`/agents/${agent.id}`, { email: other.email }, one.token),
        exists,
        'nor is one renamed to it',
      );
    },
  );

  t.test('a deactivated agent can join elsewhere, and returns only while its address is free', async (t) => {
    service.clock.advance(60_000);
    const agent = await service.agent(one);
    await service.delete(`/agents/${agent.agentId}`, one.token);
    await service.post(`/agents/${agent.agentId}/resend-invite`, {}, one.token);
    const code = await codeTo(agent.email);
    t.equal((await register(agent.email)).status, 201);
    t.match(await join(code), taken);
    t.match(await service.post(`/agents/${agent.agentId}/resend-invite`, {}, one.token), exists);
  });

  t.test('[5.7] no one can take the address of an agent in another workspace', async (t) => {
    t.equal((await service.delete(`/agents/${other.agentId}`, one.token)).status, 404);
    t.equal((await service.post('/auth/login', { email: other.email, password })).status, 200);
    t.equal((await service.patch(`/agents/${other.agentId}`, { email: 'mine@example.com' }, one.token)).status, 404);
    t.match(await register(other.email), taken);
  });

  t.test('addresses reserved by invitations of earlier versions are free after the first start', async (t) => {
    const invited = (await invite(one, 'before@example.com')).body;
    await service.settled();
    await service.stop();
    const directory = new Sqlite(directoryPath(dataDir));
    directory
      .prepare('INSERT INTO agentEmail VALUES (?, ?, ?, NULL)')
      .run('before@example.com', one.workspaceId, invited.id);
    const later = directoryMigrations.filter(({ version }) => version > 5);
    for (const [, table] of later.flatMap(({ sql }) => [...sql.matchAll(/CREATE TABLE (\w+)/g)]))
      directory.exec(`DROP TABLE ${table}`);
    directory.pragma('user_version = 5');
    directory.close();
    const after = await startService(t, {
      dataDir,
      clock: new ManualClock(new Date(service.clock.now()).toISOString()),
    });
    t.same(verifyAgreement(dataDir), []);
    t.equal(
      (await after.post('/auth/register', { email: 'before@example.com', password, workspaceName: 'Kim' })).status,
      201,
    );
    t.equal((await after.post('/auth/login', { email: one.email, password })).status, 200);
  });
});
