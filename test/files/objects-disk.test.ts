// Uploads as files in a folder: what was acknowledged outlasts a power cut, which keeps the names alone that their
// folders were asked to keep.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { DiskTurns } from '../../workers/providers/disk-turns.ts';
import { StorageUnavailable } from '../../workers/providers/objects.ts';
import { diskObjects } from '../../workers/providers/objects-disk.ts';
import { tempFolder } from '../support/folder.ts';

const idOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const keyOf = (workspace: number, kind: string, upload: number): string =>
  `${idOf(workspace)}/${kind}/${idOf(upload)}/a.txt`;
const text = { contentType: 'text/plain', size: 5 };
const hello = (): Readable => Readable.from([Buffer.from('hello')]);

t.test('[decisions, Uploads] a file that was taken keeps its name, and its folders theirs', async (t) => {
  const dataDir = tempFolder(t);
  const folder = join(dataDir, 'storage');
  const durable = new Set<string>();
  const objects = diskObjects(folder, async (path) =>
    readdirSync(path).forEach((name) => durable.add(join(path, name))),
  );
  for (const key of [keyOf(1, 'attachment', 1), keyOf(1, 'attachment', 2), keyOf(1, 'logo', 3), keyOf(2, 'logo', 4)]) {
    durable.clear();
    await objects.put(key, text, hello());
    for (let path = join(folder, key); path !== dataDir; path = dirname(path))
      t.ok(durable.has(path), `${path}, for ${key}`);
    t.equal(readFileSync(join(folder, key), 'utf8'), 'hello');
  }
});

t.test('[decisions, Uploads] a disk that does not promise to keep it is told as one that is not there', async (t) => {
  const folder = join(tempFolder(t), 'storage');
  const failing = diskObjects(folder, async () => {
    throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
  });
  const key = keyOf(1, 'attachment', 1);
  await t.rejects(failing.put(key, text, hello()), StorageUnavailable);
  t.equal(await failing.find(key), undefined, 'nothing is stored');
  await diskObjects(folder).put(key, text, hello());
  t.equal(readFileSync(join(folder, key), 'utf8'), 'hello', 'and it is taken when it is asked again');
});

t.test(
  '[4.9] what is refused leaves nothing, however soon: its file is there before its bytes are asked for, and is removed',
  async (t) => {
    const folder = join(tempFolder(t), 'storage');
    const incoming = (): string[] => readdirSync(join(folder, '.incoming'));
    let underWay: string[] = [];
    const refused = (async function* (): AsyncGenerator<Uint8Array> {
      underWay = incoming();
      throw new Error('refused');
    })();
    await t.rejects(diskObjects(folder).put(keyOf(1, 'attachment', 1), text, refused), { message: 'refused' });
    t.equal(underWay.length, 1);
    t.same(incoming(), []);
  },
);

t.test('[4.9] files that come at once take turns at the disk, which rests between their pieces', async (t) => {
  const folder = join(tempFolder(t), 'storage');
  let nowMs = 0;
  let rests = 0;
  let wake: (() => void) | undefined;
  const resting: number[] = [];
  /** A test ends each rest. */
  const turns = new DiskTurns({
    nowMs: () => (nowMs += 10),
    sleep: (ms) => {
      resting.push(ms);
      return new Promise((resolve) => (wake = resolve));
    },
  });
  const objects = diskObjects(folder, async () => undefined, turns);
  const asked: string[] = [];
  async function* pieces(name: string): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < 5; index += 1) {
      asked.push(name);
      yield Buffer.from(name);
    }
  }
  const puts = Promise.all(
    ['a', 'b'].map((name, index) => objects.put(keyOf(1, 'attachment', index), text, pieces(name))),
  );
  let isDone = false;
  void puts.then(() => (isDone = true));
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    if (wake === undefined) continue;
    rests += 1;
    t.ok(
      Math.abs(asked.filter((name) => name === 'a').length - asked.filter((name) => name === 'b').length) <= 1,
      asked.join(''),
    );
    const go = wake;
    wake = undefined;
    go();
  }
  t.ok(rests >= 11, `${rests} rests, one for each piece and each end but the last`);
  t.same([...new Set(resting)], [30], 'three times as long as the work took');
  for (const [index, name] of ['a', 'b'].entries())
    t.equal(readFileSync(join(folder, keyOf(1, 'attachment', index)), 'utf8'), name.repeat(5));
});

t.test(
  '[4.9] a piece that cannot be written holds up nobody after it, and a long one rests no longer than it may',
  async (t) => {
    let nowMs = 0;
    const resting: number[] = [];
    const turns = new DiskTurns({ nowMs: () => (nowMs += 1000), sleep: async (ms) => void resting.push(ms) });
    await t.rejects(
      turns.take(() => Promise.reject(new Error('ENOSPC'))),
      { message: 'ENOSPC' },
    );
    await turns.take(async () => undefined);
    t.same(resting[0], 100);
  },
);
