// `switchboard backup`: copies the data, or one workspace, while the service runs.

import { randomBytes } from 'node:crypto';
import { setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { type BackupOptions, backup } from '../../engine/operations/backup.ts';
import { secretsKeyName } from '../../engine/operations/integrity.ts';
import { programVersion } from '../../workers/program-files.ts';
import { createSecretBox } from '../../workers/secrets/secret-box.ts';
import { type Config, readConfig } from '../process/config.ts';
import { readKeptSecret } from '../process/data-folder.ts';
import { requireNoNode } from '../process/folder-owner.ts';
import { type Command, exitCodes, say, textOf } from './command.ts';
import { createProgress } from './progress.ts';
import { workspaceNamed } from './workspace-named.ts';

const secretBytes = 48;
/** Lowest priority (nice 19), so that the running service is not slowed down. */
const priority = 19;

export const command: Command = {
  usage: 'FOLDER [--workspace WORKSPACE]',
  description: `Copies the data folder DATA_DIR into FOLDER, which must not exist: every database as of one moment, uploads, written mail and
secrets. The service may be running. The copy is checked as by verify and listed with its hashes. FOLDER contains the keys that
open the secrets: protect it like the data folder.

  --workspace WORKSPACE  copy only this workspace, given by id or subdomain, with its secrets sealed with a new key, to move it
                         to another server

With the settings of a node of a cluster, it copies what the cluster has instead, from NATS and the bucket, and needs no node and no DATA_DIR. It
first gathers the files in FOLDER.gathered, so that needs twice the room.

Copies nothing if the disk has too little room, or would be left with less than DISK_RESERVE_BYTES for the service.

Exits with 1 if something could not be copied or failed a check; FOLDER then contains what could be copied.`,
  options: { workspace: { type: 'string' } },
  operands: { min: 1, max: 1 },
  async run({ values, operands: [to = ''] }) {
    const config = readConfig(process.env);
    setPriority(priority);
    const named = textOf(values, 'workspace');
    if (config.cluster === undefined) {
      const dataDir = resolve(config.dataDir);
      requireNoNode(dataDir);
      return backUp(config, { dataDir, to, named });
    }
    // Loaded in a cluster only.
    const { withGathered } = await import('./cluster-gather.ts');
    return withGathered(config, { to: resolve(to), named }, (dataDir) => backUp(config, { dataDir, to, named }));
  },
};

async function backUp(
  config: Config,
  { dataDir, to, named }: { readonly dataDir: string; readonly to: string; readonly named: string | undefined },
): Promise<number> {
  const workspaceId = named === undefined ? undefined : workspaceNamed(dataDir, named).id;
  const progress = createProgress();
  const { manifest, findings } = await backup({
    dataDir,
    to,
    workspaceId,
    program: programVersion(),
    madeAt: new Date().toISOString(),
    secretsElsewhere: [
      ...(config.jwtSecret === undefined ? [] : ['JWT_SECRET']),
      ...(config.secretsKey === undefined ? [] : ['SECRETS_KEY']),
    ],
    reseal: workspaceId === undefined ? undefined : resealing(config, dataDir),
    reserveBytes: config.diskReserveBytes,
    onProgress: progress.at,
  }).finally(progress.end);
  for (const { where, rule, fault } of findings) say(`${where}: failed check: ${rule}: ${fault}`);
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  const { length } = manifest.workspaces;
  say(
    `${resolve(to)}: ${length} ${length === 1 ? 'workspace' : 'workspaces'}, ` +
      `${manifest.workspaces.reduce((sum, { messages }) => sum + messages, 0)} messages, ` +
      `${(bytes / 1e6).toFixed(1)} MB${findings.length === 0 ? ', checked' : ''}`,
  );
  if (manifest.scope === 'all' && manifest.secretsElsewhere.length > 0)
    say(
      `The backup does not contain ${manifest.secretsElsewhere.join(' and ')}, which came from the environment; restore it with the same.`,
    );
  return findings.length === 0 ? exitCodes.done : exitCodes.failed;
}

/**
 * A backup of one workspace must not contain the key of the whole service. Undefined if nothing has been sealed yet.
 */
function resealing(config: Config, dataDir: string): BackupOptions['reseal'] {
  const present = config.secretsKey ?? readKeptSecret(join(dataDir, secretsKeyName));
  if (present === undefined) return undefined;
  const key = randomBytes(secretBytes).toString('base64url');
  return { from: createSecretBox(present), to: createSecretBox(key), key };
}
