// The two keys of a data folder, each from the environment or from a file beside the data that is made with the folder.
// directory.db records which keys the folder was served with, so that a missing or different key is noticed before it
// signs or seals anything. Read-only commands use only standOf().

import { hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import type { Directory } from '../../engine/directory/directory.ts';
import { secretsKeyName, workspaceIdsIn } from '../../engine/operations/integrity.ts';
import { type Opener, provesKey } from '../../engine/operations/sealed-proof.ts';
import type { Log } from '../../engine/runtime/log.ts';
import type { Database } from '../../store/database.ts';
import { directoryWorkspaces } from '../../store/directory/directory.ts';
import { type FolderKeyName, findFolderKey, putFolderKey } from '../../store/directory/folder-keys.ts';
import type { Config } from './config.ts';
import { DataFolderUnusable, makeKeptSecret, readKeptSecret } from './data-folder.ts';

export interface FolderKeys {
  /** Signs tokens and links. */
  readonly jwtSecret: string;
  /** Seals secrets that must be readable later. */
  readonly secretsKey: string;
}

export interface KeyedFolder {
  readonly dataDir: string;
  /** directory.db, written when keys are taken. */
  readonly directory: Database;
  /** From the environment; undefined: stored in the folder. */
  readonly given: { readonly jwtSecret: string | undefined; readonly secretsKey: string | undefined };
  /** Opens texts that this key sealed. */
  boxOf(key: string): Opener;
}

/**
 * The state of a key: `new` (nothing signed or sealed yet, as far as can be known), the `same` as before, `gone`, or
 * `another` one.
 */
export type KeyStand = 'new' | 'same' | 'gone' | 'another';

interface FolderKey {
  readonly name: FolderKeyName;
  readonly file: string;
  readonly setting: string;
  /** The consequence of continuing with another key. */
  readonly loss: string;
}

export const folderKeyList: readonly FolderKey[] = [
  {
    name: 'jwt',
    file: 'jwt-secret',
    setting: 'JWT_SECRET',
    loss: 'which signs everyone out and detaches customers from the chats in their browsers',
  },
  {
    name: 'secrets',
    file: secretsKeyName,
    setting: 'SECRETS_KEY',
    loss: 'which loses everything that the previous one sealed: secrets of webhooks, apps, shops and inbound mail, DKIM keys, authenticators',
  },
];

const fingerprintBytes = 16;
const anotherSigns =
  'the key that signs tokens has changed: everyone is signed out; if this was not intended, restore the previous one';

/** A fingerprint from which the key cannot be derived. */
function fingerprintOf(key: string, name: FolderKeyName): string {
  return Buffer.from(hkdfSync('sha256', key, '', `switchboard fingerprint ${name}`, fingerprintBytes)).toString(
    'base64url',
  );
}

/** Throws DataFolderUnusable when its file is damaged. */
export function standOf(
  { dataDir, directory, given, boxOf }: KeyedFolder,
  { name, file }: FolderKey,
): { stand: KeyStand; key: string | undefined } {
  const key = (name === 'jwt' ? given.jwtSecret : given.secretsKey) ?? readKeptSecret(join(dataDir, file));
  const known = findFolderKey(directory, name);
  if (known !== undefined)
    return { key, stand: key === undefined ? 'gone' : fingerprintOf(key, name) === known ? 'same' : 'another' };
  // The folder is empty, or was written by an older version, which recorded no key: nothing shows what signed its
  // tokens.
  if (name === 'jwt' || !hasWorkspaces(dataDir, directory)) return { key, stand: 'new' };
  const isProved = provesKey(dataDir, key === undefined ? undefined : boxOf(key));
  if (isProved === undefined) return { key, stand: 'new' };
  return { key, stand: isProved ? 'same' : key === undefined ? 'gone' : 'another' };
}

function hasWorkspaces(dataDir: string, directory: Database): boolean {
  return directoryWorkspaces(directory).length > 0 || workspaceIdsIn(dataDir).length > 0;
}

/** The fault of a key, and what to do about it; undefined for none. */
export function keyFault(dataDir: string, { file, setting, loss }: FolderKey, stand: KeyStand): string | undefined {
  if (stand === 'same' || stand === 'new') return undefined;
  const fault =
    stand === 'gone'
      ? `the data folder ${dataDir} no longer has ${file}, and ${setting} is not set`
      : `${setting}, or ${file} in the data folder ${dataDir}, has changed`;
  return `${fault}; restore the previous one, or accept the new one, ${loss}: switchboard repair --accept-keys`;
}

/**
 * Made for a new folder, and recorded. A changed JWT_SECRET is accepted and logged. Throws DataFolderUnusable when a
 * key is missing, or differs from the one that sealed.
 */
export function takeKeys(folder: KeyedFolder & { readonly log: Log }): FolderKeys {
  const keyOf = (one: FolderKey): string => {
    const { stand, key } = standOf(folder, one);
    const fault = keyFault(folder.dataDir, one, stand);
    if (fault !== undefined && (one.name === 'secrets' || stand === 'gone')) throw new DataFolderUnusable(fault);
    // Changing it is the way to sign everyone out.
    const isAnother =
      stand === 'another' ||
      (one.name === 'jwt' && key === undefined && hasWorkspaces(folder.dataDir, folder.directory));
    if (isAnother) folder.log.error({ setting: one.setting }, anotherSigns);
    return remembered(folder, one, { stand, key });
  };
  return keysBy(keyOf);
}

/** Of a node: the same for every one, so they cannot be kept in the folder of one. */
export function keysOfCluster({ jwtSecret, secretsKey }: Pick<Config, 'jwtSecret' | 'secretsKey'>): FolderKeys {
  if (jwtSecret === undefined || secretsKey === undefined) throw new TypeError('the settings of a cluster have keys');
  return { jwtSecret, secretsKey };
}

/**
 * For one node of several, once it can read the directory: nodes of earlier versions recorded their keys there alone.
 * Rejects with DataFolderUnusable if the cluster was served with another key, other than a JWT_SECRET that was changed
 * while no other node was there.
 */
export async function confirmKeys(
  keys: FolderKeys,
  { directory, areOthersThere }: { directory: Pick<Directory, 'db'>; areOthersThere(): Promise<boolean> },
): Promise<void> {
  for (const { name, setting } of folderKeyList) {
    const known = findFolderKey(directory.db, name);
    if (known === undefined || known === printOf(keys, name)) continue;
    if (name === 'secrets' || (await areOthersThere())) throw new DataFolderUnusable(notTheClusters(setting));
  }
}

/** Of a secret that all nodes share. */
export function notTheClusters(setting: string): string {
  const fault = `${setting} is not the one that the cluster was served with: set it as it is on the other nodes`;
  // What it sealed could be read no more.
  return setting === 'SECRETS_KEY'
    ? fault
    : `${fault}; to change it on all of them, stop every node, and start them with the new one`;
}

/**
 * Records the keys of a node in the directory, which a backup of the cluster has. If nobody serves the directory in
 * time, the next start does it.
 */
export async function recordKeys(
  keys: FolderKeys,
  { directory, log }: { directory: Pick<Directory, 'change' | 'db'>; log: Log },
): Promise<void> {
  for (const { name, setting } of folderKeyList) {
    const fingerprint = printOf(keys, name);
    if (findFolderKey(directory.db, name) === fingerprint) continue;
    try {
      const former = await directory.change('record-folder-key', { name, fingerprint, replaces: name === 'jwt' });
      if (name === 'jwt' && former !== null && former !== fingerprint) log.error({ setting }, anotherSigns);
    } catch (error) {
      log.warn({ setting, err: error }, 'the fingerprint of a key could not be recorded; the next start does it');
    }
  }
}

function printOf(keys: FolderKeys, name: FolderKeyName): string {
  return fingerprintOf(name === 'jwt' ? keys.jwtSecret : keys.secretsKey, name);
}

/** Accepts the present keys, and makes missing ones. */
export function acceptKeys(folder: KeyedFolder): FolderKeys {
  return keysBy((one) => remembered(folder, one, standOf(folder, one)));
}

function keysBy(keyOf: (one: FolderKey) => string): FolderKeys {
  const [jwtSecret = '', secretsKey = ''] = folderKeyList.map(keyOf);
  return { jwtSecret, secretsKey };
}

function remembered(
  { dataDir, directory }: KeyedFolder,
  { name, file }: FolderKey,
  { stand, key }: ReturnType<typeof standOf>,
): string {
  const taken = key ?? makeKeptSecret(join(dataDir, file));
  const fingerprint = fingerprintOf(taken, name);
  // Written whenever it is missing, as in a new folder and in one of an older version.
  if (stand !== 'same' || findFolderKey(directory, name) === undefined) putFolderKey(directory, { name, fingerprint });
  return taken;
}
