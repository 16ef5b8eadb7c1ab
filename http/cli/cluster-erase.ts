// `switchboard erase` with the settings of a node: a contact of a workspace of a running cluster. It takes too long for a
// node's main thread, so it is done here, on the workspace's file, which goes back as one change.

import { statSync } from 'node:fs';
import { contactErased, eraseContactIn } from '../../engine/operations/erasure.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { directoryId } from '../../engine/runtime/cluster/ports.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { Database } from '../../store/database.ts';
import type { DirectoryWorkspace } from '../../store/directory/directory.ts';
import { isAudited } from '../../store/runtime/audit.ts';
import type { Config } from '../process/config.ts';
import { askOwner } from './cluster-asking.ts';
import { changeWorkspace, releaseLeft, replaceStored } from './cluster-change.ts';
import { type Gathering, inTemporaryFolder } from './cluster-gather.ts';
import { exitCodes, ProgramError, say } from './command.ts';
import { contactNamed, erasedInWords, type NamedContact, wouldErase } from './contact-named.ts';
import { workspaceNamed } from './workspace-named.ts';

/** Nodes apply a change on their main thread. In a larger file, what was deleted before is overwritten as its pages are used again. */
const maxRewrittenBytes = 32 * 1024 * 1024;

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
    const gathered = await gathering.fetch(workspace.id);
    if (gathered === undefined) throw new ProgramError(`${gathering.title} has no file of ${workspace.name}`);
    const found = contactIn(gathering, workspace, contact);
    if (found === 'erased') {
      say(`The contact ${contact} of ${workspace.name} was erased before.`);
      // The earlier command may have broken off before it removed from NATS what was there.
      return isMeant ? toldOf(await replaceStored(gathering, workspace.id, gathered)) : exitCodes.done;
    }
    if (isMeant) return eraseOne(gathering, workspace, found);
    say(wouldErase(found, workspace.name));
    return exitCodes.done;
  });
}

/** `erased`: by an earlier command, which knows it by its id. */
function contactIn(gathering: Gathering, workspace: DirectoryWorkspace, name: string): NamedContact | 'erased' {
  const db = Database.openReader(gathering.pathOf(workspace.id));
  try {
    if (isAudited(db, { action: 'contact.erased', targetId: name })) return 'erased';
    return contactNamed(db, workspace.name, name);
  } finally {
    db.close();
  }
}

/** The exit code. */
function toldOf(leftBehind: string | undefined): number {
  if (leftBehind === undefined) return exitCodes.done;
  say(
    `NATS has what was there before until the next snapshot of the workspace, because this one failed: ${leftBehind}. Repeat the command with the contact's id.`,
  );
  return exitCodes.failed;
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
  say(erasedInWords(contact, workspace.name, erased));
  const code = toldOf(leftBehind);
  const entry = { id: ids.uuid(), ...contactErased(options, contact.id, erased) };
  const params = { name: 'note-operator-action', params: entry };
  try {
    await askOwner(gathering.store, directoryId, { name: 'change', params });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ProgramError(`the contact is erased, which only the workspace's audit log says: ${why}`);
  }
  return code;
}
