// `switchboard verify` with the settings of a node: checks what the cluster has in NATS, one workspace after the other, so
// that the disk holds one at a time. Search indexes are a node's own, made again from what is checked here.

import { setTimeout as pause } from 'node:timers/promises';
import {
  directoryPath,
  type Finding,
  isMade,
  verifyAgreementOf,
  verifyDirectory,
} from '../../engine/operations/integrity.ts';
import type { Opener } from '../../engine/operations/sealed-proof.ts';
import { directoryId, LogUnreachable, SnapshotsUnreachable } from '../../engine/runtime/cluster/ports.ts';
import { Database } from '../../store/database.ts';
import { Unavailable } from '../../workers/failures.ts';
import { createSecretBox } from '../../workers/secrets/secret-box.ts';
import type { Config } from '../process/config.ts';
import { folderKeyList, standOf } from '../process/folder-keys.ts';
import { Checked } from './checked.ts';
import { type Gathering, inTemporaryFolder } from './cluster-gather.ts';
import { ProgramError } from './command.ts';
import { createProgress } from './progress.ts';

/** A change under way between two files is complete by then. */
const settleMs = 300;
/** Each fetches both files again. */
const attempts = 3;

/** Resolves to the exit code. */
export function verifyCluster(config: Config, { isQuiet }: { readonly isQuiet: boolean }): Promise<number> {
  return inTemporaryFolder(config, async (gathering) => {
    const checked = new Checked();
    const inDirectory = verifyDirectory(directoryPath(gathering.dataDir));
    checked.tell(inDirectory);
    // What it lists, and how it is spelled, nobody knows without it.
    if (inDirectory.length > 0) return checked.end(gathering.title, { isQuiet });
    checked.tell(keyFindings(config, gathering));
    const { secretsKey } = config;
    const box = secretsKey === undefined ? undefined : createSecretBox(secretsKey);
    const progress = createProgress();
    const ids = [...new Set([...gathering.listed(), ...(await gathering.owned())])].sort();
    try {
      for (const [index, id] of ids.entries()) {
        progress.at(index / ids.length, `workspace ${id}`);
        await checkWorkspace({ gathering, checked, box, onChecked: progress.end }, id);
      }
    } finally {
      progress.end();
    }
    return checked.end(gathering.title, { isQuiet });
  });
}

interface Checking {
  readonly gathering: Gathering;
  readonly checked: Checked;
  readonly box: Opener | undefined;
  onChecked(): void;
}

async function checkWorkspace({ gathering, checked, box, onChecked }: Checking, id: string): Promise<void> {
  try {
    if (!(await gathering.fetch(id))) {
      onChecked();
      return checked.tell(await missing(gathering, id));
    }
    // One that is being registered, or whose registration failed.
    if (!gathering.listed().includes(id) && !isMade(gathering.pathOf(id))) return;
    const isSound = checked.workspace(gathering.dataDir, id, { box, onChecked });
    if (isSound) checked.tell(await lastingDisagreements(gathering, id));
  } catch (error) {
    const passing = [LogUnreachable, SnapshotsUnreachable, Unavailable, ProgramError];
    if (passing.some((kind) => error instanceof kind)) throw error;
    onChecked();
    const fault = error instanceof Error ? error.message : String(error);
    checked.tell([{ where: `workspaces/${id}.db`, rule: 'its snapshot and its log give the file', fault }]);
  } finally {
    gathering.remove(id);
  }
}

/** Of one that the directory lists and that was not erased meanwhile. */
async function missing(gathering: Gathering, id: string): Promise<Finding[]> {
  await gathering.fetch(directoryId);
  const isListed = gathering.listed().includes(id);
  return isListed ? [{ where: 'directory.db', rule: 'every workspace has its file', fault: `${id} has none` }] : [];
}

/** The files are as of two moments: a real problem is still there when both are fetched again. */
async function lastingDisagreements(gathering: Gathering, id: string): Promise<Finding[]> {
  let lasting = verifyAgreementOf(gathering.dataDir, id);
  for (let attempt = 1; attempt < attempts && lasting.length > 0; attempt += 1) {
    await pause(settleMs);
    await gathering.fetch(directoryId);
    // Erased meanwhile.
    if (!(await gathering.fetch(id)) || !(await isThere(gathering, id))) return [];
    const now = new Set(verifyAgreementOf(gathering.dataDir, id).map((finding) => JSON.stringify(finding)));
    lasting = lasting.filter((finding) => now.has(JSON.stringify(finding)));
  }
  return lasting;
}

async function isThere(gathering: Gathering, id: string): Promise<boolean> {
  return gathering.listed().includes(id) || (await gathering.owned()).includes(id);
}

/** Before workspaces are fetched: their own secrets are tried with each. */
function keyFindings({ jwtSecret, secretsKey }: Config, { dataDir, title }: Gathering): Finding[] {
  const directory = Database.openReader(directoryPath(dataDir));
  try {
    const folder = { dataDir, directory, given: { jwtSecret, secretsKey }, boxOf: createSecretBox };
    return folderKeyList
      .filter((one) => standOf(folder, one).stand === 'another')
      .map(({ setting, loss }) => ({
        where: 'its keys',
        rule: 'they are the ones it was served with',
        fault: `${setting} is not the one that ${title} was served with; set the former one on every node, or accept this one, ${loss}`,
      }));
  } finally {
    directory.close();
  }
}
