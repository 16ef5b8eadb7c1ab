import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  directoryPath,
  verifyAgreement,
  verifyDirectory,
  verifyWorkspace,
  workspacePath,
} from '../../engine/operations/integrity.ts';
import { acceptKeys } from '../../http/process/folder-keys.ts';
import { Database, type Migration } from '../../store/database.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { createSecretBox } from '../../workers/secrets/secret-box.ts';
import { password } from '../support/api.ts';
import { claimLine, deliver, ringLine } from '../support/calls.ts';
import { tempFolder } from '../support/folder.ts';
import { startService } from '../support/service.ts';
import { oldData } from '../support/upgrades.ts';

const old = oldData();
const newest = workspaceMigrations.length;

t.test('there is a record of the first version, and of every later one with a new schema', async (t) => {
  t.equal(old[0]?.workspaceVersion, 1);
  t.ok(old.length >= 10);
  for (const { name, workspaceVersion, directoryVersion } of old)
    t.ok(workspaceVersion <= newest && directoryVersion <= directoryMigrations.length, name);
});

for (const { name, workspaceVersion, writeTo } of old) {
  t.test(`data of version ${workspaceVersion} is served as it was, and is as it must be`, async (t) => {
    const dataDir = tempFolder(t);
    const workspaceId = writeTo(dataDir);
    giveKeys(dataDir);
    const service = await startService(t, { dataDir });
    const { status, body } = await service.post('/auth/login', { email: 'owner@shop.example', password });
    t.equal(status, 200, name);
    const { token } = body;
    const { conversations } = (await service.get('/conversations/queue', token)).body;
    const chat = conversations.find((one: { channel: string }) => one.channel === 'chat');
    const { messages } = (await service.get(`/conversations/${chat.id}/messages`, token)).body;
    t.same(
      messages
        .filter((one: { senderType: string }) => one.senderType !== 'system')
        .map((one: { body: string }) => one.body)
        .sort(),
      ['It arrives tomorrow.', 'Where is my marmalade?'],
    );
    t.match((await service.get(`/conversations/${chat.id}/notes`, token)).body.notes, [{ body: 'Order 1042' }]);
    t.equal((await service.get('/conversations/search?q=marmelade', token)).body.total, 1);
    t.equal((await service.get('/conversations/recently-closed', token)).body.conversations.length, 1);
    t.equal((await service.post(`/conversations/${chat.id}/messages`, { body: 'And goes on.' }, token)).status, 201);
    // The part of an upgrade that a deadline does.
    await service.pass(1000);
    await service.stop();
    t.same(verifyWorkspace(workspacePath(dataDir, workspaceId), workspaceId).findings, []);
    t.same(verifyDirectory(join(dataDir, 'directory.db')), []);
    t.same(verifyAgreement(dataDir), []);
  });
}

/** The recorded data is without its keys, so a start would refuse sealed secrets; an operator accepts new keys. */
function giveKeys(dataDir: string): void {
  const directory = Database.openWriter(directoryPath(dataDir), directoryMigrations);
  acceptKeys({ dataDir, directory, given: { jwtSecret: undefined, secretsKey: undefined }, boxOf: createSecretBox });
  directory.close();
}

/** A migration's statements one by one; a trigger's contain further ones. */
function statementsOf(db: Database, { sql }: Migration): string[] {
  const statements: string[] = [];
  let text = '';
  for (const part of sql.split(/(?<=;)/)) {
    text += part;
    if (
      text.replace(/--[^\n]*/g, '').trim() === '' ||
      (/\bCREATE TRIGGER\b/.test(text) && !/\bEND;$/.test(text.trim()))
    )
      continue;
    statements.push(text);
    text = '';
  }
  if (db.inTransaction) throw new Error('not inside a transaction');
  return statements;
}

t.test(
  'an upgrade that is killed at any statement leaves the version before, whole, and is done by the next start',
  async (t) => {
    const [first] = old;
    if (first === undefined) throw new Error('there is no record');
    const folder = tempFolder(t);
    const path = workspacePath(folder, first.writeTo(folder));
    const id = path.slice(path.lastIndexOf('/') + 1, -'.db'.length);
    let killed = 0;
    for (const migration of workspaceMigrations.slice(first.workspaceVersion)) {
      const before = workspaceMigrations.slice(0, migration.version - 1);
      const dying = Database.openWriter(path, before);
      const schemaBefore = [...dying.schema()].sort();
      const statements = statementsOf(dying, migration);
      dying.begin();
      for (let count = 0; count <= statements.length; count += 1) {
        const left = join(folder, `left-${migration.version}-${count}.db`);
        // The disk's state at the moment of its death.
        for (const suffix of ['', '-wal'])
          if (existsSync(`${path}${suffix}`)) copyFileSync(`${path}${suffix}`, `${left}${suffix}`);
        const found = Database.openReader(left);
        t.equal(found.version, migration.version - 1, `${migration.name}, after ${count} statements`);
        t.same([...found.schema()].sort(), schemaBefore);
        found.close();
        killed += 1;
        const statement = statements[count];
        if (statement !== undefined) dying.run(statement);
      }
      dying.rollback();
      dying.close();
      // The next start completes what the last of those deaths left.
      const left = join(folder, `left-${migration.version}-${statements.length}.db`);
      Database.openWriter(left, workspaceMigrations).close();
      t.same(verifyWorkspace(left, id).findings, [], migration.name);
      Database.openWriter(path, workspaceMigrations.slice(0, migration.version)).close();
    }
    t.ok(killed > 50, `${killed} deaths`);
  },
);

t.test('an agent who joined lately receives later events, as before the upgrade', async (t) => {
  const dataDir = tempFolder(t);
  const service = await startService(t, { dataDir, env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  for (let count = 0; count < 3; count += 1) {
    service.clock.advance(1000);
    await service.chat(owner, 'Hello');
    service.clock.advance(1000);
    await service.agent(owner);
  }
  await service.stop();
  const db = Database.openWriter(workspacePath(dataDir, owner.workspaceId), workspaceMigrations);
  db.run('ALTER TABLE agent DROP COLUMN joinedSeq');
  const migration = workspaceMigrations[43];
  t.equal(migration?.name, 'joined-seq');
  for (const statement of migration === undefined ? [] : statementsOf(db, migration)) db.run(statement);
  t.equal(
    new Set(db.all<{ joinedSeq: number }>('SELECT joinedSeq FROM agent').map(({ joinedSeq }) => joinedSeq)).size,
    4,
  );
  t.same(db.all('SELECT * FROM agent, event WHERE (event.at < agent.joinedAt) != (event.seq <= agent.joinedSeq)'), []);
  db.close();
});

t.test('[4.13] rows wrongly counted as responses are corrected, and reports are rebuilt', async (t) => {
  const dataDir = tempFolder(t);
  const env = { RATE_LIMITS: 'off' };
  const before = await startService(t, { dataDir, env });
  const owner = await before.workspace();
  const opened = (
    await before.post(
      '/tickets',
      { customerEmail: 'kim@customer.example', subject: 'Your order', body: 'It left today.' },
      owner.token,
    )
  ).body;
  const customer = await before.customer(owner.embedId);
  await before.post('/widget/tickets', { body: 'Where is it?', email: 'lou@customer.example' }, customer.token);
  const asked = (await before.get('/conversations/queue?channel=ticket', owner.token)).body.conversations.find(
    (one: { id: string }) => one.id !== opened.id,
  );
  for (const { id } of [opened, asked])
    await before.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
  const line = await claimLine(before, owner);
  const call = await ringLine(before, line);
  await deliver(before, line, { type: 'ended', callId: call.callId });
  await before.stop();

  // As version 26 left it, with its row for the call's line.
  const db = Database.openWriter(workspacePath(dataDir, owner.workspaceId), workspaceMigrations);
  db.run('UPDATE conversation SET firstResponseAt = NULL WHERE id = ?', [opened.id]);
  db.run('UPDATE conversation SET firstResponseAt = updatedAt WHERE id = ?', [call.id]);
  const migration = workspaceMigrations[26];
  t.equal(migration?.name, 'first-responses');
  for (const statement of migration === undefined ? [] : statementsOf(db, migration)) db.run(statement);
  db.close();

  const after = await startService(t, { dataDir, env, clock: before.clock });
  await after.pass(1000);
  const report = async (path: string): Promise<any> => (await after.get(`/reports/${path}`, owner.token)).body;
  t.match((await report('customers')).abandonment, {
    ticket: { abandoned: 1, total: 2 },
    call: { abandoned: 1, total: 1 },
  });
  t.strictSame(
    (await report('conversations?missed=1')).conversations.map((one: { id: string }) => one.id).sort(),
    [asked.id, call.id].sort(),
  );
  t.match(await report('tickets/response-times?channel=call'), { firstResponse: { medianSeconds: null } });
});
