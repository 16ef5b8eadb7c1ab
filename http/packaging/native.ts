// Loads the native addons of the executable. The kernel loads code only from files, so each addon is written once into
// a folder that only this user can write. The build (build.ts) points the packages here; from source, this file is
// unused.

import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';
import { zstdDecompressSync } from 'node:zlib';
import { cachePlaces, requireOwnFolder } from '../../workers/cache-folder.js';

/** No folder is available for them, or code may not be loaded from it. An operator can fix it. */
class NativePartsUnusable extends Error {
  override readonly name = 'NativePartsUnusable';
}

interface Manifest {
  /** The hash of all files: another build has another folder. */
  readonly hash: string;
  /** Size when unpacked. */
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly isPacked: boolean }>>;
}

const manifestAsset = 'native/manifest.json';
let manifest: Manifest | undefined;
const loaded = new Map<string, unknown>();

/** The addon's exports. `beside`: libraries that it loads from its own folder. */
export function loadNative(name: string, beside: readonly string[] = []): unknown {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  for (const library of beside) nativePath(library);
  const module = { exports: {} };
  const path = nativePath(name);
  try {
    process.dlopen(module, path, constants.dlopen.RTLD_LAZY);
  } catch (cause) {
    throw new NativePartsUnusable(
      `${path} cannot be loaded: ${messageOf(cause)}. If its file system is mounted noexec, set SWITCHBOARD_CACHE_DIR to a folder that is not.`,
      { cause },
    );
  }
  loaded.set(name, module.exports);
  return module.exports;
}

/** The path of the file, written if necessary. */
export function nativePath(name: string): string {
  manifest ??= JSON.parse(getAsset(manifestAsset, 'utf8')) as Manifest;
  const problems: string[] = [];
  for (const place of cachePlaces()) {
    try {
      return present(join(place, manifest.hash), name, manifest.files[name]?.bytes) ?? extract(place, manifest, name);
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  throw new NativePartsUnusable(
    `there is no folder for the program's native parts: ${problems.join('; ')}. Set SWITCHBOARD_CACHE_DIR to one that this user can write.`,
  );
}

function present(folder: string, name: string, size: number | undefined): string | undefined {
  const path = join(folder, name);
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return undefined;
  requireOwnFolder(folder);
  return lstatSync(path, { throwIfNoEntry: false })?.size === size ? path : undefined;
}

/** Written atomically; two processes at once write the same. */
function extract(place: string, { hash, files }: Manifest, name: string): string {
  const folder = join(place, hash);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) forgetOthers(place, hash);
  requireOwnFolder(folder);
  const path = join(folder, name);
  const part = `${path}.${process.pid}-${process.hrtime.bigint()}`;
  const file = openSync(part, 'wx', 0o600);
  try {
    const asset = new Uint8Array(getRawAsset(`native/${name}`) as ArrayBuffer);
    const bytes = files[name]?.isPacked === true ? zstdDecompressSync(asset) : asset;
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  chmodSync(part, 0o500);
  renameSync(part, path);
  return path;
}

/** Folders of other builds. A running process has loaded what it uses, and writes the rest again. */
function forgetOthers(place: string, hash: string): void {
  for (const name of readdirSync(place))
    if (/^[0-9a-f]{16}$/.test(name) && name !== hash) rmSync(join(place, name), { recursive: true, force: true });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
