// Rebuilds data folders of earlier versions from what test/upgrades/record.ts recorded.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';

const folder = resolve(import.meta.dirname, '../upgrades');

export interface OldData {
  readonly name: string;
  readonly workspaceVersion: number;
  readonly directoryVersion: number;
  /** Writes the files into the folder and returns the workspace's id. */
  writeTo(dataDir: string): string;
}

/** Oldest first. */
export function oldData(): OldData[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({
      name,
      workspaceVersion: Number(name.slice(0, 4)),
      directoryVersion: Number(name.slice(5, 9)),
      writeTo: (dataDir) => write(join(folder, name), dataDir),
    }));
}

function write(source: string, dataDir: string): string {
  let workspaceId = '';
  for (const part of readFileSync(source, 'utf8').split('-- file: ').slice(1)) {
    const [name = '', ...statements] = part.split('\n');
    const path = join(dataDir, name);
    mkdirSync(dirname(path), { recursive: true });
    const sqlite = new Sqlite(path);
    // As written: in the order of the tables, regardless of references.
    sqlite.pragma('foreign_keys = OFF');
    sqlite.exec(`BEGIN; ${statements.filter((line) => !line.startsWith('PRAGMA')).join('\n')} COMMIT;`);
    for (const line of statements.filter((one) => one.startsWith('PRAGMA'))) sqlite.exec(line);
    sqlite.close();
    workspaceId = /workspaces\/(.+)\.db$/.exec(name)?.[1] ?? workspaceId;
  }
  return workspaceId;
}
