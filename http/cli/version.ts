// `switchboard version`: prints the versions of the program, its parts, and the files it understands.

import { directoryMigrations } from '../../store/migrations/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { isExecutable, programVersion } from '../../workers/program-files.ts';
import { type Command, exitCodes, say } from './command.ts';

export const command: Command = {
  usage: '',
  description: 'Prints the version of the program, of its parts, and of the data that it writes.',
  options: {},
  operands: { min: 0, max: 0 },
  async run() {
    say(
      [
        `switchboard ${programVersion()}${isExecutable ? '' : ' (from source)'}`,
        `  node      ${process.versions.node}, ${process.platform} ${process.arch}`,
        `  schema    workspace ${workspaceMigrations.at(-1)?.version}, directory ${directoryMigrations.at(-1)?.version}`,
      ].join('\n'),
    );
    return exitCodes.done;
  },
};
