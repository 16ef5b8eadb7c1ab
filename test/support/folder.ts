// A temporary folder that is removed after the test.

import { type Dirent, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
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

/**
 * The files of a running service's data folder, by path, but for its lock, which a reader would let go of. It may rename
 * and remove some while they are read.
 */
export function contentsIn(dataDir: string): Map<string, Buffer> {
  const paths = filesIn(dataDir).filter((path) => basename(path) !== 'lock');
  return new Map(paths.flatMap((path) => ifThere(() => [[path, readFileSync(path)] as const]) ?? []));
}

function entriesOf(folder: string): Dirent[] {
  return ifThere(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

/** Undefined if what it reads is not there. */
function ifThere<Found>(read: () => Found): Found | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
