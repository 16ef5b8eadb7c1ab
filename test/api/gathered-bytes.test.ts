import t from 'tap';
import { GatheredBytes } from '../../http/limits/gathered-bytes.ts';

const bytes = (length: number, from: number): Buffer =>
  Buffer.from(Array.from({ length }, (_, at) => (from + at) % 251));

t.test('what is added in pieces of any size comes out whole and in order', async (t) => {
  for (const sizes of [
    [],
    [1],
    [1, 1, 1],
    [1000, 30, 5],
    [100_000],
    [10, 100_000, 10, 300_000, 1],
    Array(5000).fill(37),
  ]) {
    const gathered = new GatheredBytes();
    const parts = new GatheredBytes();
    const expected: Buffer[] = [];
    let from = 0;
    for (const size of sizes as number[]) {
      const piece = bytes(size, from);
      from += size;
      expected.push(Buffer.from(piece));
      gathered.add(piece);
      parts.add(piece);
      piece.fill(0);
    }
    const whole = Buffer.concat(expected);
    t.equal(gathered.byteLength, whole.byteLength);
    t.ok(whole.equals(gathered.take()), `${sizes.length} pieces`);
    t.equal(gathered.byteLength, 0);
    const taken: Uint8Array[] = [];
    while (parts.byteLength > 0) taken.push(parts.takeFirst());
    t.ok(whole.equals(Buffer.concat(taken)));
    t.equal(parts.takeFirst().byteLength, 0);
  }
});

t.test('pieces may be added after some were taken', async (t) => {
  const gathered = new GatheredBytes();
  gathered.add(bytes(2000, 0));
  gathered.add(bytes(70_000, 0));
  t.equal(gathered.takeFirst().byteLength, 2000);
  gathered.add(bytes(3, 9));
  t.equal(gathered.byteLength, 70_003);
  t.equal(gathered.takeFirst().byteLength, 70_000);
  t.same([...gathered.takeFirst()], [9, 10, 11]);
  gathered.add(bytes(1, 1));
  t.same([...gathered.take()], [1]);
});

t.test('many small pieces are kept in few buffers', async (t) => {
  const gathered = new GatheredBytes();
  for (let count = 0; count < 100_000; count += 1) gathered.add(bytes(1, count));
  let buffers = 0;
  for (; gathered.byteLength > 0; buffers += 1) gathered.takeFirst();
  t.ok(buffers < 10);
});
