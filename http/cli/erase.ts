// `switchboard erase`: one contact, or one workspace, for good. The service must not run, since it keeps what it reads
// in memory.

import { resolve } from 'node:path';
import { type ErasureOptions, eraseContactOf, eraseWorkspace, numbersHeld } from '../../engine/operations/erasure.ts';
import { workspacePath } from '../../engine/operations/integrity.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { Database } from '../../store/database.ts';
import { contactsNamed } from '../../store/operations/erasure.ts';
import { readConfig } from '../process/config.ts';
import { doWhole, holdDataFolder, takeDataFolder, unfinishedDeed } from '../process/data-folder.ts';
import { type Command, exitCodes, ProgramError, say, textOf } from './command.ts';
import { workspaceNamed } from './workspace-named.ts';

export const command: Command = {
  usage: 'WORKSPACE [--contact CONTACT] --yes',
  description: `Removes for good, from the data folder of DATA_DIR, a workspace that is named by its id or subdomain, or one contact of it.
The service must not run. Backups that were made before still hold it. Uploads of a
contact that are in an S3 bucket are removed when the service runs next; those of a workspace are left there.

  --contact CONTACT  that contact alone, by its id, email or phone number: what is known of it and its visitors, and all that was
                     written in its conversations, which stay, emptied, so that figures stay right
  --yes              do it; without it, what would be erased is said and nothing is done

An entry stays: what was erased and when, by id.`,
  options: { contact: { type: 'string' }, yes: { type: 'boolean' } },
  operands: { min: 1, max: 1 },
  async run({ values, operands: [name = ''] }) {
    const config = readConfig(process.env);
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
          say('Its uploads in the S3 bucket, below its id, are left to be removed there.');
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
  const begun = unfinishedDeed(dataDir);
  const again = begun === undefined ? undefined : /^erase (\S+) --yes$/.exec(begun)?.[1];
  if (begun !== undefined && again !== name)
    throw new ProgramError(`first finish what was begun: switchboard ${begun}`);
  const workspace = again === undefined ? workspaceNamed(dataDir, name) : { id: again, name: again };
  const numbers = numbersHeld(dataDir, workspace.id);
  if (numbers.length > 0)
    throw new ProgramError(
      `${workspace.name} holds ${numbers.join(', ')}; release ${numbers.length === 1 ? 'it' : 'them'} first, or the carrier goes on billing`,
    );
  if (!isMeant) {
    say(`Would erase the workspace ${workspace.name} (${workspace.id}) with all that is in it. Say --yes to do it.`);
    return;
  }
  await doWhole(dataDir, `erase ${workspace.id} --yes`, () => eraseWorkspace(of(workspace.id)));
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
  let found: ReturnType<typeof contactsNamed>;
  try {
    found = contactsNamed(db, named.contact);
  } finally {
    db.close();
  }
  const [contact, ...others] = found;
  if (contact === undefined)
    throw new ProgramError(`${workspace.name} has no contact with the id, email or number ${named.contact}`);
  if (others.length > 0)
    throw new ProgramError(
      `${found.length} contacts are ${named.contact}; name one by its id: ${found.map(({ id }) => id).join(', ')}`,
    );
  if (!isMeant) {
    say(
      `Would erase the contact ${contact.name ?? contact.email ?? contact.id} (${contact.id}) of ${workspace.name}. Say --yes to do it.`,
    );
    return;
  }
  const { visitors, conversations, messages } = await eraseContactOf(of(workspace.id), contact.id);
  say(
    `Erased the contact ${contact.id} of ${workspace.name}: ${visitors} visitors, ${conversations} conversations, ${messages} messages.`,
  );
}
