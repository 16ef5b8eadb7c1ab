import fc from 'fast-check';
import t from 'tap';
import { isoTime, systemClock } from '../engine/runtime/clock.ts';

/** A machine whose wall clock can be set and whose own time only goes on. */
function machine() {
  let wallMs = 1_000_000;
  let elapsedMs = 0;
  const clock = systemClock(() => wallMs, () => elapsedMs);
  return {
    clock,
    pass(ms: number) {
      wallMs += ms;
      elapsedMs += ms;
    },
    setBy(ms: number) {
      wallMs += ms;
    },
  };
}

t.test('time goes on with the wall clock', async (t) => {
  const { clock, pass } = machine();
  const start = clock.now();
  pass(1500);
  t.equal(clock.now(), start + 1500);
});

t.test('a step forward is followed, a step back is not: time goes on from where it was', async (t) => {
  const { clock, pass, setBy } = machine();
  const start = clock.now();
  setBy(3600_000);
  t.equal(clock.now(), start + 3600_000);
  setBy(-3600_000);
  t.equal(clock.now(), start + 3600_000);
  pass(250);
  t.equal(clock.now(), start + 3600_250);
});

t.test('many short looks lose no time', async (t) => {
  const { clock, pass, setBy } = machine();
  setBy(-60_000);
  const start = clock.now();
  for (let look = 0; look < 1000; look += 1) {
    pass(0.3);
    clock.now();
  }
  t.ok(Math.abs(clock.now() - start - 300) <= 1, `${clock.now() - start} ms`);
});

t.test('always: never earlier than before, never behind the wall', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.record({ pass: fc.integer({ min: 0, max: 10_000 }) }), fc.record({ set: fc.integer({ min: -100_000, max: 100_000 }) })), { maxLength: 50 }), (steps) => {
      let wallMs = 1_000_000_000;
      let elapsedMs = 0;
      const clock = systemClock(() => wallMs, () => elapsedMs);
      let last = clock.now();
      return steps.every((step) => {
        if ('pass' in step) {
          wallMs += step.pass;
          elapsedMs += step.pass;
        } else wallMs += step.set;
        const now = clock.now();
        const holds = now >= last && now >= wallMs;
        last = now;
        return holds;
      });
    }),
  );
  t.pass();
});

t.test('[2] times are ISO 8601 UTC with milliseconds', async (t) => {
  t.equal(isoTime(Date.parse('2026-11-20T12:00:00Z')), '2026-11-20T12:00:00.000Z');
  t.equal(isoTime(Date.parse('2026-11-20T12:00:00.007Z')), '2026-11-20T12:00:00.007Z');
});

t.test('a timer can be taken back', async (t) => {
  const { clock } = machine();
  const rung: string[] = [];
  clock.after(0, () => rung.push('kept'));
  clock.after(0, () => rung.push('cancelled')).cancel();
  // Timers of one length ring in the order they were set.
  await new Promise<void>((resolve) => setTimeout(resolve));
  t.same(rung, ['kept']);
});
