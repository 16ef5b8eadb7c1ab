import fc from 'fast-check';
import t from 'tap';
import { Alarms } from '../../engine/runtime/alarms.ts';
import { isoTime, systemClock } from '../../engine/runtime/clock.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { turns } from '../support/toy.ts';

/** A machine whose wall clock and monotonic clock the test moves. */
function machine(startMs = 1_000_000) {
  const at = { wall: startMs, elapsed: 0 };
  return {
    at,
    clock: systemClock(
      () => at.wall,
      () => at.elapsed,
    ),
  };
}

t.test('clock: follows the wall', async (t) => {
  const { at, clock } = machine();
  t.equal(clock.now(), 1_000_000);
  at.wall += 250;
  at.elapsed += 250;
  t.equal(clock.now(), 1_000_250);
});

t.test('clock: a step forward is followed', async (t) => {
  const { at, clock } = machine();
  at.wall += 3600_000;
  at.elapsed += 1;
  t.equal(clock.now(), 4_600_000);
});

t.test('clock: a step back is ignored; time continues at its own pace and never decreases', async (t) => {
  const { at, clock } = machine();
  at.wall -= 3600_000;
  t.equal(clock.now(), 1_000_000);
  const times = Array.from({ length: 1000 }, () => {
    at.wall += 0.75;
    at.elapsed += 0.75;
    return clock.now();
  });
  t.ok(times.every((now, index) => index === 0 || now >= (times[index - 1] ?? 0)));
  t.equal(times.at(-1), 1_000_750, 'fractions of a millisecond are not lost');
  at.wall += 3600_000 + 5000;
  t.equal(clock.now(), at.wall, 'the wall is followed again once it has caught up');
});

t.test('clock: always: never earlier than before, never behind the wall', async (t) => {
  const step = fc.oneof(
    fc.record({ pass: fc.integer({ min: 0, max: 10_000 }) }),
    fc.record({ set: fc.integer({ min: -100_000, max: 100_000 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const { at, clock } = machine(1_000_000_000);
      let last = clock.now();
      return steps.every((one) => {
        at.wall += 'pass' in one ? one.pass : one.set;
        at.elapsed += 'pass' in one ? one.pass : 0;
        const now = clock.now();
        const holds = now >= last && now >= at.wall;
        last = now;
        return holds;
      });
    }),
  );
  t.pass();
});

t.test('clock: a timer can be cancelled', async (t) => {
  const { clock } = machine();
  const rung: string[] = [];
  clock.after(0, () => rung.push('kept'));
  clock.after(0, () => rung.push('cancelled')).cancel();
  // Timers of one length fire in the order they were set.
  await new Promise<void>((resolve) => setTimeout(resolve));
  t.same(rung, ['kept']);
});

t.test('[2] times are ISO 8601 UTC with milliseconds, whatever was requested before', async (t) => {
  t.equal(isoTime(Date.UTC(2026, 10, 20, 12, 0, 0, 7)), '2026-11-20T12:00:00.007Z');
  const around = Date.parse('2026-11-20T12:00:00.000Z');
  const times = [0, 1, 999, 1000, 1001, 59_999, 60_000, -1, 12.7, 86_400_000, 999, 0].map((offset) => around + offset);
  for (const ms of [
    ...times,
    0,
    1,
    -1,
    -1000,
    Date.parse('1969-12-31T23:59:59.999Z'),
    Date.parse('9999-12-31T23:59:59.999Z'),
  ])
    t.equal(isoTime(ms), new Date(ms).toISOString(), String(ms));
});

t.test('[2] ids: UUID v7 with the time in front, each greater than the one before', async (t) => {
  const clock = new ManualClock();
  const ids = createIds(clock);
  const made: string[] = [];
  for (let step = 0; step < 20_000; step += 1) {
    if (step % 7000 === 0) clock.jump(1);
    made.push(ids.uuid());
  }
  t.ok(made.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)));
  t.ok(
    made.every((id, index) => index === 0 || id > (made[index - 1] ?? '')),
    'strictly increasing, many within a millisecond',
  );
  t.equal(Number.parseInt((made[0] ?? '').replaceAll('-', '').slice(0, 12), 16), clock.now() - 2);
});

t.test('[2] ids: always unique and in the order of their making, whatever the clock does', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ stepMs: fc.integer({ min: -5000, max: 5000 }), count: fc.integer({ min: 1, max: 3000 }) }), {
        minLength: 1,
        maxLength: 8,
      }),
      (steps) => {
        const clock = new ManualClock();
        const ids = createIds(clock);
        let last = '';
        return steps.every(({ stepMs, count }) => {
          clock.jump(stepMs);
          for (let made = 0; made < count; made += 1) {
            const id = ids.uuid();
            if (id <= last) return false;
            last = id;
          }
          return true;
        });
      },
    ),
    { numRuns: 50 },
  );
  t.pass();
});

t.test(
  'ids: differ between two processes that start in the same millisecond, and are the same from the same seed',
  async (t) => {
    const clock = new ManualClock();
    t.not(createIds(clock).uuid(), createIds(clock).uuid());
    const seeded = (): string => createIds(clock, (bytes) => void bytes.fill(7)).uuid();
    t.equal(seeded(), seeded());
  },
);

t.test('ids: a secret is a number of random bytes in base64url', async (t) => {
  const ids = createIds(new ManualClock());
  const secrets = Array.from({ length: 100 }, () => ids.secret(24));
  t.ok(secrets.every((secret) => Buffer.from(secret, 'base64url').length === 24 && /^[\w-]{32}$/.test(secret)));
  for (const bytes of [1, 8, 48]) t.equal(Buffer.from(ids.secret(bytes), 'base64url').length, bytes);
  t.equal(new Set(secrets).size, 100);
});

function startAlarms() {
  const clock = new ManualClock();
  const startMs = clock.now();
  const rang: string[] = [];
  const alarms = new Alarms(clock, (key) => void rang.push(`${key} ${clock.now() - startMs}`));
  return { clock, alarms, rang, at: (ms: number): number => startMs + ms };
}

t.test('alarms: one per key, for the earliest time that was set', async (t) => {
  const { clock, alarms, rang, at } = startAlarms();
  alarms.set('a', at(1000));
  alarms.set('a', at(2000));
  alarms.set('b', at(1500));
  alarms.set('b', at(500));
  alarms.set('never', Number.POSITIVE_INFINITY);
  clock.advance(10_000);
  t.same(rang, ['b 500', 'a 1000']);
});

t.test('alarms: an overdue one rings at the end of this turn, without the clock', async (t) => {
  const { clock, alarms, rang, at } = startAlarms();
  alarms.set('a', at(0));
  alarms.set('a', at(-5000));
  t.same(rang, [], 'not within the call that set it');
  await turns(2);
  t.same(rang, ['a 0'], 'once');
  clock.advance(0);
  t.same(rang, ['a 0']);
});

t.test('alarms: far ones ring on time, and a clock that jumps forward is noticed within a minute', async (t) => {
  const { clock, alarms, rang, at } = startAlarms();
  alarms.set('far', at(3 * 3600_000));
  clock.advance(3 * 3600_000 - 1);
  t.same(rang, []);
  clock.advance(1);
  t.same(rang, ['far 10800000']);
  alarms.set('jumped over', at(4 * 3600_000));
  clock.jump(2 * 3600_000);
  t.same(rang.length, 1);
  clock.advance(60_000);
  t.same(rang.slice(1), [`jumped over ${5 * 3600_000 + 60_000}`]);
});

t.test('alarms: may be set again while they ring; cleared ones never ring', async (t) => {
  const clock = new ManualClock();
  const rang: number[] = [];
  const startMs = clock.now();
  const alarms: Alarms = new Alarms(clock, (key) => {
    rang.push(clock.now() - startMs);
    if (rang.length < 3) alarms.set(key, clock.now() + 1000);
  });
  alarms.set('a', startMs + 1000);
  clock.advance(5000);
  t.same(rang, [1000, 2000, 3000]);
  alarms.set('a', startMs + 6000);
  alarms.set('b', startMs);
  alarms.clear();
  clock.advance(60_000);
  await turns(2);
  t.equal(rang.length, 3);
});
