// What no single workspace owns: reservations over two files, and what becomes of them after a crash.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Directory } from '../engine/directory.ts';
import { silentLog } from '../engine/runtime/log.ts';
import { Database } from '../store/database.ts';
import { findDirectoryEmail } from '../store/directory.ts';
import { directoryMigrations } from '../store/migrations/directory.ts';
import { ManualClock } from './support/manual-clock.ts';
import { startService, type Teardown } from './support/service.ts';

const folder = (t: Teardown): string => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
};

t.test('[documents] a damaged workspace with something left reserved does not stop the start', async (t) => {
  const dataDir = folder(t);
  const first = await startService(t, { dataDir });
  const owner = await first.workspace();
  await first.stop();
  const db = Database.openWriter(join(dataDir, 'directory.db'), directoryMigrations);
  db.run('UPDATE agentEmail SET reservedAt = ?', ['2026-11-20T12:00:00.000Z']);
  db.close();
  writeFileSync(join(dataDir, 'workspaces', `${owner.workspaceId}.db`), 'not a database, but long enough to be looked at as one'.repeat(100));

  const second = await startService(t, { dataDir });
  t.equal((await second.get('//readyz')).status, 200);
  t.not(findDirectoryEmail(second.running.services.directory.db, owner.email)?.reservedAt, null, 'it waits for the file to be readable');
  t.equal((await second.post('/auth/register', { email: owner.email, password: 'correct horse battery staple', workspaceName: 'Another' })).status, 409, 'and nobody else gets the address');
});

t.test('[architecture] work that was done is not given back because its confirmation failed', async (t) => {
  const directory = new Directory({ dataDir: folder(t), clock: new ManualClock(), log: silentLog, onSyncFailed: (error) => t.fail(error.message) });
  t.teardown(() => directory.stop());
  const row = { email: 'ann@example.com', workspaceId: 'w', agentId: 'a' };
  const result = await directory.withEmail(row, async () => {
    await directory.change((db) => {
      db.run(`CREATE TRIGGER refuse BEFORE UPDATE ON agentEmail BEGIN SELECT RAISE(ABORT, 'not now'); END`);
    });
    return 'done';
  });
  t.equal(result, 'done');
  t.equal(directory.findEmail(row.email)?.agentId, 'a', 'the address stays taken until the next start settles it');
});

t.test('[architecture] work that was refused gives back what it had reserved', async (t) => {
  const directory = new Directory({ dataDir: folder(t), clock: new ManualClock(), log: silentLog, onSyncFailed: (error) => t.fail(error.message) });
  t.teardown(() => directory.stop());
  const row = { email: 'ann@example.com', workspaceId: 'w', agentId: 'a' };
  await t.rejects(directory.withEmail(row, () => Promise.reject(new Error('refused'))), { message: 'refused' });
  t.equal(directory.findEmail(row.email), undefined);
});
