// `switchboard verify`: checks all invariants of a data folder, while the service runs or not. Exits with 1 if one is
// violated.

import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  directoryPath,
  type Finding,
  madeWorkspaceIdsIn,
  secretsKeyName,
  verifyAgreement,
  verifyDirectory,
  workspacePath,
} from '../../engine/operations/integrity.ts';
import type { Opener } from '../../engine/operations/sealed-proof.ts';
import { Database } from '../../store/database.ts';
import { searchIndexFaults } from '../../workers/search/integrity.ts';
import { createSecretBox } from '../../workers/secrets/secret-box.ts';
import { type Config, readConfig } from '../process/config.ts';
import { isInUse, readKeptSecret, unfinishedCommand } from '../process/data-folder.ts';
import { folderKeyList, type KeyedFolder, keyFault, standOf } from '../process/folder-keys.ts';
import { Checked } from './checked.ts';
import { type Command, ProgramError } from './command.ts';
import { createProgress } from './progress.ts';

/** A change under way between two files is complete by then. */
const settleMs = 300;
const attempts = 10;

export const command: Command = {
  usage: '[--quiet]',
  description: `Checks the data folder DATA_DIR: files are sound and have the program's schema, rows refer to existing rows, events and tickets are
numbered without gaps, pending work has its time, directory.db agrees with every workspace, the keys are the ones it was served with
and open every secret, and search indexes are complete. Only reads; the service may be running.

With the settings of a node of a cluster, it checks what the cluster has instead, from NATS and the bucket, and needs no node and no DATA_DIR.
Workspaces are put into a temporary folder (TMPDIR) one after the other, which needs twice the room of the largest.

  --quiet  print only problems

Exits with 1 if it finds a problem.`,
  options: { quiet: { type: 'boolean' } },
  operands: { min: 0, max: 0 },
  async run({ values }) {
    const config = readConfig(process.env);
    const isQuiet = values['quiet'] === true;
    // Loaded in a cluster only.
    if (config.cluster !== undefined) return (await import('./cluster-verify.ts')).verifyCluster(config, { isQuiet });
    return verifyFolder(config, { isQuiet });
  },
};

async function verifyFolder(config: Config, { isQuiet }: { readonly isQuiet: boolean }): Promise<number> {
  const dataDir = resolve(config.dataDir);
  if (!existsSync(dataDir)) throw new ProgramError(`there is no data folder ${dataDir}`);
  const checked = new Checked();
  const progress = createProgress();
  const unfinished = unfinishedCommand(dataDir);
  if (unfinished !== undefined)
    checked.tell([
      {
        where: 'the data folder',
        rule: 'every command is finished',
        fault: `an interrupted command must be repeated: switchboard ${unfinished}`,
      },
    ]);
  const ids = madeWorkspaceIdsIn(dataDir);
  const bytes = ids.map((id) => statSync(workspacePath(dataDir, id)).size);
  const allBytes = bytes.reduce((sum, one) => sum + one, 1);
  let doneBytes = 0;
  const inDirectory = existsSync(directoryPath(dataDir))
    ? verifyDirectory(directoryPath(dataDir))
    : [
        {
          where: 'the data folder',
          rule: 'directory.db exists',
          fault: 'it does not; rebuild it from the files: switchboard repair',
        },
      ];
  checked.tell(inDirectory);
  const { box, faults } =
    inDirectory.length > 0 ? { box: givenBox(config, dataDir), faults: [] } : keysOf(config, dataDir);
  checked.tell(faults.map((fault) => ({ where: 'its keys', rule: 'they are the ones it was served with', fault })));
  for (const [index, workspaceId] of ids.entries()) {
    progress.at(doneBytes / allBytes, `workspace ${workspaceId}`);
    const isSound = checked.workspace(dataDir, workspaceId, { box, onChecked: progress.end });
    if (isSound) checked.tell(indexFindings(dataDir, workspaceId));
    doneBytes += bytes[index] ?? 0;
  }
  // Skipped without a sound directory.db, which was reported above.
  if (!checked.findings.some(({ where }) => where.endsWith('directory.db') || where === 'the data folder'))
    checked.tell(await lastingDisagreements(dataDir));
  progress.end();
  return checked.end(dataDir, { isQuiet });
}

/** What opens the secrets, and the problems of the keys. */
function keysOf({ jwtSecret, secretsKey }: Config, dataDir: string): { box: Opener | undefined; faults: string[] } {
  const directory = Database.openReader(directoryPath(dataDir));
  try {
    const folder: KeyedFolder = { dataDir, directory, given: { jwtSecret, secretsKey }, boxOf: createSecretBox };
    const stands = folderKeyList.map((one) => ({ one, ...standOf(folder, one) }));
    const key = stands.find(({ one }) => one.name === 'secrets')?.key;
    return {
      box: key === undefined ? undefined : createSecretBox(key),
      faults: stands.flatMap(({ one, stand }) => keyFault(dataDir, one, stand) ?? []),
    };
  } finally {
    directory.close();
  }
}

/** Without a sound directory.db to compare with. */
function givenBox({ secretsKey }: Config, dataDir: string): Opener | undefined {
  const key = secretsKey ?? readKeptSecret(join(dataDir, secretsKeyName));
  return key === undefined ? undefined : createSecretBox(key);
}

function indexFindings(dataDir: string, workspaceId: string): Finding[] {
  const path = join(dataDir, 'index', `${workspaceId}.db`);
  if (!existsSync(path)) return [];
  const source = Database.openReader(workspacePath(dataDir, workspaceId));
  try {
    return searchIndexFaults(source, path).map((fault) => ({ where: `index/${workspaceId}.db`, ...fault }));
  } finally {
    source.close();
  }
}

/**
 * While the service runs, a change of two files may be seen half done. A real problem is still there on the second
 * look.
 */
async function lastingDisagreements(dataDir: string): Promise<Finding[]> {
  let lasting = verifyAgreement(dataDir);
  for (let attempt = 1; attempt < attempts && lasting.length > 0 && isInUse(dataDir); attempt += 1) {
    await pause(settleMs);
    const now = new Set(verifyAgreement(dataDir).map((finding) => JSON.stringify(finding)));
    lasting = lasting.filter((finding) => now.has(JSON.stringify(finding)));
  }
  return lasting;
}
