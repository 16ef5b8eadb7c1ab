import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { verifyReports } from '../../engine/rollups.ts';
import { bucketStarts, isoWithOffset } from '../../engine/workspace/time-zones.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { CompletionRecord } from '../../store/growth/goals.ts';
import { relativeError } from '../../store/reports/histogram.ts';
import { completionsByBucket, countReported, goalTotals, reportedConversations } from '../../store/reports/lists.ts';
import {
  beginRebuild,
  buildNext,
  type Progress,
  progressFrom,
  rebuildDeadline,
  textOfProgress,
} from '../../store/reports/rebuild.ts';
import { everyone, figuresIn } from '../../store/reports/rollups.ts';
import { bucketTotals, type ReportScope, totalsByAgent, totalsOf } from '../../store/reports/sums.ts';
import type { Totals } from '../../store/reports/types.ts';
import { deleteDeadline, putDeadline } from '../../store/runtime/deadlines.ts';
import { ManualClock } from '../support/manual-clock.ts';
import {
  agentIds,
  changeConversation,
  dayMs,
  days,
  fill,
  fillGoals,
  from,
  openDatabase,
  rebuildAll,
  reported,
  scopes,
} from '../support/reported-rows.ts';
import { randomFrom } from '../support/seeded.ts';
import { startService } from '../support/service.ts';

const isWithin = (
  conversation: ConversationRecord,
  scope: ReportScope,
  range: { fromMs: number; toMs: number },
): boolean =>
  scope.channels.includes(conversation.channel) &&
  (scope.departmentIds === null || scope.departmentIds.includes(conversation.departmentId ?? '')) &&
  (scope.agentId === null ||
    [conversation.assignedAgentId, conversation.firstResponderId, conversation.ratedAgentId].includes(scope.agentId)) &&
  Date.parse(conversation.createdAt) >= range.fromMs &&
  Date.parse(conversation.createdAt) < range.toMs;

/** By reading every conversation. */
function plainTotals(
  conversations: readonly ConversationRecord[],
  scope: ReportScope,
  range: { fromMs: number; toMs: number },
) {
  const figures = conversations
    .filter((conversation) => isWithin(conversation, scope, range))
    .flatMap((conversation) => figuresIn(reported(conversation), [everyone, scope.agentId ?? everyone]) ?? []);
  const sum = (name: keyof Totals): number =>
    figures.reduce((total, one) => total + Number((one as unknown as Record<string, number>)[name]), 0);
  const times = (values: (number | undefined)[]) => {
    const sorted = values.filter((value) => value !== undefined).sort((a, b) => a - b);
    const at = (index: number): number => (sorted[index] ?? Number.NaN) / 1000;
    if (sorted.length === 0) return { medianSeconds: null, p90Seconds: null };
    const isOdd = sorted.length % 2 === 1;
    const middle = Math.floor(sorted.length / 2);
    return {
      medianSeconds: isOdd ? at(middle) : (at(middle - 1) + at(middle)) / 2,
      p90Seconds: at(Math.ceil(0.9 * sorted.length) - 1),
    };
  };
  return {
    counts: Object.fromEntries(
      (['conversations', 'open', 'pending', 'solved', 'closed', 'missed', 'rated', 'ratingSum'] as const).map(
        (name) => [name, sum(name)],
      ),
    ),
    firstResponse: times(figures.map(({ firstResponseMs }) => firstResponseMs)),
    resolution: times(figures.map(({ resolutionMs }) => resolutionMs)),
  };
}

function isNear(is: number | null, should: number | null): boolean {
  return is === should || (is !== null && should !== null && Math.abs(is - should) <= should * relativeError + 0.002);
}

t.test('[4.13] after any change, rollups match the conversations, over any range and in any scope', async (t) => {
  const seed = 20261120;
  const random = randomFrom(seed);
  const db = openDatabase(t);
  db.begin();
  const conversations = fill(db, random, 1500);
  db.commit();
  t.strictSame([...verifyReports(db)].slice(0, 3), []);
  let wrong = 0;
  for (let round = 0; round < 400; round += 1) {
    const fromMs = random.pick([
      from + random.below(days * dayMs),
      Date.UTC(2025, 8 + random.below(13), 1),
      Date.UTC(2026, 0, 1 + random.below(200)),
    ]);
    const range = {
      fromMs,
      toMs: fromMs + random.pick([1, 60_000, dayMs, 31 * dayMs, 365 * dayMs, 1 + random.below(365 * dayMs)]),
    };
    const scope = scopes(random);
    const is = totalsOf(db, scope, range);
    const should = plainTotals(conversations, scope, range);
    const { firstResponse, resolution, ...counts } = is;
    const isRight =
      JSON.stringify(counts) === JSON.stringify(should.counts) &&
      (['medianSeconds', 'p90Seconds'] as const).every(
        (name) =>
          isNear(firstResponse[name], should.firstResponse[name]) && isNear(resolution[name], should.resolution[name]),
      );
    if (!isRight) {
      wrong += 1;
      t.fail(`seed ${seed}, round ${round}: ${JSON.stringify({ scope, range, is, should })}`);
    }
    const byAgent = totalsByAgent(db, { ...scope, agentId: null }, range, agentIds);
    for (const [index, agentId] of agentIds.entries())
      if (
        byAgent[index]?.conversations !==
        plainTotals(conversations, { ...scope, agentId }, range).counts['conversations']
      )
        t.fail(`seed ${seed}, round ${round}: ${agentId}`);
  }
  t.equal(wrong, 0);
});

t.test(
  '[4.13] series fold into the hours, days, weeks and months of any zone, over the days when clocks are set',
  async (t) => {
    const seed = 42;
    const random = randomFrom(seed);
    const db = openDatabase(t);
    db.begin();
    const conversations = fill(db, random, 1500);
    db.commit();
    for (const zone of [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kolkata',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'Pacific/Chatham',
      'America/St_Johns',
    ]) {
      for (const granularity of ['hour', 'day', 'week', 'month'] as const) {
        const fromMs = from + random.below(60 * dayMs);
        const range = { fromMs, toMs: fromMs + (granularity === 'hour' ? 20 : 300) * dayMs + random.below(dayMs) };
        const labels = bucketStarts(granularity, range, zone);
        const starts = labels.map((start) => Math.max(start, range.fromMs));
        const scope = scopes(random);
        const buckets = bucketTotals(db, scope, { starts, toMs: range.toMs });
        const should = starts.map(
          (start, index) =>
            plainTotals(conversations, scope, { fromMs: start, toMs: starts[index + 1] ?? range.toMs }).counts,
        );
        for (const name of ['conversations', 'rated', 'ratingSum'] as const)
          t.strictSame(
            buckets[name],
            should.map((counts) => counts[name] ?? 0),
            `seed ${seed}, ${name} in ${zone} by ${granularity}`,
          );
        t.ok(
          (labels[0] ?? Infinity) <= range.fromMs && (labels.at(-1) ?? Infinity) < range.toMs,
          'from the bucket that the range begins in to the one that it ends in',
        );
      }
    }
  },
);

t.test('[4.13] goals match their completions, over any range, in any scope and by any bucket', async (t) => {
  const seed = 77;
  const random = randomFrom(seed);
  const db = openDatabase(t);
  db.begin();
  const completions = fillGoals(db, random, 1500);
  db.commit();
  t.strictSame([...verifyReports(db)].slice(0, 3), []);
  const isIn = (completion: CompletionRecord, scope: ReportScope, range: { fromMs: number; toMs: number }): boolean =>
    (scope.departmentIds === null || scope.departmentIds.includes(completion.departmentId ?? '')) &&
    (scope.agentId === null || completion.attributedAgentId === scope.agentId) &&
    Date.parse(completion.completedAt) >= range.fromMs &&
    Date.parse(completion.completedAt) < range.toMs;
  for (let round = 0; round < 200; round += 1) {
    const fromMs = random.pick([
      from + random.below(days * dayMs),
      Date.UTC(2025, 8 + random.below(13), 1),
      Date.UTC(2026, 0, 1 + random.below(200)),
    ]);
    const range = {
      fromMs,
      toMs: fromMs + random.pick([1, 60_000, dayMs, 31 * dayMs, 365 * dayMs, 1 + random.below(365 * dayMs)]),
    };
    const scope = scopes(random);
    const should = ['g1', 'g2', 'g3'].flatMap((goalId) => {
      const found = completions.filter((completion) => completion.goalId === goalId && isIn(completion, scope, range));
      return goalId === 'g3' && found.length === 0
        ? []
        : [[goalId, found.length, found.reduce((sum, { valueCents }) => sum + (valueCents ?? 0), 0)]];
    });
    const is = goalTotals(db, scope, range).map(({ goalId, completions: count, valueCents }) => [
      goalId,
      count,
      valueCents,
    ]);
    if (JSON.stringify(is) !== JSON.stringify(should))
      t.fail(`seed ${seed}, round ${round}: ${JSON.stringify({ scope, range, is, should })}`);
    const zone = random.pick(['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe']);
    const starts = bucketStarts(random.pick(['day', 'week', 'month'] as const), range, zone).map((start) =>
      Math.max(start, range.fromMs),
    );
    const counts = starts.map(
      (start, index) =>
        completions.filter((completion) =>
          isIn(completion, scope, { fromMs: start, toMs: starts[index + 1] ?? range.toMs }),
        ).length,
    );
    t.strictSame(
      completionsByBucket(db, scope, { starts, toMs: range.toMs }),
      counts,
      `seed ${seed}, round ${round}, in ${zone}`,
    );
  }
});

t.test('[4.13] a page far down a list is the one that skipping every row before it finds', async (t) => {
  const seed = 5;
  const random = randomFrom(seed);
  const db = openDatabase(t);
  db.begin();
  const conversations = fill(db, random, 2500);
  db.commit();
  for (let round = 0; round < 25; round += 1) {
    const fromMs = from + random.below(60 * dayMs);
    const range = { fromMs, toMs: fromMs + 200 * dayMs + random.below(200 * dayMs) };
    const scope = scopes(random);
    const asked = {
      scope,
      range,
      status: random.pick([undefined, undefined, 'open', 'solved', 'spam'] as const),
      isRated: random.chance(0.3),
      isMissed: random.chance(0.2),
      shownDepartmentIds: scope.agentId !== null && random.chance(0.5) ? ['d1', ''] : null,
    };
    const listed = conversations.filter(
      (one) =>
        isWithin(one, scope, range) &&
        (asked.status === undefined ? one.status !== 'spam' : one.status === asked.status) &&
        (!asked.isRated ||
          (one.rating !== null &&
            (scope.agentId === null || (one.ratedAgentId ?? one.assignedAgentId) === scope.agentId))) &&
        (asked.shownDepartmentIds === null ||
          one.assignedAgentId === scope.agentId ||
          asked.shownDepartmentIds.includes(one.departmentId ?? '')) &&
        (!asked.isMissed || figuresIn(reported(one), [everyone, everyone])?.missed === 1),
    );
    const ids = listed
      .sort((a, b) => (a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1))
      .map(({ id }) => id);
    for (const offset of [0, 999, 1000, 1001, 1500, Math.max(0, ids.length - 7), ids.length, ids.length + 2000]) {
      const page = reportedConversations(db, asked, { limit: 20, offset }).map(({ id }) => id);
      if (JSON.stringify(page) !== JSON.stringify(ids.slice(offset, offset + 20)))
        t.fail(`seed ${seed}, round ${round}, offset ${offset}: ${JSON.stringify(asked)}`);
    }
    t.equal(countReported(db, asked), ids.length, `seed ${seed}, round ${round}`);
  }
});

t.test('[4.13] days have 23 and 25 hours when clocks change, and offsets distinguish the hours', async (t) => {
  const spring = bucketStarts(
    'day',
    { fromMs: Date.UTC(2026, 2, 28, 12), toMs: Date.UTC(2026, 2, 30, 12) },
    'Europe/Berlin',
  );
  t.strictSame(
    spring.map((start) => isoWithOffset(start, 'Europe/Berlin')),
    ['2026-03-28T00:00:00.000+01:00', '2026-03-29T00:00:00.000+01:00', '2026-03-30T00:00:00.000+02:00'],
  );
  t.equal((spring[2] ?? 0) - (spring[1] ?? 0), 23 * 3600_000);
  const autumn = bucketStarts(
    'hour',
    { fromMs: Date.UTC(2026, 9, 25, 0), toMs: Date.UTC(2026, 9, 25, 3) },
    'Europe/Berlin',
  );
  t.strictSame(
    autumn.map((start) => isoWithOffset(start, 'Europe/Berlin')),
    ['2026-10-25T02:00:00.000+02:00', '2026-10-25T02:00:00.000+01:00', '2026-10-25T03:00:00.000+01:00'],
  );
  t.strictSame(
    bucketStarts('week', { fromMs: Date.UTC(2026, 10, 20), toMs: Date.UTC(2026, 10, 24) }, 'UTC').map((start) =>
      new Date(start).toISOString().slice(0, 10),
    ),
    ['2026-11-16', '2026-11-23'],
  );
  t.strictSame(
    bucketStarts('month', { fromMs: Date.UTC(2026, 0, 31, 23), toMs: Date.UTC(2026, 2, 1, 1) }, 'UTC').map((start) =>
      new Date(start).toISOString().slice(0, 10),
    ),
    ['2026-01-01', '2026-02-01', '2026-03-01'],
  );
});

t.test('[4.13] wrong rollups are found and corrected', async (t) => {
  const db = openDatabase(t);
  fill(db, randomFrom(3), 60);
  fillGoals(db, randomFrom(4), 60);
  t.strictSame([...verifyReports(db)], []);
  const spoilers = [
    `UPDATE rollupPeriod SET quarters = '' WHERE departmentId = '*' AND grain = 'day'`,
    `UPDATE rollupPeriod SET solved = solved + 1 WHERE grain = 'month' AND departmentId = '*' AND agentId = '*'`,
    `UPDATE rollupPeriod SET firstResponses = '' WHERE length(firstResponses) > 0`,
    `DELETE FROM rollupPeriod WHERE grain = 'day'`,
    `INSERT INTO rollupPeriod VALUES ('*', '*', 'chat', 'day', 1, 1, 1, 0, 0, 0, 0, 0, 0, '0100', '', '')`,
    'UPDATE rollupGoal SET valueCents = valueCents + 1',
    `UPDATE rollupGoal SET quarters = '' WHERE goalId = '*'`,
    `INSERT INTO rollupGoal VALUES ('*', 'g3', 'month', 1, 1, 0, '')`,
    `UPDATE goalCompletion SET departmentId = 'd1', attributedAgentId = 'a2'`,
    `UPDATE conversation SET rating = 5, status = 'solved' WHERE status <> 'spam'`,
  ];
  for (const sql of spoilers) {
    db.run(sql);
    t.ok([...verifyReports(db)].length > 0, sql);
    rebuildAll(db);
    t.strictSame([...verifyReports(db)], [], `made again after ${sql}`);
  }
});

t.test('[4.13] while rollups are made again, reports count the days that are made, whole, and no others', async (t) => {
  const seed = 11;
  const random = randomFrom(seed);
  const db = openDatabase(t);
  db.begin();
  const conversations = fill(db, random, 2500);
  const completions = fillGoals(db, random, 600);
  db.commit();
  const firstDay = Math.floor(from / dayMs);
  let made: Progress | undefined = beginRebuild(db);
  putDeadline(db, { kind: rebuildDeadline, subjectId: 'under way', dueAt: new Date(from).toISOString() });
  let looks = 0;
  for (let step = 0; made !== undefined; step += 1) {
    const madeFrom = made;
    made = buildNext(db, made);
    if (step % 7 !== 0) continue;
    // Whole days, since the edges are read from the rows, and among them one very busy day, since small days are read
    // from the rows, too.
    const range = {
      fromMs: (firstDay + random.below(200)) * dayMs,
      toMs: (firstDay + days - random.below(100)) * dayMs,
    };
    const counted = { ...range, fromMs: Math.max(range.fromMs, Math.min((made ?? madeFrom).day * dayMs, range.toMs)) };
    const scope = scopes(random);
    const { firstResponse: _, resolution: __, ...counts } = totalsOf(db, scope, range);
    t.strictSame(counts, plainTotals(conversations, scope, counted).counts, `seed ${seed}, step ${step}`);
    const goals = goalTotals(db, { ...scope, agentId: null }, range).reduce(
      (sum, { completions: count }) => sum + count,
      0,
    );
    const isCounted = ({ completedAt, departmentId }: CompletionRecord): boolean =>
      Date.parse(completedAt) >= counted.fromMs &&
      Date.parse(completedAt) < counted.toMs &&
      (scope.departmentIds === null || scope.departmentIds.includes(departmentId ?? ''));
    t.equal(goals, completions.filter(isCounted).length, `seed ${seed}, step ${step}, goals`);
    looks += 1;
  }
  t.ok(looks > 40);
  deleteDeadline(db, rebuildDeadline, 'under way');
  t.strictSame([...verifyReports(db)], []);
});

t.test('[4.13] while rollups are rebuilt, a month a few at a time, concurrent changes are counted once', async (t) => {
  const seed = 12;
  const random = randomFrom(seed);
  const db = openDatabase(t);
  db.begin();
  const conversations = fill(db, random, 800);
  db.commit();
  let steps = 0;
  let monthSteps = 0;
  for (let progress: Progress | undefined = beginRebuild(db); progress !== undefined; steps += 1) {
    progress = buildNext(db, progress);
    const kept: Progress | undefined = progress && progressFrom(textOfProgress(progress));
    t.strictSame(kept, progress);
    if (progress?.upTo !== undefined) monthSteps += 1;
    for (const [index, conversation] of conversations.entries()) {
      if (progress === undefined || !random.chance(0.005)) continue;
      // Earlier conversations are left to their day, as in the service.
      const isMade = Date.parse(conversation.createdAt) >= progress.day * dayMs;
      conversations[index] = changeConversation(db, random, conversation, { isFolded: isMade });
    }
  }
  t.ok(monthSteps > 15 * 2, `a month takes more than one step: ${monthSteps} of ${steps}`);
  t.strictSame([...verifyReports(db)].slice(0, 3), [], `seed ${seed}`);
});

t.test('[4.13] a file from before there were rollups is counted when it is opened', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-rollups-'));
  t.teardown(() => rmSync(dataDir, { recursive: true }));
  const clock = new ManualClock();
  const before = await startService(t, { dataDir, clock });
  const owner = await before.workspace();
  await before.chat(owner);
  await before.pass(70 * dayMs);
  await before.customer(owner.embedId);
  const db = before.running.services.engine.workspace(owner.workspaceId)?.db;
  if (db === undefined) throw new Error('no workspace');
  const customer = await before.customer(owner.embedId);
  await before.post('/widget/conversations', { body: 'Later' }, customer.token);
  db.run('DELETE FROM rollupPeriod');
  t.ok([...verifyReports(db)].length > 0);
  putDeadline(db, { kind: rebuildDeadline, subjectId: owner.workspaceId, dueAt: new Date(clock.now()).toISOString() });
  await before.stop();
  const after = await startService(t, { dataDir, clock });
  await after.pass(60_000);
  const opened = after.running.services.engine.workspace(owner.workspaceId)?.db;
  t.strictSame(opened && [...verifyReports(opened)], []);
  t.equal(
    opened &&
      totalsOf(opened, { channels: ['chat'], departmentIds: null, agentId: null }, { fromMs: 0, toMs: clock.now() + 1 })
        .conversations,
    2,
  );
});

t.test(
  '[4.13] while rollups are rebuilt, changes on a day not yet rebuilt are left to it, and counted once',
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-rollups-'));
    t.teardown(() => rmSync(dataDir, { recursive: true }));
    const clock = new ManualClock();
    const before = await startService(t, { dataDir, clock });
    const owner = await before.workspace();
    await before.chat(owner);
    await before.pass(3 * dayMs);
    const customer = await before.customer(owner.embedId);
    await before.post('/widget/conversations', { body: 'Later' }, customer.token);
    const db = before.running.services.engine.workspace(owner.workspaceId)?.db;
    if (db === undefined) throw new Error('no workspace');
    const progress = buildNext(db, beginRebuild(db));
    const today = Math.floor(clock.now() / dayMs);
    t.equal(progress?.day, today);
    putDeadline(db, {
      kind: rebuildDeadline,
      subjectId: progress === undefined ? '' : textOfProgress(progress),
      dueAt: new Date(clock.now() + 3_600_000).toISOString(),
    });
    for (const { id } of db.all<{ id: string }>('SELECT id FROM conversation'))
      t.equal((await before.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token)).status, 200);
    t.strictSame(
      db.all(`SELECT DISTINCT period, solved FROM rollupPeriod WHERE grain = 'day'`),
      [{ period: today, solved: 1 }],
      'the present day is kept in step, the earlier one is not there',
    );
    await before.stop();
    const after = await startService(t, { dataDir, clock });
    await after.pass(2 * 3_600_000);
    const opened = after.running.services.engine.workspace(owner.workspaceId)?.db;
    t.strictSame(opened && [...verifyReports(opened)], []);
  },
);
