// Restores a backup: everything into an empty folder, or one workspace beside others, as it was or as a copy under a
// new name. The caller holds the data folder's lock and ensures that an interrupted restore is repeated before the data
// is served.

import { chmod, copyFile, mkdir, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Database, removeDatabase, syncFile, syncFolder } from '../../store/database.ts';
import { directoryWorkspaces, subdomainTaken } from '../../store/directory/directory.ts';
import { insertOperatorAudit } from '../../store/directory/operator-audit.ts';
import { placeKinds } from '../../store/directory/places.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { becomeCopy } from '../../store/operations/copied-workspace.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';
import { compactId } from '../directory/compact-ids.ts';
import { isReservedName } from '../directory/reserved-names.ts';
import type { Ids } from '../runtime/ids.ts';
import { slugOf } from '../text.ts';
import { BackupUnusable, bringIntoAgreement, type Manifest, othersIn, resealSecrets, settle } from './backup.ts';
import { directoryPath, workspaceIdsIn, workspacePath } from './integrity.ts';

export interface RestoreOptions {
  readonly from: string;
  readonly manifest: Manifest;
  readonly dataDir: string;
  readonly at: string;
  readonly ids: Ids;
  /** The sender address of the service's own mail: its name is reserved. */
  readonly mailFrom: string;
  onProgress(share: number, doing: string): void;
}

const ownerOnly = 0o600;
/** Files that an empty folder may contain. */
const ofNobody: ReadonlySet<string> = new Set(['lock', 'lost+found', 'unfinished']);

/** True if the folder contains nothing that a restore could overwrite. */
export async function isEmptyDataFolder(dataDir: string): Promise<boolean> {
  return (await readdir(dataDir)).every((name) => ofNobody.has(name.replace(/-(?:wal|shm|journal)$/, '')));
}

/** Restores everything as it was. Overwrites what an interrupted attempt left. */
export async function restoreAll(options: RestoreOptions): Promise<void> {
  const { from, manifest, dataDir, onProgress } = options;
  if (manifest.scope !== 'all') throw new BackupUnusable(`${from} holds one workspace`);
  const allBytes = manifest.files.reduce((sum, { bytes }) => sum + bytes, 1);
  let doneBytes = 0;
  for (const { path, bytes } of manifest.files) {
    await copyDurably(join(from, path), join(dataDir, path));
    doneBytes += bytes;
    onProgress(doneBytes / allBytes, path);
  }
  for (const { id } of manifest.workspaces)
    Database.openWriter(workspacePath(dataDir, id), workspaceMigrations).close();
  withDirectory(dataDir, (directory) => {
    for (const { id } of manifest.workspaces) note(directory, options, id, { from, madeAt: manifest.madeAt });
  });
}

export interface OneRestored {
  readonly workspaceId: string;
  /** Undefined: as it was. Otherwise the name for a second workspace beside the first. */
  readonly as: string | undefined;
  /** Boxes that open the secrets in the backup and seal them for this data folder. */
  readonly secrets: { readonly from: SecretBox; readonly to: SecretBox };
  /** An attempt was interrupted: files unknown to directory.db are its remains. */
  readonly isAgain: boolean;
  /** Runs the part that must not be seen half done. All refusals come before it. */
  whole(act: () => Promise<void>): Promise<void>;
}

/**
 * Restores one workspace beside the others. Resolves to its id and subdomain. Rejects with BackupUnusable if its names
 * or addresses are taken.
 */
export async function restoreWorkspace(
  options: RestoreOptions,
  one: OneRestored,
): Promise<{ workspaceId: string; subdomain: string }> {
  const { from, dataDir, at } = options;
  const workspaceId = one.as === undefined ? one.workspaceId : options.ids.uuid();
  const path = workspacePath(dataDir, workspaceId);
  const part = `${path}.part`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  removeDatabase(part);
  await copyDurably(workspacePath(from, one.workspaceId), part);
  const directory = Database.openWriter(directoryPath(dataDir), directoryMigrations);
  try {
    const db = Database.openWriter(part, workspaceMigrations);
    let subdomain: string;
    try {
      subdomain =
        one.as === undefined
          ? subdomainIn(db)
          : copyAs(db, directory, { ...one, as: one.as, newId: workspaceId, at, mailFrom: options.mailFrom });
      requireFreePlaces(directory, db, workspaceId);
    } finally {
      db.close();
    }
    settle(part);
    if (one.as === undefined) resealSecrets(part, { workspaceId, ...one.secrets });
    await one.whole(async () => {
      if (one.isAgain) forgetUnknown(directory, dataDir);
      for (const other of await othersIn(from, { only: one.workspaceId })) {
        await copyDurably(join(from, other), join(dataDir, other.replaceAll(one.workspaceId, workspaceId)));
      }
      removeDatabase(join(dataDir, 'index', `${workspaceId}.db`));
      await rename(part, path);
      syncFolder(dirname(path));
      directory.begin();
      bringIntoAgreement(directory, dataDir, workspaceId);
      note(directory, options, workspaceId, {
        from,
        madeAt: options.manifest.madeAt,
        ...(one.as === undefined ? {} : { copyOf: one.workspaceId }),
      });
      directory.commit();
    });
    return { workspaceId, subdomain };
  } catch (error) {
    removeDatabase(part);
    throw error;
  } finally {
    directory.rollback();
    directory.close();
    settle(directoryPath(dataDir));
  }
}

function forgetUnknown(directory: Database, dataDir: string): void {
  const known = new Set(directoryWorkspaces(directory).map(({ id }) => id));
  for (const id of workspaceIdsIn(dataDir)) if (!known.has(id)) removeDatabase(workspacePath(dataDir, id));
}

function copyAs(
  db: Database,
  directory: Database,
  copy: { workspaceId: string; newId: string; as: string; at: string; mailFrom: string },
): string {
  const wanted = slugOf(copy.as);
  let subdomain = wanted;
  for (let suffix = 2; isReservedName(subdomain, copy.mailFrom) || subdomainTaken(directory, subdomain); suffix += 1)
    subdomain = `${wanted}-${suffix}`;
  db.overwriteDeleted();
  db.begin();
  try {
    becomeCopy(db, {
      formerId: copy.workspaceId,
      workspaceId: copy.newId,
      name: copy.as,
      subdomain,
      compactId: compactId(copy.newId),
      at: copy.at,
    });
    db.commit();
  } finally {
    db.rollback();
  }
  return subdomain;
}

function subdomainIn(db: Database): string {
  return placeKinds.find(({ title }) => title === 'subdomain')?.ofWorkspace(db)[0]?.name ?? '';
}

function requireFreePlaces(directory: Database, db: Database, workspaceId: string): void {
  const taken = placeKinds.flatMap((kind) =>
    kind
      .ofWorkspace(db)
      .filter(({ name, text }) => !text.endsWith(' released') && kind.isTaken(directory, workspaceId, name))
      .map(({ name }) => `${kind.title} ${name}`),
  );
  if (taken.length > 0)
    throw new BackupUnusable(
      `another workspace has its ${taken.join(', its ')}; use --as NAME to restore it as a copy`,
    );
}

function note(directory: Database, { ids, at }: RestoreOptions, workspaceId: string, context: object): void {
  insertOperatorAudit(directory, {
    id: ids.uuid(),
    action: 'workspace.restored',
    targetKind: 'workspace',
    targetId: workspaceId,
    context,
    createdAt: at,
  });
}

function withDirectory(dataDir: string, change: (directory: Database) => void): void {
  const directory = Database.openWriter(directoryPath(dataDir), directoryMigrations);
  directory.begin();
  try {
    change(directory);
    directory.commit();
  } finally {
    directory.rollback();
    directory.close();
  }
  settle(directoryPath(dataDir));
}

/** The file appears under its name complete or not at all. */
async function copyDurably(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const part = `${to}.part`;
  await copyFile(from, part);
  // A copy inherits the mode of its source, which may be read-only or open to others.
  await chmod(part, ownerOnly);
  syncFile(part);
  await rename(part, to);
  syncFolder(dirname(to));
}
