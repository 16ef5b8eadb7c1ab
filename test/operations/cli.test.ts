import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { tempFolder } from '../support/folder.ts';
import { runCommand, ServiceProcess } from '../support/process.ts';

const commands = [
  ['serve'],
  ['backup'],
  ['restore'],
  ['verify'],
  ['export'],
  ['erase'],
  ['health'],
  ['reset-second-factor'],
  ['invite'],
  ['import'],
  ['model', 'pull'],
  ['config', 'check'],
  ['cluster', 'status'],
  ['cluster', 'move'],
  ['cluster', 'drain'],
  ['cluster', 'import'],
  ['version'],
];

t.test("--help lists every command; each command's own describes its use", async (t) => {
  const { code, stdout, stderr } = await runCommand(['--help']);
  t.equal(code, 0);
  t.equal(stderr, '');
  for (const words of commands) t.match(stdout, new RegExp(`^  ${words.join(' ')} +\\S`, 'm'));
  t.equal((await runCommand(['config', '--help'])).stdout, stdout, 'of half a command, too');
  for (const words of commands) {
    const own = await runCommand([...words, '--help']);
    t.equal(own.code, 0, words.join(' '));
    t.match(own.stdout, new RegExp(`^usage: switchboard ${words.join(' ')}`));
    t.equal(own.stderr, '');
  }
});

t.test('a reader that ends early, such as head, fails no command', async (t) => {
  for (const output of ['stdout', 'stderr'] as const) {
    const words = output === 'stdout' ? ['config', 'check'] : ['no-such-command'];
    const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, 'http/main.js', ...words], {
      cwd: join(import.meta.dirname, '../..'),
      env: { PATH: process.env['PATH'] ?? '' },
    });
    child[output].destroy();
    const other = output === 'stdout' ? child.stderr : child.stdout;
    let said = '';
    other.on('data', (chunk) => (said += chunk));
    const [code] = await once(child, 'close');
    t.equal(code, output === 'stdout' ? 0 : 2, output);
    t.equal(said, '');
  }
});

t.test('an invalid command line exits with 2, and says why and where to look', async (t) => {
  const rows: [string[], RegExp][] = [
    [['fly'], /unknown command fly/],
    [['config', 'fly'], /unknown command config fly/],
    [['--verbose'], /unknown option --verbose/],
    [['verify', '--loud'], /--loud/],
    [['verify', 'more'], /unexpected argument for verify: more/],
    [['backup'], /backup needs FOLDER/],
    [['erase'], /erase needs WORKSPACE/],
    [['reset-second-factor'], /reset-second-factor needs EMAIL/],
    [['cluster', 'move', 'a'], /cluster move needs WORKSPACE NODE/],
    [['cluster', 'import'], /cluster import needs DATA_DIR/],
    [['export', 'a', 'b'], /unexpected argument for export: b/],
  ];
  await Promise.all(
    rows.map(async ([args, message]) => {
      const { code, stdout, stderr } = await runCommand(args, { DATA_DIR: join(tempFolder(t), 'data') });
      t.equal(code, 2, args.join(' '));
      t.equal(stdout, '');
      t.match(stderr, message);
      t.match(stderr, /--help\n$/);
    }),
  );
});

t.test('config check prints the settings, without secrets', async (t) => {
  const env = {
    PORT: '9000',
    TRUST_PROXI: '1',
    SMPT_URL: 'x',
    PATHS: 'x',
    JWT_SECRET: 'hunter2'.repeat(6),
    MAIL_PROVIDER: 'smtp',
    SMTP_URL: 'smtp://shop:hunter3@mail.example.com:587',
  };
  const good = await runCommand(['config', 'check'], env);
  t.equal(good.code, 0);
  t.match(good.stdout, /^PORT = 9000$/m);
  t.match(good.stdout, /^HOST = 127\.0\.0\.1 \(default\)$/m);
  t.match(good.stdout, /^STORAGE_QUOTA_BYTES = 1073741824 \(default\)$/m);
  t.match(good.stdout, /^TRUST_PROXY = 0 \(default\)$/m);
  t.match(good.stdout, /^JWT_SECRET = \(set\)$/m);
  t.match(good.stdout, /^SECRETS_KEY = \(generated and kept in the data folder\)$/m);
  t.match(good.stdout, /^TRUST_PROXI is not a setting; did you mean TRUST_PROXY\?$/m);
  t.match(good.stdout, /^SMPT_URL is not a setting; did you mean SMTP_URL\?$/m);
  t.notMatch(good.stdout, /PATHS/);
  t.match(good.stdout, /^SMTP_URL = smtp:\/\/shop:\(set\)@mail\.example\.com:587$/m);
  t.notMatch(good.stdout, /hunter/);
  const twilio = {
    CARRIER_PROVIDER: 'twilio',
    TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
    TWILIO_AUTH_TOKEN: 'hunter4'.repeat(4),
  };
  const unreachable = /^BASE_URL=http:\/\/localhost:8080: Twilio cannot reach it/m;
  t.match((await runCommand(['config', 'check'], twilio)).stdout, unreachable);
  t.notMatch(
    (await runCommand(['config', 'check'], { ...twilio, BASE_URL: 'https://help.example.com' })).stdout,
    /Twilio/,
  );
  const node = await runCommand(['config', 'check'], {
    CLUSTER_NATS_URL: 'nats://shop:hunter5@10.0.0.1:4222,nats://shop:hunter6@10.0.0.2:4222',
    CLUSTER_NODE: 'a',
    CLUSTER_SECRET: 'hunter7'.repeat(5),
    JWT_SECRET: 'hunter2'.repeat(6),
    SECRETS_KEY: 'hunter2'.repeat(6),
    STORAGE_PROVIDER: 'none',
  });
  t.match(
    node.stdout,
    /^CLUSTER_NATS_URL = nats:\/\/shop:\(set\)@10\.0\.0\.1:4222,nats:\/\/shop:\(set\)@10\.0\.0\.2:4222$/m,
  );
  t.match(node.stdout, /^CLUSTER_SECRET = \(set\)$/m);
  t.match(node.stdout, /^CLUSTER_NAME = switchboard \(default\)$/m);
  t.match(node.stdout, /^CLUSTER_REPLICAS = 3 \(default\)$/m);
  t.match(node.stdout, /^CLUSTER_NODE_URL=http:\/\/127\.0\.0\.1:8080: only nodes on this machine reach it/m);
  t.notMatch(node.stdout, /hunter/);
  t.match(good.stdout, /^CLUSTER_NAME = \(not set\)$/m, 'one node alone has none');
  const bad = await runCommand(['config', 'check'], { PORT: 'http' });
  t.same(bad, { code: 1, stdout: '', stderr: 'switchboard: PORT must be a number from 0 to 65535, not http\n' });
});

t.test('health asks the service of these settings', async (t) => {
  const env = { DATA_DIR: tempFolder(t) };
  const service = await ServiceProcess.serving(t, env);
  const here = { PORT: String(service.port) };
  t.match(await runCommand(['health'], here), { code: 0, stdout: /"status":"ready"/ });
  await service.kill('SIGTERM');
  t.match(await runCommand(['health'], here), {
    code: 1,
    stderr: /^switchboard: http:\/\/127\.0\.0\.1:\d+\/readyz does not answer: /,
  });
});

t.test('version prints its versions', async (t) => {
  for (const words of [['version'], ['--version']]) {
    const { code, stdout } = await runCommand(words);
    t.equal(code, 0);
    t.match(stdout, /^switchboard \d+\.\d+\.\d+ \(from source\)\n {2}node +22\./);
  }
});

t.test('an older Node.js is told what to use instead', async (t) => {
  for (const version of ['20.19.0', '22.14.0']) {
    const older = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(older)}` };
    const { code, stderr } = await runCommand(['verify'], env);
    t.equal(code, 1);
    t.equal(stderr, `switchboard: Node.js 22.15 or later is needed, and this is ${version}. Use npm start -- verify\n`);
  }
});

t.test('a command without its data says so and creates nothing', async (t) => {
  const dataDir = join(tempFolder(t), 'data');
  for (const args of [['verify'], ['backup', join(dataDir, 'copy')], ['export', 'shop']]) {
    const { code, stderr } = await runCommand(args, { DATA_DIR: dataDir });
    t.equal(code, 1, args.join(' '));
    t.match(stderr, /^switchboard: there is no .*\n$/);
  }
});
