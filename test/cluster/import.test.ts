// `switchboard cluster import`: what a single server had is in the cluster to the byte, once, and an import that was
// interrupted goes on.

import { createHash, randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { inLine } from '../../engine/runtime/cluster/sharing.ts';
import { Database } from '../../store/database.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { createPacking } from '../../workers/cluster/packing.ts';
import { s3Objects } from '../../workers/providers/objects-s3.ts';
import { S3Bucket } from '../../workers/providers/s3-bucket.ts';
import { password } from '../support/api.ts';
import { accessKey, bucket, bucketSettings, secretKey, startBucket } from '../support/bucket.ts';
import { startNode } from '../support/cluster-nodes.ts';
import { tempFolder } from '../support/folder.ts';
import { lived } from '../support/lived.ts';
import { openStore, skip, startNats } from '../support/nats.ts';
import { nodeRecord } from '../support/node-record.ts';
import { runCommand } from '../support/process.ts';

const silentEndpoint = 'http://127.0.0.1:1';

t.test('[cluster] a data folder is brought in', { skip }, async (t) => {
  const server = await startNats(t);
  const { dataDir, service, one, two } = await lived(t);
  await service.kill('SIGTERM');
  const kept = (name: string): string => readFileSync(join(dataDir, name), 'utf8').trim();
  const env = {
    CLUSTER_NATS_URL: server.url,
    CLUSTER_NAME: 'test',
    CLUSTER_REPLICAS: '1',
    CLUSTER_SECRET: 'c'.repeat(32),
    JWT_SECRET: kept('jwt-secret'),
    SECRETS_KEY: kept('secrets-key'),
    STORAGE_PROVIDER: 'none',
  };
  const bring = (folder: string, given: Record<string, string> = {}) =>
    runCommand(['cluster', 'import', folder], { ...env, ...given });
  const copyOf = (): string => {
    const folder = join(tempFolder(t), 'data');
    cpSync(dataDir, folder, { recursive: true });
    return folder;
  };
  const key = `${one.workspaceId}/attachment/${randomUUID()}/note.txt`;
  const fileOf = (id: string): string =>
    id === 'directory' ? join(dataDir, 'directory.db') : join(dataDir, 'workspaces', `${id}.db`);
  const ids = [one.workspaceId, two.workspaceId, 'directory'];

  await t.test('a folder that is in use, not whole, or of other keys is not touched, nor is the cluster', async (t) => {
    const harmed = (harm: (folder: string) => void): string => {
      const folder = copyOf();
      harm(folder);
      return folder;
    };
    const rows: [string, RegExp, Record<string, string>?][] = [
      [tempFolder(t), /is no data folder/],
      [copyOf(), /JWT_SECRET is not the key .* content of .*jwt-secret/, { JWT_SECRET: 'x'.repeat(32) }],
      [copyOf(), /SECRETS_KEY is not the key .* content of .*secrets-key/, { SECRETS_KEY: 'x'.repeat(32) }],
      [harmed((folder) => mkdirSync(join(folder, 'cluster'))), /is the data folder of a node/],
      [harmed((folder) => rmSync(join(folder, 'workspaces', `${one.workspaceId}.db`))), /every workspace|has none/],
      [harmed((folder) => writeFileSync(join(folder, 'unfinished'), 'erase shop --yes\n')), /erase shop --yes/],
      [
        harmed((folder) => {
          mkdirSync(dirname(join(folder, 'storage', key)), { recursive: true });
          writeFileSync(join(folder, 'storage', key), 'a note');
        }),
        /1 uploaded files?, and the cluster keeps none/,
      ],
      [
        harmed((folder) => {
          const directory = Database.openWriter(join(folder, 'directory.db'), directoryMigrations);
          directory.run('UPDATE workspace SET reservedAt = ? WHERE id = ?', [
            '2026-01-01T00:00:00.000Z',
            one.workspaceId,
          ]);
          directory.close();
        }),
        /a registration or an invitation in .* was interrupted/,
      ],
    ];
    for (const [folder, message, given] of rows)
      t.match(await bring(folder, given), { code: 1, stdout: '', stderr: message }, `${message}`);
    const store = await openStore(t, server.url);
    t.equal((await store.inventory.owners()).size, 0);
  });

  const store = await openStore(t, server.url);
  mkdirSync(dirname(join(dataDir, 'storage', key)), { recursive: true });
  writeFileSync(join(dataDir, 'storage', key), 'a note');

  await t.test('while it is under way, no node takes anything, and the folder is not served', async (t) => {
    t.match(await bring(dataDir, bucketSettings(silentEndpoint)), { code: 1, stdout: '' });
    t.ok(existsSync(join(dataDir, 'unfinished')));
    const lock = (await store.owners.of('directory'))?.ownership;
    t.same(inLine('directory', [nodeRecord('a', { schema: 1_000_000 })], lock?.schema), []);
    t.match(await runCommand(['serve'], { DATA_DIR: dataDir, PORT: '0' }), {
      code: 1,
      stderr: new RegExp(`repeat it: switchboard cluster import ${dataDir}`),
    });
    const other = await lived(t);
    await other.service.kill('SIGTERM');
    const keys = {
      JWT_SECRET: readFileSync(join(other.dataDir, 'jwt-secret'), 'utf8').trim(),
      SECRETS_KEY: readFileSync(join(other.dataDir, 'secrets-key'), 'utf8').trim(),
    };
    t.match(await bring(other.dataDir, keys), { code: 1, stderr: /another data folder is being imported/ });
    t.notOk(existsSync(join(other.dataDir, 'unfinished')));
  });

  const endpoint = await startBucket(t);
  const storage = { endpoint, bucket, accessKey, secretKey, region: 'us-east-1' };

  await t.test('repeated, it goes on to the end', async (t) => {
    // As if it had come this far.
    const sequence = await store.logs.append(
      one.workspaceId,
      { id: `import ${(await store.owners.of('directory'))?.ownership.node}`, expected: 0, bytes: new Uint8Array() },
      new AbortController().signal,
    );
    const done = await bring(dataDir, bucketSettings(endpoint));
    t.match(done, { code: 0, stdout: /^2 workspaces are in the cluster test\. Do not serve/, stderr: '' });
    t.notOk(existsSync(join(dataDir, 'unfinished')));
    t.notOk(existsSync(join(dataDir, 'importing')));
    t.equal((await store.snapshots.newest(one.workspaceId))?.sequence, sequence);
    const files = s3Objects(storage);
    t.match(await files.find(key), { size: 6 });
  });

  await t.test('each file is there as it was, behind one empty entry, for the first node that looks', async (t) => {
    const packing = createPacking();
    t.teardown(() => packing.stop());
    const folder = tempFolder(t);
    const owners = await store.inventory.owners();
    t.same([...owners.keys()].sort(), [...ids].sort());
    const { snapshots } = await openStore(t, server.url, { bucket: storage });
    for (const id of ids) {
      const snapshot = await store.snapshots.newest(id);
      if (snapshot === undefined) throw new Error(`there is no snapshot of ${id}`);
      const [packed, unpacked] = [join(folder, `${id}.packed`), join(folder, `${id}.db`)];
      await snapshots.get(id, snapshot, packed);
      await packing.unpack({ from: packed, to: unpacked, sha256: snapshot.sha256, bytes: snapshot.bytes });
      const was = Database.openReader(fileOf(id));
      const bytes = was.serialize();
      was.close();
      t.ok(readFileSync(unpacked).equals(bytes), id);
      t.equal(snapshot.sha256, createHash('sha256').update(bytes).digest('hex'));
      const entries = [];
      for await (const { sequence, previous, bytes: added } of store.logs.read(id, 0))
        entries.push({ sequence, previous, length: added.length });
      t.same(entries, [{ sequence: snapshot.sequence, previous: 0, length: 0 }]);
      const owner = owners.get(id);
      t.equal(await store.nodes.of(owner?.node ?? ''), undefined);
      t.same(
        inLine(id, [nodeRecord('a', { schema: owner?.schema ?? 0 })], owner?.schema).map(({ node }) => node),
        ['a'],
      );
    }
  });

  await t.test('a cluster that has data takes no other folder, nor the same again', async (t) => {
    t.match(await bring(dataDir, bucketSettings(silentEndpoint)), { code: 1, stderr: /the cluster has data already/ });
    t.notOk(existsSync(join(dataDir, 'unfinished')));
  });

  await t.test('its snapshots are in the bucket: a backup and a node begin there, and say so without it', async (t) => {
    const keys = await new S3Bucket(storage).keys('switchboard-snapshots/', 100);
    t.equal(keys.length, ids.length);
    const to = join(tempFolder(t), 'backup');
    t.match(await runCommand(['backup', to], env), {
      code: 1,
      stderr: /is in the bucket files, and there is no bucket here: set STORAGE_PROVIDER=s3/,
    });
    t.match(await runCommand(['backup', to], { ...env, ...bucketSettings(silentEndpoint) }), {
      code: 1,
      stderr: /^switchboard: the bucket files \(S3_BUCKET\), where snapshots are, cannot be used now/,
    });
    t.match(await runCommand(['backup', to], { ...env, ...bucketSettings(endpoint) }), {
      code: 0,
      stdout: /2 workspaces, .*checked/,
    });
    const node = await startNode(t, server, { node: 'a', env: { ...env, ...bucketSettings(endpoint) } });
    const signedIn = await node.post('/auth/login', { email: 'owner@one.example', password });
    t.equal(signedIn.status, 200);
    t.equal((await node.get('/conversations/queue', signedIn.body.token)).status, 200);
    t.equal((await store.nodes.of('a'))?.snapshotBucket, bucket);
    await node.stop();
  });

  t.test('an import that ended just before its last note is complete', async (t) => {
    writeFileSync(join(dataDir, 'unfinished'), `cluster import ${dataDir}\n`);
    const before = await store.inventory.owners();
    t.match(await bring(dataDir, bucketSettings(silentEndpoint)), { code: 0, stdout: /^2 workspaces are in/ });
    t.notOk(existsSync(join(dataDir, 'unfinished')));
    t.same(await store.inventory.owners(), before);
  });
});
