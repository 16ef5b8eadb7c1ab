import t from 'tap';
import { verifyReports } from '../../engine/rollups.ts';
import { bucketStarts, type Granularity } from '../../engine/workspace/time-zones.ts';
import { noteChange } from '../../store/reports/changes.ts';
import { completionsByBucket, countReported, goalTotals, reportedConversations } from '../../store/reports/lists.ts';
import { ReportMemory } from '../../store/reports/memory.ts';
import {
  bucketTotals,
  type ReportScope,
  type ReportSource,
  totalsByAgent,
  totalsOf,
} from '../../store/reports/reads.ts';
import { beginRebuild, buildNext, progressFrom, rebuildDeadline, textOfProgress } from '../../store/reports/rebuild.ts';
import { deleteDeadline, putDeadline } from '../../store/runtime/deadlines.ts';
import {
  addCompletion,
  addConversation,
  agentIds,
  changeConversation,
  dayMs,
  days,
  fill,
  fillGoals,
  from,
  openDatabase,
  scopes,
} from '../support/reported-rows.ts';
import { randomFrom } from '../support/seeded.ts';

const everything: ReportScope = { channels: ['chat', 'ticket', 'call'], departmentIds: null, agentId: null };
const allDays = { fromMs: from, toMs: from + 365 * dayMs + 12_345 };

interface Asked {
  readonly scope: ReportScope;
  readonly range: { readonly fromMs: number; readonly toMs: number };
  readonly zone: string;
  readonly granularity: Granularity;
}

/** Every kind of read that remembers anything, each of what `source` returns. */
function reportsOf(source: () => ReportSource, { scope, range, zone, granularity }: Asked) {
  const starts = bucketStarts(granularity, range, zone).map((start) => Math.max(start, range.fromMs));
  const buckets = { starts, toMs: range.toMs };
  return {
    totals: totalsOf(source(), scope, range),
    byAgent: totalsByAgent(source(), scope, range, agentIds),
    buckets: bucketTotals(source(), scope, buckets),
    goals: goalTotals(source(), scope, range),
    completions: completionsByBucket(source(), scope, buckets),
    listed: countReported(source(), {
      scope,
      range,
      status: undefined,
      isRated: true,
      isMissed: false,
      shownDepartmentIds: null,
    }),
  };
}

const allOfIt: Asked = { scope: everything, range: allDays, zone: 'Europe/Berlin', granularity: 'day' };

/** A file whose reports are asked with one memory, and with none. */
function openReports(t: { teardown(call: () => void): void }, seed: number) {
  const random = randomFrom(seed);
  const db = openDatabase(t);
  db.begin();
  const conversations = fill(db, random, 1500);
  fillGoals(db, random, 300);
  db.commit();
  const memory = new ReportMemory();
  return {
    random,
    db,
    memory,
    conversations,
    remembered: (asked: Asked) => reportsOf(() => ({ db, memory }), asked),
    read: (asked: Asked) => reportsOf(() => ({ db, memory: new ReportMemory() }), asked),
  };
}

t.test('[4.13] what is remembered is what would be read, whatever changes between two looks', async (t) => {
  const seed = 20261122;
  const { random, db, conversations, remembered, read } = openReports(t, seed);
  // The same few questions again and again, some a moment or a quarter of an hour later.
  const few = Array.from({ length: 6 }, () => ({
    scope: scopes(random),
    fromMs: from + random.below(60 * dayMs),
    lengthMs: random.pick([20 * dayMs, 100 * dayMs, 365 * dayMs]),
    zone: random.pick(['UTC', 'Europe/Berlin', 'Asia/Kathmandu']),
  }));
  for (let round = 0; round < 150; round += 1) {
    db.begin();
    for (let count = random.below(4); count > 0; count -= 1) {
      const index = random.below(conversations.length);
      const changed = conversations[index];
      if (changed !== undefined && random.chance(0.6)) conversations[index] = changeConversation(db, random, changed);
      else if (random.chance(0.6)) conversations.push(addConversation(db, random, `n${round}-${count}`));
      else addCompletion(db, random, `n${round}-${count}`);
    }
    db.commit();
    const { scope, fromMs, lengthMs, zone } = random.pick(few);
    const asked = {
      scope,
      range: { fromMs, toMs: fromMs + lengthMs + random.pick([0, 1, 17_000, 15 * 60_000, 3 * 3_600_000]) },
      zone,
      granularity: random.pick(['day', 'week', 'month'] as const),
    };
    if (JSON.stringify(remembered(asked)) !== JSON.stringify(read(asked)))
      t.fail(`seed ${seed}, round ${round}: ${JSON.stringify(asked)}`);
  }
  t.pass();
});

t.test(
  '[4.13] ranges that end within one week or month are told apart, in a file of which no change was ever noted, too',
  async (t) => {
    const { db, remembered, read } = openReports(t, 1);
    db.run('DELETE FROM rollupChange');
    const fromMs = Date.UTC(2026, 2, 1);
    for (const granularity of ['week', 'month'] as const) {
      for (const days of [5, 20, 19, 31, 5, 400, 20]) {
        const asked = { scope: everything, range: { fromMs, toMs: fromMs + days * dayMs }, zone: 'UTC', granularity };
        t.strictSame(remembered(asked), read(asked), `${days} days by ${granularity}`);
      }
    }
  },
);

t.test(
  '[4.13] ranges that hold the same whole days are told apart by what changed on them, not on the days that they only touch',
  async (t) => {
    const { db, remembered, read } = openReports(t, 15);
    db.run('DELETE FROM rollupChange');
    const [firstDay, nextDay] = [Math.floor(from / dayMs) + 30, Math.floor(from / dayMs) + 130];
    const touching = { ...allOfIt, range: { fromMs: firstDay * dayMs - 1, toMs: nextDay * dayMs + 1 } };
    const within = { ...allOfIt, range: { fromMs: firstDay * dayMs, toMs: nextDay * dayMs } };
    for (const day of [firstDay - 1, nextDay]) {
      for (const what of ['conversations', 'completions'] as const) noteChange(db, what, day);
      remembered(touching);
      // As often as the days beside them have changed.
      addConversation(db, randomFrom(16), `w${day}`, {
        createdMs: (firstDay + 50) * dayMs,
        firstResponseMs: (firstDay + 51) * dayMs,
      });
      addCompletion(db, randomFrom(day), `w${day}`);
      t.strictSame(remembered(within), read(within), `day ${day}`);
      t.strictSame(remembered(touching), read(touching), `day ${day}, both`);
    }
  },
);

t.test('[4.13] totals read nothing twice, whether it may be remembered or not', async (t) => {
  const { db } = openReports(t, 17);
  const endMs = from + 365 * dayMs;
  // What began in the minutes at the end is read apart.
  for (let index = 0; index < 20; index += 1)
    changeConversation(
      db,
      randomFrom(index),
      addConversation(db, randomFrom(index), `e${index}`, { createdMs: endMs - 1000, firstResponseMs: endMs }),
    );
  const allValues = db.allValues.bind(db);
  for (const isRebuilding of [false, true]) {
    if (isRebuilding)
      putDeadline(db, { kind: rebuildDeadline, subjectId: 'the first step', dueAt: new Date(from).toISOString() });
    const statements: string[] = [];
    db.allValues = (sql, values) => {
      statements.push(JSON.stringify([sql, values]));
      return allValues(sql, values);
    };
    totalsByAgent({ db, memory: new ReportMemory() }, everything, { fromMs: from, toMs: endMs }, agentIds);
    t.ok(statements.length > 1);
    t.equal(new Set(statements).size, statements.length, `rollups are being made again: ${isRebuilding}`);
  }
});

t.test(
  '[4.13] a second look asks how often the days have changed, and neither which of them nor whether there are many',
  async (t) => {
    const { db, remembered } = openReports(t, 21);
    const statements: string[] = [];
    for (const how of ['get', 'allValues'] as const) {
      const bound = db[how].bind(db);
      // The same but for the note.
      db[how] = ((sql: string, values: never) => {
        statements.push(sql);
        return bound(sql, values);
      }) as never;
    }
    const asks = (pattern: RegExp): number => statements.filter((sql) => pattern.test(sql)).length;
    const [which, many, howOften] = [
      /SELECT day, \w+ FROM rollupChange/,
      /LIMIT @limit\)/,
      /sum\(\w+\), 0\) AS changes FROM rollupChange/,
    ];
    remembered(allOfIt);
    t.ok(asks(which) > 0 && asks(many) > 0 && asks(howOften) > 0);
    statements.length = 0;
    remembered(allOfIt);
    t.strictSame([asks(which), asks(many)], [0, 0]);
    t.equal(asks(howOften), 6, 'once for each kind of report, not for each month');
  },
);

t.test(
  '[4.13] agents are answered in the order in which they are asked for, one that is named twice twice',
  async (t) => {
    const { db, memory } = openReports(t, 19);
    const conversations = (scope: ReportScope): number =>
      totalsOf({ db, memory: new ReportMemory() }, scope, allDays).conversations;
    // One is given a conversation in the minutes at the end of the range, which are read apart.
    for (let index = 0; index < 40; index += 1)
      changeConversation(
        db,
        randomFrom(index),
        addConversation(db, randomFrom(index), `e${index}`, {
          createdMs: allDays.toMs - 1000,
          firstResponseMs: allDays.toMs,
        }),
      );
    const asked = ['a3', 'nobody there', 'a1', 'a3', 'a2'];
    for (let look = 0; look < 2; look += 1) {
      const is = totalsByAgent({ db, memory }, everything, allDays, asked).map((totals) => totals.conversations);
      t.strictSame(
        is,
        asked.map((agentId) => conversations({ ...everything, agentId })),
      );
      t.equal(is[1], 0);
    }
  },
);

t.test(
  '[4.13] what has not changed is not read again; a change of a day has what holds it read again, and nothing else',
  async (t) => {
    const { db, remembered, read } = openReports(t, 9);
    const first = remembered(allOfIt);
    // Behind everybody's back, so that whoever reads them sees something else.
    db.run('UPDATE rollupPeriod SET conversations = conversations + 1000, rated = rated + 1000');
    db.run('UPDATE rollupGoal SET completions = completions + 1000');
    t.strictSame(remembered(allOfIt), first);
    noteChange(db, 'completions', Math.floor(from / dayMs) + 100);
    const second = remembered(allOfIt);
    t.strictSame({ ...second, goals: first.goals }, first, 'conversations have not changed');
    t.notSame(second.goals, first.goals);
    noteChange(db, 'conversations', Math.floor(from / dayMs) + 100);
    const third = remembered(allOfIt);
    t.ok(third.totals.conversations > first.totals.conversations);
    t.ok(third.totals.conversations < read(allOfIt).totals.conversations, 'the other months stand');
    noteChange(db, 'conversations', Math.floor(from / dayMs) + days + 500);
    t.strictSame(remembered(allOfIt), third, 'a day beyond them changes nothing');
  },
);

t.test('[4.13] while rollups are made again nothing is remembered, and nothing from before stands after', async (t) => {
  const seed = 10;
  const { random, db, conversations, remembered, read } = openReports(t, seed);
  db.run('DELETE FROM rollupChange');
  const before = remembered(allOfIt);
  let due = 'the first step';
  putDeadline(db, { kind: rebuildDeadline, subjectId: due, dueAt: new Date(from).toISOString() });
  for (let step = 0; due !== ''; step += 1) {
    deleteDeadline(db, rebuildDeadline, due);
    const progress = buildNext(db, progressFrom(due) ?? beginRebuild(db));
    due = progress === undefined ? '' : textOfProgress(progress);
    if (due !== '') putDeadline(db, { kind: rebuildDeadline, subjectId: due, dueAt: new Date(from).toISOString() });
    // What began on a day that is not made yet is changed without a word to anybody.
    const isMade = (ms: number): boolean => progress === undefined || ms >= progress.day * dayMs;
    addCompletion(db, random, `n${step}`, { isFolded: isMade });
    const index = random.below(conversations.length);
    const changed = conversations[index];
    if (changed !== undefined)
      conversations[index] = changeConversation(db, random, changed, {
        isFolded: isMade(Date.parse(changed.createdAt)),
      });
    if (step % 25 === 0) t.strictSame(remembered(allOfIt), read(allOfIt), `seed ${seed}, step ${step}`);
  }
  t.strictSame(remembered(allOfIt), read(allOfIt));
  t.notSame(remembered(allOfIt), before);
  t.strictSame([...verifyReports(db)].slice(0, 3), []);
  // Each kind by itself: nothing of it is kept.
  putDeadline(db, { kind: rebuildDeadline, subjectId: 'again', dueAt: new Date(from).toISOString() });
  const other = { ...allOfIt, range: { ...allDays, toMs: allDays.toMs - 40 * dayMs } };
  const during = remembered(other);
  db.run('UPDATE rollupPeriod SET conversations = conversations + 1000, rated = rated + 1000');
  db.run(`UPDATE rollupGoal SET completions = completions + 1000`);
  db.run(`UPDATE rollupGoal SET quarters = '' WHERE goalId = '*'`);
  db.run(`UPDATE rollupPeriod SET quarters = '' WHERE grain = 'day'`);
  const after = remembered(other);
  for (const kind of ['totals', 'byAgent', 'buckets', 'goals', 'completions', 'listed'] as const)
    t.notSame(after[kind], during[kind], kind);
});

t.test('[4.13] a page far down a list follows changes of the days before it', async (t) => {
  const { random, db, memory } = openReports(t, 17);
  const page = (source: ReportSource): string[] =>
    reportedConversations(
      source,
      {
        scope: everything,
        range: allDays,
        status: undefined,
        isRated: false,
        isMissed: false,
        shownDepartmentIds: null,
      },
      { limit: 5, offset: 1000 },
    ).map(({ id }) => id);
  for (let round = 0; round < 10; round += 1) {
    t.strictSame(page({ db, memory }), page({ db, memory: new ReportMemory() }), `round ${round}`);
    db.begin();
    for (let count = 0; count < 3; count += 1) addConversation(db, random, `f${round}-${count}`);
    db.commit();
  }
});

t.test('[4.13] what is remembered has a bound, and the least recently asked for is forgotten', async (t) => {
  const { db, memory, remembered } = openReports(t, 13);
  remembered(allOfIt);
  const kept = remembered({ ...allOfIt, granularity: 'month' });
  const early = { ...allOfIt, range: { fromMs: from, toMs: from + 200 * dayMs + 1 } };
  const first = remembered(early);
  for (let index = 1; index < 220; index += 1) {
    remembered({ ...allOfIt, range: { fromMs: from + index * dayMs, toMs: from + (index + 200) * dayMs + 1 } });
    remembered({ ...allOfIt, granularity: 'month' });
    if (
      memory.sums.bytes > 2_000_000 ||
      memory.rows.bytes > 1_000_000 ||
      memory.goals.bytes > 500_000 ||
      memory.buckets.bytes > 500_000 ||
      memory.totals.bytes > 500_000 ||
      memory.days.bytes > 500_000 ||
      memory.changed.bytes > 500_000 ||
      memory.many.bytes > 100_000
    )
      t.fail(
        `${memory.sums.bytes}, ${memory.rows.bytes}, ${memory.goals.bytes}, ${memory.buckets.bytes}, ${memory.totals.bytes}, ${memory.days.bytes}, ${memory.changed.bytes}, ${memory.many.bytes}`,
      );
  }
  t.ok(memory.sums.bytes > 1_900_000 && memory.buckets.bytes > 400_000, 'it came to its bounds');
  db.run('UPDATE rollupPeriod SET conversations = conversations + 1000');
  t.strictSame(
    remembered({ ...allOfIt, granularity: 'month' }).totals,
    kept.totals,
    'what was asked for all the time is still known',
  );
  t.notSame(remembered(early).totals, first.totals, 'what nobody asked for is read');
});

t.test('[4.13] of less than a day the medians are exact, however many conversations it had', async (t) => {
  const { db, remembered } = openReports(t, 14);
  const dayFrom = Math.floor(from / dayMs) * dayMs + 500 * dayMs;
  db.begin();
  for (let index = 0; index < 700; index += 1) {
    const createdMs = dayFrom + index * 60_000;
    addConversation(db, randomFrom(1), `d${index}`, { createdMs, firstResponseMs: createdMs + 1_000_000 });
  }
  db.commit();
  const { totals } = remembered({
    ...allOfIt,
    range: { fromMs: dayFrom + 1, toMs: dayFrom + 20 * 3_600_000 },
    granularity: 'hour',
  });
  t.match(totals, { conversations: 699, firstResponse: { medianSeconds: 1000, p90Seconds: 1000 } });
});

t.test(
  '[4.13] medians are exact up to five hundred conversations, whatever was remembered of fewer or more',
  async (t) => {
    const { db, remembered } = openReports(t, 15);
    const dayFrom = Math.floor(from / dayMs) * dayMs + 500 * dayMs;
    const responseMs = 1_234_567;
    let count = 0;
    const add = (number: number, atMs: number): void => {
      db.begin();
      for (let index = 0; index < number; index += 1)
        addConversation(db, randomFrom(1), `m${(count += 1)}`, {
          createdMs: atMs + index,
          firstResponseMs: atMs + index + responseMs,
        });
      db.commit();
    };
    const exact = (days: number): boolean =>
      remembered({ ...allOfIt, range: { fromMs: dayFrom + 1, toMs: dayFrom + days * dayMs + dayMs / 2 } }).totals
        .firstResponse.medianSeconds ===
      responseMs / 1000;
    add(300, dayFrom + dayMs);
    t.ok(exact(4));
    add(200, dayFrom + 4 * dayMs);
    t.ok(exact(4), 'five hundred');
    add(1, dayFrom + 4 * dayMs + 1000);
    t.notOk(exact(4), 'one more in the hours at the end');
    // Days that the range of three only touches.
    add(600, dayFrom - 1000);
    add(600, dayFrom + 3 * dayMs + (3 * dayMs) / 4);
    t.ok(exact(3), 'three hundred');
    add(200, dayFrom + dayMs + 1000);
    t.ok(exact(3), 'five hundred');
    add(1, dayFrom + 2 * dayMs);
    t.notOk(exact(3), 'one more in a day');
    t.notOk(exact(3));
  },
);
