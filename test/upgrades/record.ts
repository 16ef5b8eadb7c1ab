// Records what an earlier version of the program wrote: `node test/upgrades/record.ts COMMIT` starts that commit's
// service on an empty folder, uses it for a moment, stops it, and writes both databases as SQL beside this file. Run it
// for each version with a new schema, before the next one; test/operations/upgrade.test.ts opens every record with the
// present program.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Database } from '../../store/database.ts';
import { Api } from '../support/api.ts';

const root = resolve(import.meta.dirname, '../..');
const [commit = 'HEAD'] = process.argv.slice(2);
const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const short = git('rev-parse', '--short', commit);
const folder = mkdtempSync(join(tmpdir(), 'switchboard-record-'));
const tree = join(folder, 'tree');
const dataDir = join(folder, 'data');

try {
  git('worktree', 'add', '--detach', tree, short);
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  await live();
  const [workspace = ''] = readdirSync(join(dataDir, 'workspaces')).filter((name) => name.endsWith('.db'));
  const files = { directory: join(dataDir, 'directory.db'), workspace: join(dataDir, 'workspaces', workspace) };
  const versions = Object.values(files).map(versionOf);
  const name = `${String(versions[1]).padStart(4, '0')}-${String(versions[0]).padStart(4, '0')}-${short}.sql`;
  writeFileSync(join(import.meta.dirname, name), [`-- ${git('log', '-1', '--format=%s', short)}`, ...Object.entries(files).flatMap(([file, path]) => [`-- file: ${file === 'directory' ? 'directory.db' : `workspaces/${workspace}`}`, ...dump(path)]), ''].join('\n'));
  process.stdout.write(`${name}\n`);
} finally {
  execFileSync('git', ['worktree', 'remove', '--force', tree], { cwd: root });
  rmSync(folder, { recursive: true, force: true });
}

/** The main job, and whatever else that version supports. */
async function live(): Promise<void> {
  const entry = existsSync(join(tree, 'http/main.js')) ? 'http/main.js' : 'http/main.ts';
  const child = spawn(process.execPath, [entry], { cwd: tree, env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: dataDir }, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.on('exit', done));
  const url = await new Promise<string>((found, failed) => {
    child.stdout.on('data', (chunk) => {
      const match = /listens on (\S+)/.exec(String(chunk));
      if (match?.[1] !== undefined) found(match[1]);
    });
    child.on('exit', () => failed(new Error('it ended before it served')));
  });
  const api = new Api(url);
  const { token, embedId } = await api.workspace('shop');
  const { conversationId, customerToken } = await api.chat(embedId, 'Where is my marmalade?');
  await api.post(`/conversations/${conversationId}/messages`, { body: 'It arrives tomorrow.' }, token);
  await api.post(`/conversations/${conversationId}/notes`, { body: 'Order 1042' }, token);
  await api.post('/agents/invite', { email: 'ann@shop.example', name: 'Ann', role: 'agent', channels: ['chats', 'tickets', 'calls'] }, token);
  const solved = await api.chat(embedId, 'Thank you!');
  await api.post(`/conversations/${solved.conversationId}/status`, { status: 'solved' }, token);
  await api.post('/departments', { name: 'Sales' }, token);
  await api.post('/saved-replies', { shortcut: 'hello', title: 'Hello', body: 'Hello!' }, token);
  await api.post(`/widget/conversations/${conversationId}/rating`, { rating: 5, comment: 'Good' }, customerToken);
  // Earlier versions refuse later additions.
  await api.post('/phone-numbers', { e164: '+12125550100', displayName: 'Support', routingStrategy: 'all_agents' }, token);
  await api.get('/workspace/integrations', token);
  await api.post('/tickets', { subject: 'A parcel', body: 'It is broken.', customerEmail: 'kim@example.org' }, token);
  await api.post('/campaigns', { name: 'Welcome', triggerRules: {}, content: { body: 'Hello' } }, token);
  await api.post('/goals', { name: 'Bought', condition: { operator: 'contains', value: '/thanks' } }, token);
  await api.post('/kb/articles', { title: 'Shipping', body: 'Three days.', status: 'published' }, token);
  child.kill('SIGTERM');
  await ended;
}

function versionOf(path: string): number {
  const db = Database.openReader(path);
  const { version } = db;
  db.close();
  return version;
}

/**
 * Statements, one per line, that recreate the file. Virtual tables fill themselves from the tables they index; those
 * without content stay empty.
 */
function dump(path: string): string[] {
  const db = Database.openReader(path);
  try {
    const tables = db.all<{ name: string; type: string }>(`SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT IN ('sqlite_schema')`);
    const shadows = new Set(tables.filter(({ type }) => type === 'shadow').map(({ name }) => name));
    const schema = db.all<{ name: string; type: string; sql: string }>(`SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid`).filter(({ name }) => !shadows.has(name) && !name.startsWith('sqlite_'));
    const line = (sql: string): string => `${sql.replace(/--[^\n]*/g, '').replace(/\s*\n\s*/g, ' ')};`;
    const rows = tables
      .filter(({ name, type }) => type === 'table' && (!name.startsWith('sqlite_') || name === 'sqlite_sequence'))
      .flatMap(({ name }) => {
        const columns = db.all<{ name: string }>('SELECT name FROM pragma_table_info(?)', [name]).map((column) => column.name);
        const values = columns.map((column) => `quote("${column}")`).join(` || ',' || `);
        return db.all<{ row: string }>(`SELECT ${values} AS row FROM "${name}"`).map(({ row }) => `INSERT INTO "${name}" (${columns.join(', ')}) VALUES (${row.replaceAll('\n', `'||char(10)||'`)});`);
      });
    const of = (...types: string[]): string[] => schema.filter(({ type }) => types.includes(type)).map(({ sql }) => line(sql));
    const virtual = schema.filter(({ sql }) => /\bcontent\s*=\s*'\w/.test(sql)).map(({ name }) => `INSERT INTO ${name} (${name}) VALUES ('rebuild');`);
    return [...of('table'), ...rows, ...virtual, ...of('index', 'trigger'), `PRAGMA user_version = ${db.version};`];
  } finally {
    db.close();
  }
}
