import t from 'tap';
import { bucketStarts } from '../engine/time-zones.ts';
import { deleteDeadline, putDeadline } from '../store/deadlines.ts';
import { completionsByBucket, countReported, goalTotals } from '../store/report-lists.ts';
import { ReportMemory } from '../store/report-memory.ts';
import { bucketTotals, type ReportScope, type ReportSource, totalsByAgent, totalsOf } from '../store/report-reads.ts';
import { noteChange } from '../store/rollup-changes.ts';
import { rebuildDeadline } from '../store/rollup-rebuild.ts';
import { addCompletion, addConversation, agentIds, changeConversation, dayMs, days, fill, fillGoals, from, openDatabase, rebuildAll, scopes } from './support/reported-rows.ts';
import { randomFrom } from './support/seeded.ts';

const everything: ReportScope = { channels: ['chat', 'ticket', 'call'], departmentIds: null, agentId: null };
const allDays = { fromMs: from, toMs: from + 365 * dayMs + 12_345 };

/** Every kind of read that remembers anything. */
function reportsOf(source: ReportSource, scope: ReportScope, range: { fromMs: number; toMs: number }, zone: string) {
  const starts = bucketStarts('day', range, zone).map((start) => Math.max(start, range.fromMs));
  const buckets = { starts, toMs: range.toMs };
  return {
    totals: totalsOf(source, scope, range),
    byAgent: totalsByAgent(source, scope, range, agentIds),
    buckets: bucketTotals(source, scope, buckets),
    goals: goalTotals(source, scope, range),
    completions: completionsByBucket(source, scope, buckets),
    listed: countReported(source, { scope, range, status: undefined, isRated: true, isMissed: false }),
  };
}

t.test('[4.13] what is remembered is what would be read, whatever changes between two looks', async (t) => {
  const seed = 20261122;
  const random = randomFrom(seed);
  const db = openDatabase(t);
  db.begin();
  const conversations = fill(db, random, 1500);
  fillGoals(db, random, 300);
  db.commit();
  const kept = { db, memory: new ReportMemory() };
  // The same few questions again and again, some a moment or a quarter of an hour later.
  const asked = Array.from({ length: 6 }, () => ({ scope: scopes(random), fromMs: from + random.below(60 * dayMs), lengthMs: random.pick([20 * dayMs, 100 * dayMs, 365 * dayMs]), zone: random.pick(['UTC', 'Europe/Berlin', 'Asia/Kathmandu']) }));
  for (let round = 0; round < 150; round += 1) {
    db.begin();
    for (let count = random.below(4); count > 0; count -= 1) {
      const index = random.below(conversations.length);
      const changed = conversations[index];
      if (changed !== undefined && random.chance(0.6)) conversations[index] = changeConversation(db, random, changed);
      else if (random.chance(0.6)) conversations.push(addConversation(db, random, `n${round}-${count}`));
      else addCompletion(db, random, `n${round}-${count}`);
    }
    if (random.chance(0.03)) rebuildAll(db);
    db.commit();
    const { scope, fromMs, lengthMs, zone } = random.pick(asked);
    const range = { fromMs, toMs: fromMs + lengthMs + random.pick([0, 1, 17_000, 15 * 60_000, 3 * 3_600_000]) };
    const remembered = reportsOf(kept, scope, range, zone);
    const read = reportsOf({ db, memory: new ReportMemory() }, scope, range, zone);
    if (JSON.stringify(remembered) !== JSON.stringify(read)) t.fail(`seed ${seed}, round ${round}: ${JSON.stringify({ scope, range, remembered, read })}`);
  }
  t.pass();
});

t.test('[4.13] what has not changed is not read again; a change of a day has what holds it read again, and nothing else', async (t) => {
  const random = randomFrom(9);
  const db = openDatabase(t);
  db.begin();
  fill(db, random, 1500);
  fillGoals(db, random, 300);
  db.commit();
  const kept = { db, memory: new ReportMemory() };
  const first = reportsOf(kept, everything, allDays, 'Europe/Berlin');
  // Behind everybody's back, so that whoever reads them sees something else.
  db.run('UPDATE rollupPeriod SET conversations = conversations + 1000, rated = rated + 1000');
  db.run('UPDATE rollupGoal SET completions = completions + 1000');
  t.strictSame(reportsOf(kept, everything, allDays, 'Europe/Berlin'), first);
  noteChange(db, 'completions', Math.floor(from / dayMs) + 100);
  const second = reportsOf(kept, everything, allDays, 'Europe/Berlin');
  t.strictSame({ ...second, goals: first.goals }, first, 'conversations have not changed');
  t.notSame(second.goals, first.goals);
  noteChange(db, 'conversations', Math.floor(from / dayMs) + 100);
  const third = reportsOf(kept, everything, allDays, 'Europe/Berlin');
  t.ok(third.totals.conversations > first.totals.conversations);
  const all = reportsOf({ db, memory: new ReportMemory() }, everything, allDays, 'Europe/Berlin');
  t.ok(third.totals.conversations < all.totals.conversations, 'the other months stand');
  noteChange(db, 'conversations', Math.floor(from / dayMs) + days + 500);
  t.strictSame(reportsOf(kept, everything, allDays, 'Europe/Berlin'), third, 'a day beyond them changes nothing');
});

t.test('[4.13] while rollups are made again nothing is remembered', async (t) => {
  const random = randomFrom(10);
  const db = openDatabase(t);
  db.begin();
  fill(db, random, 1500);
  db.commit();
  const kept = { db, memory: new ReportMemory() };
  const before = totalsOf(kept, everything, allDays);
  putDeadline(db, { kind: rebuildDeadline, subjectId: 'under way', dueAt: new Date(from).toISOString() });
  db.run('UPDATE rollupPeriod SET conversations = conversations + 1000');
  t.ok(totalsOf(kept, everything, allDays).conversations > before.conversations);
  deleteDeadline(db, rebuildDeadline, 'under way');
  t.strictSame(totalsOf(kept, everything, allDays), before, 'what was read meanwhile was not kept');
});
