// Changes of directory.db and a workspace's file together: whenever a crash or a failing disk interrupts them, the two
// agree afterwards. A crash is an image of the folder as the disk has it at that moment, on which a new service starts.

import { execFileSync } from 'node:child_process';
import { fdatasync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { SyncToDisk } from '../../store/database.ts';
import { reservedEmails, reservedWorkspaces } from '../../store/directory/directory.ts';
import { allAgents } from '../../store/workspace/agents.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type Person, password, type Service, startService } from '../support/service.ts';

/** Completes syncs until a condition holds; from then on they stay pending. */
class Disk {
  #isWritten: (() => boolean) | undefined;
  #held: (() => void)[] = [];
  #reached: () => void = () => {};

  readonly sync: SyncToDisk = (descriptor, done) => {
    if (this.#isWritten?.() !== true) {
      fdatasync(descriptor, done);
      return;
    }
    this.#held.push(() => fdatasync(descriptor, done));
    this.#reached();
  };

  /** Resolves when the condition holds; later syncs stay pending. */
  stopWhen(isWritten: () => boolean): Promise<void> {
    this.#isWritten = isWritten;
    return new Promise((resolve) => (this.#reached = resolve));
  }

  goOn(): void {
    this.#isWritten = undefined;
    const held = this.#held;
    this.#held = [];
    for (const call of held) call();
  }
}

/**
 * A point at which a change of both files can be interrupted: the address is reserved in the directory, or a workspace
 * has it.
 */
type Moment = (service: Service, email: string) => boolean;
const isReserved: Moment = (service, email) =>
  reservedEmails(service.running.services.directory.db).some((row) => row.email === email);
const isWritten: Moment = (service, email) =>
  [...service.running.services.engine.openWorkspaces()].some(({ db }) =>
    allAgents(db).some((agent) => agent.email === email),
  );

const agentOf = (service: Service, email: string) =>
  [...service.running.services.engine.openWorkspaces()]
    .flatMap(({ db }) => allAgents(db))
    .find((agent) => agent.email === email);
const hasJoined: Moment = (service, email) => agentOf(service, email)?.joinedAt != null;
const hasLeft: Moment = (service, email) => agentOf(service, email)?.deactivatedAt != null;

/** The disk's state after a power cut at this moment. Copied by another process, which keeps our locks. */
function crashImage(t: Test, service: Service): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-crash-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('cp', ['-r', `${service.dataDir}/.`, folder]);
  return folder;
}

/** A service on another folder, at the same time as the first. */
function restart(t: Test, service: Service, dataDir: string): Promise<Service> {
  return startService(t, { dataDir, clock: new ManualClock(new Date(service.clock.now()).toISOString()) });
}

function filesOf(service: Service): string[] {
  return readdirSync(join(service.dataDir, 'workspaces')).filter((name) => name.endsWith('.db'));
}

function isSettled(service: Service): boolean {
  const { db } = service.running.services.directory;
  return reservedEmails(db).length + reservedWorkspaces(db).length === 0;
}

const login = (service: Service, email: string) => {
  service.clock.advance(60_000);
  return service.post('/auth/login', { email, password });
};

/** Runs a change of this address up to that moment, and starts a service on the state of the disk. */
async function crashDuring(
  t: Test,
  at: { moment: Moment; email: string },
  change: (service: Service, owner: Person) => Promise<unknown>,
  prepare = (_service: Service, _owner: Person): Promise<unknown> => Promise.resolve(),
): Promise<{ after: Service; owner: Person }> {
  const disk = new Disk();
  const service = await startService(t, { syncToDisk: disk.sync });
  const owner = await service.workspace();
  await prepare(service, owner);
  await service.settled();
  const reached = disk.stopWhen(() => at.moment(service, at.email));
  const answered = change(service, owner);
  await reached;
  const dataDir = crashImage(t, service);
  disk.goOn();
  await answered;
  return { after: await restart(t, service, dataDir), owner };
}

t.test('[4.1] a registration that crashes has happened or has not', async (t) => {
  const wish = { email: 'new@example.com', password, workspaceName: 'New' };
  const register = (service: Service) => service.post('/auth/register', wish);

  await t.test('with the email reserved and no workspace: the email is free again', async (t) => {
    const { after } = await crashDuring(t, { moment: isReserved, email: wish.email }, register);
    t.equal(isSettled(after), true);
    t.equal((await login(after, wish.email)).status, 401);
    t.equal(filesOf(after).length, 1);
    t.match(await register(after), { status: 201, body: { workspace: { subdomain: 'new' } } });
  });

  await t.test('with the workspace written and not confirmed: it exists', async (t) => {
    const { after } = await crashDuring(t, { moment: isWritten, email: wish.email }, register);
    t.equal(isSettled(after), true);
    t.match(await login(after, wish.email), { status: 200, body: { workspace: { name: 'New', subdomain: 'new' } } });
    t.match(await register(after), { status: 409, body: { error: 'email_taken' } });
  });

  await t.test('with an empty file made: it is removed', async (t) => {
    const service = await startService(t);
    await service.workspace();
    const { directory, engine, ids } = service.running.services;
    const workspaceId = ids.uuid();
    let image = '';
    await t.rejects(
      directory.withWorkspace(
        { workspaceId, agentId: ids.uuid(), email: wish.email, name: 'New', subdomain: 'new' },
        {
          make: async () => {
            engine.create(workspaceId);
            image = crashImage(t, service);
            throw new Error('the power went');
          },
          remove: () => engine.discard(workspaceId),
        },
      ),
      { message: 'the power went' },
    );
    const after = await restart(t, service, image);
    t.equal(isSettled(after), true);
    t.equal(filesOf(after).length, 1, 'only the other workspace');
    t.equal((await register(after)).status, 201);
  });
});

t.test('[4.7] a joining that crashes has happened or has not', async (t) => {
  const email = 'invited@example.com';
  const redeem = async (service: Service, code: string) => service.post('/auth/join', { code, password });
  let code = '';
  const inviteAndJoin = async (service: Service, owner: Person): Promise<unknown> => {
    await service.post('/agents/invite', { email, name: 'I', role: 'agent' }, owner.token);
    code = /\/join\/(\S+)/.exec((await service.mail(email)).text)?.[1] ?? '';
    return redeem(service, code);
  };

  await t.test('with only the email reserved: the invitation remains valid', async (t) => {
    const { after } = await crashDuring(t, { moment: isReserved, email }, inviteAndJoin);
    t.equal(isSettled(after), true);
    t.equal((await login(after, email)).status, 401);
    t.equal((await redeem(after, code)).status, 200);
    t.equal((await login(after, email)).status, 200);
  });

  await t.test('with the agent joined: it signs in', async (t) => {
    const { after, owner } = await crashDuring(t, { moment: hasJoined, email }, inviteAndJoin);
    t.equal(isSettled(after), true);
    t.equal((await login(after, email)).status, 200);
    t.match(await after.post('/agents/invite', { email, name: 'I', role: 'agent' }, owner.token), {
      status: 409,
      body: { error: 'email_already_exists' },
    });
  });
});

t.test('[3 agent lifecycle] a deactivation that crashes has happened or has not', async (t) => {
  const wish = { email: 'agent2@example.com', password, workspaceName: 'Own' };
  const deactivate = async (service: Service, owner: Person): Promise<unknown> => {
    const agent = (await service.get('/agents', owner.token)).body.agents.find(
      ({ email }: { email: string }) => email === wish.email,
    );
    return service.delete(`/agents/${agent.id}`, owner.token);
  };
  const prepare = (service: Service, owner: Person): Promise<unknown> => service.agent(owner);

  await t.test('with the address about to be free: it signs in still', async (t) => {
    const { after } = await crashDuring(t, { moment: isReserved, email: wish.email }, deactivate, prepare);
    t.equal(isSettled(after), true);
    t.equal((await login(after, wish.email)).status, 200);
  });

  await t.test('with the agent gone: the address is free', async (t) => {
    const { after } = await crashDuring(t, { moment: hasLeft, email: wish.email }, deactivate, prepare);
    t.equal(isSettled(after), true);
    t.equal((await login(after, wish.email)).status, 401);
    t.equal((await after.post('/auth/register', wish)).status, 201);
  });
});

t.test('[4.7] a change of email that crashes has happened or has not', async (t) => {
  const change = (service: Service, owner: Person) =>
    service.patch(`/agents/${owner.agentId}`, { email: 'moved@example.com' }, owner.token);

  await t.test('with only the new address reserved: the old one signs in', async (t) => {
    const { after, owner } = await crashDuring(t, { moment: isReserved, email: 'moved@example.com' }, change);
    t.equal(isSettled(after), true);
    t.equal((await login(after, owner.email)).status, 200);
    t.equal((await login(after, 'moved@example.com')).status, 401);
    t.equal(
      (await after.post('/agents/invite', { email: 'moved@example.com', name: 'M', role: 'agent' }, owner.token))
        .status,
      201,
      'the new one is free',
    );
  });

  await t.test('with the change written: the new one signs in', async (t) => {
    const { after, owner } = await crashDuring(t, { moment: isWritten, email: 'moved@example.com' }, change);
    t.equal(isSettled(after), true);
    t.equal((await login(after, 'moved@example.com')).status, 200);
    t.equal((await login(after, owner.email)).status, 401);
    t.equal(
      (await after.post('/agents/invite', { email: owner.email, name: 'M', role: 'agent' }, owner.token)).status,
      201,
      'the old one is free',
    );
  });
});

t.test('[operations] a damaged workspace with a reservation does not keep the others from starting', async (t) => {
  const disk = new Disk();
  const service = await startService(t, { syncToDisk: disk.sync });
  const broken = await service.workspace();
  const sound = await service.workspace();
  await service.settled();
  const reached = disk.stopWhen(() => isWritten(service, 'moved@example.com'));
  const answered = service.patch(`/agents/${broken.agentId}`, { email: 'moved@example.com' }, broken.token);
  await reached;
  const dataDir = crashImage(t, service);
  disk.goOn();
  await answered;
  const file = join(dataDir, 'workspaces', `${broken.workspaceId}.db`);
  writeFileSync(file, 'this is no database'.repeat(1000));
  rmSync(`${file}-wal`);

  const after = await restart(t, service, dataDir);
  t.equal((await after.get('/me', sound.token)).status, 200);
  t.match(await after.get('/me', broken.token), { status: 503, body: { error: 'service_unavailable' } });
  t.match(await login(after, broken.email), { status: 503, body: { error: 'service_unavailable' } });
  for (const email of [broken.email, 'moved@example.com'])
    t.match(
      await after.post('/agents/invite', { email, name: 'I', role: 'agent' }, sound.token),
      { status: 409 },
      'a reservation of unknown outcome stays',
    );
});

t.test('[operations] a disk that fails between the two', async (t) => {
  const disk = new Disk();
  const service = await startService(t, { syncToDisk: disk.sync });
  const owner = await service.workspace();
  await service.settled();
  const { directory, engine } = service.running.services;
  /** Makes writes fail as on a disk remounted read-only. */
  const refuseWrites = (db: { run(sql: string): number }, refused: boolean): void =>
    void db.run(`PRAGMA query_only = ${refused ? 'ON' : 'OFF'}`);

  await t.test('the workspace cannot be written: 503, and the address is free when it can', async (t) => {
    const workspace = engine.workspace(owner.workspaceId);
    if (workspace === undefined) throw new Error('no workspace');
    refuseWrites(workspace.db, true);
    const body = { email: 'full@example.com', name: 'F', role: 'agent' };
    const refused = await service.post('/agents/invite', body, owner.token);
    t.match(refused, { status: 503, body: { error: 'service_unavailable' } });
    t.equal(refused.headers.get('retry-after'), '1');
    refuseWrites(workspace.db, false);
    t.equal((await service.post('/agents/invite', body, owner.token)).status, 201);
  });

  await t.test('the directory cannot be written: 503, and nothing has changed', async (t) => {
    refuseWrites(directory.db, true);
    t.match(await service.patch(`/agents/${owner.agentId}`, { email: 'never@example.com' }, owner.token), {
      status: 503,
    });
    refuseWrites(directory.db, false);
    t.equal((await service.get(`/agents/${owner.agentId}`, owner.token)).body.email, owner.email);
  });

  await t.test(
    'the directory fails after the workspace has it: the change holds, and is tidied when the disk takes it',
    async (t) => {
      const reached = disk.stopWhen(() => isWritten(service, 'kept@example.com'));
      const answered = service.patch(`/agents/${owner.agentId}`, { email: 'kept@example.com' }, owner.token);
      await reached;
      refuseWrites(directory.db, true);
      disk.goOn();
      t.match(await answered, { status: 200, body: { email: 'kept@example.com' } });
      t.equal(isSettled(service), false);
      t.equal((await service.post('/auth/login', { email: 'kept@example.com', password })).status, 200);
      t.equal(
        (await service.post('/auth/login', { email: owner.email, password })).status,
        401,
        'the former address signs no one in',
      );
      refuseWrites(directory.db, false);
      service.clock.advance(30_000);
      await directory.change('nothing', {});
      t.equal(isSettled(service), true);
      t.equal(
        (await service.post('/agents/invite', { email: owner.email, name: 'O', role: 'agent' }, owner.token)).status,
        201,
        'and is free',
      );
    },
  );

  await t.test('a late completion does not undo later changes', async (t) => {
    const reached = disk.stopWhen(() => isWritten(service, 'early@example.com'));
    const answered = service.patch(`/agents/${owner.agentId}`, { email: 'early@example.com' }, owner.token);
    await reached;
    refuseWrites(directory.db, true);
    disk.goOn();
    t.equal((await answered).status, 200);
    refuseWrites(directory.db, false);
    t.equal((await service.patch(`/agents/${owner.agentId}`, { email: 'since@example.com' }, owner.token)).status, 200);
    service.clock.advance(30_000);
    await directory.change('nothing', {});
    t.equal(isSettled(service), true);
    t.equal((await login(service, 'since@example.com')).status, 200);
    t.equal((await login(service, 'early@example.com')).status, 401);
  });

  await t.test("a workspace's file cannot be made: 503, and the registration can be repeated", async (t) => {
    service.clock.advance(60_000);
    const folder = join(service.dataDir, 'workspaces');
    const wish = { email: 'later@example.com', password, workspaceName: 'Later' };
    const reached = disk.stopWhen(() => isReserved(service, wish.email));
    const answered = service.post('/auth/register', wish);
    await reached;
    renameSync(folder, `${folder}-away`);
    writeFileSync(folder, '');
    disk.goOn();
    t.match(await answered, { status: 503, body: { error: 'service_unavailable' } });
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
    await service.pass(30_000);
    t.equal(isSettled(service), true, 'a file that could not be removed at once is removed later');
    t.match(await service.post('/auth/register', wish), { status: 201, body: { workspace: { subdomain: 'later' } } });
  });
});

t.test("[4.7] changes of one agent's address at the same time leave one that signs in", async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const patch = (changes: object) => service.patch(`/agents/${agent.agentId}`, changes, owner.token);

  await Promise.all([
    patch({ email: 'one@example.com' }),
    patch({ email: 'two@example.com' }),
    patch({ email: 'three@example.com' }),
  ]);
  const { email } = (await service.get(`/agents/${agent.agentId}`, owner.token)).body;
  t.equal((await login(service, email)).status, 200);
  for (const former of ['one@example.com', 'two@example.com', 'three@example.com'].filter((one) => one !== email))
    t.equal(
      (await service.post('/agents/invite', { email: former, name: 'F', role: 'agent' }, owner.token)).status,
      201,
      `${former} is free`,
    );

  const same = await Promise.all([
    patch({ email: 'same@example.com', groupIds: [owner.siteId] }),
    patch({ email: 'same@example.com' }),
  ]);
  t.same(
    same.map(({ status }) => status),
    [400, 200],
    'one is refused, the other holds',
  );
  t.equal((await login(service, 'same@example.com')).status, 200);
  t.equal(isSettled(service), true);
});
