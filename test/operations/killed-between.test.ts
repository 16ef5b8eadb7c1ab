// The effect of a kill during a change of directory.db and a workspace's file: before whichever statement it comes,
// `switchboard verify` finds no fault, neither right after it nor after the next start, and the change has happened or
// not. The state after a kill is a copy of the folder as another process sees it then; power cuts are in
// two-files.test.ts.

import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t, { type Test } from 'tap';
import {
  directoryPath,
  type Finding,
  madeWorkspaceIdsIn,
  verifyAgreement,
  verifyDirectory,
  verifyWorkspace,
  workspaceIdsIn,
  workspacePath,
} from '../../engine/operations/integrity.ts';
import { Database, type SyncToDisk } from '../../store/database.ts';
import { placeKinds } from '../../store/directory/places.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { claimLine } from '../support/calls.ts';
import { tempFolder } from '../support/folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runCommand } from '../support/process.ts';
import { type Person, password, type Service, startService } from '../support/service.ts';

/** Calls `call` before every statement of this process, until the returned function is called. */
function beforeEachStatement(call: () => void): () => void {
  const { exec, pragma, close } = Sqlite.prototype;
  const { run } = Database.prototype;
  Sqlite.prototype.exec = function (...given) {
    call();
    return exec.apply(this, given);
  };
  Sqlite.prototype.pragma = function (...given) {
    call();
    return pragma.apply(this, given);
  };
  Sqlite.prototype.close = function () {
    call();
    return close.apply(this);
  };
  Database.prototype.run = function (...given) {
    call();
    return run.apply(this, given);
  };
  return () => {
    Object.assign(Sqlite.prototype, { exec, pragma, close });
    Database.prototype.run = run;
  };
}

/** Calls a function before every sync, once it is set. */
class Disk {
  onSync: () => void = () => {};

  /** Written data survives the process without a sync. */
  readonly sync: SyncToDisk = (_, done, kind) => {
    this.onSync();
    if (kind === 'found log') done(null);
    else setImmediate(() => done(null));
  };
}

/**
 * The folder before each statement and each sync of the change and after the last one, each state of the files once.
 */
async function killsDuring(
  t: Test,
  { service, disk }: { service: Service; disk: Disk },
  change: () => Promise<unknown>,
): Promise<string[]> {
  const left: string[] = [];
  const seen = new Set<string>();
  const kill = (): void => {
    const state = stateOf(service.dataDir);
    if (seen.has(state)) return;
    seen.add(state);
    const folder = join(tempFolder(t), 'data');
    // By another process, since closing a file here would release the service's locks on it.
    execFileSync('cp', ['-r', service.dataDir, folder]);
    left.push(folder);
  };
  const stop = beforeEachStatement(kill);
  disk.onSync = kill;
  try {
    await change();
    await service.settled();
    kill();
  } finally {
    stop();
  }
  return left;
}

/** Each COMMIT makes a log longer; a new file has none. */
function stateOf(dataDir: string): string {
  const files = [directoryPath(dataDir), ...workspaceIdsIn(dataDir).map((id) => workspacePath(dataDir, id))].flatMap(
    (path) => [path, `${path}-wal`],
  );
  return JSON.stringify(files.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.size]));
}

function findingsIn(dataDir: string): Finding[] {
  const ofFiles = madeWorkspaceIdsIn(dataDir).flatMap((id) => verifyWorkspace(workspacePath(dataDir, id), id).findings);
  return [...ofFiles, ...verifyDirectory(directoryPath(dataDir)), ...verifyAgreement(dataDir)];
}

/** The progress of the change, by the data of both sides. */
function stepOf(dataDir: string): string {
  const directory = Database.openReader(directoryPath(dataDir));
  const made = new Set(madeWorkspaceIdsIn(dataDir));
  const told = workspaceIdsIn(dataDir).map((id) => {
    if (!made.has(id)) return 'begun';
    const db = Database.openReader(workspacePath(dataDir, id));
    const places = placeKinds.map((kind) => kind.ofWorkspace(db));
    db.close();
    return places;
  });
  const rows = ['workspace', 'agentEmail', 'phoneNumber', 'emailDomain'].map((table) =>
    directory.all(`SELECT * FROM ${table}`),
  );
  directory.close();
  return JSON.stringify([rows, told]);
}

interface Change {
  readonly title: string;
  /** Creates what the change needs. */
  readonly prepare?: (service: Service, owner: Owner) => Promise<string>;
  readonly run: (service: Service, owner: Owner, prepared: string) => Promise<{ status: number }>;
  /** True if it has happened, false if it can be repeated as if never tried. Throws otherwise. */
  readonly hasHappened: (after: Service, owner: Owner, prepared: string) => Promise<boolean>;
  /** The number of states that differ in the data of both sides, including the first and the last. */
  readonly steps: number;
  /** Also runs the command itself, which starts a process each time. */
  readonly asCommand?: true;
}
type Owner = Person & { siteId: string; embedId: string };

const wish = { email: 'new@example.com', password, workspaceName: 'New', siteUrl: 'https://new.example' };
const invited = { email: 'invited@example.com', name: 'I', role: 'agent' };

const changes: readonly Change[] = [
  {
    title: '[4.1] a registration',
    run: (service) => service.post('/auth/register', wish),
    async hasHappened(after) {
      const { status } = await after.post('/auth/login', { email: wish.email, password });
      if (status === 200) return true;
      t.match(await after.post('/auth/register', wish), { status: 201, body: { workspace: { subdomain: 'new' } } });
      return false;
    },
    // Nothing, reserved, an empty file, the workspace in it, confirmed.
    steps: 5,
    asCommand: true,
  },
  {
    title: '[4.7] a joining',
    async prepare(service, owner) {
      await service.post('/agents/invite', invited, owner.token);
      return /\/join\/(\S+)/.exec((await service.mail(invited.email)).text)?.[1] ?? '';
    },
    run: (service, _, code) => service.post('/auth/join', { code, password }),
    async hasHappened(after, _, code) {
      const { status } = await after.post('/auth/login', { email: invited.email, password });
      if (status === 200) return true;
      t.equal((await after.post('/auth/join', { code, password })).status, 200);
      return false;
    },
    steps: 4,
  },
  {
    title: '[3 agent lifecycle] a deactivation',
    prepare: async (service, owner) => (await service.agent(owner)).agentId,
    run: (service, owner, agentId) => service.delete(`/agents/${agentId}`, owner.token),
    async hasHappened(after, owner, agentId) {
      const { inviteStatus, email } = (await after.get(`/agents/${agentId}`, owner.token)).body;
      const { status } = await after.post('/auth/login', { email, password });
      if ((status === 200) !== (inviteStatus === 'joined')) raise(`${inviteStatus}, and signs in: ${status}`);
      return inviteStatus === 'deactivated';
    },
    steps: 4,
  },
  {
    title: '[4.7] a change of email',
    run: (service, owner) => service.patch(`/agents/${owner.agentId}`, { email: 'moved@example.com' }, owner.token),
    async hasHappened(after, owner) {
      const statuses = [];
      for (const email of [owner.email, 'moved@example.com'])
        statuses.push((await after.post('/auth/login', { email, password })).status);
      return statuses.join() === '401,200'
        ? true
        : statuses.join() === '200,401'
          ? false
          : raise(`signs in: ${statuses}`);
    },
    steps: 4,
  },
  {
    title: '[4.10] a claim of a number',
    run: (service, owner) =>
      service.post(
        '/phone-numbers',
        { e164: '+12125550000', displayName: 'Support', routingStrategy: 'all_agents' },
        owner.token,
      ),
    hasHappened: async (after, owner) => (await after.get('/phone-numbers', owner.token)).body.numbers.length === 1,
    steps: 4,
  },
  {
    title: '[4.10] a release of a number',
    prepare: async (service, owner) => (await claimLine(service, owner)).id,
    run: (service, owner, id) => service.delete(`/phone-numbers/${id}`, owner.token),
    hasHappened: async (after, owner) => (await after.get('/phone-numbers', owner.token)).body.numbers.length === 0,
    steps: 4,
  },
];

for (const { title, prepare, run, hasHappened, steps, asCommand } of changes) {
  t.test(`${title} that is killed before any statement`, async (t) => {
    const disk = new Disk();
    const service = await startService(t, { syncToDisk: disk.sync });
    const owner = await service.workspace();
    const prepared = (await prepare?.(service, owner)) ?? '';
    await service.settled();
    let status = 0;
    const kills = await killsDuring(
      t,
      { service, disk },
      async () => ({ status } = await run(service, owner, prepared)),
    );
    t.ok(status >= 200 && status < 300, `${status}`);

    const byStep = new Map<string, string>();
    for (const [index, dataDir] of kills.entries()) {
      t.same(findingsIn(dataDir), [], `as kill ${index + 1} of ${kills.length} left it`);
      const step = stepOf(dataDir);
      if (!byStep.has(step)) byStep.set(step, dataDir);
    }
    t.equal(byStep.size, steps, `${kills.length} kills, ${byStep.size} steps`);

    const happened: boolean[] = [];
    for (const dataDir of byStep.values()) {
      if (asCommand === true)
        t.match(await runCommand(['verify', '--quiet'], { DATA_DIR: dataDir }), { code: 0, stdout: '' });
      const after = await startService(t, {
        dataDir,
        clock: new ManualClock(new Date(service.clock.now()).toISOString()),
      });
      await after.settled();
      happened.push(await hasHappened(after, owner, prepared));
      await after.settled();
      await after.stop();
      t.equal(
        workspaceIdsIn(dataDir).length,
        madeWorkspaceIdsIn(dataDir).length,
        'no file of a workspace that never was',
      );
      t.same(findingsIn(dataDir), [], 'after the next start');
    }
    t.same([happened[0], happened.at(-1)], [false, true]);
    t.same([...happened].sort(), happened, 'once it has happened it stays so');
  });
}

t.test('only a change in progress is excused', async (t) => {
  const service = await startService(t, { dataDir: join(tempFolder(t), 'data') });
  const owner = await service.workspace();
  await service.settled();
  await service.stop();
  const { dataDir } = service;
  const told = (sql: string, values: string[] = []): string[] => {
    const directory = Database.openWriter(directoryPath(dataDir), directoryMigrations);
    directory.run(sql, values);
    directory.close();
    return findingsIn(dataDir).map(({ fault }) => fault);
  };
  t.same(
    told(`INSERT INTO agentEmail VALUES ('on-its-way@example.com', ?, 'another agent', '2026-11-20T12:00:00.000Z')`, [
      owner.workspaceId,
    ]),
    [],
  );
  t.match(
    told('DELETE FROM agentEmail WHERE reservedAt IS NULL'),
    [/does not list owner/],
    'an address that no change is in progress for is missed',
  );
});

function raise(message: string): never {
  throw new Error(message);
}
