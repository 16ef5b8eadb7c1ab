// `switchboard reset-second-factor`: lets an agent sign in with only its password again. A server alone must not run,
// because it caches what it reads; in a cluster, the node that serves the agent's workspace does it.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { comparable } from '../../engine/mail-addresses.ts';
import { directoryPath } from '../../engine/operations/integrity.ts';
import { resetSecondFactorsOf, type ServedReset } from '../../engine/operations/second-factor-reset.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { Database } from '../../store/database.ts';
import { type DirectoryEmail, findDirectoryEmail } from '../../store/directory/directory.ts';
import { type Config, readConfig } from '../process/config.ts';
import { takeDataFolder } from '../process/data-folder.ts';
import { type Command, exitCodes, ProgramError, say } from './command.ts';

export const command: Command = {
  usage: 'EMAIL',
  description: `Removes the authenticator app, passkeys and recovery codes of the agent with this email and ends its sign-ins, in the data folder
DATA_DIR. For an agent who lost all of them and has no other admin to ask: verify the person's identity first. The agent then signs in
with its password; if its workspace requires a second factor, it sets up a new one. The service must not run.

The agent is notified by mail when the service runs next. The workspace's audit log and the log of operators' actions record it.

With the settings of a node of a cluster, the node that serves the agent's workspace does it, while it runs; the mail leaves at once.
Repeated, it does no harm.`,
  options: {},
  operands: { min: 1, max: 1 },
  async run({ operands: [email = ''] }) {
    const config = readConfig(process.env);
    const isReset = config.cluster === undefined ? resetInFolder(config, email) : await resetInCluster(config, email);
    if (!isReset) throw new ProgramError(`${email} has no second factor`);
    say(`Removed the second factors of ${email}. The password is enough to sign in now.`);
    return exitCodes.done;
  },
};

function resetInFolder({ baseUrl, mailHost, ...config }: Config, email: string): boolean {
  const dataDir = resolve(config.dataDir);
  if (!existsSync(directoryPath(dataDir))) throw new ProgramError(`there is no data in ${dataDir}`);
  const lock = takeDataFolder(dataDir);
  try {
    const { workspaceId, agentId } = agentWith(dataDir, email, dataDir);
    const clock = systemClock();
    const settings = { baseUrl, mailHost };
    return resetSecondFactorsOf({
      dataDir,
      workspaceId,
      agentId,
      settings,
      nowMs: clock.now(),
      ids: createIds(clock),
    });
  } finally {
    lock.release();
  }
}

async function resetInCluster(config: Config, email: string): Promise<boolean> {
  // Loaded in a cluster only.
  const { inTemporaryFolder } = await import('./cluster-gather.ts');
  const { askOwner } = await import('./cluster-asking.ts');
  return inTemporaryFolder(config, async ({ dataDir, title, store }) => {
    const { workspaceId, agentId } = agentWith(dataDir, email, title);
    const reset: ServedReset = { entryId: createIds(systemClock()).uuid(), workspaceId, agentId };
    const call = { name: 'reset-second-factors', params: reset };
    const { result, mayHaveBeenDone } = await askOwner(store, workspaceId, call);
    return result === true || mayHaveBeenDone;
  });
}

/** `title`: where it was looked for. */
function agentWith(dataDir: string, email: string, title: string): DirectoryEmail {
  const directory = Database.openReader(directoryPath(dataDir));
  try {
    const found = findDirectoryEmail(directory, comparable(email));
    if (found === undefined) throw new ProgramError(`${title} has no agent with the email ${email}`);
    return found;
  } finally {
    directory.close();
  }
}
