// `switchboard verify` and `export` with the settings of a node: over what the log has, without any node and without its
// data folder; what they put onto the disk meanwhile is gone when they end.

import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { AddedFrames } from '../../store/page-log/added-frames.ts';
import { encodeChange } from '../../store/page-log/encode.ts';
import { joinPieces } from '../../store/page-log/entries.ts';
import { firstLink } from '../../store/page-log/pieces.ts';
import { tempFolder } from '../support/folder.ts';
import { lived } from '../support/lived.ts';
import { openStore, skip, startNats } from '../support/nats.ts';
import { runCommand } from '../support/process.ts';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts';

const never = new AbortController().signal;
const pollMs = 10;

t.test('[cluster] what only reads works without a data folder', { skip }, async (t) => {
  const server = await startNats(t);
  const { dataDir, service, one, two } = await lived(t);
  await service.kill('SIGTERM');
  const kept = (name: string): string => readFileSync(join(dataDir, name), 'utf8').trim();
  const temporary = tempFolder(t);
  const env = {
    JWT_SECRET: kept('jwt-secret'),
    SECRETS_KEY: kept('secrets-key'),
    CLUSTER_NATS_URL: server.url,
    CLUSTER_NAME: 'test',
    CLUSTER_REPLICAS: '1',
    CLUSTER_SECRET: 'c'.repeat(32),
    STORAGE_PROVIDER: 'none',
    DATA_DIR: join(tempFolder(t), 'nothing'),
    TMPDIR: temporary,
  };
  const run = async (args: readonly string[], given: Record<string, string> = {}) => {
    const done = await runCommand(args, { ...env, ...given });
    t.same(readdirSync(temporary), [], `${args.join(' ')} leaves nothing`);
    return done;
  };
  t.match(await run(['verify']), { code: 1, stderr: /no node has started/ });
  const alone = await runCommand(['export', 'one'], { DATA_DIR: dataDir });
  t.match(await runCommand(['cluster', 'import', dataDir], env), { code: 0 });
  const store = await openStore(t, server.url);

  await t.test('a cluster without a problem', async (t) => {
    const alone = await runCommand(['verify'], { DATA_DIR: dataDir });
    const sum = /: (.*no problems)\n$/.exec(alone.stdout)?.[1];
    t.match(sum, /^2 workspaces with [1-9]/);
    t.same(await run(['verify']), { code: 0, stdout: `the cluster test: ${sum}\n`, stderr: '' });
    t.same(await run(['verify', '--quiet']), { code: 0, stdout: '', stderr: '' });
    t.notOk(existsSync(env.DATA_DIR));
  });

  await t.test('an export is the one of the folder', async (t) => {
    const rows = (text: string): string[] => text.split('\n').slice(1);
    t.ok(rows(alone.stdout).length > 10);
    t.same(rows((await run(['export', 'one'])).stdout), rows(alone.stdout));
    const to = join(tempFolder(t), 'two.jsonl');
    t.match(await run(['export', two.workspaceId, '--to', to]), { code: 0, stdout: '', stderr: '' });
    t.equal(statSync(to).mode & 0o777, 0o600);
    t.match(readFileSync(to, 'utf8'), new RegExp(`^{"export":"workspace".*"workspaceId":"${two.workspaceId}"`));
    t.match(await run(['export', two.workspaceId, '--to', to]), { code: 1, stderr: /already exists/ });
    t.match(await run(['export', 'nowhere']), {
      code: 1,
      stdout: '',
      stderr: 'switchboard: the cluster test has no workspace with the id or subdomain nowhere\n',
    });
  });

  await t.test('keys that are not the ones of the cluster', async (t) => {
    const done = await run(['verify'], { SECRETS_KEY: 'x'.repeat(32) });
    t.equal(done.code, 1);
    t.match(
      done.stdout,
      /^its keys: failed check: .*: SECRETS_KEY is not the one that the cluster test was served with/,
    );
    t.match(done.stdout, new RegExp(`workspaces/${one.workspaceId}.db: failed check: sealed secrets can be opened`));
    t.match(done.stdout, /the cluster test: [2-9] problems\n$/);
  });

  await t.test('interrupted, it leaves nothing either', async (t) => {
    server.signal('SIGSTOP');
    const begun = async (): Promise<void> => {
      while (readdirSync(temporary).length === 0) await pause(pollMs);
    };
    const done = await runCommand(['verify'], env, { interrupt: begun() });
    server.signal('SIGCONT');
    t.match(done, { code: null, stdout: '' });
    t.same(readdirSync(temporary), []);
  });

  await t.test('a disk with too little room', { skip: noSmallDisk() }, async (t) => {
    const disk = mountSmallDisk(t, { bytes: 64 * 1024 });
    t.match(await run(['verify'], { TMPDIR: disk.path }), {
      code: 1,
      stdout: '',
      stderr: /has 0\.\d MB free: .* may take \d+\.\d MB there for a while; set TMPDIR to a folder on a disk/,
    });
    const large = mountSmallDisk(t, { bytes: 64 * 1024 * 1024 });
    mkdirSync(join(large.path, 'data'));
    const beside = { TMPDIR: large.path, DATA_DIR: join(large.path, 'data'), DISK_RESERVE_BYTES: '67108864' };
    t.match(await run(['export', 'one'], beside), {
      code: 1,
      stdout: '',
      stderr: /67\.1 MB must stay free for the node/,
    });
    t.same([readdirSync(disk.path), readdirSync(large.path)], [[], ['data']]);
  });

  await t.test('what a workspace says of itself and the directory does not', async (t) => {
    const path = join(tempFolder(t), 'served.db');
    copyFileSync(join(dataDir, 'workspaces', `${one.workspaceId}.db`), path);
    const db = Database.openWriter(path, workspaceMigrations);
    t.teardown(() => db.close());
    const frames = new AddedFrames(db);
    db.begin();
    db.run("UPDATE workspace SET subdomain = 'elsewhere'");
    db.commit();
    const change = frames.next();
    if (change === undefined) throw new Error('nothing was committed');
    const { pieces } = encodeChange(change, { read: (into, at) => db.readLog(into, at), link: firstLink });
    const expected = (await store.snapshots.newest(one.workspaceId))?.sequence ?? 0;
    await store.logs.append(one.workspaceId, { id: randomUUID(), expected, bytes: joinPieces(pieces) }, never);
    const { code, stdout } = await run(['verify']);
    t.equal(code, 1);
    const said = `workspace ${one.workspaceId}: failed check: directory.db lists every subdomain, and no other: `;
    t.same(stdout.split('\n'), [
      `${said}it does not list elsewhere`,
      `${said}only it lists one`,
      'the cluster test: 2 problems',
      '',
    ]);
  });

  t.test('a log that does not reach back to its snapshot', async (t) => {
    let expected = (await store.snapshots.newest(two.workspaceId))?.sequence ?? 0;
    for (const id of ['lost', 'last'])
      expected = await store.logs.append(two.workspaceId, { id, expected, bytes: new Uint8Array() }, never);
    await store.logs.purge(two.workspaceId, expected - 1);
    const { code, stdout } = await run(['verify']);
    t.equal(code, 1);
    t.match(
      stdout,
      new RegExp(
        `workspaces/${two.workspaceId}.db: failed check: its snapshot and its log give the file: the log of .* has a gap`,
      ),
    );
  });
});
