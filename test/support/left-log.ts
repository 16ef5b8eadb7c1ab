// Data folders as a crash leaves them: files with write-ahead logs that were not checkpointed.

import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from './folder.ts';
import type { Teardown } from './service.ts';
import { startToy } from './toy.ts';

export const logOf = (path: string): string => `${path}-wal`;

/** This many workspaces, in each of which the counter `a` is 1. */
export async function leftByCrash(t: Teardown, count: number): Promise<{ folder: string; ids: string[] }> {
  const toy = startToy(t);
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'workspaces'));
  const ids = Array.from({ length: count }, () => toy.workspace().workspaceId);
  for (const workspaceId of ids) {
    await toy.add(workspaceId, 'a');
    const file = join('workspaces', `${workspaceId}.db`);
    for (const path of [file, logOf(file)]) copyFileSync(join(toy.dataDir, path), join(folder, path));
  }
  return { folder, ids };
}
