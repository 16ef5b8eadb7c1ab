// `switchboard restore`: restores a backup into an empty data folder or next to existing workspaces. The service must
// not run.

import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { BackupUnusable, type Manifest, readBackup } from '../../engine/operations/backup.ts';
import { directoryPath, secretsKeyName, workspaceIdsIn } from '../../engine/operations/integrity.ts';
import {
  isEmptyDataFolder,
  type RestoreOptions,
  restoreAll,
  restoreWorkspace,
} from '../../engine/operations/restore.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { silentLog } from '../../engine/runtime/log.ts';
import { Database } from '../../store/database.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { createSecretBox } from '../../workers/secrets/secret-box.ts';
import { type Config, readConfig } from '../process/config.ts';
import { holdDataFolder, readKeptSecret, runToCompletion, unfinishedCommand } from '../process/data-folder.ts';
import { requireDirectory, requireKnown } from '../process/folder-faults.ts';
import { takeKeys } from '../process/folder-keys.ts';
import { type Command, exitCodes, ProgramError, say, textOf } from './command.ts';
import { createProgress } from './progress.ts';

export const command: Command = {
  usage: 'FOLDER [--workspace WORKSPACE] [--as NAME]',
  description: `Restores what switchboard backup wrote to FOLDER, after checking that it is complete and unchanged. The service must not run. An
older backup is upgraded.

Without options: restores everything into a data folder (DATA_DIR) that is empty or missing.

  --workspace WORKSPACE  restore only this workspace, given by id or subdomain, next to the existing ones
  --as NAME              restore it as a second workspace with this name and a new id: its agents sign in with name+SUBDOMAIN@domain,
                         it has no phone numbers, and nothing that was waiting to be sent is sent

A backup of one workspace is always restored next to the existing ones.`,
  options: { workspace: { type: 'string' }, as: { type: 'string' } },
  operands: { min: 1, max: 1 },
  async run({ values, operands: [folder = ''] }) {
    const config = readConfig(process.env);
    const dataDir = resolve(config.dataDir);
    const from = resolve(folder);
    const as = textOf(values, 'as')?.trim();
    if (as === '') throw new ProgramError('--as requires a name');
    const lock = holdDataFolder(dataDir);
    const progress = createProgress();
    try {
      const manifest = await readBackup(from, (share) => progress.at(share / 2, 'checking'));
      const clock = systemClock();
      const options: RestoreOptions = {
        from,
        manifest,
        dataDir,
        at: new Date(clock.now()).toISOString(),
        ids: createIds(clock),
        mailFrom: config.mailFrom,
        onProgress: (share, doing) => progress.at(0.5 + share / 2, doing),
      };
      const named = textOf(values, 'workspace');
      if (named === undefined && as === undefined && manifest.scope === 'all') await everything(options, config);
      else await oneOf(options, config, { named, as });
    } finally {
      progress.end();
      lock.release();
    }
    return exitCodes.done;
  },
};

async function everything(options: RestoreOptions, config: Config): Promise<void> {
  const { from, manifest, dataDir } = options;
  const deed = `restore ${from}`;
  if (unfinishedCommand(dataDir) !== deed && !(await isEmptyDataFolder(dataDir)))
    throw new ProgramError(
      `${dataDir} is not empty; use --workspace WORKSPACE to restore one workspace next to the existing ones`,
    );
  for (const name of manifest.secretsElsewhere) {
    const given = name === 'JWT_SECRET' ? config.jwtSecret : config.secretsKey;
    if (given === undefined)
      throw new ProgramError(`the backup was made with ${name} from the environment; set it to the same value`);
  }
  await runToCompletion(dataDir, deed, () => restoreAll(options));
  const { length } = manifest.workspaces;
  say(`${dataDir}: ${length} ${length === 1 ? 'workspace' : 'workspaces'} as of ${manifest.madeAt}`);
}

async function oneOf(
  options: RestoreOptions,
  config: Config,
  asked: { named: string | undefined; as: string | undefined },
): Promise<void> {
  const { from, manifest, dataDir } = options;
  const workspace = chosen(manifest, asked.named);
  const deed = [
    'restore',
    from,
    '--workspace',
    workspace.id,
    ...(asked.as === undefined ? [] : ['--as', JSON.stringify(asked.as)]),
  ].join(' ');
  const isAgain = unfinishedCommand(dataDir) === deed;
  if (!isAgain && unfinishedCommand(dataDir) !== undefined)
    throw new ProgramError(
      `an earlier command was interrupted; finish it first: switchboard ${unfinishedCommand(dataDir)}`,
    );
  if (asked.as === undefined && !isAgain && workspaceIdsIn(dataDir).includes(workspace.id))
    throw new ProgramError(
      `${workspace.name} (${workspace.id}) already exists; erase it first, or restore this one next to it with --as NAME`,
    );
  const backupKey =
    readKeptSecret(join(from, secretsKeyName)) ??
    (manifest.secretsElsewhere.includes('SECRETS_KEY') ? config.secretsKey : undefined);
  const ownKey = secretsKeyOf(config, dataDir, isAgain);
  const secrets = { from: createSecretBox(backupKey ?? randomUUID()), to: createSecretBox(ownKey) };
  const { workspaceId, subdomain } = await restoreWorkspace(options, {
    workspaceId: workspace.id,
    as: asked.as,
    secrets,
    isAgain,
    whole: (act) => runToCompletion(dataDir, deed, act),
  });
  say(`${dataDir}: ${asked.as ?? workspace.name} (${subdomain}, ${workspaceId}) as of ${manifest.madeAt}`);
}

/** The secrets key of the folder that the workspace is restored to, created if missing. Throws DataFolderUnusable. */
function secretsKeyOf({ jwtSecret, secretsKey }: Config, dataDir: string, isAgain: boolean): string {
  requireDirectory(dataDir);
  const directory = Database.openWriter(directoryPath(dataDir), directoryMigrations);
  try {
    // An interrupted restore may have left a file that directory.db does not list yet.
    if (!isAgain) requireKnown(dataDir, directory);
    return takeKeys({
      dataDir,
      directory,
      given: { jwtSecret, secretsKey },
      boxOf: createSecretBox,
      log: { ...silentLog, error: (_, text) => say(text) },
    }).secretsKey;
  } finally {
    directory.close();
  }
}

function chosen(manifest: Manifest, named: string | undefined): Manifest['workspaces'][number] {
  const [only, ...others] = manifest.workspaces;
  if (named === undefined && only !== undefined && others.length === 0) return only;
  const found = manifest.workspaces.find(({ id, subdomain }) => id === named || subdomain === named);
  if (found === undefined)
    throw new BackupUnusable(
      `choose one of its workspaces with --workspace: ${manifest.workspaces.map(({ subdomain }) => subdomain).join(', ')}`,
    );
  return found;
}
