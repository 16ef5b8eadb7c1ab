// The schema of both kinds of files as one number, which grows with each migration of either: what a node of a cluster
// can open.

import { directoryMigrations } from './directory.ts';
import { workspaceMigrations } from './workspace.ts';

export const schemaVersion =
  (workspaceMigrations.at(-1)?.version ?? 0) * 1000 + (directoryMigrations.at(-1)?.version ?? 0);
