// The workspace that an operator gives by id or subdomain.

import { existsSync } from 'node:fs';
import { directoryPath } from '../../engine/operations/integrity.ts';
import { Database } from '../../store/database.ts';
import {
  type DirectoryWorkspace,
  findDirectoryWorkspace,
  findDirectoryWorkspaceBySubdomain,
} from '../../store/directory/directory.ts';
import { ProgramError } from './command.ts';

/** `title`: what the folder is, for messages. Throws ProgramError if there is none. */
export function workspaceNamed(dataDir: string, name: string, title = dataDir): DirectoryWorkspace {
  if (!existsSync(directoryPath(dataDir))) throw new ProgramError(`there is no data in ${dataDir}`);
  const directory = Database.openReader(directoryPath(dataDir));
  try {
    const found = findDirectoryWorkspace(directory, name) ?? findDirectoryWorkspaceBySubdomain(directory, name);
    if (found === undefined) throw new ProgramError(`${title} has no workspace with the id or subdomain ${name}`);
    return found;
  } finally {
    directory.close();
  }
}
