import fc from 'fast-check';
import t from 'tap';
import { createIds } from '../engine/runtime/ids.ts';
import { hashOf, locatorOf, workspaceIdIn } from '../engine/locator.ts';

const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

t.test('[2] ids are UUID v7, and say when they were made', async (t) => {
  const madeAt = Date.parse('2026-11-20T12:00:00.123Z');
  const id = createIds({ now: () => madeAt }).uuid();
  t.match(id, version7);
  t.equal(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), madeAt);
});

t.test('[2] always: unique and in the order of their making, whatever the clock does', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.record({ stepMs: fc.integer({ min: -5000, max: 5000 }), count: fc.integer({ min: 1, max: 3000 }) }), { minLength: 1, maxLength: 8 }), (steps) => {
      let now = Date.parse('2026-11-20T12:00:00.000Z');
      const ids = createIds({ now: () => now });
      let last = '';
      return steps.every(({ stepMs, count }) => {
        now += stepMs;
        for (let made = 0; made < count; made += 1) {
          const id = ids.uuid();
          if (id <= last || !version7.test(id)) return false;
          last = id;
        }
        return true;
      });
    }),
    { numRuns: 50 },
  );
  t.pass();
});

t.test('ids come from the source of chance that they are given', async (t) => {
  const seeded = () => createIds({ now: () => 1_700_000_000_000 }, (bytes) => void bytes.fill(7));
  const [one, other] = [seeded(), seeded()];
  for (let made = 0; made < 10; made += 1) t.equal(one.uuid(), other.uuid());
  t.equal(seeded().secret(24), other.secret(24));
});

t.test('secrets have as many bytes as asked for, and differ', async (t) => {
  const ids = createIds({ now: () => 0 });
  for (const bytes of [1, 8, 24, 48]) t.equal(Buffer.from(ids.secret(bytes), 'base64url').length, bytes);
  t.equal(new Set(Array.from({ length: 1000 }, () => ids.secret(16))).size, 1000);
});

t.test('a locator names its workspace, whatever follows it; what is none names nothing', async (t) => {
  fc.assert(fc.property(fc.uuid(), fc.string(), (workspaceId, secret) => workspaceIdIn(locatorOf(workspaceId) + secret) === workspaceId));
  for (const text of ['', 'short', '!'.repeat(40), 'aaaaaaaaaaaaaaaaaaaaa']) t.equal(workspaceIdIn(text), undefined, text);
  t.equal(hashOf('a').length, 43);
  t.not(hashOf('a'), hashOf('b'));
});
