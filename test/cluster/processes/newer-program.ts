// A copy of the program that is one version ahead: each kind of file has one more migration.

import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tempFolder } from '../../support/folder.ts';
import type { Teardown } from '../../support/service.ts';

export const newerVersion = '99.0.0';
const root = resolve(import.meta.dirname, '../../..');
const copied = ['engine', 'http', 'store', 'workers', 'package.json'];

/** Its folder, which is removed at the end. */
export function newerProgram(t: Teardown): string {
  const folder = tempFolder(t);
  for (const name of copied) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  change(join(folder, 'package.json'), /"version": "[^"]+"/, `"version": "${newerVersion}"`);
  addMigration(folder, 'workspace', "ALTER TABLE visitor ADD COLUMN later TEXT NOT NULL DEFAULT 'later';");
  addMigration(folder, 'directory', 'CREATE TABLE later (id TEXT PRIMARY KEY) STRICT;');
  return folder;
}

function addMigration(folder: string, kind: 'workspace' | 'directory', sql: string): void {
  const migrations = join(folder, 'store/migrations');
  const last = readdirSync(join(migrations, kind)).sort().at(-1) ?? '';
  const version = Number(last.slice(0, 4)) + 1;
  writeFileSync(
    join(migrations, kind, 'later.ts'),
    `export const later = { version: ${version}, name: 'later', sql: \`${sql}\` };\n`,
  );
  const list = join(migrations, `${kind}.ts`);
  change(list, /^/, `import { later } from './${kind}/later.ts';\n`);
  change(list, /\n\];\n$/, '\n  later,\n];\n');
}

function change(path: string, found: RegExp, by: string): void {
  const before = readFileSync(path, 'utf8');
  const after = before.replace(found, by);
  if (after === before) throw new Error(`${path} has no ${found}`);
  writeFileSync(path, after);
}
