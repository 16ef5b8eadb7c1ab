// Uploads as files in a folder: acknowledged ones survive a power cut, which keeps only names in folders that were
// synced.

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
const mb = 1024 * 1024;
const hello = (): Readable => Readable.from([Buffer.from('hello')]);

/** Counts the calls. If rests are held, each lasts until it is released. */
class WatchedTurns extends DiskTurns {
  asked = 0;
  rests = 0;
  readonly #restsAt = new Map<string, number>();
  #wake: (() => void) | undefined;

  constructor({ isHeld = false } = {}) {
    super({
      nowMs: () => 0,
      sleep: async () => {
        this.rests += 1;
        if (isHeld) await new Promise<void>((resolve) => (this.#wake = resolve));
      },
    });
  }

  override take(sender: string, work: () => Promise<void>): Promise<void> {
    this.asked += 1;
    return super.take(sender, async () => {
      this.#restsAt.set(sender, this.rests);
      await work();
    });
  }

  /** The number of rests when the sender's last turn began. */
  restsAt(sender: string): number {
    return this.#restsAt.get(sender) ?? Number.POSITIVE_INFINITY;
  }

  release(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

t.test('[decisions, Uploads] an acknowledged file keeps its name, and its folders theirs', async (t) => {
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

t.test('[decisions, Uploads] a disk that cannot sync counts as unavailable', async (t) => {
  const folder = join(tempFolder(t), 'storage');
  const failing = diskObjects(folder, async () => {
    throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
  });
  const key = keyOf(1, 'attachment', 1);
  await t.rejects(failing.put(key, text, hello()), StorageUnavailable);
  t.equal(await failing.find(key), undefined, 'nothing is stored');
  await diskObjects(folder).put(key, text, hello());
  t.equal(readFileSync(join(folder, key), 'utf8'), 'hello', 'and it is accepted when repeated');
});

t.test(
  '[4.9] a refused upload leaves nothing, however early: its file is created before its bytes are read, and removed',
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

t.test('[4.9] concurrent files take turns at the disk, which rests between their pieces', async (t) => {
  const folder = join(tempFolder(t), 'storage');
  let nowMs = 0;
  let rests = 0;
  let wake: (() => void) | undefined;
  const resting: number[] = [];
  /** The test ends each rest. */
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
      yield Buffer.alloc(mb, name);
    }
  }
  const puts = Promise.all(
    ['a', 'b'].map((name, index) =>
      objects.put(keyOf(1, 'attachment', index), { ...text, size: 5 * mb }, pieces(name)),
    ),
  );
  let isDone = false;
  void puts.then(() => (isDone = true));
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    if (wake === undefined) continue;
    rests += 1;
    const go = wake;
    wake = undefined;
    go();
  }
  // How far one gets ahead depends on the disk; that the other is not left behind does not.
  for (const [name, other] of ['ab', 'ba']) {
    const beforeLast = asked.slice(0, asked.lastIndexOf(name ?? ''));
    t.ok(beforeLast.filter((one) => one === other).length >= 2, asked.join(''));
  }
  t.ok(rests >= 11, `${rests} rests, one for each piece and each end but the last`);
  t.same([...new Set(resting)], [30], 'three times as long as the work took');
  for (const [index, name] of ['a', 'b'].entries())
    t.equal(readFileSync(join(folder, keyOf(1, 'attachment', index)), 'utf8'), name.repeat(5 * mb));
});

t.test('[4.9] a file takes a turn for each mebibyte and for its end, however small its parts', async (t) => {
  const turns = new WatchedTurns();
  const objects = diskObjects(join(tempFolder(t), 'storage'), async () => undefined, turns);
  const size = 25 * mb;
  const part = Buffer.alloc(64 * 1024);
  await objects.put(
    keyOf(1, 'attachment', 1),
    { ...text, size },
    Readable.from(Array.from({ length: size / part.length }, () => part)),
  );
  t.equal(turns.asked, 26);
});

t.test(
  '[4.9] uploads that drip take no turns, and many files of one network keep another waiting for one',
  async (t) => {
    const turns = new WatchedTurns({ isHeld: true });
    const objects = diskObjects(join(tempFolder(t), 'storage'), async () => undefined, turns);
    let dripped = 0;
    let finish = (): void => {};
    const isLast = new Promise<void>((resolve) => (finish = resolve));
    async function* drip(): AsyncGenerator<Uint8Array> {
      for (let count = 0; count < 4; count += 1) yield Buffer.from('x');
      dripped += 1;
      await isLast;
      yield Buffer.from('x');
    }
    const drips = Array.from({ length: 100 }, (_, index) =>
      objects.put(keyOf(1, 'attachment', index), { ...text, sender: '203.0.113.1' }, drip()),
    );
    const reached = async (isReached: () => boolean): Promise<void> => {
      while (!isReached()) {
        if (turns.asked > 0 && dripped < drips.length) turns.release();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await reached(() => dripped === drips.length);
    t.equal(turns.asked, 0, 'while they drip');
    finish();
    const before = turns.asked;
    await reached(() => turns.asked === before + drips.length);
    let isDone = false;
    const other = objects
      .put(keyOf(1, 'attachment', 100), { ...text, sender: '203.0.113.2' }, hello())
      .then(() => (isDone = true));
    await reached(() => turns.asked === before + drips.length + 1);
    const rests = turns.rests;
    while (!isDone) {
      turns.release();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await other;
    t.ok(turns.restsAt('203.0.113.2') - rests <= 2, `${turns.restsAt('203.0.113.2') - rests} files were before it`);
    let left = drips.length;
    for (const put of drips) void put.then(() => (left -= 1));
    while (left > 0) {
      turns.release();
      await new Promise((resolve) => setImmediate(resolve));
    }
  },
);

t.test('[4.9] a failed write delays no later one, and a slow one rests no longer than allowed', async (t) => {
  let nowMs = 0;
  const resting: number[] = [];
  const turns = new DiskTurns({ nowMs: () => (nowMs += 1000), sleep: async (ms) => void resting.push(ms) });
  await t.rejects(
    turns.take('a', () => Promise.reject(new Error('ENOSPC'))),
    { message: 'ENOSPC' },
  );
  await turns.take('a', async () => undefined);
  t.same(resting[0], 100);
});
