// A store that accepts no file while disk space is low. Existing files can still be read and removed.

import { type ObjectStore, StorageUnavailable } from './objects.ts';

export function withinReserve(objects: ObjectStore, hasRoom: () => boolean): ObjectStore {
  return {
    async put(key, about, content) {
      if (!hasRoom()) throw new StorageUnavailable('the disk is down to its reserve');
      await objects.put(key, about, content);
    },
    find: (key) => objects.find(key),
    read: (key, range) => objects.read(key, range),
    remove: (key) => objects.remove(key),
    ...(objects.check === undefined ? {} : { check: () => objects.check?.() ?? Promise.resolve() }),
  };
}
