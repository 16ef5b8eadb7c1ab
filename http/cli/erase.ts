// `switchboard erase`: permanently removes one contact or one workspace. The service must not run, because it caches
// what it reads.

import { resolve } from 'node:path';
import { type ErasureOptions, eraseContactOf, eraseWorkspace, numbersHeld } from '../../engine/operations/erasure.ts';
import { workspacePath } from '../../engine/operations/integrity.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { Database } from '../../store/database.ts';
import { readConfig } from '../process/config.ts';
import { holdDataFolder, runToCompletion, takeDataFolder, unfinishedCommand } from '../process/data-folder.ts';
import { type Command, exitCodes, ProgramError, say, textOf } from './command.ts';
import { contactNamed, erasedInWords, type NamedContact, wouldErase } from './contact-named.ts';
import { workspaceNamed } from './workspace-named.ts';

export const command: Command = {
  usage: 'WORKSPACE [--contact CONTACT] --yes',
  description: `Permanently removes a workspace, given by id or subdomain, or one of its contacts, from the data folder DATA_DIR. The service must
not run. Earlier backups still contain the data. A contact's uploads in an S3 bucket are removed when the service runs next; a
workspace's uploads there are not removed.

  --contact CONTACT  erase only this contact, given by id, email or phone number: its data, its visitors, and everything written in
                     its conversations, which stay, emptied, so that reports stay correct
  --yes              do it; without it, only print what would be erased

A record of what was erased and when, by id, is kept.

With the settings of a node of a cluster, it erases a contact of a workspace while the nodes run; the workspace is answered with 503 for
some seconds. If the command is killed meanwhile, repeat it: until then nobody serves the workspace.`,
  options: { contact: { type: 'string' }, yes: { type: 'boolean' } },
  operands: { min: 1, max: 1 },
  async run({ values, operands: [name = ''] }) {
    const config = readConfig(process.env);
    if (config.cluster !== undefined) {
      // Loaded in a cluster only.
      const { eraseInCluster } = await import('./cluster-erase.ts');
      return eraseInCluster(config, {
        named: name,
        contact: textOf(values, 'contact'),
        isMeant: values['yes'] === true,
      });
    }
    const dataDir = resolve(config.dataDir);
    const areUploadsHere = config.storage.provider !== 's3';
    const contact = textOf(values, 'contact');
    const isMeant = values['yes'] === true;
    const lock = contact === undefined ? holdDataFolder(dataDir) : takeDataFolder(dataDir);
    try {
      const clock = systemClock();
      const of = (workspaceId: string): ErasureOptions => ({
        dataDir,
        areUploadsHere,
        workspaceId,
        at: new Date(clock.now()).toISOString(),
        ids: createIds(clock),
      });
      if (contact === undefined) {
        await wholeWorkspace(dataDir, name, isMeant, of);
        if (!areUploadsHere && isMeant)
          say('Its uploads in the S3 bucket, under its id, were not removed; remove them there.');
      } else await oneContact(dataDir, { workspace: name, contact }, isMeant, of);
    } finally {
      lock.release();
    }
    return exitCodes.done;
  },
};

async function wholeWorkspace(
  dataDir: string,
  name: string,
  isMeant: boolean,
  of: (workspaceId: string) => ErasureOptions,
): Promise<void> {
  const begun = unfinishedCommand(dataDir);
  const again = begun === undefined ? undefined : /^erase (\S+) --yes$/.exec(begun)?.[1];
  if (begun !== undefined && again !== name)
    throw new ProgramError(`an earlier command was interrupted; finish it first: switchboard ${begun}`);
  const workspace = again === undefined ? workspaceNamed(dataDir, name) : { id: again, name: again };
  const numbers = numbersHeld(dataDir, workspace.id);
  if (numbers.length > 0)
    throw new ProgramError(
      `${workspace.name} holds ${numbers.join(', ')}; release ${numbers.length === 1 ? 'it' : 'them'} first, or the carrier keeps billing`,
    );
  if (!isMeant) {
    say(`Would erase the workspace ${workspace.name} (${workspace.id}) and everything in it. Add --yes to do it.`);
    return;
  }
  await runToCompletion(dataDir, `erase ${workspace.id} --yes`, () => eraseWorkspace(of(workspace.id)));
  say(`Erased the workspace ${workspace.name} (${workspace.id}).`);
}

async function oneContact(
  dataDir: string,
  named: { workspace: string; contact: string },
  isMeant: boolean,
  of: (workspaceId: string) => ErasureOptions,
): Promise<void> {
  const workspace = workspaceNamed(dataDir, named.workspace);
  const db = Database.openReader(workspacePath(dataDir, workspace.id));
  let contact: NamedContact;
  try {
    contact = contactNamed(db, workspace.name, named.contact);
  } finally {
    db.close();
  }
  if (!isMeant) {
    say(wouldErase(contact, workspace.name));
    return;
  }
  say(erasedInWords(contact, workspace.name, await eraseContactOf(of(workspace.id), contact.id)));
}
