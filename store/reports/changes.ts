// How often what reports read of a day has changed, counted in the transaction of each change by whoever writes
// rollups. While the number of some days stays the same, so does everything that is told of them:
// store/reports/memory.ts goes by it. It is no figure of a report.

import type { Database } from '../database.ts';

/** What has changed: the conversations that began on a day, or the completions of goals on it. */
export type Changing = 'conversations' | 'completions';

/** Days since 1970, UTC, from `first` to before `next`. */
export interface Days {
  readonly first: number;
  readonly next: number;
}

/** A day's number grows and never falls: what is remembered of some days goes by their sum. */
export function noteChange(db: Database, what: Changing, day: number): void {
  db.run(`INSERT INTO rollupChange (day, ${what}) VALUES (?, 1) ON CONFLICT DO UPDATE SET ${what} = ${what} + 1`, [
    day,
  ]);
}

/** Of every day of which a change was ever noted. */
export function noteChangeOfAll(db: Database): void {
  db.run('UPDATE rollupChange SET conversations = conversations + 1, completions = completions + 1');
}

/** Grows with every change, and never comes back to what it was. */
export function changesOf(db: Database, what: Changing, { first, next }: Days): number {
  return (
    db.get<{ changes: number }>(
      `SELECT coalesce(sum(${what}), 0) AS changes FROM rollupChange WHERE day >= ? AND day < ?`,
      [first, next],
    )?.changes ?? 0
  );
}

/** The same of each of these days by itself: only those that ever changed. */
export function changesByDay(db: Database, what: Changing, { first, next }: Days): [day: number, changes: number][] {
  // As the columns are declared in the migration.
  return db.allValues(`SELECT day, ${what} FROM rollupChange WHERE day >= ? AND day < ?`, [first, next]) as [
    number,
    number,
  ][];
}
