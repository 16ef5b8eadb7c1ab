import t from 'tap';
import type { Database } from '../../store/database.ts';
import { type ReportScope, totalsByAgent, totalsOf } from '../../store/reports/sums.ts';
import { addConversation, changeConversation, dayMs, fill, from, openDatabase } from '../support/reported-rows.ts';
import { randomFrom } from '../support/seeded.ts';

const everything: ReportScope = { channels: ['chat', 'ticket', 'call'], departmentIds: null, agentId: null };
const allDays = { fromMs: from, toMs: from + 365 * dayMs + 12_345 };

function openReports(t: { teardown(call: () => void): void }, seed: number): Database {
  const db = openDatabase(t);
  db.begin();
  fill(db, randomFrom(seed), 1500);
  db.commit();
  return db;
}

t.test('[4.13] agents are returned in the order requested, duplicates included', async (t) => {
  const db = openReports(t, 19);
  const conversations = (scope: ReportScope): number => totalsOf(db, scope, allDays).conversations;
  // Conversations in the last minutes of the range, which are read row by row.
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
  const is = totalsByAgent(db, everything, allDays, asked).map((totals) => totals.conversations);
  t.strictSame(
    is,
    asked.map((agentId) => conversations({ ...everything, agentId })),
  );
  t.equal(is[1], 0);
});

t.test('[4.13] medians of less than a day are exact, however many conversations it has', async (t) => {
  const db = openReports(t, 14);
  const dayFrom = Math.floor(from / dayMs) * dayMs + 500 * dayMs;
  db.begin();
  for (let index = 0; index < 700; index += 1) {
    const createdMs = dayFrom + index * 60_000;
    addConversation(db, randomFrom(1), `d${index}`, { createdMs, firstResponseMs: createdMs + 1_000_000 });
  }
  db.commit();
  const totals = totalsOf(db, everything, { fromMs: dayFrom + 1, toMs: dayFrom + 20 * 3_600_000 });
  t.match(totals, { conversations: 699, firstResponse: { medianSeconds: 1000, p90Seconds: 1000 } });
});

t.test('[4.13] medians are exact up to five hundred conversations', async (t) => {
  const db = openReports(t, 15);
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
    totalsOf(db, everything, { fromMs: dayFrom + 1, toMs: dayFrom + days * dayMs + dayMs / 2 }).firstResponse
      .medianSeconds ===
    responseMs / 1000;
  add(300, dayFrom + dayMs);
  t.ok(exact(4));
  add(200, dayFrom + 4 * dayMs);
  t.ok(exact(4), 'five hundred');
  add(1, dayFrom + 4 * dayMs + 1000);
  t.notOk(exact(4), 'one more in the hours at the end');
  // Days that the three-day range only touches.
  add(600, dayFrom - 1000);
  add(600, dayFrom + 3 * dayMs + (3 * dayMs) / 4);
  t.ok(exact(3), 'three hundred');
  add(200, dayFrom + dayMs + 1000);
  t.ok(exact(3), 'five hundred');
  add(1, dayFrom + 2 * dayMs);
  t.notOk(exact(3), 'one more in a day');
});
