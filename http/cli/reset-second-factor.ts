// `switchboard reset-second-factor`: lets an agent sign in with only its password again. The service must not run,
// because it caches what it reads.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { comparable } from '../../engine/mail-addresses.ts';
import { directoryPath } from '../../engine/operations/integrity.ts';
import { resetSecondFactorsOf } from '../../engine/operations/second-factor-reset.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { Database } from '../../store/database.ts';
import { type DirectoryEmail, findDirectoryEmail } from '../../store/directory/directory.ts';
import { readConfig } from '../process/config.ts';
import { takeDataFolder } from '../process/data-folder.ts';
import { type Command, exitCodes, ProgramError, say } from './command.ts';

export const command: Command = {
  usage: 'EMAIL',
  description: `Removes the authenticator app, passkeys and recovery codes of the agent with this email and ends its sign-ins, in the data folder
DATA_DIR. For an agent who lost all of them and has no other admin to ask: verify the person's identity first. The agent then signs in
with its password; if its workspace requires a second factor, it sets up a new one. The service must not run.

The agent is notified by mail when the service runs next. The workspace's audit log and the log of operators' actions record it.`,
  options: {},
  operands: { min: 1, max: 1 },
  async run({ operands: [email = ''] }) {
    const { baseUrl, mailHost, ...config } = readConfig(process.env);
    const dataDir = resolve(config.dataDir);
    if (!existsSync(directoryPath(dataDir))) throw new ProgramError(`there is no data in ${dataDir}`);
    const lock = takeDataFolder(dataDir);
    try {
      const { workspaceId, agentId } = agentWith(dataDir, email) ?? noAgent(dataDir, email);
      const clock = systemClock();
      const settings = { baseUrl, mailHost };
      const nowMs = clock.now();
      if (!resetSecondFactorsOf({ dataDir, workspaceId, agentId, settings, nowMs, ids: createIds(clock) }))
        throw new ProgramError(`${email} has no second factor`);
      say(`Removed the second factors of ${email}. The password is enough to sign in now.`);
      return exitCodes.done;
    } finally {
      lock.release();
    }
  },
};

function agentWith(dataDir: string, email: string): DirectoryEmail | undefined {
  const directory = Database.openReader(directoryPath(dataDir));
  try {
    return findDirectoryEmail(directory, comparable(email));
  } finally {
    directory.close();
  }
}

function noAgent(dataDir: string, email: string): never {
  throw new ProgramError(`${dataDir} has no agent with the email ${email}`);
}
