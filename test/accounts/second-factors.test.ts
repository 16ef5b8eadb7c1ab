// Second factors: an authenticator app, passkeys, recovery codes; and a workspace that requires one.

import t from 'tap';
import { giveConsent } from '../../engine/platform/oauth.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { listSessions } from '../../engine/team/agent-sessions.ts';
import { confirmTotp, factorsOf } from '../../engine/team/second-factors.ts';
import { SignInSteps } from '../../http/signed/sign-in-steps.ts';
import { decide, registerApp, request } from '../support/oauth.ts';
import { addPasskey, codeOf, enrolApp, origin, Passkey } from '../support/second-factors.ts';
import { type Person, password, type Service, startService } from '../support/service.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const asked = { status: 401, body: { error: 'second_factor_required' } };
const wrong = { status: 401, body: { error: 'invalid_code' } };
const missing = { status: 403, body: { error: 'second_factor_missing' } };
const unconfirmed = { status: 403, body: { error: 'confirmation_required' } };

const login = (service: Service, { email }: Pick<Person, 'email'>) => {
  service.clock.advance(minuteMs);
  return service.post('/auth/login', { email, password });
};
const challengeOf = async (service: Service, person: Person): Promise<string> =>
  (await login(service, person)).body.detail.challenge;
const showing = (service: Service, challenge: string, proof: object) =>
  service.post('/sign-in/second-factor', { challenge, ...proof });
const resetToken = async (service: Service, email: string): Promise<string> => {
  await service.post('/auth/forgot-password', { email });
  await service.settled();
  return /token=(\S+)/.exec(service.newestMail(email)?.text ?? '')?.[1] ?? '';
};
/** The subject of the account's newest mail about second factors. */
async function subjectOf(service: Service, email: string): Promise<string | undefined> {
  await service.settled();
  return service.newestMail(email)?.subject;
}

t.test('an authenticator app', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  await service.post('/me/confirm', { password }, agent.token);
  let secret = '';
  let recoveryCodes: string[] = [];

  t.test(
    'it is active from its first code on; recovery codes come with it; the agent is notified, and it is audited',
    async (t) => {
      const { status, body } = await service.post('/me/totp', undefined, agent.token);
      t.equal(status, 201);
      t.match(body, { otpauthUrl: /^otpauth:\/\/totp\//, qrCode: /^data:image\/svg/ });
      t.equal((await login(service, agent)).status, 200, 'not before it was confirmed');
      t.match(await service.post('/me/totp/confirm', { code: '000000' }, agent.token), wrong);
      const confirmed = await service.post(
        '/me/totp/confirm',
        { code: await codeOf(body.secret, service.clock.now()) },
        agent.token,
      );
      t.equal(confirmed.body.recoveryCodes.length, 10);
      t.match(await service.post('/me/totp', undefined, agent.token), { status: 409 }, 'one app at a time');
      t.match(await service.get('/me/security', agent.token), {
        body: { totp: { createdAt: /Z$/ }, passkeys: [], recoveryCodesLeft: 10, isRequired: false, mustEnrol: false },
      });
      t.equal(await subjectOf(service, agent.email), 'Your account has a second factor');
      t.match((await service.audited('agent.mfa_enabled', owner.token))[0], {
        actorAgentId: agent.agentId,
        context: { method: 'totp' },
      });
      t.equal((await service.get('/me', agent.token)).status, 200, 'sign-ins of before go on');
      secret = body.secret;
      recoveryCodes = confirmed.body.recoveryCodes;
    },
  );

  t.test('a login asks for it only after a correct password; a code signs in, once', async (t) => {
    t.match(await service.post('/auth/login', { email: agent.email, password: 'not the one at all' }), {
      status: 401,
      body: { error: 'invalid_credentials' },
    });
    const answer = await login(service, agent);
    t.match(answer, asked);
    t.match(answer.body.detail, {
      methods: ['totp', 'recovery_code'],
      passkey: null,
      challenge: String,
      expiresAt: String,
    });
    t.notOk('token' in answer.body);
    const { challenge } = answer.body.detail;
    const code = await codeOf(secret, service.clock.now());
    const signedIn = await showing(service, challenge, { code });
    t.match(signedIn, { status: 200, body: { token: String, agent: { id: agent.agentId } } });
    t.equal((await service.get('/me', signedIn.body.token)).status, 200);
    t.match(await showing(service, challenge, { code }), { status: 410 }, 'the challenge is answered');
    const again = (await service.post('/auth/login', { email: agent.email, password })).body.detail.challenge;
    t.match(await showing(service, again, { code }), wrong, 'a code that was seen is worth nothing');
  });

  t.test('five wrong ones, or five minutes: the password has to be shown again', async (t) => {
    const late = await challengeOf(service, agent);
    service.clock.advance(5 * minuteMs);
    t.match(await showing(service, late, { code: await codeOf(secret, service.clock.now()) }), {
      status: 410,
      body: { error: 'gone' },
    });
    const tried = await challengeOf(service, agent);
    for (let count = 0; count < 5; count += 1) t.match(await showing(service, tried, { code: '000000' }), wrong);
    service.clock.advance(minuteMs);
    t.match(await showing(service, tried, { code: await codeOf(secret, service.clock.now()) }), { status: 410 });
    t.match(await showing(service, 'nothing', { code: '000000' }), { status: 410 });
  });

  t.test('tries of it are limited by account, apart from those of the password', async (t) => {
    const challenges = [
      await challengeOf(service, agent),
      (await service.post('/auth/login', { email: agent.email, password })).body.detail.challenge,
    ];
    const statuses: number[] = [];
    for (const challenge of [...challenges, ...challenges, ...challenges])
      statuses.push((await showing(service, challenge, { code: '000000' })).status);
    t.same(statuses, [401, 401, 401, 401, 401, 429]);
    t.match(await service.post('/auth/login', { email: agent.email, password }), asked);
    service.clock.advance(minuteMs);
  });

  t.test('a recovery code signs in once, in any spelling; its use is mailed and counted', async (t) => {
    const [code = ''] = recoveryCodes;
    t.equal(
      (
        await showing(service, await challengeOf(service, agent), {
          recoveryCode: ` ${code.toUpperCase().replaceAll('-', ' ')} `,
        })
      ).status,
      200,
    );
    t.equal(await subjectOf(service, agent.email), 'A recovery code was used');
    t.match(await showing(service, await challengeOf(service, agent), { recoveryCode: code }), wrong);
    t.match(await service.get('/me/security', agent.token), { body: { recoveryCodesLeft: 9 } });
  });

  t.test('a link to a new password is not enough: nothing is changed before the second factor', async (t) => {
    service.clock.advance(minuteMs);
    const token = await resetToken(service, agent.email);
    const answer = await service.post('/auth/reset-password', {
      token,
      newPassword: 'another quiet and long sentence',
    });
    t.match(answer, asked);
    t.match(await login(service, agent), asked, 'the former password still is the one');
    const passed = await showing(service, answer.body.detail.challenge, {
      code: await codeOf(secret, service.clock.now()),
    });
    t.equal(passed.status, 200);
    t.match(await login(service, agent), { status: 401, body: { error: 'invalid_credentials' } });
    t.match(await service.get('/me', agent.token), { status: 401, body: { error: 'token_revoked' } });
    t.equal((await service.get('/me', passed.body.token)).status, 200);
  });
});

t.test('a first code is checked against its own secret, even if the setup was restarted meanwhile', async (t) => {
  const service = await startService(t);
  const { workspaceId, agentId, token } = await service.workspace();
  const { engine } = service.running.services;
  const caller = { kind: 'agent', agentId } as const;
  await service.post('/me/totp', undefined, token);
  const view = engine.workspace(workspaceId)?.view(caller);
  if (view === undefined) throw new Error('the workspace exists');
  const former = factorsOf(view, agentId).totp?.sealedSecret ?? '';
  await service.post('/me/totp', undefined, token);
  const [session] = listSessions(view, undefined);
  const params = { sessionId: session?.id, origin: { address: '', userAgent: null }, step: 1, sealedSecret: former };
  await t.rejects(engine.execute(confirmTotp, { workspaceId, caller, params }), {
    message: 'The code is wrong or was already used.',
  });
  t.match(await service.get('/me/security', token), { body: { totp: null } });
});

t.test('pending challenges are limited by agent', (t) => {
  let count = 0;
  const steps = new SignInSteps({ now: () => 0 }, { secret: () => `challenge ${(count += 1)}` });
  const agents = Array.from({ length: 100 }, (_, index) => steps.ask({ kind: 'confirm', agentId: `agent ${index}` }));
  const own = Array.from({ length: 31 }, () => steps.ask({ kind: 'create', agentId: 'greedy' }));
  t.equal(steps.find(own[0] ?? ''), undefined, 'an agent with too many loses its own oldest');
  t.match(steps.find(own[1] ?? ''), { agentId: 'greedy' });
  t.equal(steps.end(own[1] ?? ''), true);
  steps.ask({ kind: 'create', agentId: 'greedy' });
  t.match(steps.find(own[2] ?? ''), { agentId: 'greedy' }, 'an answered one no longer works');
  const strangers = Array.from({ length: 25_000 }, () => steps.ask({ kind: 'passkey' }));
  t.equal(steps.find(strangers[0] ?? ''), undefined);
  t.match(steps.find(strangers.at(-1) ?? ''), { kind: 'passkey' });
  t.ok(
    agents.every((challenge) => steps.find(challenge) !== undefined),
    'strangers only stop themselves',
  );
  t.equal(steps.size, 100 + 30 + 10_000);
  t.end();
});

t.test('changing them requires a recent confirmation of identity', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const { secret, recoveryCodes } = await enrolApp(service, owner.token);
  service.clock.advance(15 * minuteMs);
  for (const ask of [
    () => service.delete('/me/totp', owner.token),
    () => service.post('/me/recovery-codes', undefined, owner.token),
    () => service.delete(`/agents/${owner.agentId}/second-factors`, owner.token),
    () => service.post('/me/passkeys/options', undefined, owner.token),
  ])
    t.match(await ask(), unconfirmed);
  t.match(await service.post('/me/confirm', { password: 'not the one at all' }, owner.token), {
    status: 401,
    body: { error: 'invalid_credentials' },
  });
  t.match(await service.post('/me/confirm', {}, owner.token), { status: 401 }, 'nothing shows nothing');
  t.match(
    await service.post('/me/confirm', { password }, owner.token),
    { status: 401, body: { error: 'second_factor_required', detail: { methods: ['totp', 'recovery_code'] } } },
    'the second factor protects from a stolen password',
  );
  t.match(await service.delete('/me/totp', owner.token), unconfirmed);
  t.match(
    await service.post(
      '/me/confirm',
      { password: 'not the one at all', code: await codeOf(secret, service.clock.now()) },
      owner.token,
    ),
    { status: 401, body: { error: 'invalid_credentials' } },
  );
  t.match(await service.post('/me/confirm', { password, code: '000000' }, owner.token), {
    status: 401,
    body: { error: 'invalid_credentials' },
  });
  t.equal(
    (await service.post('/me/confirm', { password, code: await codeOf(secret, service.clock.now()) }, owner.token))
      .status,
    200,
  );
  service.clock.advance(15 * minuteMs);
  t.match(await service.delete('/me/totp', owner.token), unconfirmed);
  t.equal((await service.post('/me/confirm', { recoveryCode: recoveryCodes[0] }, owner.token)).status, 200);
  service.clock.advance(15 * minuteMs);
  t.equal(
    (await service.post('/me/confirm', { code: await codeOf(secret, service.clock.now()) }, owner.token)).status,
    200,
  );
  const renewed = await service.post('/me/recovery-codes', undefined, owner.token);
  t.equal(renewed.body.recoveryCodes.length, 10);
  t.equal((await service.delete('/me/totp', owner.token)).status, 204);
  t.equal(await subjectOf(service, owner.email), 'Your account no longer has a second factor');
  t.match(await service.get('/me/security', owner.token), { body: { totp: null, recoveryCodesLeft: 0 } });
  t.equal((await login(service, owner)).status, 200);
  t.match(await service.delete('/me/totp', owner.token), { status: 404 });
});

t.test('a new password does not confirm a sign-in of an agent with a second factor', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const other = 'another long and quiet sentence';
  await enrolApp(service, owner.token);
  service.clock.advance(15 * minuteMs);
  const { status, body } = await service.post(
    '/me/password',
    { currentPassword: password, newPassword: other },
    owner.token,
  );
  t.equal(status, 200);
  t.match(await service.delete('/me/totp', body.token), unconfirmed);
  const agent = await service.agent({ ...owner, token: body.token });
  service.clock.advance(15 * minuteMs);
  const changed = (await service.post('/me/password', { currentPassword: password, newPassword: other }, agent.token))
    .body;
  t.equal((await service.post('/me/totp', undefined, changed.token)).status, 201, 'the password was all there is');
});

t.test('wrong codes are counted, whatever correct passwords come with them', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  await enrolApp(service, owner.token);
  let tries = 0;
  let answer = await service.post('/me/confirm', { password, code: '000000' }, owner.token);
  for (; answer.status === 401 && tries < 40; tries += 1) {
    service.clock.advance(minuteMs / 4);
    answer = await service.post('/me/confirm', { password, code: '000000' }, owner.token);
  }
  t.match(answer, { status: 429 });
  t.ok(tries <= 20, `${tries} tries`);
});

t.test('passkeys', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const { passkey, added } = await addPasskey(service, owner.token);
  t.match(added, { status: 201, body: { passkey: { name: 'Laptop', lastUsedAt: null } } });
  t.equal(added.body.recoveryCodes.length, 10);
  const options = async () => (await service.post('/sign-in/passkey/options')).body.passkey;
  const refused = { status: 401, body: { error: 'invalid_credentials' } };

  t.test('one signs in without a password; its challenge works once', async (t) => {
    const signature = passkey.get(await options());
    const answer = await service.post('/sign-in/passkey', { passkey: signature });
    t.match(answer, { status: 200, body: { agent: { id: owner.agentId } } });
    t.equal((await service.get('/me', answer.body.token)).status, 200);
    t.match(await service.post('/sign-in/passkey', { passkey: signature }), refused);
    service.clock.advance(5 * minuteMs);
    const late = passkey.get(await options());
    service.clock.advance(5 * minuteMs);
    t.match(await service.post('/sign-in/passkey', { passkey: late }), refused);
  });

  t.test('not of another site, of another key, locked, copied, or for another agent', async (t) => {
    const elsewhere = new Passkey('http://switchboard.evil');
    t.match((await addPasskey(service, owner.token, elsewhere)).added, {
      status: 401,
      body: { error: 'invalid_code' },
    });
    const foreign = new Passkey(origin);
    foreign.create({ challenge: 'x', user: { id: passkey.get({ challenge: 'x' }).response.userHandle } });
    t.match(await service.post('/sign-in/passkey', { passkey: foreign.get(await options()) }), refused);
    passkey.isUnlocked = false;
    t.match(await service.post('/sign-in/passkey', { passkey: passkey.get(await options()) }), refused);
    passkey.isUnlocked = true;
    t.equal((await service.post('/sign-in/passkey', { passkey: passkey.get(await options()) })).status, 200);
    passkey.counter -= 1;
    t.match(
      await service.post('/sign-in/passkey', { passkey: passkey.get(await options()) }),
      refused,
      'a copy counts behind',
    );
    const agent = await service.agent(owner);
    const { body } = await service.post('/me/passkeys/options', undefined, agent.token);
    t.match(
      await service.post(
        '/me/passkeys',
        { name: 'Mine', passkey: new Passkey(origin).create(body.passkey) },
        owner.token,
      ),
      { status: 401 },
      "a challenge is its agent's",
    );
    const signature = passkey.get(await options());
    t.match(
      await service.post('/sign-in/passkey', {
        passkey: { ...signature, response: { ...signature.response, signature: 'AAAA' } },
      }),
      refused,
    );
  });

  t.test('one is a second factor after the password, too', async (t) => {
    const { detail } = (await login(service, owner)).body;
    t.same(detail.methods, ['passkey', 'recovery_code']);
    t.same(
      detail.passkey.allowCredentials.map(({ id }: { id: string }) => id),
      [passkey.id],
    );
    t.match(await showing(service, detail.challenge, { passkey: passkey.get({ challenge: 'another' }) }), wrong);
    t.equal((await showing(service, detail.challenge, { passkey: passkey.get(detail.passkey) })).status, 200);
  });

  t.test('it is renamed and removed; a workspace that requires a second factor keeps the last one', async (t) => {
    const { id } = added.body.passkey;
    t.match(await service.patch(`/me/passkeys/${id}`, { name: 'Old laptop' }, owner.token), {
      body: { name: 'Old laptop' },
    });
    const { body } = await service.post('/me/confirm/options', undefined, owner.token);
    t.equal((await service.post('/me/confirm', { passkey: passkey.get(body.passkey) }, owner.token)).status, 200);
    await service.patch(`/workspaces/${owner.workspaceId}`, { requireSecondFactor: true }, owner.token);
    t.match(await service.delete(`/me/passkeys/${id}`, owner.token), {
      status: 422,
      body: { error: 'semantic_error' },
    });
    await service.patch(`/workspaces/${owner.workspaceId}`, { requireSecondFactor: false }, owner.token);
    t.equal((await service.delete(`/me/passkeys/${id}`, owner.token)).status, 204);
    t.match(await service.post('/sign-in/passkey', { passkey: passkey.get(await options()) }), refused);
  });

  t.test('there are none for an address without a name', async (t) => {
    const nameless = await startService(t, { env: { BASE_URL: 'http://192.0.2.1:8080' } });
    t.match(await nameless.post('/sign-in/passkey/options'), { status: 422, body: { error: 'semantic_error' } });
  });
});

t.test('a workspace that requires a second factor', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '30' } });
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const require = (on: boolean) =>
    service.patch(`/workspaces/${owner.workspaceId}`, { requireSecondFactor: on }, owner.token);
  t.match(
    await require(true),
    { status: 422, body: { error: 'semantic_error' } },
    'a workspace that requires one has one',
  );
  const { secret } = await enrolApp(service, owner.token);
  const socket = await service.agentSocket(agent.token);
  t.match(await require(true), { status: 200, body: { workspace: { requireSecondFactor: true } } });
  t.match((await service.audited('workspace.updated', owner.token))[0], { after: { requireSecondFactor: true } });

  t.test('sign-ins of before go on for a week, new ones set one up first', async (t) => {
    t.equal((await service.get('/me', agent.token)).status, 200);
    await service.patch(`/agents/${agent.agentId}`, { role: 'admin' }, owner.token);
    t.match(
      await service.patch(`/workspaces/${owner.workspaceId}`, { requireSecondFactor: false }, agent.token),
      { status: 422, body: { error: 'semantic_error' } },
      'none without a second factor ends the requirement',
    );
    await service.patch(`/agents/${agent.agentId}`, { role: 'agent' }, owner.token);
    const { token } = (await login(service, agent)).body;
    for (const path of ['/me', '/conversations/queue', '/agents']) t.match(await service.get(path, token), missing);
    t.match(await service.post('/api-keys', { name: 'x', scopes: ['verify'] }, token), missing, 'keys neither');
    t.match(await service.socket('agent', { protocols: ['messaging.v1', `bearer.${token}`] }).closed, { code: 4403 });
    t.match(await service.get('/me/security', token), { status: 200, body: { isRequired: true, mustEnrol: true } });
    await enrolApp(service, token);
    t.equal((await service.get('/me', token)).status, 200);
    await socket.close();
  });

  t.test('[4.1] an agent who must set one up first can still sign out', async (t) => {
    const joined = await service.agent(owner);
    t.match(await service.get('/me', joined.token), missing);
    t.equal((await service.post('/auth/logout', undefined, joined.token)).status, 204);
    t.match(await service.get('/me/security', joined.token), { status: 401, body: { error: 'token_revoked' } });
  });

  t.test('also those who join; after a week everyone', async (t) => {
    const joined = await service.agent(owner);
    t.match(await service.get('/me', joined.token), missing);
    await require(false);
    const { token } = (await login(service, joined)).body;
    service.clock.advance(1);
    await require(true);
    service.clock.jump(7 * dayMs - 1);
    t.equal((await service.get('/me', token)).status, 200);
    service.clock.jump(1);
    t.match(await service.get('/me', token), missing);
  });

  t.test(
    'an admin removes it for an agent who lost it: its sign-ins end, it is notified and sets up another',
    async (t) => {
      const { token } = (
        await showing(service, await challengeOf(service, owner), { code: await codeOf(secret, service.clock.now()) })
      ).body;
      t.equal((await service.delete(`/agents/${agent.agentId}/second-factors`, token)).status, 204);
      t.equal(await subjectOf(service, agent.email), 'Your second factor was removed');
      t.match((await service.audited('agent.mfa_disabled', token))[0], {
        targetId: agent.agentId,
        context: { method: 'all' },
      });
      t.match(await service.get('/me', agent.token), { status: 401, body: { error: 'token_revoked' } });
      const anew = (await login(service, agent)).body.token;
      t.match(await service.get('/me', anew), missing);
      t.match(await service.delete(`/agents/${agent.agentId}/second-factors`, token), { status: 404 });
      t.match(await service.delete(`/agents/${agent.agentId}/second-factors`, anew), missing);
    },
  );
});

t.test('[4.2] allowing an app needs it, too', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const app = await registerApp(service, owner);
  const asks = request(app);
  const { secret, recoveryCodes } = await enrolApp(service, owner.token);
  const { passkey } = await addPasskey(service, owner.token);
  const first = await decide(service, { ...asks, email: owner.email, password, decision: 'allow' });
  const challengeIn = (text: string): string => /name="challenge" value="([\w-]+)"/.exec(text)?.[1] ?? '';
  const challenge = challengeIn(first.text);

  t.test('a second page asks for it, with a single script of ours', (t) => {
    t.equal(first.status, 200);
    t.equal(first.location, undefined);
    t.match(
      first.headers.get('content-security-policy'),
      /default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src/,
    );
    t.notOk(first.text.includes(password));
    t.end();
  });

  t.test('a wrong one is reported there; a code, a recovery code or a passkey returns to the app', async (t) => {
    t.match(await decide(service, { ...asks, challenge, code: '000000', decision: 'allow' }), {
      status: 401,
      text: /role="alert"/,
    });
    t.match(await decide(service, { ...asks, challenge, passkey: 'no signature', decision: 'allow' }), { status: 401 });
    const went = await decide(service, {
      ...asks,
      challenge,
      code: await codeOf(secret, service.clock.now()),
      decision: 'allow',
    });
    t.match(went, { status: 303, answer: { code: String } });
    t.match(await decide(service, { ...asks, challenge, code: recoveryCodes[0], decision: 'allow' }), {
      status: 401,
      text: /Sign in again/,
    });
    const again = challengeIn(
      (await decide(service, { ...asks, email: owner.email, password, decision: 'allow' })).text,
    );
    t.match(await decide(service, { ...asks, challenge: again, code: recoveryCodes[0], decision: 'allow' }), {
      status: 303,
      answer: { code: String },
    });
    const third = challengeIn(
      (await decide(service, { ...asks, email: owner.email, password, decision: 'allow' })).text,
    );
    t.match(
      await decide(service, {
        ...asks,
        challenge: third,
        passkey: JSON.stringify(passkey.get({ challenge: third })),
        decision: 'allow',
      }),
      { status: 303, answer: { code: String } },
    );
    const denied = challengeIn(
      (await decide(service, { ...asks, email: owner.email, password, decision: 'allow' })).text,
    );
    t.match(await decide(service, { ...asks, challenge: denied, decision: 'deny' }), {
      status: 303,
      answer: { error: 'access_denied' },
    });
  });

  t.test('a challenge of another app, or of a sign-in, is not valid here, nor the reverse', async (t) => {
    const other = await registerApp(service, owner, { name: 'Other' });
    const consent = challengeIn(
      (await decide(service, { ...asks, email: owner.email, password, decision: 'allow' })).text,
    );
    const code = await codeOf(secret, service.clock.now());
    t.match(await decide(service, { ...request(other), challenge: consent, code, decision: 'allow' }), {
      status: 401,
      text: /Sign in again/,
    });
    t.match(await showing(service, consent, { code }), { status: 410 });
    t.match(await decide(service, { ...asks, challenge: await challengeOf(service, owner), code, decision: 'allow' }), {
      status: 401,
      text: /Sign in again/,
    });
  });

  t.test('a password that was changed while it was looked at allows nothing', async (t) => {
    const params = {
      clientId: app.clientId,
      appName: 'Reports',
      agentId: agent.agentId,
      redirectUri: 'https://app.example/',
      scopes: ['agents:read'],
      codeChallenge: null,
      passwordHash: 'the former one',
    };
    await t.rejects(
      service.running.services.engine.execute(giveConsent, {
        workspaceId: owner.workspaceId,
        caller: systemCaller,
        params,
      }),
      { message: 'The email or the password is wrong.' },
    );
  });

  t.test('an agent who must set one up first cannot allow apps', async (t) => {
    await service.patch(`/workspaces/${owner.workspaceId}`, { requireSecondFactor: true }, owner.token);
    t.match(await decide(service, { ...asks, email: agent.email, password, decision: 'allow' }), {
      status: 403,
      text: /second factor/,
    });
  });
});
