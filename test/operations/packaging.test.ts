import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { connect } from '@nats-io/transport-node';
import t from 'tap';
import { readConfig } from '../../http/process/config.ts';
import { createMetrics } from '../../http/process/metrics.ts';
import { tempFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { NatsServer } from '../support/nats.ts';
import { startService, type Teardown } from '../support/service.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'http/packaging');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

t.test('the dashboard shows every figure that is served, and no other', async (t) => {
  const service = await startService(t);
  await service.workspace();
  const alone: string = (await service.get('//metrics')).body;
  t.notMatch(alone, 'switchboard_cluster_');
  const text = `${alone}\n${await clusterMetrics(t)}`;
  const served = new Set([...text.matchAll(/^# TYPE (switchboard_\w+)/gm)].map(([, name = '']) => name));
  const shown = new Set(
    [...read('grafana.json').matchAll(/switchboard_\w+/g)].map(([name]) => name.replace(/_(?:bucket|count|sum)$/, '')),
  );
  t.ok(served.size > 10);
  t.same(
    [...shown].filter((name) => !served.has(name)),
    [],
    'shown and not served',
  );
  t.same(
    [...served].filter((name) => !shown.has(name) && name !== 'switchboard_batch_commands'),
    [],
    'served and not shown',
  );
  const { panels } = JSON.parse(read('grafana.json')) as { panels: { id: number; targets: { expr: string }[] }[] };
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { targets } of panels)
    for (const { expr } of targets) t.equal(expr.split('(').length, expr.split(')').length, expr);
});

/** The metrics of a node of a cluster that does nothing. */
async function clusterMetrics(t: Teardown): Promise<string> {
  const metrics = createMetrics({
    engine: () => ({ openWorkspaces: 0, filesWaiting: 0, laneDepth: 0, actors: 0, outboxUnderWay: 0 }),
    sockets: () => ({ agent: 0, visitor: 0 }),
    readerWaiting: () => 0,
    outboxAgeSeconds: () => 0,
    folderFaults: () => 0,
    disk: () => ({ freeBytes: 0, hasRoom: true }),
    cluster: () => ({
      workspacesServed: 0,
      copies: 0,
      copiesBehind: 0,
      isLeaseHeld: true,
      isNatsConnected: true,
      isNatsFull: false,
    }),
  });
  t.teardown(() => metrics.stop());
  return (await metrics.text()).text;
}

t.test('the operating pages name existing things', async (t) => {
  const pages = join(root, 'docs/operations');
  const page = readdirSync(pages)
    .map((name) => readFileSync(join(pages, name), 'utf8'))
    .join('\n\n');
  const sources = ['http', 'engine', 'workers', 'store'].flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(root, name, file), 'utf8')),
  );
  const [lines = ''] = page.slice(page.indexOf('| `msg` |')).split('\n\n');
  const logged = [...lines.matchAll(/`([^`]+)`/g)]
    .map(([, text = '']) => text.split('…')[0]?.trim() ?? '')
    .filter((text) => / .* /.test(text));
  t.ok(logged.length >= 5);
  for (const text of logged)
    t.ok(
      sources.some((source) => source.includes(text)),
      text,
    );
  for (const [, name = '', second = ''] of page.matchAll(/^ *switchboard ([a-z-]+)(?: ([a-z-]+))?/gm))
    t.ok(
      [name, `${name}-${second}`].some((file) => existsSync(join(root, 'http/cli', `${file}.ts`))),
      name,
    );
  const config = readFileSync(join(root, 'http/process/config.ts'), 'utf8');
  const settings = [...`${page}${read('install.sh')}`.matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name);
  t.ok(settings.length > 8);
  for (const name of settings) t.ok(config.includes(`'${name}'`), name);
  // All proposed settings are used together.
  const proposed = Object.fromEntries(
    [...page.matchAll(/^([A-Z][A-Z0-9_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  t.match(readConfig(proposed), { port: 443, tls: { certFile: '/etc/switchboard/fullchain.pem' } });
});

t.test('[cluster] what a start of a node stops with is in the page in the words of the program', async (t) => {
  const page = readFileSync(join(root, 'docs/operations/cluster.md'), 'utf8');
  const [table = ''] = page.slice(page.indexOf('| A start stops with |')).split('\n\n');
  const sources = ['http', 'engine', 'workers']
    .flatMap((name) =>
      readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => readFileSync(join(root, name, file), 'utf8')),
    )
    .join('\n');
  const messages = table.split('\n').flatMap((row) => /^\| `([^`]+)`/.exec(row)?.[1] ?? []);
  t.ok(messages.length > 15);
  // What differs each time: names, figures, and the setting that it begins with.
  for (const message of messages)
    for (const part of message.replace(/^(?:JWT_SECRET|SECRETS_KEY) /, '').split('…'))
      t.ok(sources.includes(part.trim()), message);
});

const noAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0 ? false : 'systemd-analyze is not here';
t.test('the unit is one that systemd takes, and holds the service tight', { skip: noAnalyze }, async (t) => {
  const path = join(tempFolder(t), 'switchboard.service');
  writeFileSync(path, read('switchboard.service').replaceAll('/usr/local/bin/switchboard', '/bin/true'));
  const verified = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
  t.notMatch(`${verified.stdout}${verified.stderr}`, /switchboard\.service:\d+/);
  const security = spawnSync('systemd-analyze', ['security', '--offline=true', path], { encoding: 'utf8' });
  const level = Number(/exposure level[^:]*: ([\d.]+)/.exec(security.stdout)?.[1] ?? 0);
  t.ok(security.status !== 0 || level < 2.5, `exposure ${level}`);
});

const program = process.env['NATS_SERVER'] ?? 'nats-server';
const noNats = spawnSync(program, ['--version']).status === 0 ? false : 'nats-server is not here';
t.test('[cluster] NATS takes the configuration that is shipped', { skip: noNats }, async (t) => {
  const checked = spawnSync(program, ['-t', '-c', join(folder, 'nats.conf')], { encoding: 'utf8' });
  t.match(checked, { status: 0, stderr: /is valid/ });
  const config = read('nats.conf');
  const [, password] = /^ROUTE_PASSWORD: "(.*)"$/m.exec(config) ?? [];
  t.equal(config.split(`nats://routes:${password}@`).length, 4);
});

t.test(
  '[cluster] the operator of that configuration may ask about its servers, and a node may not',
  { skip: noNats },
  async (t) => {
    const port = await freePort();
    const config = read('nats.conf')
      .replace('"0.0.0.0:4222"', `"127.0.0.1:${port}"`)
      .replace('"0.0.0.0:6222"', '"127.0.0.1:-1"')
      .replace('http: "127.0.0.1:8222"', '')
      .replace('/var/lib/nats', tempFolder(t));
    const path = join(tempFolder(t), 'nats.conf');
    writeFileSync(path, config);
    const server = new NatsServer('a', port, path);
    t.teardown(() => server.kill());
    await server.begin();
    const passwordOf = (name: string): string => new RegExp(`^${name}: "(.*)"$`, 'm').exec(config)?.[1] ?? '';
    const ask = async (user: string, pass: string): Promise<unknown> => {
      const connection = await connect({ servers: `127.0.0.1:${port}`, user, pass });
      t.teardown(() => connection.close());
      return (await connection.request('$SYS.REQ.SERVER.PING', '', { timeout: 30_000 })).json();
    };
    t.match(await ask('operator', passwordOf('OPERATOR_PASSWORD')), { server: { name: 'a' } });
    await t.rejects(ask('switchboard', passwordOf('CLIENT_PASSWORD')), /no responders/i);
  },
);

t.test('[cluster] the unit of NATS is one that systemd takes', { skip: noAnalyze }, async (t) => {
  const path = join(tempFolder(t), 'nats.service');
  writeFileSync(path, read('nats.service').replaceAll('/usr/local/bin/nats-server', '/bin/true'));
  const verified = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
  t.notMatch(`${verified.stdout}${verified.stderr}`, /nats\.service:\d+/);
});

t.test('[cluster] the nodes of the compose file have valid settings, each its own name', async (t) => {
  const file = read('compose.yaml');
  const pairs = (text: string): [string, string][] =>
    [...text.matchAll(/^ +([A-Z][A-Z0-9_]+): (.*)$/gm)].map(([, name = '', value = '']) => [name, value]);
  const shared = pairs(file.slice(file.indexOf('x-settings:'), file.indexOf('\nservices:')));
  const given: Record<string, string> = Object.fromEntries(
    ['NATS_PASSWORD', 'CLUSTER_SECRET', 'JWT_SECRET', 'SECRETS_KEY'].map((name) => [name, name.padEnd(32, '-')]),
  );
  const filled = (text: string): string =>
    text.replaceAll(
      /\$\{(\w+)(?::-([^}]*))?\}/g,
      (_, name: string, fallback?: string) => given[name] ?? fallback ?? '',
    );
  const nodes = [...file.matchAll(/^ {2}(node-\w):\n {4}<<: \*node\n[^]*?<<: \*settings\n((?: {6}[A-Z].*\n)+)/gm)];
  const servers = [...file.matchAll(/^ {2}(nats-\w):\n {4}<</gm)].map(([, name = '']) => name);
  t.equal(nodes.length, 3);
  for (const [, name = '', own = ''] of nodes) {
    const env = Object.fromEntries([...shared, ...pairs(own)].map(([key, value]) => [key, filled(value)]));
    const { cluster } = readConfig({ HOST: '0.0.0.0', ...env });
    t.match(cluster, { node: name.slice('node-'.length), nodeUrl: `http://${name}:8080`, replicas: servers.length });
    t.same(
      cluster?.natsUrl.split(',').map((url) => new URL(url).hostname),
      servers,
    );
  }
});

/** The downloaded files, with a stub as the program. */
function download(t: Teardown): string {
  const from = tempFolder(t);
  for (const name of ['install.sh', 'switchboard.service', 'OPERATING.md', 'grafana.json', 'nats.conf', 'nats.service'])
    cpSync(join(folder, name), join(from, name));
  cpSync(join(root, 'docs'), join(from, 'docs'), { recursive: true });
  writeFileSync(join(from, 'switchboard'), '#!/bin/sh\necho switchboard 0.0.0\n');
  chmodSync(join(from, 'switchboard'), 0o755);
  return from;
}

t.test('install.sh puts everything in its place; repeated, it keeps the settings', async (t) => {
  const from = download(t);
  const to = join(tempFolder(t), 'root');
  const install = (): string =>
    execFileSync('sh', [join(from, 'install.sh')], {
      env: { PATH: process.env['PATH'] ?? '', DESTDIR: to },
      encoding: 'utf8',
    });
  install();
  t.equal(statSync(join(to, 'usr/local/bin/switchboard')).mode & 0o777, 0o755);
  t.equal(readFileSync(join(to, 'etc/systemd/system/switchboard.service'), 'utf8'), read('switchboard.service'));
  for (const name of ['OPERATING.md', 'nats.conf', 'nats.service', 'docs/operations/cluster.md'])
    t.ok(existsSync(join(to, 'usr/share/doc/switchboard', name)), name);
  const settings = join(to, 'etc/switchboard/environment');
  t.equal(statSync(settings).mode & 0o777, 0o600);
  t.doesNotThrow(
    () =>
      readConfig(
        Object.fromEntries(
          [...readFileSync(settings, 'utf8').matchAll(/^#([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [
            name,
            value,
          ]),
        ),
      ),
    'each line can be used as printed',
  );
  writeFileSync(settings, 'PORT=9000\n');
  writeFileSync(join(from, 'switchboard'), '#!/bin/sh\necho switchboard 0.0.1\n');
  install();
  t.equal(readFileSync(settings, 'utf8'), 'PORT=9000\n');
  t.match(readFileSync(join(to, 'usr/local/bin/switchboard'), 'utf8'), /0\.0\.1/);
});

t.test('the service listens on every address; one installed to listen on 127.0.0.1 keeps doing so', async (t) => {
  t.match(
    read('switchboard.service'),
    /^Environment=HOST=0\.0\.0\.0$[^]*^EnvironmentFile=/m,
    'settings come after it and may say otherwise',
  );
  const from = download(t);
  const to = join(tempFolder(t), 'root');
  const install = (): string =>
    execFileSync('sh', [join(from, 'install.sh')], {
      env: { PATH: process.env['PATH'] ?? '', DESTDIR: to },
      encoding: 'utf8',
    });
  const settings = join(to, 'etc/switchboard/environment');
  install();
  const former = read('switchboard.service').replace(/^Environment=HOST=.*\n/m, '');
  for (const [before, after] of [
    ['PORT=9000\n', 'PORT=9000\n\nHOST=127.0.0.1\n'],
    ['HOST=10.0.0.1\n', 'HOST=10.0.0.1\n'],
  ] as const) {
    writeFileSync(join(to, 'etc/systemd/system/switchboard.service'), former);
    writeFileSync(settings, before);
    install();
    install();
    t.equal(readFileSync(settings, 'utf8'), after);
  }
});

t.test('install.sh backs up a single server, whatever its settings say by now, and not a node', async (t) => {
  const from = download(t);
  const to = join(tempFolder(t), 'root');
  const programs = join(tempFolder(t), 'programs');
  mkdirSync(join(to, 'etc/switchboard'), { recursive: true });
  mkdirSync(join(to, 'var/lib/switchboard'), { recursive: true });
  mkdirSync(programs);
  // A machine where the service runs.
  for (const name of ['systemctl', 'getent']) {
    writeFileSync(join(programs, name), '#!/bin/sh\n');
    chmodSync(join(programs, name), 0o755);
  }
  const script = join(from, 'install.sh');
  const isLive = readFileSync(script, 'utf8').replace('if [ -n "$root" ]; then live=; fi\n', '');
  writeFileSync(script, isLive);
  const run = (...args: string[]): string =>
    execFileSync('sh', [script, '--dry-run', ...args], {
      env: { PATH: `${programs}:${process.env['PATH'] ?? ''}`, DESTDIR: to },
      encoding: 'utf8',
    });
  writeFileSync(join(to, 'etc/switchboard/environment'), 'CLUSTER_NATS_URL=nats://10.0.0.1:4222\n');
  const ofOneServer = run();
  t.match(ofOneServer, /would: runuser -u switchboard .* backup .*would: systemctl stop.*would: systemctl start/s);
  mkdirSync(join(to, 'var/lib/switchboard/cluster'));
  const ofNode = run('--no-start');
  t.match(ofNode, /this is a node of a cluster, .*would: systemctl stop.*would: leave Switchboard stopped/s);
  t.notMatch(ofNode, / backup \/|systemctl (?:enable|start)/);
});

t.test('install.sh does nothing on a dry run, and stops before it has done half', async (t) => {
  const from = download(t);
  const to = join(tempFolder(t), 'root');
  mkdirSync(to);
  const run = (...args: string[]) =>
    spawnSync('sh', [join(from, 'install.sh'), ...args], {
      env: { PATH: process.env['PATH'] ?? '', DESTDIR: to },
      encoding: 'utf8',
    });
  const dry = run('--dry-run');
  t.equal(dry.status, 0);
  t.match(dry.stdout, /would: install -D -m 0755 .*switchboard/);
  t.match(run('--fly'), { status: 1, stderr: /there is no option --fly/ });
  t.match(run('--help'), { status: 0, stdout: /Installs Switchboard/ });
  writeFileSync(join(from, 'switchboard'), '#!/bin/sh\nexit 1\n');
  t.match(run(), { status: 1, stderr: /does not run on this machine/ });
  t.same(readdirSync(to), []);
});
