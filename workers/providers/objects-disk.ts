// Stores files in a folder. A file is written under a temporary name and moved to its key when all of it is on disk;
// its name is synced too before the store reports success. The next start deletes what a crash left.

import { randomUUID } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DiskTurns } from './disk-turns.ts';
import { exactly, isKey, type ObjectStore, StorageUnavailable } from './objects.ts';

/** No key begins with a dot. */
const incomingFolder = '.incoming';
/** A file waits for its turn at the disk when this much of it is not durable yet, and at its end. */
const pieceBytes = 1024 * 1024;

/** Makes the names in a folder durable. Replaced in tests. */
export type SyncFolder = (path: string) => Promise<void>;

const askDisk: SyncFolder = async (path) => {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

/**
 * Only this process uses `folder`. However small the parts that a file comes in, it is made durable a mebibyte at a
 * time, in `turns` with other files; what is not durable yet is in the kernel's memory, not in ours.
 */
export function diskObjects(folder: string, syncFolder: SyncFolder = askDisk, turns = new DiskTurns()): ObjectStore {
  const incoming = join(folder, incomingFolder);
  rmSync(incoming, { recursive: true, force: true });

  /**
   * A file survives a power failure once its name does, and those of its folders, which concurrent uploads may have
   * created.
   */
  async function syncNames(path: string): Promise<void> {
    for (let at = dirname(path); at.length >= folder.length; at = dirname(at)) await syncFolder(at);
    await syncFolder(dirname(folder));
  }

  const pathOf = (key: string): string => {
    if (!isKey(key)) throw new Error(`not the key of an object: ${key}`);
    return join(folder, key);
  };

  return {
    async put(key, { size, sender = workspaceOf(key) }, content) {
      const path = pathOf(key);
      const partial = join(incoming, randomUUID());
      let placed = partial;
      try {
        await mkdir(incoming, { recursive: true, mode: 0o700 });
        // Before the first byte is read: if the content fails at once, its file must exist to be removed.
        const file = await open(partial, 'wx', 0o600);
        try {
          let pendingBytes = 0;
          for await (const part of exactly(content, size)) {
            await file.writeFile(part);
            pendingBytes += part.byteLength;
            if (pendingBytes < pieceBytes) continue;
            await turns.take(sender, () => file.datasync());
            pendingBytes = 0;
          }
          await turns.take(sender, () => file.sync());
        } finally {
          await file.close();
        }
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await rename(partial, path);
        placed = path;
        await syncNames(path);
      } catch (error) {
        // It may not exist, nor even its folder; then there is nothing to remove.
        await rm(placed, { force: true }).catch(() => undefined);
        throw asUnavailable(error);
      }
    },
    async find(key) {
      if (!isKey(key)) return undefined;
      try {
        return { size: (await stat(pathOf(key))).size };
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw asUnavailable(error);
      }
    },
    async *read(key, range) {
      yield* createReadStream(pathOf(key), range);
    },
    async remove(key) {
      try {
        await rm(dirname(pathOf(key)), { recursive: true, force: true });
      } catch (error) {
        throw asUnavailable(error);
      }
    },
  };
}

function workspaceOf(key: string): string {
  return key.split('/', 1)[0] ?? '';
}

/** File system errors have a code; others come from the content. */
function asUnavailable(error: unknown): unknown {
  const code = codeOf(error);
  return code === undefined || !/^E[A-Z0-9]+$/.test(code)
    ? error
    : new StorageUnavailable(`the disk answered ${code}`, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
