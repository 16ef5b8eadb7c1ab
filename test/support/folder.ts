// A temporary folder that is removed after the test.

import { type Dirent, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Teardown } from './service.ts';

export function tempFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Of all files in it, recursively. Files and folders that disappear meanwhile do not count. */
export function folderBytes(folder: string): number {
  let bytes = 0;
  for (const path of filesIn(folder)) bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return bytes;
}

/** The paths of all files in it, recursively. A running service may remove a folder while it is read. */
export function filesIn(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : entry.isFile() ? [path] : [];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
