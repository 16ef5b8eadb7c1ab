import fc from 'fast-check';
import t from 'tap';
import { RateLimiter } from '../../http/limits/rate-limiter.ts';
import { ManualClock } from '../support/manual-clock.ts';

t.test('[8] a limited number of calls a minute, then none until the window is over', async (t) => {
  const clock = new ManualClock();
  const limiter = new RateLimiter(clock);
  for (let call = 1; call <= 3; call += 1)
    t.same(limiter.take('a', 3), { limit: 3, remaining: 3 - call, resetSeconds: 60, allowed: true });
  clock.advance(59_000);
  t.same(limiter.take('a', 3), { limit: 3, remaining: 0, resetSeconds: 1, allowed: false });
  clock.advance(999);
  t.match(limiter.take('a', 3), { allowed: false, resetSeconds: 1 }, 'a millisecond before the end');
  clock.advance(1);
  t.same(limiter.take('a', 3), { limit: 3, remaining: 2, resetSeconds: 60, allowed: true }, 'at the end');
});

t.test('[8] a refused call takes nothing, and one key nothing of another', async (t) => {
  const clock = new ManualClock();
  const limiter = new RateLimiter(clock);
  limiter.take('a', 1);
  for (let call = 0; call < 5; call += 1) t.equal(limiter.take('a', 1).allowed, false);
  t.equal(limiter.take('b', 1).allowed, true);
  clock.advance(60_000);
  t.equal(limiter.take('a', 1).allowed, true);
});

t.test('always: never more than the limit in a window, and never a negative remainder', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.record({ key: fc.constantFrom('a', 'b'), waitMs: fc.integer({ min: 0, max: 40_000 }) }), {
        maxLength: 200,
      }),
      (limit, calls) => {
        const clock = new ManualClock();
        const limiter = new RateLimiter(clock);
        const windows = new Map<string, { startMs: number; allowed: number }>();
        return calls.every(({ key, waitMs }) => {
          clock.advance(waitMs);
          const { allowed, remaining, resetSeconds } = limiter.take(key, limit);
          let window = windows.get(key);
          if (window === undefined || clock.now() - window.startMs >= 60_000)
            windows.set(key, (window = { startMs: clock.now(), allowed: 0 }));
          if (allowed) window.allowed += 1;
          return (
            window.allowed <= limit && remaining === limit - window.allowed && resetSeconds >= 1 && resetSeconds <= 60
          );
        });
      },
    ),
  );
  t.pass();
});

t.test('[8] a flood of made-up keys does not reset a spent budget', async (t) => {
  const clock = new ManualClock();
  const limiter = new RateLimiter(clock);
  for (let call = 0; call < 5; call += 1) limiter.take('victim', 5);
  limiter.take('barely', 5);
  let most = 0;
  for (let key = 0; key < 250_000; key += 1) {
    limiter.take(`flood ${key}`, 5);
    if (key % 25_000 === 0) t.equal(limiter.take('victim', 5).allowed, false, `after ${key} keys`);
    most = Math.max(most, limiter.size);
  }
  t.equal(limiter.take('victim', 5).allowed, false);
  t.equal(limiter.take('barely', 5).remaining, 4, 'the least used are evicted');
  t.equal(most, 100_000, 'and no more keys are held than allowed');
  clock.advance(60_000);
  t.equal(limiter.take('victim', 5).remaining, 4);
});

t.test('[8] when every key is spent the oldest goes all the same', async (t) => {
  const limiter = new RateLimiter(new ManualClock());
  for (let key = 0; key < 100_200; key += 1) limiter.take(`spent ${key}`, 1);
  t.equal(limiter.size, 100_000);
});

t.test('[8] memory follows the present callers, not all earlier ones', async (t) => {
  const clock = new ManualClock();
  const limiter = new RateLimiter(clock);
  let most = 0;
  for (let caller = 0; caller < 50_000; caller += 1) {
    limiter.take(`caller ${caller}`, 5);
    // A thousand a minute.
    clock.advance(60);
    most = Math.max(most, limiter.size);
  }
  t.ok(most <= 3000, `${most} keys`);
  for (let caller = 0; caller < 5000; caller += 1) limiter.take(`crowd ${caller}`, 1);
  t.ok(
    Array.from({ length: 5000 }, (_, caller) => limiter.take(`crowd ${caller}`, 1)).every(({ allowed }) => !allowed),
    'no window is forgotten before its end',
  );
});
