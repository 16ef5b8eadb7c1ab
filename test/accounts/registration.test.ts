// Who can create a workspace, by the operator's setting, and how many.

import { join } from 'node:path';
import t from 'tap';
import { isForThisMachine, readConfig } from '../../http/process/config.ts';
import { noBrowser } from '../support/chromium.ts';
import { tempFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { startPages } from '../support/pages.ts';
import { runCommand, ServiceProcess } from '../support/process.ts';
import { type Answer, password, type Service, startService } from '../support/service.ts';

const dayMs = 24 * 3600_000;
let people = 0;
/** Codes are created by a separate process, which has the machine's time. */
const now = (): ManualClock => new ManualClock(new Date().toISOString());

const register = (service: Service, fields: object = {}): Promise<Answer> => {
  people += 1;
  service.clock.advance(60_000);
  return service.post('/auth/register', {
    email: `person${people}@example.com`,
    password,
    workspaceName: 'Shop',
    ...fields,
  });
};
const mode = async (service: Service): Promise<string> => (await service.get('/auth/registration')).body.registration;
/** The output of `switchboard invite`, with the secret that the service created. */
const invited = async (service: Service, ...options: string[]): Promise<string> => {
  const { code, stdout } = await runCommand(['invite', ...options], {
    DATA_DIR: service.dataDir,
    REGISTRATION: 'invite',
    BASE_URL: 'https://help.example.com',
  });
  t.equal(code, 0);
  return /^https:\/\/help\.example\.com\/register\?code=([\w-]+)\n/.exec(stdout)?.[1] ?? '';
};
const refusedCode = { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { inviteCode: [String] } } } };

t.test('REGISTRATION=open: anyone', async (t) => {
  const service = await startService(t);
  for (let count = 0; count < 2; count += 1) t.equal((await register(service)).status, 201);
  t.equal(await mode(service), 'open');
});

t.test('REGISTRATION=off: the first workspace, and no other', async (t) => {
  const service = await startService(t, { env: { REGISTRATION: 'off' }, clock: now() });
  t.equal(await mode(service), 'open', 'for the person who sets the server up');
  const both = await Promise.all([register(service), register(service)]);
  t.same(both.map(({ status }) => status).sort(), [201, 403], 'of two at once one is the first');
  t.match(await register(service), {
    status: 403,
    body: { error: 'forbidden', message: 'This server does not accept new workspaces.' },
  });
  t.match(await register(service, { inviteCode: await invited(service) }), { status: 403 }, 'with a code too');
  t.equal(await mode(service), 'off');
});

t.test('REGISTRATION=invite: after the first workspace, a code of `switchboard invite` for each', async (t) => {
  const service = await startService(t, { env: { REGISTRATION: 'invite', MAX_WORKSPACES_PER_DAY: '1' }, clock: now() });
  t.equal((await register(service)).status, 201, 'the first needs none');
  t.equal(await mode(service), 'invite');
  t.match(await register(service), {
    status: 400,
    body: { detail: { fieldErrors: { inviteCode: [/^is required/] } } },
  });
  const code = await invited(service);
  for (const wrong of [
    'x',
    `${code}x`,
    code.slice(2),
    `${code.startsWith('A') ? 'B' : 'A'}${code.slice(1)}`,
    Buffer.alloc(36).toString('base64url'),
  ])
    t.match(await register(service, { inviteCode: wrong }), refusedCode, wrong);
  const both = await Promise.all([
    register(service, { inviteCode: code }),
    register(service, { inviteCode: ` ${code}\n` }),
  ]);
  t.same(both.map(({ status }) => status).sort(), [201, 400], 'of two at once one has it');
  t.equal(
    (await register(service, { inviteCode: await invited(service) })).status,
    201,
    'invited registrations do not count against the day',
  );
});

t.test('a code works once, until its time, and for nothing that was refused', async (t) => {
  const service = await startService(t, { env: { REGISTRATION: 'invite' }, clock: now() });
  const first = await register(service);
  const code = await invited(service, '--days', '2');
  t.equal((await register(service, { inviteCode: code, password: 'too easy' })).status, 400);
  t.equal((await register(service, { inviteCode: code, email: first.body.agent.email })).status, 409);
  service.clock.advance(2 * dayMs + 1000);
  t.match(await register(service, { inviteCode: code }), refusedCode, 'too old');
  const other = await invited(service, '--days', '365');
  t.equal((await register(service, { inviteCode: other })).status, 201, 'and no more were requested before');
  t.match(await register(service, { inviteCode: other }), refusedCode, 'used');
  for (const days of ['0', '1.5', '366', 'x'])
    t.match(await runCommand(['invite', '--days', days], { DATA_DIR: service.dataDir }), {
      code: 1,
      stderr: /--days must be/,
    });
  t.match(await runCommand(['invite'], { DATA_DIR: service.dataDir }), {
    code: 0,
    stdout: /REGISTRATION is open here: no code is needed/,
  });
  t.match(await runCommand(['invite'], { DATA_DIR: join(tempFolder(t), 'data') }), {
    code: 1,
    stderr: /the first one needs no code/,
  });
});

t.test("MAX_WORKSPACES_PER_DAY: limits a day's registrations, half of them per network", async (t) => {
  const dataDir = join(tempFolder(t), 'data');
  const env = { MAX_WORKSPACES_PER_DAY: '4', TRUST_PROXY: '1' };
  let service = await startService(t, { dataDir, env });
  const from = (address: string): Promise<Answer> => {
    people += 1;
    return service.call('POST', '/auth/register', {
      body: { email: `person${people}@example.com`, password, workspaceName: 'Shop' },
      headers: { 'X-Forwarded-For': address },
    });
  };
  const full = {
    status: 429,
    body: { error: 'rate_limited', message: /Too many workspaces were registered today/, retryAfter: dayMs / 1000 },
  };
  for (const address of ['2001:db8:1:1::1', '2001:db8:1:1::2']) t.equal((await from(address)).status, 201);
  t.match(
    await from('2001:db8:1:1:ffff::9'),
    { ...full, body: { detail: { ceiling: 'workspaces_of_network', limit: 2 } } },
    'an IPv6 line is one',
  );
  for (const address of ['192.0.2.1', '192.0.2.2']) t.equal((await from(address)).status, 201);
  t.match(await from('192.0.2.3'), { ...full, body: { detail: { ceiling: 'workspaces', limit: 4 } } });
  await service.stop();
  const { clock } = service;
  service = await startService(t, { dataDir, env, clock });
  t.match(await from('192.0.2.4'), full, 'a restart forgets nothing');
  clock.advance(dayMs);
  t.equal((await from('192.0.2.4')).status, 201);
  await service.stop();
  service = await startService(t, { dataDir, env: { ...env, RATE_LIMITS: 'off' }, clock });
  for (let count = 0; count < 5; count += 1) t.equal((await from('192.0.2.4')).status, 201, 'RATE_LIMITS=off lifts it');
});

t.test('at start a warning says that strangers can register, if any can reach the server', async (t) => {
  for (const [env, says] of [
    [{ BASE_URL: 'https://help.example.com' }, true],
    [{ BASE_URL: 'https://help.example.com', REGISTRATION: 'invite' }, false],
    [{}, false],
  ] as const) {
    const service = await ServiceProcess.serving(t, { DATA_DIR: join(tempFolder(t), 'data'), ...env });
    t.equal(/REGISTRATION=open: anyone who reaches this address can register a workspace/.test(service.stdout), says);
  }
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1'])
    t.ok(isForThisMachine(readConfig({ HOST: host })), host);
  for (const host of ['0.0.0.0', '::', '192.168.1.1', '1270.0.0.1'])
    t.notOk(isForThisMachine(readConfig({ HOST: host })), host);
  for (const url of ['http://help.localhost:8080', 'http://[::1]:8080', 'https://127.0.0.1'])
    t.ok(isForThisMachine(readConfig({ BASE_URL: url })), url);
  for (const url of ['https://help.example.com', 'http://10.0.0.1', 'https://localhost.example.com'])
    t.notOk(isForThisMachine(readConfig({ BASE_URL: url })), url);
});

t.test(
  'the page asks for the code if one is needed, takes it from the link, and says if registration is closed',
  { skip: noBrowser },
  async (t) => {
    const port = await freePort();
    const dataDir = join(tempFolder(t), 'data');
    const env = {
      RATE_LIMITS: 'off',
      PORT: String(port),
      BASE_URL: `http://localhost:${port}`,
      REGISTRATION: 'invite',
    };
    const service = await startService(t, { dataDir, env, clock: now() });
    await register(service);
    const pages = await startPages(t, service);
    const page = await pages.open('/register');
    await page.getByLabel('Invitation code').fill('wrong');
    await page.getByLabel('What is your business called?').fill('A fine shop');
    await page.getByLabel('Your email').fill('first@example.com');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Create workspace' }).click();
    await page.getByText('Was used, has expired, or is not a code of this server.').waitFor();
    const { stdout } = await runCommand(['invite'], { DATA_DIR: dataDir, ...env });
    const invitation = await pages.open(/\/register\?\S+/.exec(stdout)?.[0] ?? '');
    await invitation.getByLabel('What is your business called?').fill('A fine shop');
    await invitation.getByLabel('Your email').fill('first@example.com');
    await invitation.getByLabel('Password', { exact: true }).fill(password);
    t.not(await invitation.getByLabel('Invitation code').inputValue(), '');
    await invitation.getByRole('button', { name: 'Create workspace' }).click();
    await invitation.getByRole('heading', { name: 'Welcome to Switchboard' }).waitFor();
    await service.stop();
    await startService(t, { dataDir, env: { ...env, REGISTRATION: 'off' }, clock: service.clock });
    const closed = await pages.open('/register');
    await closed.getByText('New workspaces are turned off on this server. Ask its operator.').waitFor();
    t.equal(await closed.getByRole('button', { name: 'Create workspace' }).count(), 0);
    await closed.getByRole('link', { name: 'Sign in' }).click();
    await closed.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await closed.getByRole('link', { name: 'Create a workspace' }).waitFor({ state: 'detached' });
  },
);
