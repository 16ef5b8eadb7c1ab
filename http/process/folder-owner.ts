// Whose a data folder is: a single server's, whose data is nowhere else, or that of a node of a cluster, which holds
// copies. Each refuses the other's: a node would replace what a single server has, and a single server would serve, and
// send a second time, what the cluster has since changed.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { directoryPath, workspaceIdsIn } from '../../engine/operations/integrity.ts';
import { Database, DatabaseUnusable } from '../../store/database.ts';
import { directoryWorkspaces } from '../../store/directory/directory.ts';
import { operatorAudit } from '../../store/directory/operator-audit.ts';
import { DataFolderUnusable } from './data-folder.ts';

/** Every node makes this folder in its data folder before anything else. */
const clusterFolderName = 'cluster';

/** What a node keeps beside its copies. */
export function clusterFolder(dataDir: string): string {
  return join(dataDir, clusterFolderName);
}

export function isOfNode(dataDir: string): boolean {
  return existsSync(clusterFolder(dataDir));
}

/** For a single server, and for commands that work on its folder. Throws DataFolderUnusable. */
export function requireNoNode(dataDir: string): void {
  if (isOfNode(dataDir)) throw new DataFolderUnusable(ofNode(dataDir));
}

/**
 * For a node. A folder in which nothing was ever registered counts as empty: an installation starts before its operator
 * has made it a node. Call while the folder is held. Throws DataFolderUnusable.
 */
export function requireNoSingleServer(dataDir: string): void {
  if (!isOfNode(dataDir) && (workspaceIdsIn(dataDir).length > 0 || isDirectoryUsed(dataDir)))
    throw new DataFolderUnusable(ofSingleServer(dataDir));
}

/** The same from the names of files alone, for who may not be the service's user: opening a database makes files. */
export function folderOwnerFault(dataDir: string, { isNode }: { isNode: boolean }): string | undefined {
  if (!isNode) return isOfNode(dataDir) ? ofNode(dataDir) : undefined;
  return !isOfNode(dataDir) && workspaceIdsIn(dataDir).length > 0 ? ofSingleServer(dataDir) : undefined;
}

function ofNode(dataDir: string): string {
  return `the data folder ${dataDir} is that of a node of a cluster, and holds copies, which may be old, of what the cluster has: set CLUSTER_NATS_URL to start the node; to go back to one server, restore a backup of the cluster into an empty DATA_DIR`;
}

function ofSingleServer(dataDir: string): string {
  return `the data folder ${dataDir} holds the data of a single server, which no cluster has, and a node would replace it: bring it into the cluster with switchboard cluster import, and start the node with another, empty DATA_DIR`;
}

function isDirectoryUsed(dataDir: string): boolean {
  const path = directoryPath(dataDir);
  if (!existsSync(path)) return false;
  let directory: Database | undefined;
  try {
    directory = Database.openReader(path);
    // Whatever else it records is of a workspace.
    return directoryWorkspaces(directory).length > 0 || operatorAudit(directory).length > 0;
  } catch (error) {
    if (!(error instanceof DatabaseUnusable)) throw error;
    // Nobody knows what a damaged one holds.
    return true;
  } finally {
    directory?.close();
  }
}
