import { randomUUID } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { verifyAgreement } from '../../engine/operations/integrity.ts';
import { verifyReports } from '../../engine/rollups.ts';
import { isInUse } from '../../http/process/data-folder.ts';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { becomeCopy } from '../../store/operations/copied-workspace.ts';
import { rebuildDeadline } from '../../store/reports/rebuild.ts';
import { deadlineSubjects } from '../../store/runtime/deadlines.ts';
import { claimLine, ringLine } from '../support/calls.ts';
import { tempFolder } from '../support/folder.ts';
import { lived } from '../support/lived.ts';
import { runCommand, ServiceProcess } from '../support/process.ts';
import { rebuildAll } from '../support/reported-rows.ts';
import { startService } from '../support/service.ts';

t.test('a backup that is not as it was written is not restored, and nothing is made', async (t) => {
  const { dataDir, service, one } = await lived(t);
  await service.kill('SIGTERM');
  const good = join(tempFolder(t), 'copy');
  await runCommand(['backup', good], { DATA_DIR: dataDir });
  t.match(await runCommand(['backup', good], { DATA_DIR: dataDir }), { code: 1, stderr: /already exists/ });
  const rows: [string, (folder: string) => void, RegExp][] = [
    [
      'a changed file',
      (folder) => writeFileSync(join(folder, 'storage', one.workspaceId, 'attachment', 'picture.png'), 'of eno'),
      /changed since it was written/,
    ],
    ['a missing file', (folder) => rmSync(join(folder, 'directory.db')), /changed since it was written/],
    ['no manifest', (folder) => rmSync(join(folder, 'manifest.json')), /an unfinished one/],
    ['a later format', (folder) => writeFileSync(join(folder, 'manifest.json'), '{"format":2}'), /format 2/],
    [
      'a file outside',
      (folder) =>
        writeFileSync(
          join(folder, 'manifest.json'),
          '{"format":1,"scope":"all","files":[{"path":"../x","bytes":1,"sha256":""}]}',
        ),
      /outside of it/,
    ],
  ];
  for (const [title, harm, message] of rows) {
    const bad = join(tempFolder(t), 'bad');
    cpSync(good, bad, { recursive: true });
    harm(bad);
    const elsewhere = join(tempFolder(t), 'elsewhere');
    t.match(await runCommand(['restore', bad], { DATA_DIR: elsewhere }), { code: 1, stderr: message }, title);
    t.notOk(existsSync(join(elsewhere, 'directory.db')), title);
  }
});

t.test('a write-protected backup is restored as writable files', async (t) => {
  const { dataDir, service } = await lived(t);
  await service.kill('SIGTERM');
  const copy = join(tempFolder(t), 'copy');
  await runCommand(['backup', copy], { DATA_DIR: dataDir });
  const filesOf = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile());
  for (const path of filesOf(copy)) chmodSync(path, 0o400);
  const elsewhere = join(tempFolder(t), 'elsewhere');
  t.match(await runCommand(['restore', copy], { DATA_DIR: elsewhere }), { code: 0, stderr: '' });
  const files = filesOf(elsewhere);
  t.ok(files.length > 5);
  for (const path of files) t.equal(statSync(path).mode & 0o200, 0o200, path);
});

t.test('a damaged workspace is reported and left out; the others are in the backup', async (t) => {
  const { dataDir, service, one, two } = await lived(t);
  await service.kill('SIGTERM');
  writeFileSync(join(dataDir, 'workspaces', `${one.workspaceId}.db`), Buffer.alloc(100_000, 'no database'));
  const copy = join(tempFolder(t), 'copy');
  t.match(await runCommand(['backup', copy], { DATA_DIR: dataDir }), {
    code: 1,
    stdout: new RegExp(`workspaces/${one.workspaceId}\\.db: failed check: `),
  });
  t.same(readdirSync(join(copy, 'workspaces')), [`${two.workspaceId}.db`]);
});

t.test('a copy ends calls that its original continues, and its reports count them so', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const line = await claimLine(service, owner);
  await ringLine(service, line);
  const original = service.running.services.engine.workspace(owner.workspaceId)?.db;
  const path = join(tempFolder(t), 'copy.db');
  original?.copyTo(path);
  const db = Database.openWriter(path, workspaceMigrations);
  t.teardown(() => db.close());
  t.strictSame([...verifyReports(db)], []);
  const workspaceId = randomUUID();
  becomeCopy(db, {
    formerId: owner.workspaceId,
    workspaceId,
    name: 'Copy',
    subdomain: 'copy',
    compactId: 'l',
    at: new Date(service.clock.now()).toISOString(),
  });
  t.strictSame(deadlineSubjects(db, rebuildDeadline), [workspaceId], 'its reports are rebuilt by the serving process');
  rebuildAll(db);
  t.strictSame([...verifyReports(db)], []);
  t.match(
    db.get(
      `SELECT sum(missed) AS missed FROM rollupPeriod WHERE grain = 'month' AND departmentId = '*' AND agentId = '*'`,
    ),
    { missed: 1 },
  );
});

t.test('an interrupted command is repeated before the folder is served', async (t) => {
  const { dataDir, service, two } = await lived(t);
  await service.kill('SIGTERM');
  const copy = join(tempFolder(t), 'copy');
  await runCommand(['backup', copy], { DATA_DIR: dataDir });
  const elsewhere = join(tempFolder(t), 'elsewhere');
  // The state after a kill in the middle.
  cpSync(copy, elsewhere, { recursive: true });
  rmSync(join(elsewhere, 'directory.db'));
  rmSync(join(elsewhere, 'manifest.json'));
  writeFileSync(join(elsewhere, 'unfinished'), `restore ${copy}\n`);
  const refused = ServiceProcess.start(t, { DATA_DIR: elsewhere });
  t.same(await refused.ended, { code: 1, signal: null });
  t.match(refused.stderr, `was interrupted; repeat it: switchboard restore ${copy}`);
  t.match(await runCommand(['verify'], { DATA_DIR: elsewhere }), { code: 1, stdout: /every command is finished/ });
  t.match(await runCommand(['restore', copy], { DATA_DIR: elsewhere }), { code: 0 });
  t.match(await runCommand(['verify'], { DATA_DIR: elsewhere }), { code: 0 });

  // An erasure whose file is already deleted.
  writeFileSync(join(elsewhere, 'unfinished'), `erase ${two.workspaceId} --yes\n`);
  rmSync(join(elsewhere, 'workspaces', `${two.workspaceId}.db`));
  t.match(await runCommand(['erase', 'one', '--yes'], { DATA_DIR: elsewhere }), {
    code: 1,
    stderr: /finish it first/,
  });
  t.match(await runCommand(['erase', two.workspaceId, '--yes'], { DATA_DIR: elsewhere }), { code: 0 });
  t.match(await runCommand(['verify'], { DATA_DIR: elsewhere }), { code: 0, stdout: /1 workspace / });
  t.same(verifyAgreement(elsewhere), []);
  t.notOk(isInUse(elsewhere));
});
