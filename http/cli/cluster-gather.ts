// The files of a cluster as a data folder, for a backup: the directory first, then the workspaces that it lists, each as
// of its own moment. Never served.

import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { directoryPath, workspacePath } from '../../engine/operations/integrity.ts';
import { directoryId } from '../../engine/runtime/cluster/ports.ts';
import { Database } from '../../store/database.ts';
import { directoryWorkspaces } from '../../store/directory/directory.ts';
import type { GatherOptions } from '../../workers/cluster/gathering.ts';
import type { ClusterConfig } from '../process/config.ts';
import { openStore } from './cluster.ts';
import { ProgramError } from './command.ts';
import { createProgress } from './progress.ts';
import { workspaceNamed } from './workspace-named.ts';

export interface GatherAsked {
  /** The backup's folder, which must not exist. */
  readonly to: string;
  /** One workspace, by id or subdomain. */
  readonly named: string | undefined;
}

/** The folder is removed when `use` has ended. */
export async function withGathered<Result>(
  cluster: ClusterConfig,
  { to, named }: GatherAsked,
  use: (dataDir: string) => Promise<Result>,
): Promise<Result> {
  if (existsSync(to)) throw new ProgramError(`${to} already exists`);
  const dataDir = `${to}.gathered`;
  rmSync(dataDir, { recursive: true, force: true });
  for (const name of ['workspaces', 'incoming']) mkdirSync(join(dataDir, name), { recursive: true, mode: 0o700 });
  try {
    await gatherAll(cluster, { dataDir, named });
    return await use(dataDir);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function gatherAll(
  cluster: ClusterConfig,
  { dataDir, named }: { readonly dataDir: string; readonly named: string | undefined },
): Promise<void> {
  const { gather } = await import('../../workers/cluster/gathering.ts');
  const { createPacking } = await import('../../workers/cluster/packing.ts');
  const packing = createPacking();
  const store = await openStore(cluster, { mustExist: true });
  const progress = createProgress();
  // A name that a backup leaves out.
  const options: GatherOptions = { store, packing, work: join(dataDir, 'incoming') };
  try {
    if (!(await gather(options, directoryId, directoryPath(dataDir))))
      throw new ProgramError(`the cluster ${cluster.name} has no data yet`);
    const ids = named === undefined ? workspacesIn(dataDir) : [workspaceNamed(dataDir, named).id];
    for (const [index, id] of ids.entries()) {
      progress.at(index / ids.length, `gathering workspace ${id}`);
      // What is missing is a finding of the backup.
      await gather(options, id, workspacePath(dataDir, id));
    }
  } finally {
    progress.end();
    await packing.stop();
    await store.close();
  }
}

/** Those whose registration is complete. */
function workspacesIn(dataDir: string): string[] {
  const directory = Database.openReader(directoryPath(dataDir));
  try {
    return directoryWorkspaces(directory).flatMap(({ id, reservedAt }) => (reservedAt === null ? [id] : []));
  } finally {
    directory.close();
  }
}
