// Files in a folder. One that is on its way lies apart under a name of its own and is moved to its key when all of it
// is on the disk, where its name is made durable, too, before anybody is told; what a crash left there is thrown away
// at the next start.

import { randomUUID } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DiskTurns } from './disk-turns.ts';
import { exactly, isKey, type ObjectStore, StorageUnavailable } from './objects.ts';

/** No key begins with a dot. */
const incomingFolder = '.incoming';

/** Makes the names in a folder durable. The kernel's own call, unless a test stands in. */
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
 * `folder` is this process's alone. Each piece of a file is on the disk before the next is asked for, in `turns` with
 * those of other files.
 */
export function diskObjects(folder: string, syncFolder: SyncFolder = askDisk, turns = new DiskTurns()): ObjectStore {
  const incoming = join(folder, incomingFolder);
  rmSync(incoming, { recursive: true, force: true });

  /**
   * A file outlasts a power cut once its name does, and so the names of the folders that it lies in, which two uploads
   * may have made together.
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
    async put(key, { size }, content) {
      const path = pathOf(key);
      const partial = join(incoming, randomUUID());
      let placed = partial;
      try {
        await mkdir(incoming, { recursive: true, mode: 0o700 });
        // Before the first byte is asked for: content that fails at once must not be removed before its file is there.
        const file = await open(partial, 'wx', 0o600);
        try {
          for await (const part of exactly(content, size)) {
            await turns.take(async () => {
              await file.writeFile(part);
              await file.datasync();
            });
          }
          await turns.take(() => file.sync());
        } finally {
          await file.close();
        }
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await rename(partial, path);
        placed = path;
        await syncNames(path);
      } catch (error) {
        // It may not be there, or not even its folder: then there is nothing to remove.
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

/** What the file system says has a code; any other error is the content's own. */
function asUnavailable(error: unknown): unknown {
  const code = codeOf(error);
  return code === undefined || !/^E[A-Z0-9]+$/.test(code)
    ? error
    : new StorageUnavailable(`the disk answered ${code}`, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
