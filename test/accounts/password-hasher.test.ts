// Which passwords are hashed when there are more than can be.

import t from 'tap';
import { createPasswordHasher, HasherBusy } from '../../workers/secrets/password-hasher.ts';

/** Resolves to the outcome of each, in order. */
async function outcomes(
  asked: readonly [asker: string, Promise<unknown>][],
): Promise<{ order: string[]; refused: string[] }> {
  const order: string[] = [];
  const refused: string[] = [];
  await Promise.all(
    asked.map(([asker, work]) =>
      work.then(
        () => order.push(asker),
        (error: unknown) => {
          if (!(error instanceof HasherBusy)) throw error;
          refused.push(asker);
        },
      ),
    ),
  );
  return { order, refused };
}

t.test('[8] callers take turns: a flood from one delays others by at most its own turn', async (t) => {
  const hasher = createPasswordHasher();
  const flood = Array.from(
    { length: 30 },
    () => ['flood', hasher.verify(undefined, 'x', 'flood')] as [string, Promise<unknown>],
  );
  const other: [string, Promise<unknown>] = ['other', hasher.verify(undefined, 'x', 'other')];
  const { order } = await outcomes([...flood, other]);
  // It starts behind those that run and one that waits; threads do not end in the order in which they begin.
  t.ok(order.indexOf('other') <= 15, `place ${order.indexOf('other')} of ${order.length}`);
  t.equal(order.length, 31);
});

t.test('[8] if too many wait, the last of the largest caller are refused', async (t) => {
  const hasher = createPasswordHasher();
  const flood = Array.from({ length: 120 }, () => ['flood', hasher.hash('x', 'flood')] as [string, Promise<unknown>]);
  const others = Array.from(
    { length: 10 },
    (_, index) => [`other ${index}`, hasher.hash('x', `other ${index}`)] as [string, Promise<unknown>],
  );
  const { order, refused } = await outcomes([...flood, ...others]);
  t.same(new Set(refused), new Set(['flood']));
  t.equal(refused.length, 28, 'two at work, a hundred waiting');
  t.equal(order.filter((asker) => asker !== 'flood').length, 10);
});

t.test('[8] with as many waiting for each, the newcomer is refused', async (t) => {
  const hasher = createPasswordHasher();
  const asked = Array.from(
    { length: 103 },
    (_, index) => [`${index}`, hasher.verify(undefined, 'x', `${index}`)] as [string, Promise<unknown>],
  );
  const { refused } = await outcomes(asked);
  t.same(refused, ['102']);
});

t.test('without a flood all are served', async (t) => {
  const hasher = createPasswordHasher();
  const hash = await hasher.hash('right', 'a');
  t.equal(await hasher.verify(hash, 'right'), true);
  t.equal(await hasher.verify(hash, 'wrong', 'b'), false);
  t.equal(await hasher.verify(undefined, 'right', 'b'), false);
});
