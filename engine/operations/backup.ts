// A backup is a folder: a snapshot of every file of the data folder, reconciled, checked and listed with its hash in
// manifest.json, which is written last. Either everything, or one workspace with a separate key for its secrets. Made
// outside the serving process; engine/operations/restore.ts restores it.

import { createHash } from 'node:crypto';
import { createReadStream, existsSync, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { Database, isDuplicate, syncFile, syncFolder } from '../../store/database.ts';
import { deleteReservations, directoryWorkspaces } from '../../store/directory/directory.ts';
import { placeKinds } from '../../store/directory/places.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { sealedPlaces } from '../../store/workspace/sealed-secrets.ts';
import { findWorkspace } from '../../store/workspace/workspaces.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';
import {
  directoryPath,
  type Finding,
  secretsKeyName,
  verifyAgreement,
  verifyDirectory,
  verifyWorkspace,
  type WorkspaceCounts,
  workspaceIdsIn,
  workspacePath,
} from './integrity.ts';

export interface BackupFile {
  /** Relative to the backup's folder, with slashes. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface BackedUpWorkspace extends WorkspaceCounts {
  readonly id: string;
  readonly name: string;
  readonly subdomain: string;
}

export interface Manifest {
  readonly format: 1;
  readonly scope: 'all' | 'workspace';
  /** The version of the program that made it. */
  readonly program: string;
  readonly madeAt: string;
  readonly workspaces: readonly BackedUpWorkspace[];
  /**
   * Secrets that came from the environment and are not in the backup: what they sealed can only be opened with them.
   */
  readonly secretsElsewhere: readonly string[];
  readonly files: readonly BackupFile[];
}

/** The backup cannot be made or used. */
export class BackupUnusable extends Error {
  override readonly name = 'BackupUnusable';
}

export interface BackupOptions {
  readonly dataDir: string;
  /** The folder to create. */
  readonly to: string;
  /** Undefined: all. */
  readonly workspaceId: string | undefined;
  readonly program: string;
  readonly madeAt: string;
  readonly secretsElsewhere: readonly string[];
  /** For one workspace: the box that its secrets are sealed with now, and the backup's own box and key. */
  readonly reseal: { readonly from: SecretBox; readonly to: SecretBox; readonly key: string } | undefined;
  /** Disk space to leave free if the backup is on the same disk as the data. */
  readonly reserveBytes: number;
  onProgress(share: number, doing: string): void;
}

const manifestName = 'manifest.json';
const formatVersion = 1;
/** Files that belong to a process, are sent again, are rebuilt, or are copied separately. */
const notCopied =
  /^(?:lock|unfinished|incoming|imports|index|directory\.db|workspaces|.*\.part)(?:-wal|-shm|-journal)?$/;

/**
 * Resolves to the backup's content. `findings` lists workspaces that could not be read and are missing; all others are
 * included.
 */
export async function backup(options: BackupOptions): Promise<{ manifest: Manifest; findings: Finding[] }> {
  const to = resolve(options.to);
  if (existsSync(to)) throw new BackupUnusable(`${to} already exists`);
  const part = `${to}.part`;
  await rm(part, { recursive: true, force: true });
  await mkdir(join(part, 'workspaces'), { recursive: true, mode: 0o700 });
  await requireRoom(options, part);
  const { workspaces, findings } =
    options.workspaceId === undefined
      ? await copyAll(options, part)
      : await copyOne(options, part, options.workspaceId);
  const files = await listFiles(part, (share) => options.onProgress(share, 'checking'));
  const { program, madeAt, secretsElsewhere } = options;
  const manifest: Manifest = {
    format: formatVersion,
    scope: options.workspaceId === undefined ? 'all' : 'workspace',
    program,
    madeAt,
    workspaces,
    secretsElsewhere,
    files,
  };
  await writeFile(join(part, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  syncFile(join(part, manifestName));
  syncFolder(part);
  await rename(part, to);
  syncFolder(dirname(to));
  return { manifest, findings };
}

/** The backup's manifest, once every file is verified. Rejects with BackupUnusable. */
export async function readBackup(from: string, onProgress: (share: number) => void): Promise<Manifest> {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(await readFile(join(from, manifestName), 'utf8')) as Manifest;
  } catch (cause) {
    throw new BackupUnusable(`${from} is not a backup, or an unfinished one: its ${manifestName} cannot be read`, {
      cause,
    });
  }
  if (manifest.format !== formatVersion)
    throw new BackupUnusable(
      `${from} has format ${manifest.format}, and this program only knows ${formatVersion}: install a newer one`,
    );
  const allBytes = manifest.files.reduce((sum, { bytes }) => sum + bytes, 1);
  let doneBytes = 0;
  for (const { path, bytes, sha256 } of manifest.files) {
    // A manifest is untrusted input: it must not name anything outside its folder.
    if (relative(from, resolve(from, path)).startsWith('..'))
      throw new BackupUnusable(`${from} names a file outside of it`);
    const found = await hashOf(join(from, path)).catch(() => undefined);
    if (found !== sha256) throw new BackupUnusable(`${join(from, path)} has changed since it was written`);
    doneBytes += bytes;
    onProgress(doneBytes / allBytes);
  }
  return manifest;
}

/** Checked before anything is copied: a backup that fills the disk would harm the service it protects. */
async function requireRoom({ dataDir, to, workspaceId, reserveBytes }: BackupOptions, part: string): Promise<void> {
  const sizeOf = (path: string): Promise<number> =>
    stat(path).then(
      ({ size }) => size,
      () => 0,
    );
  const databases =
    workspaceId === undefined
      ? [directoryPath(dataDir), ...workspaceIdsIn(dataDir).map((id) => workspacePath(dataDir, id))]
      : [workspacePath(dataDir, workspaceId)];
  const others = await othersIn(dataDir, { except: resolve(to), only: workspaceId });
  let bytes = 0;
  for (const path of [
    ...databases.flatMap((database) => [database, `${database}-wal`]),
    ...others.map((path) => join(dataDir, path)),
  ])
    bytes += await sizeOf(path);
  const { bavail, bsize } = await statfs(part);
  const kept = (await stat(part)).dev === (await stat(dataDir)).dev ? reserveBytes : 0;
  if (bavail * bsize >= bytes + kept) return;
  await rm(part, { recursive: true });
  const inMb = (size: number): string => `${(size / 1e6).toFixed(1)} MB`;
  throw new BackupUnusable(
    `${dirname(to)} has ${inMb(bavail * bsize)} free: the backup may take ${inMb(bytes)}${kept === 0 ? '' : `, and ${inMb(kept)} must stay free for the service (DISK_RESERVE_BYTES)`}`,
  );
}

async function copyAll(
  options: BackupOptions,
  part: string,
): Promise<{ workspaces: BackedUpWorkspace[]; findings: Finding[] }> {
  const { dataDir, onProgress } = options;
  if (!existsSync(directoryPath(dataDir))) throw new BackupUnusable(`there is no data in ${dataDir}`);
  await copyDatabase(directoryPath(dataDir), directoryPath(part), () => {});
  // Anything newer is in the next backup.
  const directory = Database.openWriter(directoryPath(part), directoryMigrations);
  const ids = directoryWorkspaces(directory)
    .filter(({ reservedAt }) => reservedAt === null)
    .map(({ id }) => id);
  const workspaces: BackedUpWorkspace[] = [];
  const findings: Finding[] = [];
  try {
    for (const [index, workspaceId] of ids.entries()) {
      const copied = await copyWorkspace(options, part, workspaceId, (share) =>
        onProgress((index + share) / ids.length, `workspace ${workspaceId}`),
      );
      findings.push(...copied.findings);
      if (copied.workspace !== undefined) workspaces.push(copied.workspace);
    }
    // Each file is a snapshot of its own moment; the workspace's file is authoritative.
    directory.begin();
    deleteReservations(directory);
    for (const { id } of workspaces) bringIntoAgreement(directory, part, id);
    directory.commit();
  } catch (error) {
    // An address or number that moved from one workspace to another between their snapshots.
    if (isDuplicate(error))
      throw new BackupUnusable(
        'an address or a number moved from one workspace to another during the backup; run it again',
        { cause: error },
      );
    throw error;
  } finally {
    directory.rollback();
    directory.close();
  }
  settle(directoryPath(part));
  // Last, so that the files named by messages exist already.
  await copyOthers(dataDir, part, { except: resolve(options.to), only: undefined });
  if (findings.length === 0) findings.push(...verifyDirectory(directoryPath(part)), ...verifyAgreement(part));
  return { workspaces, findings };
}

async function copyOne(
  options: BackupOptions,
  part: string,
  workspaceId: string,
): Promise<{ workspaces: BackedUpWorkspace[]; findings: Finding[] }> {
  const { dataDir, reseal } = options;
  if (!existsSync(workspacePath(dataDir, workspaceId)))
    throw new BackupUnusable(`${dataDir} holds no workspace ${workspaceId}`);
  const { workspace, findings } = await copyWorkspace(options, part, workspaceId, (share) =>
    options.onProgress(share, `workspace ${workspaceId}`),
  );
  if (workspace === undefined)
    throw new BackupUnusable(`workspace ${workspaceId} cannot be copied: ${findings[0]?.fault ?? 'it is damaged'}`);
  if (reseal !== undefined) {
    resealSecrets(workspacePath(part, workspaceId), { workspaceId, from: reseal.from, to: reseal.to });
    await writeFile(join(part, secretsKeyName), `${reseal.key}\n`, { mode: 0o600 });
  }
  await copyOthers(dataDir, part, { except: resolve(options.to), only: workspaceId });
  return { workspaces: [workspace], findings };
}

async function copyWorkspace(
  options: BackupOptions,
  part: string,
  workspaceId: string,
  onProgress: (share: number) => void,
): Promise<{ workspace: BackedUpWorkspace | undefined; findings: Finding[] }> {
  const where = `workspaces/${workspaceId}.db`;
  const copy = workspacePath(part, workspaceId);
  try {
    await copyDatabase(workspacePath(options.dataDir, workspaceId), copy, onProgress);
    // The copy may be of a file from an older version that this one has not opened yet.
    Database.openWriter(copy, workspaceMigrations).close();
    settle(copy);
  } catch (error) {
    await rm(copy, { force: true });
    return {
      workspace: undefined,
      findings: [
        { where, rule: 'the file can be copied', fault: error instanceof Error ? error.message : String(error) },
      ],
    };
  }
  const { findings, counts } = verifyWorkspace(copy, workspaceId);
  const db = Database.openReader(copy);
  try {
    const workspace = counts === undefined ? undefined : findWorkspace(db);
    if (workspace === undefined || counts === undefined)
      return {
        workspace: undefined,
        findings:
          findings.length > 0 ? findings : [{ where, rule: 'the file holds one workspace', fault: 'it holds none' }],
      };
    return {
      workspace: { id: workspaceId, name: workspace.name, subdomain: workspace.subdomain, ...counts },
      findings,
    };
  } finally {
    db.close();
  }
}

async function copyDatabase(from: string, to: string, onProgress: (share: number) => void): Promise<void> {
  const db = Database.openReader(from);
  try {
    await db.backupTo(to, onProgress);
  } finally {
    db.close();
  }
}

/** Updates directory.db from a workspace's file. Runs in the caller's transaction. */
export function bringIntoAgreement(directory: Database, dataDir: string, workspaceId: string): void {
  const db = Database.openReader(workspacePath(dataDir, workspaceId));
  try {
    for (const kind of placeKinds) {
      kind.giveUp(directory, workspaceId);
      kind.take(directory, db, workspaceId);
    }
  } finally {
    db.close();
  }
}

/** Turns a database with a log into one durable file. The file must not be open anywhere. */
export function settle(path: string): void {
  Database.makeSingleFile(path);
  syncFile(path);
}

/** Reseals every secret of a workspace's file with another key. */
export function resealSecrets(path: string, move: { workspaceId: string; from: SecretBox; to: SecretBox }): void {
  const db = Database.openWriter(path, workspaceMigrations);
  db.overwriteDeleted();
  db.begin();
  try {
    for (const place of sealedPlaces) {
      for (const { key, sealed, about } of place.all(db)) {
        place.put(
          db,
          key,
          move.to.seal(
            move.from.open(sealed, about.replace('*', move.workspaceId)),
            about.replace('*', move.workspaceId),
          ),
        );
      }
    }
    db.commit();
  } finally {
    db.rollback();
    db.close();
  }
  settle(path);
}

/** The rest of the data folder: secrets, uploads, written mail. With `only`, files in folders of that workspace. */
async function copyOthers(
  dataDir: string,
  part: string,
  options: { except: string; only: string | undefined },
): Promise<void> {
  for (const path of await othersIn(dataDir, options)) {
    const target = join(part, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    try {
      await copyFile(join(dataDir, path), target);
      // A copy inherits the mode of its source.
      await chmod(target, 0o600);
    } catch (error) {
      // Sent or removed since it was listed.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw error;
    }
    syncFile(target);
  }
}

/** Paths, relative to the data folder, of all files that are not databases. */
export async function othersIn(
  dataDir: string,
  options: { except?: string; only: string | undefined },
): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(dataDir, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      const full = join(dataDir, path);
      if ((folder === '' && notCopied.test(entry.name)) || entry.name.endsWith('.part') || full === options.except)
        continue;
      if (entry.isDirectory()) {
        // A backup inside the data folder is not copied into the next one.
        if (!existsSync(join(full, manifestName))) await visit(path);
      } else if (entry.isFile() && (options.only === undefined || isOf(path, options.only))) found.push(path);
    }
  };
  await visit('');
  return found;
}

/** A folder in its path is named after the workspace, or the file itself is, as sent mail is. */
function isOf(path: string, workspaceId: string): boolean {
  return path.split(sep).slice(1, -1).includes(workspaceId) || basename(path).split('.').includes(workspaceId);
}

async function listFiles(folder: string, onProgress: (share: number) => void): Promise<BackupFile[]> {
  const names = (await readdir(folder, { recursive: true })).sort();
  const about: { path: string; stats: Stats }[] = [];
  for (const path of names) {
    const stats = await lstat(join(folder, path));
    if (stats.isFile()) about.push({ path, stats });
  }
  const allBytes = about.reduce((sum, { stats }) => sum + stats.size, 1);
  let doneBytes = 0;
  const files: BackupFile[] = [];
  for (const { path, stats } of about) {
    files.push({ path: path.split(sep).join('/'), bytes: stats.size, sha256: await hashOf(join(folder, path)) });
    doneBytes += stats.size;
    onProgress(doneBytes / allBytes);
  }
  return files;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
