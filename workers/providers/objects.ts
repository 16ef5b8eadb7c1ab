// Files that messages link to, by key: `<workspaceId>/<kind>/<uuid>/<safe filename>`. Here on the disk below the data folder,
// served by this process; the address of a key is known before the file is there.

import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface StoredObject {
  readonly contentType: string;
  readonly size: number;
  read(): Promise<Uint8Array>;
}

export interface ObjectStore {
  /** The key of a new object; its name is made safe. */
  keyFor(object: { workspaceId: string; kind: string; id: string; filename: string }): string;
  /** Where everybody who knows it can fetch the object. */
  publicUrl(key: string): string;
  /** Complete or not there. Replaces an object of the same key. */
  put(key: string, contentType: string, content: Readable | Uint8Array): Promise<void>;
  /** Undefined for what is no key, too. */
  find(key: string): Promise<StoredObject | undefined>;
  /** Nothing happens when there is none. */
  remove(key: string): Promise<void>;
}

const keyShape = /^[0-9a-f-]{36}\/[a-z_]{1,32}\/[0-9a-f-]{36}\/[A-Za-z0-9._-]{1,120}$/;
const maxNameChars = 100;

/** Letters, digits, dots, dashes and underscores; a long name keeps its beginning and its ending. */
function safeFilename(filename: string): string {
  const safe = filename.normalize('NFKD').replace(/[\u0300-\u036f]/g, '').replace(/[^A-Za-z0-9._-]+/g, '-').replace(/\.{2,}/g, '.').replace(/^[.-]+|[.-]+$/g, '');
  const ending = /.(\.[A-Za-z0-9]{1,10})$/.exec(safe)?.[1] ?? '';
  const stem = safe.slice(0, safe.length - ending.length).slice(0, maxNameChars - ending.length);
  return stem === '' ? `file${ending}` : stem + ending;
}

function isKey(text: string): boolean {
  return keyShape.test(text) && !text.includes('..');
}

/** `folder` holds the files, each beside its content type; `baseUrl` is where they are served, without a slash at the end. */
export function diskObjects(folder: string, baseUrl: string): ObjectStore {
  const pathOf = (key: string): string => {
    if (!isKey(key)) throw new Error(`not a key of an object: ${key}`);
    return join(folder, key);
  };
  return {
    keyFor: ({ workspaceId, kind, id, filename }) => `${workspaceId}/${kind}/${id}/${safeFilename(filename)}`,
    publicUrl: (key) => `${baseUrl}/${key}`,
    async put(key, contentType, content) {
      const path = pathOf(key);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(`${path}.type`, contentType);
      if (content instanceof Uint8Array) await writeFile(`${path}.part`, content, { flush: true });
      else await pipeline(content, createWriteStream(`${path}.part`, { flush: true }));
      await rename(`${path}.part`, path);
    },
    async find(key) {
      if (!isKey(key)) return undefined;
      const path = pathOf(key);
      const [about, contentType] = await Promise.all([stat(path).catch(absentOnly), readFile(`${path}.type`, 'utf8').catch(absentOnly)]);
      if (about === undefined || contentType === undefined) return undefined;
      return { contentType, size: about.size, read: () => readFile(path) };
    },
    async remove(key) {
      await rm(dirname(pathOf(key)), { recursive: true, force: true });
    },
  };
}

function absentOnly(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
