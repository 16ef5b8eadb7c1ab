// A store that falls back to a former one for objects it does not have, so that a change from disk to a bucket leaves
// no file behind. The operator can copy the old files at any time.

import type { ObjectStore } from './objects.ts';

export function movedObjects({ present, former }: { present: ObjectStore; former: ObjectStore }): ObjectStore {
  return {
    put: (key, about, content) => present.put(key, about, content),
    async find(key) {
      // The former store is local and answers even while the present one cannot.
      return (await former.find(key)) ?? present.find(key);
    },
    async *read(key, range) {
      yield* ((await former.find(key)) === undefined ? present : former).read(key, range);
    },
    async remove(key) {
      await former.remove(key);
      await present.remove(key);
    },
    ...(present.check === undefined ? {} : { check: () => present.check?.() ?? Promise.resolve() }),
  };
}
