// Mails to agents about their own accounts, and to no one else.

import t from 'tap';
import { deviceOf } from '../../engine/devices.ts';
import { consentOf, exchange, refresh, registerApp, tokensOf } from '../support/oauth.ts';
import { type Person, password, type Service, startService } from '../support/service.ts';

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const other = 'another long and quiet sentence';

/** The mail requested here; earlier ones are skipped. */
async function resetToken(service: Service, email: string): Promise<string> {
  const before = service.mailCount(email);
  await service.post('/auth/forgot-password', { email });
  for (let mails = 0; mails <= before; mails += 1) {
    const token = /token=(\S+)/.exec((await service.mail(email)).text)?.[1];
    if (token !== undefined) return token;
  }
  throw new Error(`no mail to ${email} holds a reset link`);
}

async function joined(service: Service, owner: Person): Promise<Person> {
  const agent = await service.agent(owner);
  await service.settled();
  return agent;
}

t.test('an agent is mailed about a reset', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();

  t.test('[4.1] to its address, with the time, the place and what to do; nothing in it grants access', async (t) => {
    const agent = await joined(service, owner);
    const token = await resetToken(service, agent.email);
    await service.call('POST', '/auth/reset-password', {
      body: { token, newPassword: other },
      headers: { 'User-Agent': firefox },
    });
    const mail = await service.mail(agent.email);
    t.match(mail, {
      to: agent.email,
      subject: 'Your password was reset',
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    t.match(mail.text, /^Workspace: Shop \d+\nWhen: 2026-11-20 12:\d\d UTC\nFrom: Firefox on Linux, 127\.0\.0\.1$/m);
    t.notMatch(mail.text, /token|https?:/);
    await service.settled();
    t.match((await service.outbox()).at(-1), /^Auto-Submitted: auto-generated\r$/m);
  });

  t.test('[4.1] a refused reset is mailed to no one', async (t) => {
    const agent = await joined(service, owner);
    const before = service.mailCount(agent.email);
    service.clock.advance(60_000);
    t.equal((await service.post('/auth/reset-password', { token: 'x', newPassword: other })).status, 410);
    await service.settled();
    t.equal(service.mailCount(agent.email), before);
  });

  t.test('[5.3] it names the keys that go on', async (t) => {
    const admin = await service.agent(owner, { role: 'admin' });
    const { body: key } = await service.post('/api-keys', { name: 'Nightly', scopes: ['reports:read'] }, admin.token);
    t.match((await service.mail(admin.email)).subject, 'An API key was created');
    const token = await resetToken(service, admin.email);
    t.equal((await service.post('/auth/reset-password', { token, newPassword: other })).status, 200);
    t.match(
      (await service.mail(admin.email)).text,
      `The API keys that you created stay valid: Nightly (${key.prefix}…).`,
    );
    t.equal((await service.get('/reports/chats/total', key.key)).status, 200);
  });
});

t.test('[4.7] a changed address is mailed to the former and the new one', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const admin = await service.agent(owner, { role: 'admin', name: 'Bob Builder' });
  const agent = await joined(service, owner);
  t.equal((await service.patch(`/agents/${agent.agentId}`, { email: 'new@example.com' }, admin.token)).status, 200);
  for (const to of [agent.email, 'new@example.com']) {
    await service.settled();
    const mail = service.newestMail(to);
    t.match(mail, { subject: 'The address of your account was changed' }, to);
    t.match(mail?.text, new RegExp(`^By: Bob Builder, ${admin.email}$`, 'm'));
  }

  t.test("[4.7] also when the owner's is changed by another admin", async (t) => {
    await service.patch(`/agents/${owner.agentId}`, { email: 'taken-over@example.com' }, admin.token);
    await service.settled();
    t.match(service.newestMail(owner.email)?.text, /From now on you sign in with taken-over@example\.com/);
  });

  t.test('[4.7] not if nothing changes, nor for an agent who has not joined', async (t) => {
    const before = service.mailCount('new@example.com');
    await service.patch(`/agents/${agent.agentId}`, { email: 'NEW@example.com', name: 'Other' }, admin.token);
    const { body: invited } = await service.post(
      '/agents/invite',
      { email: 'typo@example.com', name: 'I', role: 'agent' },
      owner.token,
    );
    await service.patch(`/agents/${invited.id}`, { email: 'right@example.com' }, admin.token);
    await service.settled();
    t.equal(service.mailCount('new@example.com'), before);
    t.equal(service.mailCount('typo@example.com'), 1, 'the invitation');
    t.match(service.newestMail('right@example.com'), { subject: /^Join / });
    t.equal(service.mailCount('right@example.com'), 1);
  });
});

t.test("[decisions 4.2] a reset ends apps' access for the agent, and for no other", async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const agent = await joined(service, owner);
  const app = await registerApp(service, owner, { scopes: ['agents:read'] });
  const [own, others] = [
    await tokensOf(service, app, agent, { scope: 'agents:read' }),
    await tokensOf(service, app, owner, { scope: 'agents:read' }),
  ];
  const unused = await consentOf(service, app, agent, { scope: 'agents:read' });
  t.equal((await service.post('/auth/logout', undefined, agent.token)).status, 204);
  t.equal((await service.get('/agents', own.access_token)).status, 200, 'a sign-out leaves them');
  const token = await resetToken(service, agent.email);
  t.equal((await service.post('/auth/reset-password', { token, newPassword: other })).status, 200);
  t.match(await service.get('/agents', own.access_token), { status: 401, body: { error: 'token_revoked' } });
  t.match(await refresh(service, app, own.refresh_token), { status: 401, body: { error: 'invalid_grant' } });
  t.match(await exchange(service, app, unused), { status: 400, body: { error: 'invalid_grant' } });
  t.equal((await service.get('/agents', others.access_token)).status, 200);
});

t.test('devices are named as people know them', async (t) => {
  const rows: [string | null, string][] = [
    [firefox, 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
      'Safari on macOS',
    ],
    ['curl/8.5.0', 'curl'],
    ['evil.example/login now', 'evil'],
    ['https://evil.example', 'https'],
    ['\r\nBcc: x', 'Bcc'],
    ['', 'an unknown client'],
    [null, 'an unknown client'],
  ];
  for (const [userAgent, device] of rows) t.equal(deviceOf(userAgent), device, String(userAgent));
});

t.test('[5] the password that was reset is the one that counts', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const token = await resetToken(service, owner.email);
  await service.post('/auth/reset-password', { token, newPassword: other });
  t.equal((await service.post('/auth/login', { email: owner.email, password })).status, 401);
  t.equal((await service.post('/auth/login', { email: owner.email, password: other })).status, 200);
});
