// What a program must know to open the files of a cluster as one number, which grows with the format of their log, with the
// places where snapshots may be, and with each migration of either kind of file: nodes leave alone what is above theirs.

import { directoryMigrations } from './migrations/directory.ts';
import { workspaceMigrations } from './migrations/workspace.ts';
import { format } from './page-log/pieces.ts';

const [workspace, directory] = [workspaceMigrations, directoryMigrations].map((all) => all.at(-1)?.version ?? 0);

/** 1: JetStream, and a bucket. */
const snapshotPlaces = 1;

export const schemaVersion = (format + snapshotPlaces) * 1_000_000 + (workspace ?? 0) * 1000 + (directory ?? 0);
