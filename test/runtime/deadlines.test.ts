import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import type { DeadlineCommands, DeadlineParams } from '../../engine/runtime/deadlines.ts';
import { deadline } from '../../engine/runtime/kinds.ts';
import { HeldDisk } from '../support/held-disk.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import type { Teardown } from '../support/service.ts';
import { clearDeadline, setDeadline, startToy, type ToyOptions, turns } from '../support/toy.ts';

interface Fired {
  readonly subjectId: string;
  readonly atMs: number;
}

/** `ring` records when it fired; `fail` throws until the time in `failures`; `again` reschedules itself twice. */
function start(t: Teardown, options: ToyOptions = {}) {
  const fired: Fired[] = [];
  const failures = { untilMs: 0, atMs: new Set<number>() };
  const deadlines: DeadlineCommands = {
    ring: command('ring', (ctx, { subjectId }: DeadlineParams): void => {
      ctx.emit({ type: 'rang', audience: {}, data: { subjectId } });
      fired.push({ subjectId, atMs: ctx.nowMs });
    }),
    fail: command('fail', (ctx, { subjectId }: DeadlineParams): void => {
      ctx.emit({ type: 'never seen', audience: {}, data: {} });
      if (ctx.nowMs - startMs < failures.untilMs) {
        failures.atMs.add(ctx.nowMs - startMs);
        throw new Error('not yet');
      }
      fired.push({ subjectId, atMs: ctx.nowMs });
    }),
    again: command('again', (ctx, { subjectId }: DeadlineParams): void => {
      fired.push({ subjectId, atMs: ctx.nowMs });
      if (fired.length < 3) ctx.setDeadline(deadline('again'), subjectId, ctx.nowMs + 1000);
    }),
  };
  const toy = startToy(t, { deadlines, ...options });
  const startMs = toy.clock.now();
  const set = (workspaceId: string, kind: string, subjectId: string, afterMs: number): Promise<void> =>
    toy.engine.execute(setDeadline, { workspaceId, caller: systemCaller, params: { kind, subjectId, afterMs } });
  /** Since the start, by subject. */
  const times = (): Record<string, number[]> => {
    const bySubject: Record<string, number[]> = {};
    for (const { subjectId, atMs } of fired) (bySubject[subjectId] ??= []).push(atMs - startMs);
    return bySubject;
  };
  const rows = (workspaceId: string): { kind: string; subjectId: string }[] =>
    toy.read(workspaceId, 'SELECT kind, subjectId FROM deadline ORDER BY subjectId');
  return { toy, set, times, rows, fired, failures };
}

t.test('a deadline fires at its time, once, and its row is gone', async (t) => {
  const { toy, set, times, rows } = start(t);
  const { workspaceId } = toy.workspace();
  await set(workspaceId, 'ring', 'a', 1000);
  t.same(rows(workspaceId), [{ kind: 'ring', subjectId: 'a' }], 'a row first');
  await toy.pass(999);
  t.same(times(), {});
  await toy.pass(1);
  t.same(times(), { a: [1000] });
  t.same(rows(workspaceId), []);
  t.same(toy.seqs(workspaceId), [1]);
  await toy.pass(3600_000);
  t.same(times(), { a: [1000] });
});

t.test(
  'each at its own time, whatever the order they were set in; a later one does not put off an earlier',
  async (t) => {
    const { toy, set, times } = start(t);
    const one = toy.workspace().workspaceId;
    const other = toy.workspace().workspaceId;
    await set(one, 'ring', 'late', 5000);
    await set(one, 'ring', 'early', 1000);
    await set(other, 'ring', 'other', 3000);
    await set(one, 'ring', 'middle', 2000);
    for (let step = 0; step < 6; step += 1) await toy.pass(1000);
    t.same(times(), { early: [1000], middle: [2000], other: [3000], late: [5000] });
  },
);

t.test('moved: only the last time counts; cleared: never', async (t) => {
  const { toy, set, times, rows } = start(t);
  const { workspaceId } = toy.workspace();
  await set(workspaceId, 'ring', 'later', 1000);
  await set(workspaceId, 'ring', 'later', 4000);
  await set(workspaceId, 'ring', 'sooner', 4000);
  await set(workspaceId, 'ring', 'sooner', 1000);
  await set(workspaceId, 'ring', 'cleared', 1000);
  await toy.engine.execute(clearDeadline, {
    workspaceId,
    caller: systemCaller,
    params: { kind: 'ring', subjectId: 'cleared' },
  });
  for (let step = 0; step < 5; step += 1) await toy.pass(1000);
  t.same(times(), { sooner: [1000], later: [4000] });
  t.same(rows(workspaceId), []);
});

t.test('rescheduled or cleared between its reading and its command: it is left alone', async (t) => {
  const disk = new HeldDisk({ isHeld: false });
  const { toy, set, times } = start(t, { syncToDisk: disk.sync });
  t.teardown(() => disk.letGo());
  const { workspaceId } = toy.workspace();
  // In one batch, or in several where the machine is slow.
  await Promise.all(['moved', 'cleared', 'stays'].map((subjectId) => set(workspaceId, 'ring', subjectId, 1000)));
  disk.hold();
  // A batch is in progress when they become due, so their commands queue behind those sent now.
  const before = Promise.all([set(workspaceId, 'ring', 'other', 90_000)]);
  await disk.asked();
  const changes = Promise.all([
    set(workspaceId, 'ring', 'moved', 60_000),
    toy.engine.execute(clearDeadline, {
      workspaceId,
      caller: systemCaller,
      params: { kind: 'ring', subjectId: 'cleared' },
    }),
  ]);
  toy.clock.advance(1000);
  await turns();
  disk.letGo();
  await Promise.all([before, changes]);
  await toy.pass(0);
  t.same(times(), { stays: [1000] });
  await toy.pass(60_000);
  t.same(times(), { stays: [1000], moved: [61_000] });
});

t.test('nothing fires before the command that set it is durable', async (t) => {
  const disk = new HeldDisk();
  const { toy, set, times } = start(t, { syncToDisk: disk.sync });
  t.teardown(() => disk.letGo());
  const { workspaceId } = toy.workspace();
  const setting = set(workspaceId, 'ring', 'a', 0);
  await disk.asked();
  toy.clock.advance(10_000);
  await turns();
  t.same(times(), {});
  disk.letGo();
  await setting;
  await toy.pass(0);
  t.same(times(), { a: [10_000] });
});

t.test('a deadline whose command fails is undone and tried again; the others keep their times', async (t) => {
  const { toy, set, times, rows, failures } = start(t);
  const { workspaceId } = toy.workspace();
  failures.untilMs = 61_000;
  await set(workspaceId, 'fail', 'poor', 1000);
  await set(workspaceId, 'ring', 'same time', 1000);
  await set(workspaceId, 'ring', 'soon after', 2000);
  await toy.pass(1000);
  t.same(times(), { 'same time': [1000] });
  t.same(
    rows(workspaceId).map(({ subjectId }) => subjectId),
    ['poor', 'soon after'],
    'its row stays',
  );
  t.same(toy.seqs(workspaceId), [1], 'nothing of the failed command is seen');
  await toy.pass(1000);
  t.same(times(), { 'same time': [1000], 'soon after': [2000] });
  await toy.pass(29_000);
  t.same([...failures.atMs], [1000, 31_000], 'tried again after 30 seconds');
  await toy.pass(30_000);
  t.same(times()['poor'], [61_000]);
  t.same(rows(workspaceId), []);
});

t.test('many that fail for good delay no others', async (t) => {
  const { toy, set, times, failures } = start(t);
  const { workspaceId } = toy.workspace();
  failures.untilMs = Number.POSITIVE_INFINITY;
  await Promise.all(Array.from({ length: 300 }, (_, index) => set(workspaceId, 'fail', `poor ${index}`, 1000)));
  await Promise.all(Array.from({ length: 300 }, (_, index) => set(workspaceId, 'unknown', `strange ${index}`, 1000)));
  await set(workspaceId, 'ring', 'good', 2000);
  await toy.pass(1000);
  await toy.pass(1000);
  t.same(times(), { good: [2000] });
  await set(workspaceId, 'ring', 'better', 1000);
  await toy.pass(1000);
  t.same(times(), { good: [2000], better: [3000] });
});

t.test('more than a page that are due at once all fire', async (t) => {
  const { toy, set, fired } = start(t);
  const { workspaceId } = toy.workspace();
  await Promise.all(Array.from({ length: 450 }, (_, index) => set(workspaceId, 'ring', String(index), 1000)));
  await toy.pass(1000);
  t.equal(fired.length, 450);
  t.equal(new Set(fired.map(({ subjectId }) => subjectId)).size, 450);
});

t.test('a command that reschedules its own deadline continues', async (t) => {
  const { toy, set, times } = start(t);
  const { workspaceId } = toy.workspace();
  await set(workspaceId, 'again', 'a', 1000);
  for (let step = 0; step < 6; step += 1) await toy.pass(1000);
  t.same(times(), { a: [1000, 2000, 3000] });
});

t.test('after a restart overdue ones fire at once, the rest on time', async (t) => {
  const first = start(t);
  const { workspaceId } = first.toy.workspace();
  for (const [subjectId, afterMs] of [
    ['missed', 1000],
    ['missed too', 30_000],
    ['to come', 60_000],
  ] as const)
    await first.set(workspaceId, 'ring', subjectId, afterMs);
  await first.toy.engine.stop();
  const clock: ManualClock = first.toy.clock;
  clock.advance(45_000);
  t.same(first.times(), {}, 'a stopped engine fires nothing');
  const second = start(t, { dataDir: first.toy.dataDir, clock });
  await second.toy.engine.wakeAll();
  await second.toy.pass(0);
  t.same(second.fired.map(({ subjectId }) => subjectId).sort(), ['missed', 'missed too']);
  await second.toy.pass(14_999);
  t.equal(second.fired.length, 2);
  await second.toy.pass(1);
  t.same(second.fired.at(-1), { subjectId: 'to come', atMs: clock.now() });
});

t.test('on a full disk the deadline stays in its row and fires when there is room', async (t) => {
  const { toy, set, times, rows } = start(t);
  const { workspaceId, db } = toy.workspace();
  const fill = (size: number) =>
    command('fill', (ctx, _: object): void =>
      ctx.emit({ type: 'fill', audience: {}, data: { text: 'x'.repeat(size) } }),
    );
  await set(workspaceId, 'ring', 'a', 1000);
  // So full that not even an event's row fits.
  db.get(`PRAGMA max_page_count = ${db.get<{ page_count: number }>('PRAGMA page_count')?.page_count ?? 0}`);
  for (let size = 4000; size >= 1; size = Math.floor(size / 2))
    for (let ok = true; ok; )
      ok = await toy.engine.execute(fill(size), { workspaceId, caller: systemCaller, params: {} }).then(
        () => true,
        () => false,
      );
  await toy.pass(1000);
  t.equal(rows(workspaceId).length, 1);
  db.get('PRAGMA max_page_count = 1000000');
  const seqs = toy.seqs(workspaceId).length;
  await toy.pass(30_000);
  t.same(rows(workspaceId), []);
  t.same(times(), { a: [31_000] });
  t.equal(toy.seqs(workspaceId).length, seqs + 1, 'told once');
});
