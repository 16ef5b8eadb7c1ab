// An incomplete data folder is reported: at start, by readiness, and by verify; and one command repairs what it can.

import { copyFileSync, cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { silentLog } from '../../engine/runtime/log.ts';
import { DataFolderUnusable } from '../../http/process/data-folder.ts';
import { Database } from '../../store/database.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { password } from '../support/api.ts';
import { tempFolder } from '../support/folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runCommand } from '../support/process.ts';
import { type Service, startService, type Teardown } from '../support/service.ts';

interface Shop {
  readonly token: string;
  readonly workspaceId: string;
  readonly email: string;
}

interface Logged {
  readonly workspaceId?: string;
  readonly text: string;
}

const clock = new ManualClock();
const another = 'another key that is long enough to be one';

/** Two workspaces, each with a sealed secret; `yesterday` is directory.db from before the second. */
async function live(t: Teardown): Promise<{ folder: string; yesterday: string; one: Shop; two: Shop }> {
  const folder = tempFolder(t);
  const yesterday = join(tempFolder(t), 'directory.db');
  const first = await startService(t, { dataDir: folder, clock });
  const one = await first.workspace();
  await first.get('/workspace/integrations', one.token);
  await first.stop();
  copyFileSync(join(folder, 'directory.db'), yesterday);
  const second = await startService(t, { dataDir: folder, clock });
  const { body } = await second.post('/auth/register', { email: 'owner@two.example', password, workspaceName: 'Two' });
  await second.get('/workspace/integrations', body.token);
  await second.stop();
  return {
    folder,
    yesterday,
    one,
    two: { token: body.token, workspaceId: body.agent.workspaceId, email: 'owner@two.example' },
  };
}

const lived = await live(t);
const { one, two, yesterday } = lived;

/** A copy of the folder for a test to damage. */
function folderOf(t: Teardown): string {
  const folder = tempFolder(t);
  cpSync(lived.folder, folder, { recursive: true });
  return folder;
}

const fileOf = (folder: string, { workspaceId }: Shop): string => join(folder, 'workspaces', `${workspaceId}.db`);

async function start(
  t: Teardown,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ service: Service; logged: Logged[]; faults(): Promise<string[]> }> {
  const logged: Logged[] = [];
  const log = { ...silentLog, error: (fields: object, text: string): void => void logged.push({ ...fields, text }) };
  const service = await startService(t, { dataDir: folder, clock, log, env });
  await service.settled();
  return {
    service,
    logged,
    faults: async () => ((await (await fetch(`${service.url}/readyz`)).json()) as { faults?: string[] }).faults ?? [],
  };
}

const signsIn = async (service: Service, { email }: Shop): Promise<number> =>
  (await service.post('/auth/login', { email, password })).status;
const reads = async (service: Service, { token }: Shop): Promise<number> => (await service.get('/me', token)).status;
const opens = async (service: Service, { token }: Shop): Promise<number> =>
  (await service.get('/workspace/integrations', token)).status;
const run = (folder: string, ...args: string[]): ReturnType<typeof runCommand> =>
  runCommand(args, { DATA_DIR: folder });
const refusal = (message: RegExp): { name: string; message: RegExp } => ({ name: DataFolderUnusable.name, message });

t.test('[whole] a folder that is whole is ready without a fault, and repairing it changes nothing', async (t) => {
  const folder = folderOf(t);
  const { service, logged, faults } = await start(t, folder);
  t.same(await faults(), []);
  t.same(logged, []);
  t.match(await (await fetch(`${service.url}/metrics`)).text(), /^switchboard_folder_faults 0$/m);
  await service.stop();
  t.match(await run(folder, 'verify'), { code: 0, stdout: /no problems/ });
  t.match(await run(folder, 'repair'), { code: 0, stdout: /already correct, 2 workspaces/ });
});

t.test(
  '[whole] without directory.db nothing starts and nothing is created; repair rebuilds it from the files',
  async (t) => {
    const folder = folderOf(t);
    rmSync(join(folder, 'directory.db'));
    await t.rejects(start(t, folder), refusal(/files of 2 workspaces and has no directory\.db.*switchboard repair/));
    t.notOk(existsSync(join(folder, 'directory.db')));
    t.match(await run(folder, 'verify'), {
      code: 1,
      stdout: /directory\.db exists: it does not.*switchboard repair/,
    });
    t.match(await run(folder, 'repair'), { code: 0, stdout: /rebuilt, 2 workspaces/ });
    t.match(await run(folder, 'verify'), { code: 0 });
    const { service, faults } = await start(t, folder);
    for (const shop of [one, two])
      t.same([await signsIn(service, shop), await reads(service, shop), await opens(service, shop)], [200, 200, 200]);
    t.same(await faults(), []);
  },
);

t.test(
  '[whole] a directory.db that lists none of the workspaces, such as an empty one, counts as missing',
  async (t) => {
    const folder = folderOf(t);
    const fresh = tempFolder(t);
    await (await startService(t, { dataDir: fresh, clock })).stop();
    copyFileSync(join(fresh, 'directory.db'), join(folder, 'directory.db'));
    await t.rejects(start(t, folder), refusal(/lists none of them.*switchboard repair/));
  },
);

t.test('[whole] a damaged directory.db is set aside by repair', async (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'directory.db'), Buffer.alloc(20_000, 'no database'));
  await t.rejects(start(t, folder));
  t.match(await run(folder, 'repair'), { code: 0, stdout: /directory\.db\.damaged.*rebuilt/s });
  t.equal(readFileSync(join(folder, 'directory.db.damaged'), 'utf8').slice(0, 11), 'no database');
  const { service } = await start(t, folder);
  t.same([await signsIn(service, one), await signsIn(service, two)], [200, 200]);
});

t.test(
  '[whole] an older directory.db: workspaces it lacks are named, the others are served, repair corrects it',
  async (t) => {
    const folder = folderOf(t);
    copyFileSync(yesterday, join(folder, 'directory.db'));
    const { service, logged, faults } = await start(t, folder);
    t.match(logged, [{ workspaceId: two.workspaceId, text: /directory\.db lacks.*switchboard repair/ }]);
    const [fault = ''] = await faults();
    t.match(fault, /one workspace missing in directory\.db: run switchboard repair/);
    t.notMatch(fault, two.workspaceId, 'strangers see no id');
    t.match(await (await fetch(`${service.url}/metrics`)).text(), /^switchboard_folder_faults 1$/m);
    t.same([await signsIn(service, one), await signsIn(service, two)], [200, 401]);
    await service.stop();
    t.match(await run(folder, 'repair'), { code: 0, stdout: new RegExp(`workspace ${two.workspaceId}: corrected`) });
    t.match(await run(folder, 'verify'), { code: 0 });
    const { service: mended } = await start(t, folder);
    t.same([await signsIn(mended, one), await signsIn(mended, two)], [200, 200]);
  },
);

t.test(
  '[whole] a workspace whose file is missing is 503, not 401; the others are served, and it is when its file is back',
  async (t) => {
    const folder = folderOf(t);
    const aside = join(tempFolder(t), 'aside.db');
    renameSync(fileOf(folder, one), aside);
    const { service, logged, faults } = await start(t, folder);
    t.match(logged[0], { workspaceId: one.workspaceId, text: /is missing/ });
    t.match(await faults(), [/one workspace without a file/]);
    t.same([await reads(service, one), await signsIn(service, one)], [503, 503]);
    t.same([await reads(service, two), await signsIn(service, two)], [200, 200]);
    renameSync(aside, fileOf(folder, one));
    clock.advance(60_000);
    t.same([await reads(service, one), await signsIn(service, one)], [200, 200]);
    t.same(await faults(), []);
  },
);

t.test('[whole] missing files are given up only on request; then their addresses are free', async (t) => {
  const folder = folderOf(t);
  rmSync(fileOf(folder, one));
  t.match(await run(folder, 'repair'), {
    code: 1,
    stdout: new RegExp(`workspace ${one.workspaceId}: has no file.*--forget-missing`),
  });
  const { service: before } = await start(t, folder);
  t.match(await before.post('/auth/register', { email: one.email, password, workspaceName: 'Again' }), { status: 409 });
  await before.stop();
  t.match(await run(folder, 'repair', '--forget-missing'), { code: 0, stdout: /was given up/ });
  t.match(await run(folder, 'verify'), { code: 0 });
  const { service, faults } = await start(t, folder);
  t.same(await faults(), []);
  t.match(await service.post('/auth/register', { email: one.email, password, workspaceName: 'Again' }), {
    status: 201,
  });
});

t.test('[whole] a file that was emptied is 503, and is not filled as if its workspace were new', async (t) => {
  const folder = folderOf(t);
  writeFileSync(fileOf(folder, one), '');
  const { service, logged, faults } = await start(t, folder);
  t.ok(logged.some(({ workspaceId, text }) => workspaceId === one.workspaceId && /is empty/.test(text)));
  t.match(await faults(), [/one workspace with an empty file/]);
  t.same([await reads(service, one), await signsIn(service, one), await reads(service, two)], [503, 503, 200]);
  await service.stop();
  t.equal(readFileSync(fileOf(folder, one)).length, 0);
  t.match(await run(folder, 'verify'), { code: 1 });
});

for (const [file, loss] of [
  ['secrets-key', /loses everything that the previous one sealed/],
  ['jwt-secret', /signs everyone out/],
] as const) {
  t.test(`[whole] without its ${file} nothing starts and no other is made; brought back it starts`, async (t) => {
    const folder = folderOf(t);
    const aside = join(tempFolder(t), file);
    renameSync(join(folder, file), aside);
    await t.rejects(
      start(t, folder),
      refusal(new RegExp(`no longer has ${file}.*${loss.source}.*repair --accept-keys`)),
    );
    t.notOk(existsSync(join(folder, file)));
    t.match(await run(folder, 'verify'), { code: 1, stdout: new RegExp(`no longer has ${file}`) });
    renameSync(aside, join(folder, file));
    const { service } = await start(t, folder);
    t.same([await reads(service, one), await opens(service, two)], [200, 200]);
  });
}

t.test('[whole] another secrets-key is refused, also from the environment; the same one may move there', async (t) => {
  const folder = folderOf(t);
  await t.rejects(start(t, folder, { SECRETS_KEY: another }), refusal(/SECRETS_KEY, or secrets-key in .* has changed/));
  const key = readFileSync(join(folder, 'secrets-key'), 'utf8').trim();
  rmSync(join(folder, 'secrets-key'));
  const { service } = await start(t, folder, { SECRETS_KEY: key });
  t.same([await opens(service, one), await opens(service, two)], [200, 200]);
  t.notOk(existsSync(join(folder, 'secrets-key')));
});

t.test('[whole] an operator can accept other keys; verify and the start name what they cannot open', async (t) => {
  const folder = folderOf(t);
  for (const file of ['secrets-key', 'jwt-secret']) rmSync(join(folder, file));
  t.match(await run(folder, 'repair'), { code: 1, stdout: /no longer has jwt-secret.*no longer has secrets-key/s });
  t.match(await run(folder, 'repair', '--accept-keys'), {
    code: 0,
    stdout: new RegExp(`workspace ${one.workspaceId}: \\d+ of \\d+ sealed secrets cannot be opened`),
  });
  t.match(await run(folder, 'verify'), { code: 1, stdout: /sealed secrets can be opened: 2 of 2 secrets cannot/ });
  const { service, logged, faults } = await start(t, folder);
  t.same(logged.map(({ workspaceId }) => workspaceId).sort(), [one.workspaceId, two.workspaceId].sort());
  t.match(await faults(), [/2 workspaces with secrets sealed with another key/]);
  t.same([await reads(service, one), await signsIn(service, one)], [401, 200], 'tokens ended, passwords did not');
});

t.test('[whole] a changed JWT_SECRET signs everyone out, which is reported once', async (t) => {
  const folder = folderOf(t);
  const { service, logged } = await start(t, folder, { JWT_SECRET: another });
  t.match(logged, [{ text: /everyone is signed out/ }]);
  t.same([await reads(service, one), await signsIn(service, one)], [401, 200]);
  await service.stop();
  t.same((await start(t, folder, { JWT_SECRET: another })).logged, []);
});

t.test(
  '[whole] a folder of a program that recorded no keys: the right one is proved by what it opens, another or none is refused',
  async (t) => {
    const folder = folderOf(t);
    const forget = (): void => {
      const directory = Database.openWriter(join(folder, 'directory.db'), directoryMigrations);
      directory.run('DELETE FROM folderKey');
      directory.close();
    };
    forget();
    await t.rejects(start(t, folder, { SECRETS_KEY: another }), refusal(/has changed/));
    const key = readFileSync(join(folder, 'secrets-key'), 'utf8');
    rmSync(join(folder, 'secrets-key'));
    await t.rejects(start(t, folder), refusal(/no longer has secrets-key/));
    writeFileSync(join(folder, 'secrets-key'), key);
    const { service } = await start(t, folder);
    t.equal(await opens(service, one), 200);
    await service.stop();
    await t.rejects(
      start(t, folder, { SECRETS_KEY: another }),
      refusal(/has changed/),
      'from then on by its fingerprint',
    );
  },
);

t.test('[whole] a file that is a copy of another workspace is reported, and not listed', async (t) => {
  const folder = folderOf(t);
  const copyId = '01a1faa5-20b4-76c0-bd16-f71190000001';
  copyFileSync(fileOf(folder, one), join(folder, 'workspaces', `${copyId}.db`));
  t.match(await run(folder, 'repair'), { code: 1, stdout: /directory\.db can know it: another workspace has its/ });
  const { service } = await start(t, folder);
  t.same([await signsIn(service, one), await signsIn(service, two)], [200, 200], 'the others stay as they were');
});

t.test(
  '[whole] a workspace that was brought back to an empty folder has keys of that folder, and starts',
  async (t) => {
    const folder = folderOf(t);
    const copy = join(tempFolder(t), 'copy');
    t.match(await run(folder, 'backup', copy, '--workspace', one.workspaceId), { code: 0 });
    const elsewhere = join(tempFolder(t), 'elsewhere');
    t.match(await run(elsewhere, 'restore', copy), { code: 0 });
    const { service, faults } = await start(t, elsewhere);
    t.same(await faults(), []);
    const { token } = (await service.post('/auth/login', { email: one.email, password })).body;
    t.equal(await opens(service, { ...one, token }), 200);
  },
);

t.test('[whole] nothing is restored beside files whose directory.db is missing', async (t) => {
  const folder = folderOf(t);
  const copy = join(tempFolder(t), 'copy');
  await run(folder, 'backup', copy, '--workspace', one.workspaceId);
  rmSync(fileOf(folder, one));
  rmSync(join(folder, 'directory.db'));
  t.match(await run(folder, 'restore', copy), { code: 1, stderr: /has no directory\.db.*switchboard repair/ });
});
