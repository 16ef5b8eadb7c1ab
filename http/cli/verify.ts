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
  verifyWorkspace,
  workspacePath,
} from '../../engine/operations/integrity.ts';
import { countSealed, type Opener } from '../../engine/operations/sealed-proof.ts';
import { Database } from '../../store/database.ts';
import { searchIndexFaults } from '../../workers/search/integrity.ts';
import { createSecretBox } from '../../workers/secrets/secret-box.ts';
import { type Config, readConfig } from '../process/config.ts';
import { isInUse, readKeptSecret, unfinishedCommand } from '../process/data-folder.ts';
import { folderKeyList, type KeyedFolder, keyFault, standOf } from '../process/folder-keys.ts';
import { type Command, exitCodes, ProgramError, say } from './command.ts';
import { createProgress } from './progress.ts';

/** A change under way between two files is complete by then. */
const settleMs = 300;
const attempts = 10;

export const command: Command = {
  usage: '[--quiet]',
  description: `Checks the data folder DATA_DIR: files are sound and have the program's schema, rows refer to existing rows, events and tickets are
numbered without gaps, pending work has its time, directory.db agrees with every workspace, the keys are the ones it was served with
and open every secret, and search indexes are complete. Only reads; the service may be running.

  --quiet  print only problems

Exits with 1 if it finds a problem.`,
  options: { quiet: { type: 'boolean' } },
  operands: { min: 0, max: 0 },
  async run({ values }) {
    const config = readConfig(process.env);
    const dataDir = resolve(config.dataDir);
    if (!existsSync(dataDir)) throw new ProgramError(`there is no data folder ${dataDir}`);
    const findings: Finding[] = [];
    const tell = (found: readonly Finding[]): void => {
      for (const { where, rule, fault } of found) say(`${where}: failed check: ${rule}: ${fault}`);
      findings.push(...found);
    };
    const progress = createProgress();
    const unfinished = unfinishedCommand(dataDir);
    if (unfinished !== undefined)
      tell([
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
    let messages = 0;
    const inDirectory = existsSync(directoryPath(dataDir))
      ? verifyDirectory(directoryPath(dataDir))
      : [
          {
            where: 'the data folder',
            rule: 'directory.db exists',
            fault: 'it does not; rebuild it from the files: switchboard repair',
          },
        ];
    tell(inDirectory);
    const { box, faults } =
      inDirectory.length > 0 ? { box: givenBox(config, dataDir), faults: [] } : keysOf(config, dataDir);
    tell(faults.map((fault) => ({ where: 'its keys', rule: 'they are the ones it was served with', fault })));
    for (const [index, workspaceId] of ids.entries()) {
      progress.at(doneBytes / allBytes, `workspace ${workspaceId}`);
      const { findings: found, counts } = verifyWorkspace(workspacePath(dataDir, workspaceId), workspaceId);
      progress.end();
      tell(found);
      if (counts !== undefined)
        tell([...sealedFindings(dataDir, workspaceId, box), ...indexFindings(dataDir, workspaceId)]);
      messages += counts?.messages ?? 0;
      doneBytes += bytes[index] ?? 0;
    }
    // Skipped without a sound directory.db, which was reported above.
    if (!findings.some(({ where }) => where.endsWith('directory.db') || where === 'the data folder'))
      tell(await lastingDisagreements(dataDir));
    progress.end();
    if (findings.length > 0) {
      say(`${dataDir}: ${findings.length === 1 ? '1 problem' : `${findings.length} problems`}`);
      return exitCodes.failed;
    }
    if (values['quiet'] !== true)
      say(
        `${dataDir}: ${ids.length} ${ids.length === 1 ? 'workspace' : 'workspaces'} with ${messages} messages, no problems`,
      );
    return exitCodes.done;
  },
};

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

function sealedFindings(dataDir: string, workspaceId: string, box: Opener | undefined): Finding[] {
  const db = Database.openReader(workspacePath(dataDir, workspaceId));
  try {
    const { sealed, unopened } = countSealed(db, workspaceId, box);
    return unopened === 0
      ? []
      : [
          {
            where: `workspaces/${workspaceId}.db`,
            rule: 'sealed secrets can be opened',
            fault: `${unopened} of ${sealed} secrets cannot, with the present key`,
          },
        ];
  } finally {
    db.close();
  }
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
