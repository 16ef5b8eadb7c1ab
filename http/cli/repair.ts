// `switchboard repair`: rebuilds directory.db from the workspaces' files and accepts the present keys. The service must
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
  description: `Repairs the data folder DATA_DIR. Rebuilds directory.db, which records who signs in where, from the workspaces' files if it is
missing or damaged, and corrects it if it is older than they are. A damaged directory.db is kept under another name. The service must
not run. What only directory.db held (operators' actions, used invitations) is lost with it; restore a workspace's missing or damaged
file from a backup: switchboard restore FOLDER --workspace WORKSPACE.

  --forget-missing  give up workspaces whose file is missing and free their subdomains and addresses
  --accept-keys     accept the present keys and create missing ones: tokens signed with another jwt-secret end, and secrets sealed
                    with another secrets-key stay closed

Exits with 1 if something is left that it cannot repair.`,
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

/** True if a problem is left. */
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
  if (setAside !== undefined) say(`${setAside}: the damaged directory.db, no longer needed`);
  for (const id of corrected) say(`workspace ${id}: ${isNew ? 'added' : 'corrected'}`);
  for (const id of missing)
    say(
      `workspace ${id}: ` +
        (forgetMissing
          ? 'had no file and was given up'
          : 'has no file; restore it with switchboard restore FOLDER --workspace, or give it up with --forget-missing'),
    );
  for (const { where, rule, fault } of findings) say(`${where}: failed check: ${rule}: ${fault}`);
  say(
    `${directoryPath(dataDir)}: ${isNew ? 'rebuilt' : corrected.length > 0 ? 'corrected' : 'already correct'}, ` +
      `${known} ${known === 1 ? 'workspace' : 'workspaces'}`,
  );
  return findings.length > 0 || (missing.length > 0 && !forgetMissing);
}

/** True if a problem is left. */
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
    if (faults.length > 0) say('The present keys were accepted for this folder.');
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
        `workspace ${workspaceId}: ${counts.unopened} of ${counts.sealed} sealed secrets cannot be opened; its admins have to replace them`,
      );
  }
}
