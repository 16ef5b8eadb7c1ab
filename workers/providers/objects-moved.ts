// Files that go into one store and were in another before: what the present one does not have is looked for there. So a
// change from the disk to a bucket leaves no file behind, and whoever wants to empty the disk copies them whenever it
// suits.

import type { ObjectStore } from './objects.ts';

export function movedObjects({ present, former }: { present: ObjectStore; former: ObjectStore }): ObjectStore {
  return {
    put: (key, about, content) => present.put(key, about, content),
    async find(key) {
      // The former one is at hand, and answers while the present one cannot.
      return (await former.find(key)) ?? present.find(key);
    },
    async *read(key, range) {
      yield* ((await former.find(key)) === undefined ? present : former).read(key, range);
    },
    async remove(key) {
      await former.remove(key);
      await present.remove(key);
    },
    ...(present.check === undefined ? {} : { check: present.check }),
  };
}
