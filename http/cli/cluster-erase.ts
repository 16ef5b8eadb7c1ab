// `switchboard erase` with the settings of a node: a contact of a workspace of a running cluster. It takes too long for a
// node's main thread, so it is done here, on the workspace's file, which goes back as one change.

import { statSync } from 'node:fs';
import { contactErased, eraseContactIn } from '../../engine/operations/erasure.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { directoryId } from '../../engine/runtime/cluster/ports.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { Database } from '../../store/database.ts';
import type { DirectoryWorkspace } from '../../store/directory/directory.ts';
import type { Config } from '../process/config.ts';
import { askOwner } from './cluster-asking.ts';
import { changeWorkspace, releaseLeft } from './cluster-change.ts';
import { type Gathering, inTemporaryFolder } from './cluster-gather.ts';
import { exitCodes, ProgramError, say } from './command.ts';
import { contactNamed, erasedInWords, type NamedContact, wouldErase } from './contact-named.ts';
import { workspaceNamed } from './workspace-named.ts';

/** A change can have 256 MB. In a larger file, what was deleted before is overwritten as its pages are used again. */
const maxRewrittenBytes = 128 * 1024 * 1024;

interface Asked {
  readonly named: string;
  readonly contact: string | undefined;
  readonly isMeant: boolean;
}

/** Resolves to the exit code. */
export function eraseInCluster(config: Config, { named, contact, isMeant }: Asked): Promise<number> {
  if (contact === undefined)
    throw new ProgramError(
      'a whole workspace cannot be erased in a running cluster, only a contact of one (--contact). Stop the nodes, restore a backup of the cluster into an empty DATA_DIR without CLUSTER_… settings, erase the workspace there, and bring that in with switchboard cluster import under another CLUSTER_NAME',
    );
  return inTemporaryFolder(config, async (gathering) => {
    const workspace = workspaceNamed(gathering.dataDir, named, gathering.title);
    await releaseLeft(gathering.store, workspace.id);
    const found = await contactIn(gathering, workspace, contact);
    if (isMeant) return eraseOne(gathering, workspace, found);
    say(wouldErase(found, workspace.name));
    return exitCodes.done;
  });
}

async function contactIn(gathering: Gathering, workspace: DirectoryWorkspace, name: string): Promise<NamedContact> {
  if ((await gathering.fetch(workspace.id)) === undefined)
    throw new ProgramError(`${gathering.title} has no file of ${workspace.name}`);
  const db = Database.openReader(gathering.pathOf(workspace.id));
  try {
    return contactNamed(db, workspace.name, name);
  } finally {
    db.close();
  }
}

async function eraseOne(gathering: Gathering, workspace: DirectoryWorkspace, contact: NamedContact): Promise<number> {
  const clock = systemClock();
  const ids = createIds(clock);
  const at = new Date(clock.now()).toISOString();
  // Uploads are in a bucket, or there are none.
  const options = { areUploadsHere: false, workspaceId: workspace.id, at, ids };
  const { result: erased, leftBehind } = await changeWorkspace(gathering, workspace.id, (db) => {
    const counts = eraseContactIn(db, options, contactNamed(db, workspace.name, contact.id).id);
    if (statSync(gathering.pathOf(workspace.id)).size <= maxRewrittenBytes) db.rewrite();
    return counts;
  });
  const entry = { id: ids.uuid(), ...contactErased(options, contact.id, erased) };
  await askOwner(gathering.store, directoryId, {
    name: 'change',
    params: { name: 'note-operator-action', params: entry },
  });
  say(erasedInWords(contact, workspace.name, erased));
  if (leftBehind === undefined) return exitCodes.done;
  say(
    `NATS has what was there before until the next snapshot of the workspace, because this one failed: ${leftBehind}`,
  );
  return exitCodes.failed;
}
