// A store that takes no file while there is too little room for it. What is there is read and removed all the same.

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
