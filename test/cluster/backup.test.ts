// `switchboard backup` of a cluster: what the log has is in it, without any node, and it can be served by one server.

import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { AddedFrames } from '../../store/page-log/added-frames.ts';
import { encodeChange } from '../../store/page-log/encode.ts';
import { joinPieces } from '../../store/page-log/entries.ts';
import { firstLink } from '../../store/page-log/pieces.ts';
import { encodeFile } from '../../store/page-log/whole-file.ts';
import { gather } from '../../workers/cluster/gathering.ts';
import { createPacking } from '../../workers/cluster/packing.ts';
import { tempFolder } from '../support/folder.ts';
import { lived } from '../support/lived.ts';
import { openStore, skip, startNats } from '../support/nats.ts';
import { runCommand } from '../support/process.ts';

const never = new AbortController().signal;

t.test('[cluster] a backup has what the log has', { skip }, async (t) => {
  const server = await startNats(t);
  const { dataDir, service, one, two } = await lived(t);
  await service.kill('SIGTERM');
  const kept = (name: string): string => readFileSync(join(dataDir, name), 'utf8').trim();
  const keys = { JWT_SECRET: kept('jwt-secret'), SECRETS_KEY: kept('secrets-key') };
  const env = {
    ...keys,
    CLUSTER_NATS_URL: server.url,
    CLUSTER_NAME: 'test',
    CLUSTER_REPLICAS: '1',
    CLUSTER_SECRET: 'c'.repeat(32),
    STORAGE_PROVIDER: 'none',
  };
  const folder = tempFolder(t);
  const fileIn = (dir: string): string => join(dir, 'workspaces', `${one.workspaceId}.db`);
  t.match(await runCommand(['backup', join(folder, 'nothing')], env), { code: 1, stderr: /no node has started/ });
  t.match(await runCommand(['cluster', 'import', dataDir], env), { code: 0 });
  const store = await openStore(t, server.url);

  // What a node does with each commit.
  const path = join(folder, 'served.db');
  copyFileSync(fileIn(dataDir), path);
  const db = Database.openWriter(path, workspaceMigrations);
  const frames = new AddedFrames(db);
  let link = firstLink;
  let sequence = (await store.snapshots.newest(one.workspaceId))?.sequence ?? 0;
  const append = async (bytes: Uint8Array): Promise<void> => {
    sequence = await store.logs.append(one.workspaceId, { id: randomUUID(), expected: sequence, bytes }, never);
  };
  const commit = async (name: string): Promise<void> => {
    db.begin();
    db.run('UPDATE workspace SET name = ?', [name]);
    db.commit();
    const change = frames.next();
    if (change === undefined) throw new Error('nothing was committed');
    const encoded = encodeChange(change, { read: (into, at) => db.readLog(into, at), link });
    ({ link } = encoded);
    await append(joinPieces(encoded.pieces));
  };
  await commit('First of the cluster');
  await append(new Uint8Array());
  await commit('Last of the cluster');
  t.teardown(() => db.close());

  await t.test('of everything, which one server then serves', async (t) => {
    const to = join(folder, 'all');
    t.match(await runCommand(['backup', to], env), { code: 0, stdout: /2 workspaces, .*checked/ });
    t.notOk(existsSync(`${to}.gathered`));
    t.match(await runCommand(['backup', to], env), { code: 1, stderr: /already exists/ });
    const alone = { ...keys, DATA_DIR: join(folder, 'alone') };
    t.match(await runCommand(['restore', to], alone), { code: 0, stdout: /2 workspaces/ });
    t.match(await runCommand(['verify'], alone), { code: 0, stdout: /no problems/ });
    const restored = Database.openReader(fileIn(alone.DATA_DIR));
    t.same(restored.get('SELECT name FROM workspace'), { name: 'Last of the cluster' });
    restored.close();
  });

  await t.test('of one workspace, to move it', async (t) => {
    const to = join(folder, 'one');
    t.match(await runCommand(['backup', to, '--workspace', one.workspaceId], env), {
      code: 0,
      stdout: /1 workspace, /,
    });
    t.same(existsSync(fileIn(to)), true);
    t.notOk(existsSync(join(to, 'workspaces', `${two.workspaceId}.db`)));
    t.match(await runCommand(['backup', join(folder, 'none'), '--workspace', 'nowhere'], env), {
      code: 1,
      stderr: /no workspace with the id or subdomain nowhere/,
    });
    t.notOk(existsSync(join(folder, 'none.gathered')));
  });

  await t.test('a file that was never in a snapshot is made from its log, and a gap in it is no file', async (t) => {
    const packing = createPacking();
    t.teardown(() => packing.stop());
    const work = join(folder, 'work');
    mkdirSync(work);
    const options = { store, packing, work };
    const small = join(folder, 'small.db');
    await Database.makeFile(small, workspaceMigrations);
    const bytes = readFileSync(small);
    const made = await store.logs.append(
      'made-here',
      { id: 'first', expected: 0, bytes: joinPieces(encodeFile(bytes).pieces) },
      never,
    );
    t.match(await gather(options, 'made-here', join(folder, 'made.db')), { sequence: made });
    t.ok(readFileSync(join(folder, 'made.db')).equals(bytes));
    t.equal(await gather(options, 'unheard-of', join(folder, 'unheard-of.db')), undefined);
    t.notOk(existsSync(join(folder, 'unheard-of.db')));
    await store.logs.append('made-here', { id: 'second', expected: made, bytes: new Uint8Array() }, never);
    await store.logs.purge('made-here', made);
    await t.rejects(gather(options, 'made-here', join(folder, 'gap.db')), /has a gap between 0 and/);
    t.notOk(existsSync(join(folder, 'gap.db')));
  });

  t.test('what works on a data folder is refused to a node', async (t) => {
    for (const args of [['restore', folder], ['repair']])
      t.match(
        await runCommand(args, { ...env, DATA_DIR: dataDir }),
        { code: 1, stderr: /is not for a node of a cluster, whose settings these are: / },
        args.join(' '),
      );
    t.match(await runCommand(['invite'], env), { code: 0 });
  });
});
