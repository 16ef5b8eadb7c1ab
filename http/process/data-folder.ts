// The data folder: held by one process at a time, and the home of the secrets that the service generates. Only its own
// user can read it.

import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { lockFile, makeFolder, syncFile, syncFolder } from '../../store/database.ts';

/** Another process holds the data folder. */
export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
}

/** The data folder cannot be made or written, or its content is damaged. */
export class DataFolderUnusable extends Error {
  override readonly name = 'DataFolderUnusable';
}

const secretBytes = 48;
/** A shorter secret was not written completely. */
const minSecretChars = 32;

/** A marker for an interrupted command, which must be completed before the folder is served. */
const unfinishedName = 'unfinished';

export interface HeldDataFolder {
  /** Files that other users of the machine can read and that we cannot close, since they are not ours. */
  readonly openToOthers: readonly string[];
  release(): void;
}

/**
 * Makes the folder if necessary and holds it until this process ends, in any way. Throws DataFolderInUse,
 * DataFolderUnusable.
 */
export function takeDataFolder(dataDir: string): HeldDataFolder {
  const lock = holdDataFolder(dataDir);
  const command = unfinishedCommand(dataDir);
  if (command === undefined) return lock;
  lock.release();
  throw new DataFolderUnusable(
    `a command on the data folder ${dataDir} was interrupted; repeat it: switchboard ${command}`,
  );
}

/** The same, for commands that may continue interrupted work. */
export function holdDataFolder(dataDir: string): HeldDataFolder {
  try {
    makeFolder(dataDir);
    const lock = lockFile(join(dataDir, 'lock')) ?? inUse(dataDir);
    return { release: () => lock.release(), openToOthers: closeToOthers(dataDir) };
  } catch (cause) {
    if (cause instanceof DataFolderInUse) throw cause;
    throw new DataFolderUnusable(`the data folder ${dataDir} cannot be used: ${messageOf(cause)}`, { cause });
  }
}

const forOthers = 0o077;

/**
 * Removes the access of other users that an earlier version, or the maker of the folder, left open. Skips folders that
 * are closed already. Returns the files that could not be closed.
 */
function closeToOthers(dataDir: string): string[] {
  const left: string[] = [];
  const close = (path: string, { isWhole }: { isWhole: boolean }): void => {
    try {
      const found = statSync(path);
      const isOpen = (found.mode & forOthers) !== 0;
      if (found.isDirectory() && (isOpen || isWhole))
        for (const entry of readdirSync(path, { withFileTypes: true }))
          if (isWhole || !entry.isSymbolicLink()) close(join(path, entry.name), { isWhole: false });
      // A folder is closed after its content, so a closed folder is complete.
      if (isOpen) chmodSync(path, found.mode & ~forOthers);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // Deleted since it was listed, or a broken link.
      if (code === 'ENOENT' || code === 'ELOOP') return;
      // Another user's. Its content is not ours either.
      if (code !== 'EPERM' && (isWhole || code !== 'EACCES')) throw error;
      left.push(path);
    }
  };
  close(dataDir, { isWhole: true });
  return left;
}

/** The interrupted command of this folder. */
export function unfinishedCommand(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, unfinishedName), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Runs work that must not be served half done: until it is complete, however often it is interrupted, the folder cannot
 * be served. `command` is the command line that repeats it.
 */
export async function runToCompletion<Result>(
  dataDir: string,
  command: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const path = join(dataDir, unfinishedName);
  writeFileSync(path, `${command}\n`, { mode: 0o600 });
  syncFile(path);
  syncFolder(dataDir);
  const result = await work();
  rmSync(path);
  syncFolder(dataDir);
  return result;
}

/** True when another process holds the folder. Throws DataFolderUnusable. */
export function isInUse(dataDir: string): boolean {
  try {
    holdDataFolder(dataDir).release();
    return false;
  } catch (error) {
    if (error instanceof DataFolderInUse) return true;
    throw error;
  }
}

/** The secret in the file at `path`; undefined when there is none. Throws DataFolderUnusable. */
export function readKeptSecret(path: string): string | undefined {
  let secret: string;
  try {
    secret = readFileSync(path, 'utf8').trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new DataFolderUnusable(`${path} cannot be used: ${messageOf(cause)}`, { cause });
  }
  if (secret.length < minSecretChars)
    throw new DataFolderUnusable(
      `${path} is damaged: restore it from a backup, or remove it and create a new one: switchboard repair --accept-keys`,
    );
  return secret;
}

/** Written atomically, even if the power fails; mode 0600. Throws DataFolderUnusable. */
export function makeKeptSecret(path: string): string {
  try {
    return makeSecret(path);
  } catch (cause) {
    throw new DataFolderUnusable(`${path} cannot be used: ${messageOf(cause)}`, { cause });
  }
}

function makeSecret(path: string): string {
  const secret = randomBytes(secretBytes).toString('base64url');
  const file = openSync(`${path}.part`, 'w', 0o600);
  try {
    writeSync(file, `${secret}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.part`, path);
  syncFolder(dirname(path));
  return secret;
}

function inUse(dataDir: string): never {
  throw new DataFolderInUse(`the data folder ${dataDir} is in use by another process`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
