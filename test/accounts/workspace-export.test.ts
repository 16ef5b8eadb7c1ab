import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { workspacePath } from '../../engine/operations/integrity.ts';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { exportedTables, rowsOf } from '../../store/operations/tables.ts';
import { insertWebhook } from '../../store/platform/webhooks.ts';
import { tempFolder } from '../support/folder.ts';
import { lived } from '../support/lived.ts';
import { runCommand } from '../support/process.ts';

interface Line {
  readonly table: string;
  readonly row: Record<string, unknown>;
}

t.test('a workspace as lines of JSON: all of it, none of another, no secret; while it is served', async (t) => {
  const { dataDir, api, one, two } = await lived(t);
  const { body: key } = await api.post('/api-keys', { name: 'Robot', scopes: ['*'] }, one.token);
  const { code, stdout, stderr } = await runCommand(['export', 'one'], { DATA_DIR: dataDir });
  t.match({ code, stderr }, { code: 0, stderr: '' });
  const [first, ...rest] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.match(first, { export: 'workspace', format: 1, workspaceId: one.workspaceId, rows: rest.length });
  const lines = rest as Line[];
  const of = (table: string): Record<string, unknown>[] =>
    lines.filter((line) => line.table === table).map(({ row }) => row);
  t.match(of('workspace'), [{ id: one.workspaceId, settings: { routing: {} } }], 'objects are objects');
  t.ok(of('message').some(({ body }) => body === 'A question for one'));
  t.match(of('agent')[0], { email: 'owner@one.example', channels: ['chats', 'tickets', 'calls'] });
  t.notMatch(stdout, /A question for two/);
  t.notMatch(stdout, new RegExp(two.workspaceId));
  for (const { row } of lines)
    for (const name of Object.keys(row))
      t.notMatch(name, /^(?:passwordHash|tokenVersion|sealed.*|.*[hH]ash|.*[sS]ecret)$/);
  t.ok(key.key.length > 10);
  t.notMatch(stdout, new RegExp(key.key));
  t.notMatch(stdout, /\$argon2/);

  const db = Database.openReader(workspacePath(dataDir, one.workspaceId));
  const tables = exportedTables(db);
  for (const name of ['conversation', 'visitor', 'note', 'event', 'audit', 'contact', 'kbArticle', 'mail', 'call'])
    t.ok(tables.includes(name), name);
  t.notOk(tables.some((name) => /^(?:sqlite_|contact(?:Part|Start|Email)|sealedSecret|outbox)/.test(name)));
  db.close();
});

t.test('no secret of a webhook, sealed or not, also not its former one', (t) => {
  const db = Database.openWriter(join(tempFolder(t), 'w.db'), workspaceMigrations);
  insertWebhook(db, {
    id: 'w',
    feed: 'events',
    appId: null,
    agentId: null,
    keyId: null,
    url: 'https://receiver.example/',
    events: ['*'],
    description: null,
    sealedSecret: 'sealed',
    formerSecret: 'sealed',
    formerSecretUntil: null,
    status: 'active',
    failingSince: null,
    createdAt: '2026-01-01T00:00:00.000Z',
  });
  const [row = {}] = rowsOf(db, 'webhook');
  t.match(row, { id: 'w', formerSecretUntil: null });
  t.same(
    Object.values(row).filter((value) => value === 'sealed'),
    [],
  );
  db.close();
  t.end();
});

t.test('to a file: only for its owner, never over another, and not for a missing workspace', async (t) => {
  const { dataDir, service } = await lived(t);
  await service.kill('SIGTERM');
  const to = join(tempFolder(t), 'one.jsonl');
  const env = { DATA_DIR: dataDir };
  t.same(await runCommand(['export', 'one', '--to', to], env), { code: 0, stdout: '', stderr: '' });
  t.equal(statSync(to).mode & 0o777, 0o600);
  const text = readFileSync(to, 'utf8');
  t.ok(text.endsWith('}\n'));
  t.match(await runCommand(['export', 'two', '--to', to], env), {
    code: 1,
    stderr: /^switchboard: .*one\.jsonl already exists\n$/,
  });
  t.equal(readFileSync(to, 'utf8'), text);
  const none = join(tempFolder(t), 'none.jsonl');
  t.match(await runCommand(['export', 'three', '--to', none], env), {
    code: 1,
    stderr: /no workspace with the id or subdomain three/,
  });
  t.notOk(existsSync(none));
});
