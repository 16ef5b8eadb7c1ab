// Checks that the content of the data folder is consistent: directory.db, the files of workspaces, and the key that
// sealed their secrets. If no workspace can be served correctly, the service does not start. Faults of single
// workspaces are logged by id and counted in /readyz and /metrics, and the others are served.

import { existsSync, statSync } from 'node:fs';
import { directoryPath, workspaceIdsIn, workspacePath } from '../../engine/operations/integrity.ts';
import { type Opener, opens } from '../../engine/operations/sealed-proof.ts';
import type { Log } from '../../engine/runtime/log.ts';
import type { Database } from '../../store/database.ts';
import { directoryWorkspaces } from '../../store/directory/directory.ts';
import type { Glance } from '../../store/glance.ts';
import { DataFolderUnusable } from './data-folder.ts';

type FaultKind = 'missing' | 'empty' | 'unknown' | 'unopened';

interface Fault {
  /** For the log. */
  readonly text: string;
  /** For /readyz, which shows no ids. */
  summary(count: number): string;
}

const workspaces = (count: number): string => (count === 1 ? 'one workspace' : `${count} workspaces`);

const faults: Readonly<Record<FaultKind, Fault>> = {
  missing: {
    text: 'the file of a workspace in directory.db is missing; the workspace is not served. Restore it from a backup, or give it up: switchboard repair --forget-missing',
    summary: (count) =>
      `${workspaces(count)} without a file: restore from a backup, or run switchboard repair --forget-missing`,
  },
  empty: {
    text: 'the file of a workspace is empty; the workspace is not served. Restore it from a backup',
    summary: (count) => `${workspaces(count)} with an empty file: restore from a backup`,
  },
  unknown: {
    text: 'directory.db lacks a workspace whose file exists, so its agents cannot sign in; directory.db may be older than the file. Rebuild it from the files: switchboard repair',
    summary: (count) => `${workspaces(count)} missing in directory.db: run switchboard repair`,
  },
  unopened: {
    text: "secrets in the file of a workspace were sealed with another key than the present one; restore that key, or replace the workspace's secrets. switchboard verify counts them",
    summary: (count) => `${workspaces(count)} with secrets sealed with another key: run switchboard verify`,
  },
};

/** Throws DataFolderUnusable when there are workspaces and no directory.db. */
export function requireDirectory(dataDir: string): void {
  if (!existsSync(directoryPath(dataDir)) && workspaceIdsIn(dataDir).length > 0)
    throw noDirectory(dataDir, 'has no directory.db');
}

/** Throws DataFolderUnusable when directory.db knows none of the existing workspaces. */
export function requireKnown(dataDir: string, directory: Database): void {
  const known = new Set(directoryWorkspaces(directory).map(({ id }) => id));
  const ids = workspaceIdsIn(dataDir);
  if (ids.length > 0 && !ids.some((id) => known.has(id)))
    throw noDirectory(dataDir, 'has a directory.db that lists none of them');
}

function noDirectory(dataDir: string, fault: string): DataFolderUnusable {
  const { length } = workspaceIdsIn(dataDir);
  return new DataFolderUnusable(
    `the data folder ${dataDir} holds the ${length === 1 ? 'file of a workspace' : `files of ${length} workspaces`} and ${fault}, so no agent could sign in; restore it from a backup, or rebuild it from the files: switchboard repair`,
  );
}

export class FolderFaults {
  readonly #dataDir: string;
  readonly #log: Log;
  readonly #found: Readonly<Record<FaultKind, Set<string>>> = {
    missing: new Set(),
    empty: new Set(),
    unknown: new Set(),
    unopened: new Set(),
  };

  constructor({ dataDir, log }: { dataDir: string; log: Log }) {
    this.#dataDir = dataDir;
    this.#log = log;
  }

  /** Compares the list of workspaces with the files, in both directions. */
  compare(directory: Database): void {
    const files = new Set(workspaceIdsIn(this.#dataDir));
    const known = new Set<string>();
    for (const { id, reservedAt } of directoryWorkspaces(directory)) {
      known.add(id);
      // A workspace that is being made may have no file yet.
      if (reservedAt !== null) continue;
      if (!files.has(id)) this.#note('missing', id);
      else if (statSync(workspacePath(this.#dataDir, id)).size === 0) this.#note('empty', id);
    }
    for (const id of files) if (!known.has(id)) this.#note('unknown', id);
  }

  /** Checks the file of a workspace that directory.db knows. */
  judge(workspaceId: string, glance: Glance, box: Opener): void {
    if (glance.state !== 'current') return;
    if (glance.workspaceId === undefined) this.#note('empty', workspaceId);
    else if (glance.sealed !== undefined && !opens(box, workspaceId, glance.sealed))
      this.#note('unopened', workspaceId);
  }

  get count(): number {
    return this.#kinds().reduce((sum, [, ids]) => sum + ids.size, 0);
  }

  /** Totals, without ids. */
  get lines(): string[] {
    return this.#kinds().flatMap(([kind, ids]) => (ids.size === 0 ? [] : [faults[kind].summary(ids.size)]));
  }

  #kinds(): [FaultKind, Set<string>][] {
    // A restored file is served.
    for (const id of this.#found.missing)
      if (existsSync(workspacePath(this.#dataDir, id))) this.#found.missing.delete(id);
    return (['missing', 'empty', 'unknown', 'unopened'] as const).map((kind) => [kind, this.#found[kind]]);
  }

  #note(kind: FaultKind, workspaceId: string): void {
    if (this.#found[kind].has(workspaceId)) return;
    this.#found[kind].add(workspaceId);
    this.#log.error({ workspaceId }, faults[kind].text);
  }
}
