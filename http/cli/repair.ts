// `switchboard repair`: directory.db as the workspaces' files have it, and the keys as they are now. The service must
// not run.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { directoryPath, workspaceIdsIn, workspacePath } from '../../engine/operations/integrity.ts';
import { repairDirectory } from '../../engine/operations/repair.ts';
import { countSealed, withFile } from '../../engine/operations/sealed-proof.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { Database } from '../../store/database.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { createSecretBox } from '../../workers/secrets/secret-box.ts';
import { readConfig } from '../process/config.ts';
import { takeDataFolder } from '../process/data-folder.ts';
import { acceptKeys, folderKeyList, type KeyedFolder, keyFault, standOf } from '../process/folder-keys.ts';
import { type Command, exitCodes, ProgramError, say } from './command.ts';

export const command: Command = {
  usage: '[--forget-missing] [--accept-keys]',
  description: `Brings the data folder of DATA_DIR together again: directory.db, which says who signs in where, is written anew from the
workspaces' files where it is missing or damaged, and corrected where it is older than they are. A damaged one is set aside. The
service must not run. What only directory.db held (what operators did, which invitations were used) is lost with it; a workspace's file that is missing or damaged
comes back from a backup alone: switchboard restore FOLDER --workspace WORKSPACE.

  --forget-missing  gives up workspaces whose file is missing: their subdomains and addresses are free again
  --accept-keys     goes on with the keys that are there now, and makes those that are gone: tokens that another jwt-secret signed end,
                    and what another secrets-key sealed stays closed

Exits with 1 when something is left that this cannot mend.`,
  options: { 'forget-missing': { type: 'boolean' }, 'accept-keys': { type: 'boolean' } },
  operands: { min: 0, max: 0 },
  async run({ values }) {
    const config = readConfig(process.env);
    const dataDir = resolve(config.dataDir);
    if (!existsSync(dataDir)) throw new ProgramError(`there is no data folder ${dataDir}`);
    const lock = takeDataFolder(dataDir);
    try {
      const isLeft = [
        repairPlaces(dataDir, values['forget-missing'] === true),
        repairKeys(dataDir, config, values['accept-keys'] === true),
      ];
      return isLeft.includes(true) ? exitCodes.failed : exitCodes.done;
    } finally {
      lock.release();
    }
  },
};

/** True when something is left. */
function repairPlaces(dataDir: string, forgetMissing: boolean): boolean {
  if (workspaceIdsIn(dataDir).length === 0 && !existsSync(directoryPath(dataDir)))
    throw new ProgramError(`there is no data in ${dataDir}`);
  const clock = systemClock();
  const { isNew, setAside, known, corrected, missing, findings } = repairDirectory({
    dataDir,
    at: new Date(clock.now()).toISOString(),
    ids: createIds(clock),
    forgetMissing,
  });
  if (setAside !== undefined) say(`${setAside}: the damaged one, which is not needed any more`);
  for (const id of corrected) say(`workspace ${id}: ${isNew ? 'taken in' : 'corrected'}`);
  for (const id of missing)
    say(
      `workspace ${id}: ${forgetMissing ? 'has no file, and was given up' : 'has no file; bring it back with switchboard restore FOLDER --workspace, or give it up with --forget-missing'}`,
    );
  for (const { where, rule, fault } of findings) say(`${where}: not so: ${rule}: ${fault}`);
  say(
    `${directoryPath(dataDir)}: ${isNew ? 'written anew' : corrected.length > 0 ? 'corrected' : 'as the files are'}, ${known} ${known === 1 ? 'workspace' : 'workspaces'}`,
  );
  return findings.length > 0 || (missing.length > 0 && !forgetMissing);
}

/** True when something is left. */
function repairKeys(dataDir: string, given: KeyedFolder['given'], isAccepted: boolean): boolean {
  const directory = Database.openWriter(directoryPath(dataDir), directoryMigrations);
  try {
    const folder: KeyedFolder = {
      dataDir,
      directory,
      given: { jwtSecret: given.jwtSecret, secretsKey: given.secretsKey },
      boxOf: createSecretBox,
    };
    const faults = folderKeyList.flatMap((one) => keyFault(dataDir, one, standOf(folder, one).stand) ?? []);
    if (faults.length > 0 && !isAccepted) {
      for (const fault of faults) say(fault);
      return true;
    }
    const { secretsKey } = acceptKeys(folder);
    if (faults.length > 0) say('The keys as they are now are those of this folder.');
    tellUnopened(dataDir, secretsKey);
    return false;
  } finally {
    directory.close();
  }
}

function tellUnopened(dataDir: string, secretsKey: string): void {
  const box = createSecretBox(secretsKey);
  for (const workspaceId of workspaceIdsIn(dataDir)) {
    const counts = withFile(workspacePath(dataDir, workspaceId), (db) => countSealed(db, workspaceId, box));
    if (counts !== undefined && counts.unopened > 0)
      say(
        `workspace ${workspaceId}: ${counts.unopened} of ${counts.sealed} sealed secrets stay closed; its admins make them anew`,
      );
  }
}
