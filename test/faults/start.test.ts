import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { takeDataFolder } from '../../http/process/data-folder.ts';
import { Api, password } from '../support/api.ts';
import { tempFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { runCommand, ServiceProcess } from '../support/process.ts';
import type { Teardown } from '../support/service.ts';

/** Starts a service that must refuse to start. */
async function refused(t: Teardown, env: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  const started = ServiceProcess.start(t, env);
  const { code } = await started.ended;
  return { code, stderr: started.stderr };
}

t.test('a setting that cannot be used stops the start with a message that names it', async (t) => {
  const rows: [Record<string, string>, RegExp][] = [
    [{ PORT: 'http' }, /^switchboard: PORT must be a number from 0 to 65535, not http\n$/],
    [{ PORT: '65536' }, /^switchboard: PORT must/],
    [{ PORT: '80.5' }, /^switchboard: PORT must be a whole number/],
    [{ JWT_SECRET: 'too short' }, /^switchboard: JWT_SECRET must have at least 32 characters\n$/],
    [{ BASE_URL: 'example.com' }, /^switchboard: BASE_URL must be an http or https address/],
    [{ LOG_LEVEL: 'loud' }, /^switchboard: LOG_LEVEL must be one of debug, info, warn, error, silent, not loud\n$/],
    [{ RATE_LIMIT_PER_MINUTE: '0' }, /^switchboard: RATE_LIMIT_PER_MINUTE must/],
    [{ MAIL_PROVIDER: 'pigeon' }, /^switchboard: MAIL_PROVIDER must be one of outbox, smtp, not pigeon\n$/],
    [{ MAIL_PROVIDER: 'smtp' }, /^switchboard: SMTP_URL must be an address/],
  ];
  await Promise.all(
    rows.map(async ([env, message]) => {
      const dataDir = join(tempFolder(t), 'data');
      const { code, stderr } = await refused(t, { DATA_DIR: dataDir, ...env });
      t.equal(code, 1, JSON.stringify(env));
      t.match(stderr, message);
      t.notOk(existsSync(dataDir), 'nothing was made');
    }),
  );
});

t.test('a missing data folder is created; its content is only for its owner', async (t) => {
  const dataDir = join(tempFolder(t), 'not', 'there', 'yet');
  const service = await ServiceProcess.serving(t, { DATA_DIR: dataDir });
  t.match(service.stdout, new RegExp(`"data":"${dataDir}"`));
  t.same(
    readdirSync(dataDir)
      .filter((name) => /^(directory\.db|jwt-secret|lock|workspaces)$/.test(name))
      .sort(),
    ['directory.db', 'jwt-secret', 'lock', 'workspaces'],
  );
  t.equal(statSync(join(dataDir, 'jwt-secret')).mode & 0o777, 0o600);
  t.same(await service.kill('SIGTERM'), { code: 0, signal: null });
});

t.test(
  "the data folder's content is only for its owner, whatever started the program; permissions left open by an earlier version are corrected",
  async (t) => {
    const folder = tempFolder(t);
    const dataDir = join(folder, 'data');
    const former = process.umask(0);
    t.teardown(() => process.umask(former));
    for (const path of ['', 'outbox', 'uploads/shop']) mkdirSync(join(dataDir, path), { recursive: true, mode: 0o755 });
    for (const path of ['outbox/old.eml', 'uploads/shop/photo.png', 'notes.txt'])
      writeFileSync(join(dataDir, path), 'old', { mode: 0o644 });
    mkdirSync(join(dataDir, 'models'), { mode: 0o700 });
    const openIn = (path: string): string[] =>
      [path, ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name))].filter(
        (name) => (statSync(name).mode & 0o077) !== 0,
      );
    const service = await ServiceProcess.serving(t, { DATA_DIR: dataDir });
    const api = new Api(service.url);
    const { body: owner } = await api.post('/auth/register', {
      email: 'owner@example.com',
      password,
      workspaceName: 'Shop',
    });
    await api.post('/agents/invite', { email: 'agent@example.com', name: 'Agent', role: 'agent' }, owner.token);
    t.same(openIn(dataDir), [], 'databases and their logs');
    const backup = join(folder, 'backup');
    t.equal((await runCommand(['backup', backup], { DATA_DIR: dataDir })).code, 0);
    t.same(openIn(backup), [], 'backups');
    await service.kill('SIGTERM');
    t.same(openIn(dataDir), [], 'mails');
    t.equal((await runCommand(['restore', backup], { DATA_DIR: join(folder, 'again') })).code, 0);
    t.same(openIn(join(folder, 'again')), [], 'restored workspaces');
  },
);

t.test(
  'files of other users in the data folder are reported and left, and do not prevent the start',
  { skip: process.platform === 'win32' },
  async (t) => {
    const folder = tempFolder(t);
    const [theirs, ours] = [join(folder, 'theirs'), join(folder, 'ours')];
    for (const path of [theirs, ours]) mkdirSync(path);
    writeFileSync(join(ours, 'file'), '');
    for (const path of [ours, join(ours, 'file')]) chmodSync(path, 0o755);
    chmodSync(theirs, 0o070);
    for (const [name, to] of [
      ['loop', 'loop'],
      ['nowhere', 'gone'],
    ] as const)
      symlinkSync(join(folder, to), join(folder, name));
    // Root may read everything, so the test runs as another user.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) for (const path of [folder, ours, join(ours, 'file')]) chownSync(path, 65_534, 65_534);
    if (isRoot) process.seteuid?.(65_534);
    try {
      const held = takeDataFolder(folder);
      t.same(held.openToOthers, [theirs]);
      held.release();
      t.same(
        [folder, ours, join(ours, 'file')].map((path) => statSync(path).mode & 0o077),
        [0, 0, 0],
      );
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(theirs, 0o700);
    }
  },
);

t.test('a data folder that cannot be used: a message that names it, and exit 1', async (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, 'file'), '');
  for (const dataDir of [join(folder, 'file'), join(folder, 'file', 'below')]) {
    const { code, stderr } = await refused(t, { DATA_DIR: dataDir });
    t.equal(code, 1);
    t.match(stderr, `switchboard: the data folder ${dataDir} cannot be used: `);
    t.equal(stderr.trim().split('\n').length, 1, 'one line, no stack');
  }
});

t.test(
  'a data folder that may not be written to',
  { skip: process.getuid?.() === 0 ? 'root may write everywhere' : false },
  async (t) => {
    const dataDir = tempFolder(t);
    chmodSync(dataDir, 0o500);
    const { code, stderr } = await refused(t, { DATA_DIR: dataDir });
    t.equal(code, 1);
    t.match(stderr, `switchboard: the data folder ${dataDir} cannot be used: `);
  },
);

t.test('a damaged directory.db: a message that names it, exit 1, and the file is left as it is', async (t) => {
  const dataDir = tempFolder(t);
  const path = join(dataDir, 'directory.db');
  writeFileSync(path, Buffer.alloc(20_000, 'no database'));
  const before = readFileSync(path);
  const { code, stderr } = await refused(t, { DATA_DIR: dataDir });
  t.equal(code, 1);
  t.match(stderr, `switchboard: ${path} cannot be used: file is not a database`);
  t.same(readFileSync(path), before);
});

t.test('a secret that was not written to its end is not used', async (t) => {
  const dataDir = tempFolder(t);
  const path = join(dataDir, 'jwt-secret');
  for (const text of ['', 'half']) {
    writeFileSync(path, text);
    const { code, stderr } = await refused(t, { DATA_DIR: dataDir });
    t.equal(code, 1);
    t.match(stderr, `switchboard: ${path} is damaged`);
    t.equal(readFileSync(path, 'utf8'), text);
  }
});

t.test('a port in use: a message that names it, exit 1, and the data folder is unlocked again', async (t) => {
  const dataDir = tempFolder(t);
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise<void>((resolve) => other.close(() => resolve())));
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { code, stderr } = await refused(t, { DATA_DIR: dataDir, PORT: String(port) });
  t.equal(code, 1);
  t.equal(stderr, `switchboard: cannot listen on 127.0.0.1, port ${port}: another program uses port ${port}\n`);
  const service = await ServiceProcess.serving(t, { DATA_DIR: dataDir });
  // Two of our services must not share a port either.
  const second = await refused(t, { DATA_DIR: tempFolder(t), PORT: String(service.port) });
  t.equal(second.code, 1);
  t.match(second.stderr, `cannot listen on 127.0.0.1, port ${service.port}: another program uses`);
  // Nor a port given to the first by its number.
  const free = await freePort();
  await service.kill('SIGTERM');
  await ServiceProcess.serving(t, { DATA_DIR: dataDir, PORT: String(free) });
  const third = await refused(t, { DATA_DIR: tempFolder(t), PORT: String(free) });
  t.equal(third.code, 1);
  t.match(third.stderr, `cannot listen on 127.0.0.1, port ${free}: another program uses`);
});

t.test('the output to a pipe is lines of JSON, from the start to the stop', async (t) => {
  const service = await ServiceProcess.serving(t, {
    DATA_DIR: tempFolder(t),
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'info',
    SMPT_URL: 'x',
  });
  await service.kill('SIGTERM');
  // Each as written to the log.
  const lines = service.stdout
    .trim()
    .split('\n')
    .map(
      (line) => JSON.parse(line) as { level: number; time: string; msg: string; warnings?: string[]; open?: string },
    );
  t.match(lines[0], {
    level: 30,
    time: /Z$/,
    open: `http://localhost:${service.port}/register`,
    warnings: [/RATE_LIMITS=off/],
    msg: `Switchboard listens on http://127.0.0.1:${service.port} and serves`,
  });
  t.same(
    lines.slice(-2).map(({ msg }) => msg),
    ['stopping', 'stopped'],
  );
  t.equal(service.stderr, 'switchboard: SMPT_URL is not a setting; did you mean SMTP_URL?');
});

t.test('an address of IPv6 is shown as a browser takes it', async (t) => {
  const started = ServiceProcess.start(t, { DATA_DIR: tempFolder(t), HOST: '::1', PORT: '0' });
  const announced = await started.line(/listens on (\S+)/).catch(() => undefined);
  // A machine may have no IPv6.
  if (announced === undefined) t.match(started.stderr, /cannot listen on ::1, port 0: /);
  else t.match(announced[1], /^http:\/\/\[::1\]:\d+$/);
});

t.test('a second process on the same data folder exits 1, names it, and harms nothing', async (t) => {
  const dataDir = tempFolder(t);
  const first = await ServiceProcess.serving(t, { DATA_DIR: dataDir });
  const api = new Api(first.url);
  const owner = await api.workspace('shop');
  const { code, stderr } = await refused(t, { DATA_DIR: dataDir });
  t.equal(code, 1);
  t.equal(stderr, `switchboard: the data folder ${dataDir} is in use by another process\n`);
  const { conversationId } = await api.chat(owner.embedId, 'still here?');
  t.equal(
    (await api.post(`/conversations/${conversationId}/messages`, { body: 'Still here.' }, owner.token)).status,
    201,
  );
  t.same(await first.kill('SIGKILL'), { code: null, signal: 'SIGKILL' });
  const third = await ServiceProcess.serving(t, { DATA_DIR: dataDir });
  api.url = third.url;
  t.same(
    (await api.messages(conversationId, owner.token))
      .filter(({ senderType }) => senderType !== 'system')
      .map(({ body }) => body),
    ['still here?', 'Still here.'],
    'a killed process holds the folder no longer',
  );
});

t.test('a damaged workspace does not keep the service from starting, nor the others from being served', async (t) => {
  const dataDir = tempFolder(t);
  const first = await ServiceProcess.serving(t, { DATA_DIR: dataDir });
  const api = new Api(first.url);
  const bad = await api.workspace('bad');
  const good = await api.workspace('good');
  await first.kill('SIGTERM');
  const path = join(dataDir, 'workspaces', `${bad.workspaceId}.db`);
  writeFileSync(path, Buffer.alloc(100_000, 'no database'));
  const second = await ServiceProcess.serving(t, { DATA_DIR: dataDir });
  api.url = second.url;
  t.match(await api.get('/me', bad.token), { status: 503, body: { statusCode: 503, error: 'service_unavailable' } });
  t.match(await api.post('/auth/login', { email: 'owner@bad.example', password }), { status: 503 });
  t.equal((await api.get('/me', good.token)).status, 200);
  t.equal((await api.post('/auth/login', { email: 'owner@good.example', password })).status, 200);
  t.ok(
    second.stdout.split('\n').some((line) => line.includes(bad.workspaceId) && line.includes('cannot be opened')),
    'the log says which',
  );
  t.same(await second.kill('SIGTERM'), { code: 0, signal: null });
});

t.test('a workspace whose making was cut off is swept at the next start, and its email is free', async (t) => {
  const dataDir = tempFolder(t);
  const first = await ServiceProcess.serving(t, { DATA_DIR: dataDir });
  const api = new Api(first.url);
  const shop = await api.workspace('shop');
  await first.kill('SIGTERM');
  // The state after a crash between the reservation and the first commit of the file.
  const { Database } = await import('../../store/database.ts');
  const { directoryMigrations } = await import('../../store/migrations/directory.ts');
  const { workspaceMigrations } = await import('../../store/migrations/workspace.ts');
  const { insertDirectoryEmail, insertDirectoryWorkspace } = await import('../../store/directory/directory.ts');
  const workspaceId = '01a1faa5-20b4-76c0-bd16-f71190000000';
  const directory = Database.openWriter(join(dataDir, 'directory.db'), directoryMigrations);
  const at = new Date().toISOString();
  insertDirectoryWorkspace(directory, {
    id: workspaceId,
    name: 'Half',
    subdomain: 'half',
    reservedAt: at,
    createdAt: at,
  });
  insertDirectoryEmail(directory, { email: 'owner@half.example', workspaceId, agentId: workspaceId, reservedAt: at });
  // And one whose file was created, but whose confirmation was lost.
  directory.run('UPDATE workspace SET reservedAt = ? WHERE id = ?', [at, shop.workspaceId]);
  directory.run('UPDATE agentEmail SET reservedAt = ? WHERE workspaceId = ?', [at, shop.workspaceId]);
  directory.close();
  Database.openWriter(join(dataDir, 'workspaces', `${workspaceId}.db`), workspaceMigrations).close();

  const second = await ServiceProcess.serving(t, { DATA_DIR: dataDir });
  api.url = second.url;
  t.notOk(existsSync(join(dataDir, 'workspaces', `${workspaceId}.db`)));
  t.equal(
    (await api.post('/auth/register', { email: 'owner@half.example', password, workspaceName: 'Half' })).body.workspace
      .subdomain,
    'half',
  );
  t.equal((await api.post('/auth/login', { email: 'owner@shop.example', password })).status, 200);
  await second.kill('SIGTERM');
  const after = Database.openReader(join(dataDir, 'directory.db'));
  t.same(after.all('SELECT count(*) AS reserved FROM workspace WHERE reservedAt IS NOT NULL'), [{ reserved: 0 }]);
  after.close();
});
