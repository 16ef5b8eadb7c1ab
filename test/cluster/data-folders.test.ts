// Whose a data folder is: a node does not start on a single server's, nor a single server on a node's, and neither
// changes what it refuses. With processes, on a real NATS server.

import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Api, password } from '../support/api.ts';
import { tempFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { lived } from '../support/lived.ts';
import { operator, skip, startNats } from '../support/nats.ts';
import { type RunOfCommand, runCommand, ServiceProcess } from '../support/process.ts';
import type { Teardown } from '../support/service.ts';

// Processes that start one after the other, with time to spare on a busy machine.
t.setTimeout(600_000);

/** Every file in the folder, with what is in it. */
function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(paths.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]));
}

/** Starts a service that must refuse to start. */
async function refused(t: Teardown, env: Record<string, string>): Promise<RunOfCommand> {
  const started = ServiceProcess.start(t, env);
  const { code } = await started.ended;
  return { code, stdout: started.stdout, stderr: started.stderr };
}

t.test('[cluster] whose a data folder is', { skip }, async (t) => {
  const nats = await startNats(t);
  const single = await lived(t);
  await single.service.kill('SIGTERM');
  const kept = (name: string): string => readFileSync(join(single.dataDir, name), 'utf8').trim();
  const nodeEnv = async (dataDir: string, name = 'test'): Promise<Record<string, string>> => {
    const port = await freePort();
    return {
      DATA_DIR: dataDir,
      PORT: `${port}`,
      RATE_LIMITS: 'off',
      CLUSTER_NATS_URL: nats.url,
      CLUSTER_NAME: name,
      CLUSTER_NODE: 'a',
      CLUSTER_NODE_URL: `http://127.0.0.1:${port}`,
      CLUSTER_REPLICAS: '1',
      CLUSTER_SECRET: 'c'.repeat(32),
      JWT_SECRET: kept('jwt-secret'),
      SECRETS_KEY: kept('secrets-key'),
      STORAGE_PROVIDER: 'none',
    };
  };
  const copyOf = (from: string): string => {
    const folder = join(tempFolder(t), 'data');
    cpSync(from, folder, { recursive: true });
    return folder;
  };
  const signsIn = async (t: Test, url: string): Promise<void> => {
    const { status } = await new Api(url).post('/auth/login', { email: 'owner@one.example', password });
    t.equal(status, 200, 'an agent signs in');
  };

  await t.test('a node refuses what a single server has, and leaves it as it was', async (t) => {
    const ofSingle = /holds the data of a single server, .* switchboard cluster import, .* empty DATA_DIR\n$/;
    const before = contentOf(single.dataDir);
    t.match(await refused(t, await nodeEnv(single.dataDir)), { code: 1, stdout: '', stderr: ofSingle });
    t.same(contentOf(single.dataDir), before);
    t.same((await (await operator(t, nats.url)).jsm.getAccountInfo()).streams, 0, 'nothing is made in NATS');
    t.match(await runCommand(['config', 'check'], await nodeEnv(single.dataDir)), { code: 1, stdout: ofSingle });

    const harmed = (harm: (folder: string) => void): string => {
      const folder = copyOf(single.dataDir);
      harm(folder);
      return folder;
    };
    for (const folder of [
      harmed((folder) => rmSync(join(folder, 'directory.db'))),
      harmed((folder) => rmSync(join(folder, 'workspaces'), { recursive: true })),
      harmed((folder) => {
        rmSync(join(folder, 'workspaces'), { recursive: true });
        writeFileSync(join(folder, 'directory.db'), 'no database');
      }),
    ])
      t.match(await refused(t, await nodeEnv(folder)), { code: 1, stderr: ofSingle });

    const again = await ServiceProcess.serving(t, { DATA_DIR: single.dataDir, RATE_LIMITS: 'off' });
    await signsIn(t, again.url);
    await again.kill('SIGTERM');
  });

  const dataDir = join(tempFolder(t), 'node');
  const env = await nodeEnv(dataDir);

  await t.test('once it is imported, a node with a folder of its own has it', async (t) => {
    t.match(await runCommand(['cluster', 'import', single.dataDir], env), { code: 0, stderr: '' });
    // What only a log, mails for the operator and models are in is nobody's data.
    for (const name of ['operator-mail', 'models', 'index']) mkdirSync(join(dataDir, name), { recursive: true });
    writeFileSync(join(dataDir, 'jwt-secret'), `${'j'.repeat(32)}\n`);
    const node = await ServiceProcess.serving(t, env);
    await signsIn(t, node.url);
    t.match(await runCommand(['config', 'check'], env), { code: 0 });
    t.match(await node.kill('SIGTERM'), { code: 0 });
  });

  await t.test('a single server, and the commands for one, refuse the folder of a node', async (t) => {
    const ofNode = /is that of a node of a cluster, .* set CLUSTER_NATS_URL .* restore a backup of the cluster/;
    const copy = copyOf(dataDir);
    const before = contentOf(copy);
    t.match(await refused(t, { DATA_DIR: copy }), { code: 1, stdout: '', stderr: ofNode });
    for (const args of [
      ['backup', join(tempFolder(t), 'backup')],
      ['restore', tempFolder(t)],
      ['verify'],
      ['repair'],
      ['export', single.one.workspaceId],
      ['erase', single.one.workspaceId, '--yes'],
      ['reset-second-factor', 'owner@one.example'],
    ])
      t.match(await runCommand(args, { DATA_DIR: copy }), { code: 1, stdout: '', stderr: ofNode }, args.join(' '));
    t.match(await runCommand(['config', 'check'], { DATA_DIR: copy }), { code: 1, stdout: ofNode });
    t.match(await runCommand(['cluster', 'import', copy], env), { code: 1, stderr: /is the data folder of a node/ });
    t.same(contentOf(copy), before);
  });

  await t.test('a node starts on its folder again, also when it has lost what it notes of its copies', async (t) => {
    // As a version that kept nothing else there left it.
    rmSync(join(dataDir, 'cluster'), { recursive: true });
    mkdirSync(join(dataDir, 'cluster'));
    const node = await ServiceProcess.serving(t, env);
    await signsIn(t, node.url);
    await node.kill('SIGTERM');
  });

  await t.test('the folder of a single server where nothing was registered becomes that of a node', async (t) => {
    const fresh = join(tempFolder(t), 'fresh');
    const first = await ServiceProcess.serving(t, { DATA_DIR: fresh });
    await first.kill('SIGTERM');
    const imported = copyOf(fresh);
    const keys = (folder: string) => ({
      JWT_SECRET: readFileSync(join(folder, 'jwt-secret'), 'utf8').trim(),
      SECRETS_KEY: readFileSync(join(folder, 'secrets-key'), 'utf8').trim(),
    });
    const node = await ServiceProcess.serving(t, await nodeEnv(fresh, 'fresh'));
    const { workspaceId } = await new Api(node.url).workspace('shop');
    t.ok(workspaceId);
    await node.kill('SIGTERM');
    t.match(await refused(t, { DATA_DIR: fresh }), { code: 1, stderr: /is that of a node of a cluster/ });

    const nothing = { ...(await nodeEnv(join(tempFolder(t), 'other'), 'nothing')), ...keys(imported) };
    t.match(await runCommand(['cluster', 'import', imported], nothing), { code: 0, stdout: /^0 workspaces are in/ });
    const other = await ServiceProcess.serving(t, nothing);
    t.ok((await new Api(other.url).workspace('shop')).workspaceId);
    await other.kill('SIGTERM');
  });
});
